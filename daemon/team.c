/* daemon/team.c - the dispatcher and the workers of one birth: borne, heard, ended together. */
#include "daemon/team.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "daemon/exit.h"
#include "daemon/instance.h"
#include "daemon/member.h"
#include "daemon/sys/log.h"
#include "proto/frame.h"

#define READS_A_TURN 16
#define QUEUE_MAX    1024  /* a dispatcher that lets so much lie is lost */
#define SUSPICION_MS 30000 /* a dispatcher's loop never blocks, so this is long */
#define MISSED_TICKS 2
#define CROWDED_MS   20

static int run_dispatcher(void *context)
{
	return pl_dispatcher_run(context);
}

static void team_heard(struct pl_team *team, const struct pl_control *c);

static int team_read(struct pl_team *team)
{
	struct pl_control c;
	int fd = -1;
	int r = pl_control_receive(team->control, &c, &fd);

	pl_closep(&fd);
	if (r == 0)
		team_heard(team, &c);
	return r;
}

static void watch_output(struct pl_team *team)
{
	uint32_t events = EPOLLIN | (team->n_queued ? EPOLLOUT : 0u);

	if (team->io)
		sd_event_source_set_io_events(team->io, events);
}

static void flush_queue(struct pl_team *team)
{
	size_t sent = 0;

	while (sent < team->n_queued && pl_control_send(team->control, &team->queue[sent], -1) == 0)
		sent++;
	memmove(team->queue, team->queue + sent, (team->n_queued - sent) * sizeof(*team->queue));
	team->n_queued -= sent;
	watch_output(team);
}

static int on_control(sd_event_source *source, int fd, uint32_t events, void *context)
{
	struct pl_team *team = context;
	int r = 0;

	if (events & EPOLLOUT)
		flush_queue(team);
	for (int i = 0; r == 0 && i < READS_A_TURN; i++)
		r = team_read(team);
	if (r == 0 || r == -EAGAIN)
		return 0;
	pl_supervisor_drop(&team->io);
	if (r == -EPROTO)
		pl_team_kill(team, PL_TEAM_DIED, "dispatcher pid=%d broke the protocol",
			team->dispatcher);
	return 0;
}

static int enqueue(struct pl_team *team, const struct pl_control *c)
{
	if (team->n_queued == team->queue_room) {
		size_t room = team->queue_room ? team->queue_room * 2 : 16;
		struct pl_control *grown =
			room > QUEUE_MAX ? NULL : realloc(team->queue, room * sizeof(*grown));

		if (!grown)
			return -ENOBUFS;
		team->queue = grown;
		team->queue_room = room;
	}
	team->queue[team->n_queued++] = *c;
	watch_output(team);
	return 0;
}

void pl_team_post(struct pl_team *team, const struct pl_control *c)
{
	int r = -EAGAIN;

	if (!team->dispatcher || team->is_killed)
		return;
	if (team->n_queued == 0)
		r = pl_control_send(team->control, c, -1);
	if (r == -EAGAIN)
		r = enqueue(team, c);
	if (r == -ENOBUFS)
		pl_team_kill(team, PL_TEAM_DIED, "dispatcher pid=%d leaves its messages unread",
			team->dispatcher);
}

static int on_suspicion(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_team *team = context;

	if (team->pong < team->ping)
		pl_team_kill(team, PL_TEAM_DIED, "dispatcher pid=%d gave no sign of life for %d s",
			team->dispatcher, SUSPICION_MS / 1000);
	return 0;
}

uint64_t pl_team_ask(struct pl_team *team)
{
	struct pl_control ping = {.kind = PL_CONTROL_PING, .serial = ++team->ping};

	pl_team_post(team, &ping);
	if (!team->suspicion)
		(void)!pl_supervisor_after(
			team->supervisor, &team->suspicion, SUSPICION_MS, on_suspicion, team);
	return team->ping;
}

void pl_team_tick(struct pl_team *team)
{
	if (!team->dispatcher || team->is_killed)
		return;
	if (team->pong == team->ping) {
		struct pl_control ping = {.kind = PL_CONTROL_PING, .serial = ++team->ping};

		team->n_missed = 0;
		pl_team_post(team, &ping);
	} else if (++team->n_missed >= MISSED_TICKS) {
		pl_team_kill(team, PL_TEAM_DIED,
			"dispatcher pid=%d missed its heartbeat for %d ticks", team->dispatcher,
			team->n_missed);
	}
}

static int on_crowded(sd_event_source *source, uint64_t now, void *context)
{
	return 0; /* the turn's end tries again */
}

int pl_team_give(struct pl_team *team, int fd, uint32_t uid, uint32_t pid)
{
	struct pl_control c = {.kind = PL_CONTROL_CLIENT, .uid = uid, .pid = pid};
	int r = team->n_queued ? -EAGAIN : pl_control_send(team->control, &c, fd);

	if (r == -ETOOMANYREFS) {
		r = -EAGAIN;
		(void)!pl_supervisor_after(
			team->supervisor, &team->crowded, CROWDED_MS, on_crowded, team);
	} else if (r == -EAGAIN && team->io) {
		sd_event_source_set_io_events(team->io, EPOLLIN | EPOLLOUT);
	}
	if (r == 0) {
		team->n_given++;
		pl_guests_add(&team->guests, pid);
		pl_team_ask(team);
	}
	return r;
}

static int on_stop_deadline(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_team *team = context;

	pl_team_kill(team, PL_TEAM_STOPPED, "did not stop within %d s", PL_STOP_MS / 1000);
	return 0;
}

void pl_team_stop(struct pl_team *team)
{
	struct pl_control stop = {.kind = PL_CONTROL_STOP};

	if (!team->is_born || team->end != PL_TEAM_LIVES)
		return;
	team->end = PL_TEAM_STOPPED;
	for (uint32_t i = 0; i < team->n_workers; i++)
		pl_supervisor_drop(&team->worker[i].rebirth);
	pl_team_post(team, &stop);
	if (pl_supervisor_after(
		    team->supervisor, &team->deadline, PL_STOP_MS, on_stop_deadline, team) < 0)
		on_stop_deadline(NULL, 0, team);
}

void pl_team_renew(struct pl_team *team)
{
	struct pl_control renew = {.kind = PL_CONTROL_RENEW};

	pl_team_post(team, &renew);
}

/* In 10 s even a process in the last steps of a core dump is gone; one that isn't hangs in the
 * kernel. */
static int on_reap_deadline(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_team *team = context;
	char where[160];
	pid_t pid = team->dispatcher;

	for (uint32_t i = 0; pid == 0 && i < team->n_workers; i++)
		pid = team->worker[i].pid;
	pl_exit_where(where, sizeof(where), pid);
	pl_instance_fail(
		team->instance, 1, "process %d was killed and does not die: %s", (int)pid, where);
	return 0;
}

void pl_team_kill(struct pl_team *team, enum pl_team_end end, const char *format, ...)
{
	va_list args;

	if (!team->is_born || team->is_killed)
		return;
	team->is_killed = true;
	if (team->end == PL_TEAM_LIVES)
		team->end = end;
	if (!team->reason[0]) {
		va_start(args, format);
		vsnprintf(team->reason, sizeof(team->reason), format, args);
		va_end(args);
	}
	if (team->dispatcher)
		kill(team->dispatcher, SIGKILL);
	for (uint32_t i = 0; i < team->n_workers; i++)
		pl_member_kill(&team->worker[i]);
	pl_supervisor_drop(&team->suspicion);
	(void)!pl_supervisor_after(
		team->supervisor, &team->deadline, PL_REAP_MS, on_reap_deadline, team);
}

static int on_dispatcher_exit(sd_event_source *source, const siginfo_t *how, void *context)
{
	struct pl_team *team = context;
	enum pl_log_level level = team->end == PL_TEAM_STOPPED || team->instance->is_retired
					  ? PL_LOG_INFO
					  : PL_LOG_WARNING;
	uint64_t heartbeat = team->pong_ns ? (pl_now_ns() - team->pong_ns) / 1000000 : 0;
	char text[96];

	/* Its last words, above all why it ends. */
	while (team->io && team_read(team) == 0)
		;
	pl_exit_describe(text, sizeof(text), how);
	pl_log(level, "pipeline=%s birth=%llu dispatcher pid=%d %s last_heartbeat_ms=%llu",
		team->birth.name, (unsigned long long)team->birth.number, (int)team->dispatcher,
		text, (unsigned long long)heartbeat);
	team->dispatcher = 0;
	team->supervisor->n_children--;
	pl_supervisor_drop(&team->child);
	pl_supervisor_drop(&team->io);
	team->n_queued = 0;
	if (team->end == PL_TEAM_LIVES && team->instance->is_retired)
		team->end = PL_TEAM_STOPPED;
	pl_team_kill(team, PL_TEAM_DIED, "dispatcher pid=%d %s", (int)how->si_pid, text);
	return 0;
}

static void on_failed_message(struct pl_team *team, const struct pl_control *c)
{
	pl_log(PL_LOG_ERROR, "pipeline=%s birth=%llu dispatcher: %s", team->birth.name,
		(unsigned long long)team->birth.number, c->text);
	snprintf(team->reason, sizeof(team->reason), "%s", c->text);
	if (!team->is_ready && team->end == PL_TEAM_LIVES)
		team->end = PL_TEAM_FAILED; /* from the same plan and listing the next birth would
					       fail alike */
}

static void heard_hello(struct pl_team *team, const struct pl_control *c)
{
	for (uint32_t i = 0; i < team->n_workers; i++)
		if (!team->worker[i].pid && !team->worker[i].generation)
			pl_member_bear(&team->worker[i]);
}

static void heard_ready(struct pl_team *team, const struct pl_control *c)
{
	team->is_ready = true;
	pl_instance_ready(team->instance);
}

static void heard_pong(struct pl_team *team, const struct pl_control *c)
{
	if (c->serial > team->ping || c->serial <= team->pong)
		return;
	team->pong = c->serial;
	team->pong_ns = pl_now_ns();
	if (team->pong == team->ping)
		pl_supervisor_drop(&team->suspicion);
	pl_instance_ponged(team->instance);
}

static void heard_kill(struct pl_team *team, const struct pl_control *c)
{
	struct pl_member *m = c->worker < team->n_workers ? &team->worker[c->worker] : NULL;

	if (!m || !m->pid || m->generation != c->generation)
		return;
	pl_log(PL_LOG_WARNING,
		"pipeline=%s worker=%u generation=%u pid=%d: over its sample_timeout, killed",
		team->birth.name, m->number, m->generation, (int)m->pid);
	pl_member_replace(m);
}

static void heard_clients(struct pl_team *team, const struct pl_control *c)
{
	team->n_clients = (uint32_t)c->serial;
	pl_instance_clients(team->instance);
}

static void heard_handed(struct pl_team *team, const struct pl_control *c)
{
	team->has_handed = true;
	team->instance->n_barren = 0;
}

static void team_heard(struct pl_team *team, const struct pl_control *c)
{
	static void (*const table[])(struct pl_team *, const struct pl_control *) = {
		[PL_CONTROL_HELLO] = heard_hello,
		[PL_CONTROL_READY] = heard_ready,
		[PL_CONTROL_PONG] = heard_pong,
		[PL_CONTROL_KILL] = heard_kill,
		[PL_CONTROL_CLIENTS] = heard_clients,
		[PL_CONTROL_HANDED] = heard_handed,
		[PL_CONTROL_FAILED] = on_failed_message,
	};

	if ((size_t)c->kind < PL_ARRAY_LEN(table) && table[c->kind])
		table[c->kind](team, c);
}

/* The control pair exists just for this birth: a dispatcher can't speak for its predecessor. */
static int bear_dispatcher(struct pl_team *team)
{
	struct pl_birth birth = team->birth;
	char name[16], role[96];
	struct pl_child child = {.name = name,
		.role = role,
		.birth = &team->birth,
		.run = run_dispatcher,
		.context = &birth,
		.n_keep = 4,
		.keep = {&birth.plan_fd, &birth.listing_fd, &birth.arena_fd, &birth.control_fd}};
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	snprintf(name, sizeof(name), "pl:disp %.7s", birth.name);
	snprintf(role, sizeof(role), "dispatcher %s", birth.name);
	birth.control_fd = pair[1];
	r = pl_supervisor_fork(team->supervisor, &child);
	close(pair[1]);
	team->control = pair[0];
	if (r < 0)
		return r;
	team->dispatcher = r;
	atomic_store(&team->birth.progress->dispatcher_pid, (uint32_t)r);
	r = sd_event_add_child(team->supervisor->loop, &team->child, team->dispatcher, WEXITED,
		on_dispatcher_exit, team);
	if (r >= 0)
		r = sd_event_add_io(team->supervisor->loop, &team->io, team->control, EPOLLIN,
			on_control, team);
	if (r < 0) {
		pl_supervisor_drop(&team->child);
		pl_supervisor_bury(team->supervisor, team->dispatcher);
		team->dispatcher = 0;
	}
	return r < 0 ? r : 0;
}

static int seats_make(struct pl_team *team)
{
	team->n_workers = team->birth.n_workers;
	team->worker = calloc(team->n_workers, sizeof(*team->worker));
	if (!team->worker)
		return -ENOMEM;
	for (uint32_t i = 0; i < team->n_workers; i++)
		team->worker[i] = (struct pl_member){.team = team, .number = i};
	return 0;
}

int pl_team_bear(
	struct pl_team *team, struct pl_instance *instance, uint64_t number, struct pl_err *err)
{
	int r;

	*team = (struct pl_team){.instance = instance,
		.supervisor = instance->supervisor,
		.control = -1,
		.is_born = true};
	team->birth = (struct pl_birth){.number = number,
		.plan_fd = instance->plan_fd,
		.listing_fd = instance->listing_fd,
		.control_fd = -1,
		.arena_fd = -1};
	snprintf(team->birth.name, sizeof(team->birth.name), "%s", instance->card->name);
	r = pl_birth_init(&team->birth, instance->card, err);
	if (r == 0)
		r = seats_make(team);
	if (r == 0) {
		r = bear_dispatcher(team);
		if (r < 0)
			pl_err_set(err, r, "the dispatcher can't be started: %s", strerror(-r));
	}
	if (r == 0) {
		pl_log(PL_LOG_INFO,
			"pipeline=%s birth=%llu dispatcher pid=%d workers=%u arena_bytes=%llu",
			team->birth.name, (unsigned long long)number, (int)team->dispatcher,
			team->n_workers, (unsigned long long)team->birth.arena_bytes);
		return 0;
	}
	pl_team_finish(team);
	return r;
}

bool pl_team_is_reaped(const struct pl_team *team)
{
	for (uint32_t i = 0; i < team->n_workers; i++)
		if (team->worker[i].pid)
			return false;
	return team->dispatcher == 0;
}

void pl_team_finish(struct pl_team *team)
{
	if (!team || !team->is_born)
		return;
	for (uint32_t i = 0; i < team->n_workers; i++) {
		pl_supervisor_drop(&team->worker[i].child);
		pl_supervisor_drop(&team->worker[i].rebirth);
		pl_supervisor_drop(&team->worker[i].reaping);
	}
	pl_supervisor_drop(&team->child);
	pl_supervisor_drop(&team->io);
	pl_supervisor_drop(&team->deadline);
	pl_supervisor_drop(&team->suspicion);
	pl_supervisor_drop(&team->crowded);
	pl_closep(&team->control);
	team->control = -1;
	free(team->queue);
	free(team->worker);
	team->queue = NULL;
	team->worker = NULL;
	team->n_workers = 0;
	team->n_clients = 0;
	team->pong = team->ping; /* nobody is left to answer */
	team->n_queued = team->queue_room = 0;
	pl_birth_finish(&team->birth);
	team->is_born = false;
}
