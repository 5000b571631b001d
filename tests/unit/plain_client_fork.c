/* tests/unit/plain_client_fork.c - a forked child can't read or give back what is its parent's. */
#include "fake_daemon.h"

#include <sys/wait.h>

static struct pl_error error;

static void serve(struct fake *fake)
{
	struct pollfd one;

	fake_accept(fake);
	fake_expect(fake, PL_WIRE_OPEN);
	fake_welcome(fake, PL_PRIVATE, 0, 0);
	fake_expect(fake, PL_WIRE_NEXT);
	fake_batch(fake, 0, 0);
	fake_wait_step(fake, 1); /* the child has come and gone */
	one = (struct pollfd){.fd = fake->fd, .events = POLLIN};
	FAKE_CHECK(fake, poll(&one, 1, 0) == 0);
	atomic_store(&fake->step, 2);
	fake_expect(fake, PL_WIRE_RELEASE);
	fake_goodbye(fake);
}

/* What a child does that does not know that it is one; its exit status. */
static int be_child(struct pl_client *client, const struct pl_batch *batch)
{
	const struct pl_batch *other;
	char *name;

	if (pl_client_next(client, 0, &other, &error) != -ECHILD || other)
		return 1;
	if (pl_client_describe(client, (uint64_t[]){0}, 1, &name, 0, &error) != -ECHILD)
		return 2;
	if (((const float *)pl_batch_tensor(batch, "x")->data)[5] != 5)
		return 3;
	if (pl_batch_release(batch))
		return 4;
	pl_client_close(client);
	return 0;
}

int main(void)
{
	struct fake *fake = fake_start(serve, 4);
	struct pl_client_options options = fake_options(fake);
	struct pl_client *client = pl_client_open("fake", &options, &error);
	const struct pl_batch *batch;
	const char *complaint;
	int status = -1;
	pid_t pid;

	if (!client || pl_client_next(client, 5000, &batch, &error))
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(be_child(client, batch));
	waitpid(pid, &status, 0);
	atomic_store(&fake->step, 1);
	fake_wait_step(fake, 2);
	if (pl_batch_release(batch))
		return 2;
	pl_client_close(client);
	complaint = fake_finish(fake);
	if (status || complaint)
		fprintf(stderr, "child %d, daemon: %s\n", status, complaint ? complaint : "fine");
	return status || complaint;
}
