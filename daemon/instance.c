/* daemon/instance.c - one plan and listing of a pipeline, and what is alive of it. */
#include "daemon/instance.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-event.h>

#include "daemon/member.h"
#include "daemon/pipeline.h"
#include "daemon/sys/log.h"

static int run_probe(void *context)
{
	return pl_probe_run(context);
}

static int refuse_probe(void *context, const char *text)
{
	const struct pl_probe_order *order = context;
	struct pl_probe_result head = {.exit_status = 78};

	return pl_task_answer(order->out, &head, text, -1) < 0 ? 1 : 0;
}

static int refuse_lister(void *context, const char *text)
{
	const struct pl_lister_order *order = context;
	struct pl_probe_result head = {.exit_status = 78};

	return pl_task_answer(order->out, &head, text, -1) < 0 ? 1 : 0;
}

static int run_lister(void *context)
{
	return pl_lister_run(context);
}

const char *pl_instance_state_name(enum pl_instance_state state)
{
	static const char *const names[] = {
		[PL_INSTANCE_PROBING] = "probing",
		[PL_INSTANCE_IDLE] = "idle",
		[PL_INSTANCE_LISTING] = "listing",
		[PL_INSTANCE_BORN] = "starting",
		[PL_INSTANCE_RUNNING] = "running",
		[PL_INSTANCE_STOPPING] = "stopping",
		[PL_INSTANCE_FAILED] = "failed",
	};

	return names[state];
}

struct pl_instance *pl_instance_create(struct pl_pipeline *pipeline)
{
	struct pl_instance *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->pipeline = pipeline;
	i->supervisor = pipeline->supervisor;
	i->plan_fd = i->listing_fd = -1;
	i->task = (struct pl_task){.socket = -1, .fd = -1};
	i->team.control = -1;
	return i;
}

void pl_instance_destroy(struct pl_instance *i)
{
	if (!i)
		return;
	pl_task_cancel(&i->task);
	pl_team_finish(&i->team);
	pl_supervisor_drop(&i->idle);
	pl_supervisor_drop(&i->rebirth);
	pl_closep(&i->plan_fd);
	pl_closep(&i->listing_fd);
	free(i->card);
	free(i->reason);
	free(i);
}

void pl_instance_fail(struct pl_instance *i, int exit_status, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	free(i->reason);
	i->reason = text;
	i->exit_status = exit_status;
	i->state = PL_INSTANCE_FAILED;
}

static void log_lines(enum pl_log_level level, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		pl_log(level, "%.*s", (int)pl_min_u64(n, 2048), text);
		text += n + (text[n] == '\n');
	}
}

/* The card comes from a child that read a user's file: what is used as a size or an index is
 * checked here. */
static int card_take(struct pl_instance *i, int fd, struct pl_err *err)
{
	struct pl_plan_card *card = calloc(1, sizeof(*card));
	int r = card ? pl_plan_card_read(card, fd, err) : -ENOMEM;

	if (r == 0 &&
		(card->n_workers < 1 || card->n_workers > PL_PROGRESS_WORKERS || card->memory <= 0))
		r = pl_err_set(err, -EPROTO, "a plan with %lld workers and %lld bytes of memory",
			(long long)card->n_workers, (long long)card->memory);
	if (r < 0) {
		free(card);
		return r;
	}
	card->name[sizeof(card->name) - 1] = '\0';
	card->file[sizeof(card->file) - 1] = '\0';
	i->card = card;
	return 0;
}

static void on_probed(struct pl_task *task, void *context)
{
	struct pl_instance *i = context;
	struct pl_err err = {0};
	int status = task->head.exit_status;

	if (status == 0 && task->fd >= 0 && card_take(i, task->fd, &err) == 0) {
		i->plan_fd = pl_steal_fd(&task->fd);
		i->allow = task->head.allow;
		i->state = PL_INSTANCE_IDLE;
		log_lines(PL_LOG_WARNING, task->text);
	} else {
		pl_instance_fail(i, status ? status : 1, "%s",
			err.code     ? err.text
			: task->text ? task->text
				     : "");
		log_lines(PL_LOG_ERROR, i->reason ? i->reason : "out of memory");
	}
	pl_pipeline_probed(i->pipeline, i);
}

void pl_instance_probe(struct pl_instance *i)
{
	const struct pl_supervisor_options *options = i->supervisor->options;
	struct pl_probe_order order = {.path = i->pipeline->file,
		.settings = options->settings,
		.n_settings = options->n_settings};
	struct pl_child child = {.name = "pl:probe",
		.role = "probe",
		.run = run_probe,
		.refuse = refuse_probe,
		.context = &order,
		.n_keep = 1,
		.keep = {&order.out}};
	int r;

	i->task = (struct pl_task){.supervisor = i->supervisor,
		.what = "check of the pipeline file",
		.timeout_ms = i->supervisor->probe_timeout_ms,
		.done = on_probed,
		.context = i,
		.socket = -1,
		.fd = -1};
	r = pl_task_start(&i->task, &child, &order.out);
	if (r == 0)
		return;
	pl_instance_fail(
		i, 1, "%s: the check can't be started: %s", i->pipeline->file, strerror(-r));
	pl_pipeline_probed(i->pipeline, i);
}

static int on_rebirth(sd_event_source *source, uint64_t now, void *context);

/* A birth that could not be, or ended without a batch handed out: again, later and later, then
 * never. */
static void bear_again(struct pl_instance *i, const char *reason)
{
	i->state = PL_INSTANCE_BORN;
	if (i->n_barren >= PL_BIRTHS_MAX) {
		pl_instance_fail(i, 1,
			"pipeline '%s' failed %d times in a row without a batch handed out, the "
			"last time: %s",
			i->pipeline->name, i->n_barren, reason);
		log_lines(PL_LOG_ERROR, i->reason ? i->reason : "out of memory");
		return;
	}
	if (pl_supervisor_after(
		    i->supervisor, &i->rebirth, pl_backoff_ms(i->n_barren), on_rebirth, i) < 0)
		pl_instance_fail(i, 1, "out of memory for a timer");
}

/* 0, or -ENOMEM with the instance back in IDLE and err saying what is missing. */
static int budget_check(const struct pl_instance *i, struct pl_err *err)
{
	uint64_t most = i->supervisor->memory_max;
	uint64_t used = pl_supervisor_arena_bytes(i->supervisor);
	uint64_t need = (uint64_t)i->card->memory;

	if (most == 0 || (used <= most && need <= most - used))
		return 0;
	return pl_err_set(err, -ENOMEM,
		"pipeline '%s' needs %llu MiB (memory: in %s), but of the daemon's memory_max of "
		"%llu MiB other pipelines hold "
		"%llu MiB",
		i->pipeline->name, (unsigned long long)need >> 20, i->pipeline->file,
		(unsigned long long)most >> 20, (unsigned long long)used >> 20);
}

static void bear(struct pl_instance *i)
{
	struct pl_err err = {0};
	int r;

	i->wants_birth = false;
	i->is_idle = false;
	i->idle_ping = 0;
	r = budget_check(i, &err);
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "%s", err.text);
		i->state = PL_INSTANCE_IDLE;
		pl_pipeline_refuse(i->pipeline, r, err.text);
		return;
	}
	i->state = PL_INSTANCE_BORN;
	r = pl_team_bear(&i->team, i, ++i->pipeline->n_births, &err);
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "pipeline=%s birth=%llu %s", i->pipeline->name,
			(unsigned long long)i->pipeline->n_births, err.text);
		i->n_barren++;
		bear_again(i, err.text);
	}
}

static int on_rebirth(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_instance *i = context;

	pl_supervisor_drop(&i->rebirth);
	if (!i->is_retired && !i->supervisor->is_stopping)
		bear(i);
	return 0;
}

static void on_listed(struct pl_task *task, void *context)
{
	struct pl_instance *i = context;

	if (task->head.exit_status == 0 && task->fd >= 0) {
		i->listing_fd = pl_steal_fd(&task->fd);
		i->state = PL_INSTANCE_IDLE;
		pl_log(PL_LOG_INFO, "pipeline=%s listed ms=%llu", i->pipeline->name,
			(unsigned long long)(pl_now_ns() - task->started_ns) / 1000000);
		log_lines(PL_LOG_WARNING, task->text);
	} else {
		pl_instance_fail(i, task->head.exit_status ? task->head.exit_status : 1, "%s",
			task->text ? task->text : "");
		log_lines(PL_LOG_ERROR, i->reason ? i->reason : "out of memory");
	}
	pl_pipeline_listed(i->pipeline, i);
	if (i->wants_birth && i->state == PL_INSTANCE_IDLE && !i->is_retired)
		bear(i);
}

void pl_instance_list(struct pl_instance *i)
{
	struct pl_lister_order order = {.plan_fd = i->plan_fd};
	char role[96];
	struct pl_child child = {.name = "pl:list",
		.role = role,
		.nice = (int)i->card->nice,
		.run = run_lister,
		.refuse = refuse_lister,
		.context = &order,
		.n_keep = 2,
		.keep = {&order.out, &order.plan_fd}};
	int r;

	if (i->state != PL_INSTANCE_IDLE)
		return;
	i->state = PL_INSTANCE_LISTING;
	i->task = (struct pl_task){.supervisor = i->supervisor,
		.what = "listing of the source",
		.timeout_ms = i->supervisor->list_timeout_ms,
		.done = on_listed,
		.context = i,
		.socket = -1,
		.fd = -1};
	snprintf(role, sizeof(role), "lister %s", i->card->name);
	r = pl_task_start(&i->task, &child, &order.out);
	if (r < 0)
		pl_instance_fail(i, 1, "%s: the listing can't be started: %s", i->pipeline->file,
			strerror(-r));
}

void pl_instance_want(struct pl_instance *i)
{
	if (i->is_retired || i->supervisor->is_stopping)
		return;
	if (i->state == PL_INSTANCE_LISTING)
		i->wants_birth = true;
	if (i->state != PL_INSTANCE_IDLE || i->team.is_born)
		return;
	i->wants_birth = true;
	if (i->listing_fd >= 0)
		bear(i);
	else
		pl_instance_list(i);
}

void pl_instance_stop(struct pl_instance *i)
{
	pl_task_cancel(&i->task);
	pl_supervisor_drop(&i->idle);
	pl_supervisor_drop(&i->rebirth);
	i->wants_birth = false;
	if (i->team.is_born) {
		if (i->state != PL_INSTANCE_FAILED)
			i->state = PL_INSTANCE_STOPPING;
		pl_team_stop(&i->team);
	} else if (i->state != PL_INSTANCE_FAILED && i->state != PL_INSTANCE_PROBING) {
		i->state = PL_INSTANCE_IDLE;
	}
}

void pl_instance_retire(struct pl_instance *i)
{
	i->is_retired = true;
	if (i->team.is_born && i->team.is_ready && i->team.end == PL_TEAM_LIVES)
		pl_team_renew(&i->team);
	else
		pl_instance_stop(i);
}

void pl_instance_confirm_idle(struct pl_instance *i)
{
	if (i->idle_ping || i->is_idle || i->state != PL_INSTANCE_RUNNING)
		return;
	i->idle_given = i->team.n_given;
	i->idle_ping = pl_team_ask(&i->team);
}

static int on_idle(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_instance *i = context;

	pl_supervisor_drop(&i->idle);
	pl_instance_confirm_idle(i);
	return 0;
}

void pl_instance_ready(struct pl_instance *i)
{
	if (i->state == PL_INSTANCE_BORN)
		i->state = PL_INSTANCE_RUNNING;
	pl_log(PL_LOG_INFO, "pipeline=%s birth=%llu ready", i->pipeline->name,
		(unsigned long long)i->team.birth.number);
	if (i->is_retired)
		pl_team_renew(&i->team);
}

/* A job daemon ends as a whole (`linger`): there no pipeline stops on its own. */
void pl_instance_clients(struct pl_instance *i)
{
	uint64_t ms = (uint64_t)i->card->idle_timeout_ns / 1000000;

	i->is_idle = false;
	if (i->team.n_clients > 0)
		pl_supervisor_drop(&i->idle);
	else if (!i->idle && i->card->idle_timeout_ns > 0 && !i->supervisor->options->is_job)
		(void)!pl_supervisor_after(i->supervisor, &i->idle, ms, on_idle, i);
}

/*
 * Every connection given away was asked about with a ping behind it, so a pong tells that all given
 * before it were seen, and that the count of clients, which came before the pong, holds.
 */
void pl_instance_ponged(struct pl_instance *i)
{
	if (i->idle_ping && i->team.pong >= i->idle_ping) {
		i->idle_ping = 0;
		i->is_idle = i->team.n_clients == 0 && i->team.n_given == i->idle_given;
	}
	if (!i->is_idle && i->team.pong == i->team.ping && i->team.n_clients == 0 &&
		i->team.n_given > 0)
		pl_instance_clients(i);
}

static void after_death(struct pl_instance *i, enum pl_team_end end, const char *reason)
{
	if (i->state == PL_INSTANCE_FAILED)
		return;
	if (end == PL_TEAM_STOPPED || i->supervisor->is_stopping) {
		i->state = PL_INSTANCE_IDLE;
		i->n_barren = 0;
	} else if (end == PL_TEAM_FAILED) {
		pl_instance_fail(i, 1, "pipeline '%s': %s", i->pipeline->name, reason);
		log_lines(PL_LOG_ERROR, i->reason ? i->reason : "out of memory");
	} else {
		bear_again(i, reason);
	}
}

void pl_instance_settle(struct pl_instance *i)
{
	struct pl_team *team = &i->team;

	if (team->is_born && team->end != PL_TEAM_LIVES && pl_team_is_reaped(team)) {
		enum pl_team_end end = team->end;
		char reason[sizeof(team->reason)];

		memcpy(reason, team->reason, sizeof(reason));
		i->idle_ping = 0;
		i->is_idle = false;
		i->n_barren = team->has_handed ? 0 : i->n_barren + 1;
		pl_supervisor_drop(&i->idle);
		pl_retired_add(&i->pipeline->arenas, team->birth.arena_bytes, &team->guests);
		pl_team_finish(team);
		after_death(i, end, reason);
	}
	if (i->is_idle && !i->supervisor->options->is_job && i->state == PL_INSTANCE_RUNNING) {
		pl_log(PL_LOG_INFO, "pipeline=%s idle: stops", i->pipeline->name);
		pl_instance_stop(i);
	}
	i->is_over = i->is_retired && !team->is_born && i->task.pid == 0;
}
