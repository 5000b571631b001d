/* daemon/supervisor.c - the process that bears all others: its loop, its end, and the only fork. */
#include "daemon/kit/plugin.h"
#include "daemon/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "daemon/ask.h"
#include "daemon/born.h"
#include "daemon/linger.h"
#include "daemon/listen.h"
#include "daemon/pipeline.h"
#include "daemon/roster.h"
#include "daemon/sys/log.h"
#include "daemon/sys/notify.h"

#define PROBE_MS 60000
#define LIST_MS  3600000

int pl_supervisor_after(struct pl_supervisor *s, struct sd_event_source **source, uint64_t ms,
	int (*callback)(sd_event_source *, uint64_t, void *), void *context)
{
	int r;

	pl_supervisor_drop(source);
	r = sd_event_add_time_relative(
		s->loop, source, CLOCK_MONOTONIC, ms * 1000, 1000, callback, context);
	return r < 0 ? r : 0;
}

void pl_supervisor_drop(struct sd_event_source **source)
{
	*source = sd_event_source_disable_unref(*source);
}

_Noreturn static void be_child(struct pl_supervisor *s, const struct pl_child *child)
{
	struct pl_err err = {0};
	int r = pl_born(child, (pid_t)s->pid, s->options->is_job);

	if (r < 0)
		_exit(1);
	r = pl_plugins_load(&s->options->plugins, &err);
	if (r == 0)
		_exit(child->run(child->context));
	if (child->refuse)
		_exit(child->refuse(child->context, err.text));
	pl_log(PL_LOG_ERROR, "can't start error=\"%s\"", err.text);
	_exit(1);
}

pid_t pl_supervisor_fork(struct pl_supervisor *s, const struct pl_child *child)
{
	pid_t pid;
	int r = child->birth ? pl_birth_show(child->birth) : 0;

	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0)
		be_child(s, child);
	r = pid < 0 ? -errno : 0;
	if (child->birth)
		pl_birth_hide(child->birth);
	if (r < 0)
		return r;
	s->n_children++;
	return pid;
}

void pl_supervisor_bury(struct pl_supervisor *s, pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->n_children--;
}

uint64_t pl_supervisor_arena_bytes(const struct pl_supervisor *s)
{
	uint64_t sum = 0, retired;

	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		pl_retired_count(&p->arenas, &retired);
		sum += retired + (p->now->team.is_born ? p->now->team.birth.arena_bytes : 0);
		for (const struct pl_instance *i = p->retired; i; i = i->next)
			sum += i->team.is_born ? i->team.birth.arena_bytes : 0;
	}
	return sum;
}

static int on_last_stop(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_supervisor *s = context;

	pl_log(PL_LOG_WARNING, "children=%d were left at the end", s->n_children);
	return sd_event_exit(s->loop, 0);
}

void pl_supervisor_stop(struct pl_supervisor *s)
{
	if (s->is_stopping)
		return;
	s->is_stopping = true;
	pl_notify_stopping();
	pl_log(PL_LOG_INFO, "stops");
	pl_listen_close(s);
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		pl_instance_stop(p->now);
		if (p->candidate)
			pl_instance_stop(p->candidate);
		for (struct pl_instance *i = p->retired; i; i = i->next)
			pl_instance_stop(i);
	}
	pl_ask_finish(s);
	if (pl_supervisor_after(s, &s->last_stop, PL_STOP_MS + PL_REAP_MS, on_last_stop, s) < 0)
		sd_event_exit(s->loop, 1);
}

static int on_stop_signal(
	sd_event_source *source, const struct signalfd_siginfo *signal, void *context)
{
	pl_supervisor_stop(context);
	return 0;
}

void pl_supervisor_reload(struct pl_supervisor *s)
{
	if (s->is_stopping || s->is_reloading || !s->is_checked)
		return;
	s->is_reloading = true;
	pl_notify_reloading();
	pl_log(PL_LOG_INFO, "reloads");
	pl_roster_read(s);
}

static int on_reload_signal(
	sd_event_source *source, const struct signalfd_siginfo *signal, void *context)
{
	pl_supervisor_reload(context);
	return 0;
}

static int on_watchdog(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_supervisor *s = context;

	pl_notify_watchdog();
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		pl_team_tick(&p->now->team);
		for (struct pl_instance *i = p->retired; i; i = i->next)
			pl_team_tick(&i->team);
	}
	return pl_supervisor_after(s, &s->watchdog, s->watchdog_us / 2000, on_watchdog, s);
}

/* Files are checked a few at a time; the rest waits in PROBING without a task. */
static bool probe_some(struct pl_supervisor *s)
{
	int n = 0, left = 0;

	for (struct pl_pipeline *p = s->pipelines; p; p = p->next)
		n += pl_pipeline_is_probing(p) &&
		     (p->candidate ? p->candidate : p->now)->task.pid > 0;
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		struct pl_instance *i = p->candidate ? p->candidate : p->now;

		if (pl_pipeline_is_probing(p) && i->task.pid == 0 && n < PL_PROBES_MAX) {
			pl_instance_probe(i);
			n++;
		}
		left += pl_pipeline_is_probing(p);
	}
	return left > 0;
}

/* Told when it changes, for a manager that shows it. */
static void tell_status(struct pl_supervisor *s)
{
	char text[sizeof(s->status)];
	int n = 0, n_running = 0, n_failed = 0, n_clients = 0;

	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		n++;
		n_running += p->now->state == PL_INSTANCE_RUNNING;
		n_failed += p->now->state == PL_INSTANCE_FAILED;
		n_clients += (int)p->now->team.n_clients;
	}
	snprintf(text, sizeof(text), "%d pipelines, %d running, %d failed, %d clients", n,
		n_running, n_failed, n_clients);
	if (strcmp(text, s->status) == 0)
		return;
	memcpy(s->status, text, sizeof(text));
	pl_notify_status("%s", text);
}

/* READY at the start and at the end of each reload. */
static void check_through(struct pl_supervisor *s)
{
	bool was_checked = s->is_checked;

	if (probe_some(s) || (was_checked && !s->is_reloading))
		return;
	s->is_checked = true;
	s->is_reloading = false;
	if (!was_checked && !s->options->is_job && pl_listen_start(s) < 0) {
		pl_log(PL_LOG_ERROR, "the socket can't be listened on");
		sd_event_exit(s->loop, 1);
	}
	pl_notify_ready();
	pl_ask_reloaded(s);
}

static void serve_visitors(struct pl_supervisor *s)
{
	for (struct pl_visitor *v = s->visitors; v; v = v->next)
		if (v->state == PL_VISITOR_WAITS)
			pl_pipeline_serve(v->pipeline, v);
	if (pl_visitor_sweep(s))
		pl_listen_resume(s);
}

static bool is_waited_for(const struct pl_supervisor *s, const struct pl_pipeline *p)
{
	for (const struct pl_visitor *v = s->visitors; v; v = v->next)
		if (v->pipeline == p)
			return true;
	return false;
}

static void settle_pipelines(struct pl_supervisor *s)
{
	for (struct pl_pipeline **at = &s->pipelines; *at;) {
		struct pl_pipeline *p = *at;

		if (!pl_pipeline_settle(p) || is_waited_for(s, p)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		pl_pipeline_destroy(p);
	}
}

static int on_turn_end(sd_event_source *source, void *context)
{
	struct pl_supervisor *s = context;

	settle_pipelines(s);
	if (!s->is_stopping) {
		check_through(s);
		serve_visitors(s);
		tell_status(s);
	} else {
		pl_visitor_sweep(s);
	}
	if (s->options->is_job && !s->is_stopping)
		pl_linger_settle(s);
	if (s->is_stopping && s->n_children == 0)
		return sd_event_exit(s->loop, 0);
	return 0;
}

static int on_first_turn(sd_event_source *source, void *context)
{
	return 0; /* only so that there is a turn's end */
}

static int watch_signals(struct pl_supervisor *s)
{
	static const int calm[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	sigset_t blocked;
	int r;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	for (size_t i = 0; i < PL_ARRAY_LEN(calm); i++) {
		if (s->options->is_job)
			signal(calm[i], SIG_IGN);
		else if (calm[i] != SIGUSR1 && calm[i] != SIGUSR2)
			sigaddset(&blocked, calm[i]);
	}
	if (sigprocmask(SIG_SETMASK, &blocked, NULL) < 0)
		return -errno;
	if (s->options->is_job)
		return 0;
	r = sd_event_add_signal(s->loop, NULL, SIGTERM, on_stop_signal, s);
	if (r >= 0)
		r = sd_event_add_signal(s->loop, NULL, SIGINT, on_stop_signal, s);
	if (r >= 0)
		r = sd_event_add_signal(s->loop, NULL, SIGHUP, on_reload_signal, s);
	return r < 0 ? r : 0;
}

static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == files.rlim_max)
		return;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		pl_log(PL_LOG_WARNING, "errno=%d: the limit of descriptors stays low", errno);
}

static int start_loop(struct pl_supervisor *s)
{
	sd_event_source *first = NULL, *turn = NULL;
	int r = sd_event_new(&s->loop);

	if (r >= 0)
		r = watch_signals(s);
	if (r >= 0)
		r = sd_event_add_post(s->loop, &turn, on_turn_end, s);
	if (r >= 0)
		r = sd_event_source_set_floating(turn, 1);
	if (r >= 0)
		r = sd_event_add_defer(s->loop, &first, on_first_turn, s);
	if (r >= 0)
		r = sd_event_source_set_floating(first, 1);
	sd_event_source_unref(turn);
	sd_event_source_unref(first);
	s->watchdog_us = pl_notify_watchdog_us();
	if (r >= 0 && s->watchdog_us)
		r = on_watchdog(NULL, 0, s);
	if (r >= 0 && s->options->is_job)
		r = pl_listen_start(s);
	return r < 0 ? r : 0;
}

static void supervisor_init(struct pl_supervisor *s, const struct pl_supervisor_options *options)
{
	*s = (struct pl_supervisor){.options = options, .listen_fd = -1, .lock_fd = -1};
	s->started_ns = pl_now_ns();
	s->pid = (uint32_t)getpid();
	s->uid = (uint32_t)getuid();
	s->probe_timeout_ms = PROBE_MS;
	s->list_timeout_ms = LIST_MS;
	pl_linger_init(s);
}

static void supervisor_finish(struct pl_supervisor *s)
{
	pl_listen_close(s);
	for (struct pl_visitor *v = s->visitors; v; v = v->next)
		pl_visitor_dismiss(v);
	pl_visitor_sweep(s);
	while (s->pipelines) {
		struct pl_pipeline *p = s->pipelines;

		s->pipelines = p->next;
		pl_pipeline_destroy(p);
	}
	pl_supervisor_drop(&s->watchdog);
	pl_supervisor_drop(&s->linger);
	pl_supervisor_drop(&s->last_stop);
	sd_event_unref(s->loop);
}

int pl_supervisor_run(const struct pl_supervisor_options *options)
{
	static struct pl_supervisor s; /* there is one */
	struct pl_err err = {0};
	int status = 1, r;

	supervisor_init(&s, options);
	raise_limits();
	r = pl_listen_open(&s, &err);
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "%s", err.code ? err.text : strerror(-r));
		supervisor_finish(&s);
		return r == -EINVAL ? 64 : 1;
	}
	if (!pl_roster_read(&s)) {
		supervisor_finish(&s);
		return 78;
	}
	pl_log(PL_LOG_INFO, "version=%s pid=%u starts", PL_VERSION, s.pid);
	r = start_loop(&s);
	if (r == 0)
		status = sd_event_loop(s.loop);
	supervisor_finish(&s);
	return status < 0 || r < 0 ? 1 : status;
}
