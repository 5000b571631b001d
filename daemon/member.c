/* daemon/member.c - a worker's place in its team. */
#include "daemon/member.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>

#include "daemon/exit.h"
#include "daemon/instance.h"
#include "daemon/sys/log.h"

#define STUCK_MAX                                                                                  \
	10 /* deaths on one record: twice as many as the dispatcher needs to leave it alone */

struct start {
	struct pl_birth birth;
	uint32_t worker;
	uint32_t generation;
};

static int run_worker(void *context)
{
	const struct start *start = context;

	return pl_worker_run(&start->birth, start->worker, start->generation);
}

uint64_t pl_backoff_ms(int n_barren)
{
	static const uint64_t ms[] = {0, 100, 1000, 5000};

	return ms[pl_min_u64((uint64_t)(n_barren > 1 ? n_barren - 1 : 0), PL_ARRAY_LEN(ms) - 1)];
}

static struct pl_progress_worker *page_of(const struct pl_member *m)
{
	return &m->team->birth.progress->worker[m->number];
}

static void tell(const struct pl_member *m, enum pl_control_kind kind, pid_t pid, int32_t status)
{
	struct pl_control c = {.kind = kind,
		.worker = m->number,
		.generation = m->generation,
		.pid = (uint32_t)pid,
		.status = status,
		.shard = atomic_load(&page_of(m)->shard),
		.record = atomic_load(&page_of(m)->record)};

	pl_team_post(m->team, &c);
}

/* " in step 'decode_image', record 1234", or nothing when it was between samples. */
static void describe_place(const struct pl_member *m, char *out, size_t n)
{
	const struct pl_plan_card *card = m->team->instance->card;
	uint64_t record = atomic_load(&page_of(m)->record);
	uint32_t step = atomic_load(&page_of(m)->step);
	int at;

	out[0] = '\0';
	if (record == PL_PROGRESS_IDLE)
		return;
	at = snprintf(out, n, ", at record %llu", (unsigned long long)record);
	if (step < card->n_steps && step < PL_STEPS_MAX)
		snprintf(out + at, n - (size_t)at, ", step '%s'", card->step_name[step]);
}

static int on_rebirth(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_member *m = context;

	pl_supervisor_drop(&m->rebirth);
	pl_member_bear(m);
	return 0;
}

static void bear_later(struct pl_member *m)
{
	uint64_t ms = pl_backoff_ms(m->n_barren);

	if (ms == 0)
		pl_member_bear(m);
	else if (pl_supervisor_after(m->team->supervisor, &m->rebirth, ms, on_rebirth, m) < 0)
		pl_team_kill(
			m->team, PL_TEAM_DIED, "worker %u: out of memory for a timer", m->number);
}

/* CLD_* and a number back to what waitpid says, for the dispatcher judges who is to blame by it. */
static int32_t wait_status(const siginfo_t *how)
{
	if (how->si_code == CLD_EXITED)
		return (how->si_status & 0xff) << 8;
	return how->si_status | (how->si_code == CLD_DUMPED ? 0x80 : 0);
}

static void give_up(struct pl_member *m, const char *text, const char *place)
{
	pl_team_kill(m->team, PL_TEAM_FAILED,
		"worker %u died %d times in a row without finishing a sample, the last time: %s%s",
		m->number, m->n_barren ? m->n_barren : m->n_stuck, text, place);
}

/*
 * A death with a record in hand is that record's affair: the dispatcher leaves it alone after two
 * (or five) of them, and the pipeline goes on. Only generations that don't even begin, or a record
 * that isn't left alone, are given up.
 */
static void count_death(struct pl_member *m)
{
	uint64_t record = atomic_load(&page_of(m)->record);

	m->n_stuck = record != PL_PROGRESS_IDLE && record == m->stuck_at ? m->n_stuck + 1 : 1;
	m->stuck_at = record;
	if (record != PL_PROGRESS_IDLE || atomic_load(&page_of(m)->samples) != m->samples_before)
		m->n_barren = 0;
	else
		m->n_barren++;
}

static int on_worker_exit(sd_event_source *source, const siginfo_t *how, void *context)
{
	struct pl_member *m = context;
	struct pl_team *team = m->team;
	bool is_expected = team->is_killed || team->end != PL_TEAM_LIVES || team->dispatcher == 0;
	char text[96], place[128];
	pid_t pid = m->pid;

	pl_exit_describe(text, sizeof(text), how);
	describe_place(m, place, sizeof(place));
	m->pid = 0;
	team->supervisor->n_children--;
	pl_supervisor_drop(&m->child);
	pl_supervisor_drop(&m->reaping);
	count_death(m);
	tell(m, PL_CONTROL_REAPED, pid, wait_status(how));
	if (is_expected)
		return 0;
	pl_log(PL_LOG_WARNING, "pipeline=%s birth=%llu worker=%u generation=%u pid=%d %s%s",
		team->birth.name, (unsigned long long)team->birth.number, m->number, m->generation,
		(int)pid, text, place);
	if (m->n_barren >= PL_GENERATIONS_MAX || m->n_stuck >= STUCK_MAX)
		give_up(m, text, place);
	else
		bear_later(m);
	return 0;
}

static pid_t fork_worker(struct pl_member *m)
{
	struct pl_team *team = m->team;
	struct start start = {
		.birth = team->birth, .worker = m->number, .generation = m->generation};
	char name[16], role[96];
	struct pl_child child = {.name = name,
		.role = role,
		.nice = (int)team->instance->card->nice,
		.birth = &team->birth,
		.run = run_worker,
		.context = &start,
		.n_keep = 2,
		.keep = {&start.birth.plan_fd, &start.birth.listing_fd}};

	start.birth.arena_fd = start.birth.control_fd = -1;
	snprintf(name, sizeof(name), "pl:work%u %s", m->number, team->birth.name);
	snprintf(role, sizeof(role), "worker %s/%u", team->birth.name, m->number);
	return pl_supervisor_fork(team->supervisor, &child);
}

static int on_reaping(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_member *m = context;
	char where[160];

	pl_supervisor_drop(&m->reaping);
	pl_exit_where(where, sizeof(where), m->pid);
	pl_team_kill(m->team, PL_TEAM_FAILED, "worker %u, pid %d, was killed and does not die: %s",
		m->number, (int)m->pid, where);
	return 0;
}

void pl_member_replace(struct pl_member *m)
{
	kill(m->pid, SIGKILL);
	if (!m->reaping)
		(void)!pl_supervisor_after(
			m->team->supervisor, &m->reaping, PL_REAP_MS, on_reaping, m);
}

void pl_member_bear(struct pl_member *m)
{
	struct pl_team *team = m->team;
	struct pl_progress_worker *page = page_of(m);
	int r;

	m->generation++;
	m->samples_before = atomic_load(&page->samples);
	atomic_store(&page->shard, PL_PROGRESS_IDLE);
	atomic_store(&page->record, PL_PROGRESS_IDLE);
	atomic_store(&page->generation, m->generation);
	r = fork_worker(m);
	if (r < 0) {
		pl_log(PL_LOG_ERROR, "pipeline=%s worker=%u errno=%d: can't be forked",
			team->birth.name, m->number, -r);
		if (++m->n_barren >= PL_GENERATIONS_MAX)
			give_up(m, strerror(-r), "");
		else
			bear_later(m);
		return;
	}
	m->pid = r;
	atomic_store(&page->pid, (uint32_t)r);
	tell(m, PL_CONTROL_BORN, m->pid, 0);
	r = sd_event_add_child(
		team->supervisor->loop, &m->child, m->pid, WEXITED, on_worker_exit, m);
	if (r < 0) {
		pl_supervisor_bury(team->supervisor, m->pid);
		m->pid = 0;
		pl_team_kill(team, PL_TEAM_DIED, "worker %u can't be watched: %s", m->number,
			strerror(-r));
	}
}

void pl_member_kill(struct pl_member *m)
{
	pl_supervisor_drop(&m->rebirth);
	pl_supervisor_drop(&m->reaping);
	if (m->pid)
		kill(m->pid, SIGKILL);
}
