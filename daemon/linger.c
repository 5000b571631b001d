/* daemon/linger.c - when a job's daemon ends. */
#include "daemon/linger.h"

#include <errno.h>
#include <systemd/sd-event.h>

#include "daemon/listen.h"
#include "daemon/pipeline.h"

#define LINGER_MS 10000

static uint64_t linger_from_environment(void)
{
	const char *text = getenv("PIPELOADER_LINGER_MS");
	char *end;
	unsigned long ms;

	if (!text || *text < '0' || *text > '9')
		return LINGER_MS;
	errno = 0;
	ms = strtoul(text, &end, 10);
	return *end || errno || ms > 86400000 ? LINGER_MS : ms;
}

void pl_linger_init(struct pl_supervisor *s)
{
	s->linger_ms = linger_from_environment();
	s->first_linger_ms = pl_max_u64(s->linger_ms, LINGER_MS);
}

static bool is_deserted(const struct pl_supervisor *s)
{
	if (s->visitors)
		return false;
	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		if (p->now->team.n_clients || p->now->team.ping != p->now->team.pong)
			return false;
		for (const struct pl_instance *i = p->retired; i; i = i->next)
			if (i->team.is_born && i->team.n_clients)
				return false;
	}
	return true;
}

static int on_linger(sd_event_source *source, uint64_t now, void *context)
{
	struct pl_supervisor *s = context;

	s->has_lingered = true;
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next)
		pl_instance_confirm_idle(p->now);
	return 0;
}

/* Every running pipeline has proved that nobody is its client, or on the way to it. */
static bool is_proved_idle(const struct pl_supervisor *s)
{
	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next)
		if (p->now->state == PL_INSTANCE_RUNNING && !p->now->is_idle)
			return false;
	return true;
}

static bool is_being_proved(const struct pl_supervisor *s)
{
	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next)
		if (p->now->idle_ping)
			return true;
	return false;
}

/* A job's daemon ends `linger` after its last client, once it is proved that nobody is on the way.
 */
void pl_linger_settle(struct pl_supervisor *s)
{
	if (s->has_lingered && is_being_proved(s))
		return;
	if (s->has_lingered) {
		s->has_lingered = false;
		pl_supervisor_drop(&s->linger);
		if (is_proved_idle(s) && is_deserted(s) && pl_listen_leave(s)) {
			pl_supervisor_stop(s);
			return;
		}
	}
	if (!is_deserted(s))
		pl_supervisor_drop(&s->linger);
	else if (!s->linger &&
		 pl_supervisor_after(s, &s->linger,
			 s->was_visited ? s->linger_ms : s->first_linger_ms, on_linger, s) < 0)
		pl_supervisor_stop(s);
}
