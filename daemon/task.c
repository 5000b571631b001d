/* daemon/task.c - a short-lived child and its answer. */
#include "daemon/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "daemon/sys/log.h"
#include "proto/frame.h"

#define PIECE_BYTES  (32u << 10)
#define READS_A_TURN 16

int pl_task_answer(int out, struct pl_probe_result *head, const char *text, int fd)
{
	size_t n = strnlen(text, PL_ANSWER_MAX);
	int r;

	head->n_text = (uint32_t)n;
	r = pl_frame_send(out, head, sizeof(*head), fd);
	for (size_t at = 0; r == 0 && at < n; at += PIECE_BYTES)
		r = pl_frame_send(out, text + at, pl_min_u64(n - at, PIECE_BYTES), -1);
	return r;
}

static void task_release(struct pl_task *task)
{
	pl_supervisor_drop(&task->child);
	pl_supervisor_drop(&task->io);
	pl_supervisor_drop(&task->deadline);
	pl_closep(&task->socket);
	task->socket = -1;
	pl_closep(&task->fd);
	task->fd = -1;
	free(task->text);
	task->text = NULL;
	task->pid = 0;
}

static int take_head(struct pl_task *task, const char *bytes, size_t n)
{
	if (n != sizeof(task->head))
		return -EPROTO;
	memcpy(&task->head, bytes, n);
	if (task->head.n_text > PL_ANSWER_MAX)
		return -EPROTO;
	task->text = calloc(1, (size_t)task->head.n_text + 1);
	task->has_head = task->text != NULL;
	return task->text ? 0 : -ENOMEM;
}

static int take_piece(struct pl_task *task, const char *bytes, size_t n)
{
	if (n > task->head.n_text - task->n_text)
		return -EPROTO;
	memcpy(task->text + task->n_text, bytes, n);
	task->n_text += n;
	return 0;
}

/* One datagram. 0, PL_FRAME_END or -errno. */
static int task_read(struct pl_task *task)
{
	char frame[PL_FRAME_MAX];
	size_t n;
	int fd = -1;
	int r = pl_frame_receive(task->socket, frame, &n, task->has_head ? NULL : &fd);

	if (r == PL_FRAME_REFUSED)
		return -EPROTO;
	if (r != 0)
		return r;
	if (task->has_head)
		return take_piece(task, frame, n);
	task->fd = fd;
	return take_head(task, frame, n);
}

static void kill_task(const struct pl_task *task)
{
	if (task->pid > 0)
		kill(task->pid, SIGKILL);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct pl_task *task = context;
	int r = 0;

	for (int i = 0; r == 0 && i < READS_A_TURN; i++)
		r = task_read(task);
	if (r == 0 || r == -EAGAIN)
		return 0;
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "task=%s pid=%d errno=%d: broken answer", task->what,
			task->pid, -r);
		task->has_head = false;
		kill_task(task);
	}
	pl_supervisor_drop(&task->io);
	return 0;
}

static int on_deadline(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_task *task = context;

	task->is_late = true;
	kill_task(task);
	return 0;
}

/* Whatever it died of, afterwards the task has a status and a text. */
static void judge(struct pl_task *task, const siginfo_t *how)
{
	bool is_whole = task->has_head && task->n_text == task->head.n_text;

	if (is_whole && !task->is_late && how->si_code == CLD_EXITED)
		return;
	free(task->text);
	task->text = NULL;
	task->head.exit_status = 1;
	if (task->is_late) {
		if (asprintf(&task->text, "the %s did not end within %llu s", task->what,
			    (unsigned long long)task->timeout_ms / 1000) < 0)
			task->text = NULL;
	} else if (how->si_code != CLD_EXITED) {
		if (asprintf(&task->text, "the %s died: %s", task->what,
			    strsignal(how->si_status)) < 0)
			task->text = NULL;
	} else if (asprintf(&task->text, "the %s ended with status %d and without an answer",
			   task->what, how->si_status) < 0) {
		task->text = NULL;
	}
	pl_closep(&task->fd);
	task->fd = -1;
}

static int on_task_exit(sd_event_source *source, const siginfo_t *how, void *context)
{
	struct pl_task *task = context;
	struct pl_supervisor *s = task->supervisor;
	struct pl_task ended;
	int r = task->io ? 0 : PL_FRAME_END;

	while (r == 0)
		r = task_read(task);
	if (r < 0)
		task->has_head = false;
	judge(task, how);
	s->n_children--;
	ended = *task;
	*task = (struct pl_task){.socket = -1, .fd = -1};
	if (ended.done)
		ended.done(&ended, ended.context);
	task_release(&ended);
	return 0;
}

static int watch(struct pl_task *task)
{
	struct pl_supervisor *s = task->supervisor;
	int r = sd_event_add_child(s->loop, &task->child, task->pid, WEXITED, on_task_exit, task);

	if (r >= 0)
		r = sd_event_add_io(s->loop, &task->io, task->socket, EPOLLIN, on_readable, task);
	if (r >= 0)
		r = pl_supervisor_after(s, &task->deadline, task->timeout_ms, on_deadline, task);
	return r < 0 ? r : 0;
}

int pl_task_start(struct pl_task *task, const struct pl_child *child, int *out_fd)
{
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	task->socket = pair[0];
	task->fd = -1;
	task->has_head = task->is_late = false;
	task->n_text = 0;
	task->started_ns = pl_now_ns();
	*out_fd = pair[1];
	r = fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
	if (r == 0)
		r = pl_supervisor_fork(task->supervisor, child);
	close(pair[1]);
	if (r > 0) {
		task->pid = r;
		r = watch(task);
	}
	if (r < 0) {
		if (task->pid)
			pl_supervisor_bury(task->supervisor, task->pid);
		task_release(task);
	}
	return r;
}

/* The killed child is still to be reaped: its source outlives the task. */
static int on_orphan_exit(sd_event_source *source, const siginfo_t *how, void *context)
{
	struct pl_supervisor *s = context;

	s->n_children--;
	sd_event_source_unref(source);
	return 0;
}

void pl_task_cancel(struct pl_task *task)
{
	struct pl_supervisor *s = task->supervisor;
	sd_event_source *orphan;
	pid_t pid = task->pid;

	if (pid <= 0)
		return;
	kill_task(task);
	task_release(task);
	if (sd_event_add_child(s->loop, &orphan, pid, WEXITED, on_orphan_exit, s) < 0)
		pl_log(PL_LOG_WARNING, "task=%s pid=%d: can't be watched any more", task->what,
			pid);
}
