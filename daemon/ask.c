/* daemon/ask.c - questions to the supervisor itself. */
#include "daemon/ask.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/graph.h"
#include "daemon/status.h"
#include "daemon/sys/log.h"

struct question {
	const char *what;
	bool is_for_owner; /* root and the daemon's own user only */
	void (*answer)(struct pl_visitor *v, const struct pl_wire_ask *ask);
};

static void answer_status(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	pl_visitor_answer(v, 0, 0, pl_status_json(v->supervisor, &v->peer, ask->pipeline));
}

static struct pl_pipeline *only_one(const struct pl_supervisor *s)
{
	return s->pipelines && !s->pipelines->next ? s->pipelines : NULL;
}

static void answer_graph(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	struct pl_pipeline *p = *ask->pipeline ? pl_pipeline_find(v->supervisor, ask->pipeline)
					       : only_one(v->supervisor);

	if (!p)
		pl_visitor_error(v, -ENOENT, 64,
			*ask->pipeline ? "no pipeline of that name is configured here"
				       : "which pipeline's graph?");
	else if (!pl_pipeline_allows(p, &v->peer))
		pl_visitor_error(v, -EACCES, 1, "this user may not see that pipeline");
	else
		pl_graph_draw(v, p, ask->format);
}

/* Errors of every pipeline that the peer may open. True: there were some. */
static bool write_errors(FILE *out, const struct pl_supervisor *s, const struct pl_peer *peer)
{
	bool some = false;

	for (const struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		const struct pl_instance *i = p->now;

		if (p->is_gone || !pl_pipeline_allows(p, peer))
			continue;
		if (i->state == PL_INSTANCE_FAILED)
			fprintf(out, "%s: failed:\n%s\n", p->name,
				i->reason ? i->reason : "out of memory");
		if (p->refused)
			fprintf(out, "%s: reload refused, the old file goes on:\n%s\n", p->name,
				p->refused);
		if (i->team.is_born && atomic_load(&i->team.birth.progress->bad))
			fprintf(out, "%s: %llu bad samples in birth %llu\n", p->name,
				(unsigned long long)atomic_load(&i->team.birth.progress->bad),
				(unsigned long long)i->team.birth.number);
		some |= i->state == PL_INSTANCE_FAILED || p->refused ||
			(i->team.is_born && atomic_load(&i->team.birth.progress->bad));
	}
	return some;
}

static char *errors_text(const struct pl_supervisor *s, const struct pl_peer *peer, bool *some)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return NULL;
	*some = write_errors(out, s, peer);
	if (!*some)
		fputs("none recorded\n", out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void answer_errors(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	bool some;

	pl_visitor_answer(v, 0, 0, errors_text(v->supervisor, &v->peer, &some));
}

static void answer_reload(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	pl_visitor_keep(v, PL_VISITOR_RELOADS);
	pl_supervisor_reload(v->supervisor);
}

static void answer_stop(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	pl_log(PL_LOG_INFO, "uid=%u pid=%u asked to stop", v->peer.uid, v->peer.pid);
	pl_visitor_answer(v, 0, 0, strdup("stopping\n"));
	pl_supervisor_stop(v->supervisor);
}

/* `pipeloaderctl run` gives a job daemon a life of its own: it lives at least as long as this
 * connection. */
static void answer_hold(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	pl_visitor_keep(v, PL_VISITOR_HOLDS);
	v->supervisor->was_visited = true;
}

void pl_ask_hear(struct pl_visitor *v, const struct pl_wire_ask *ask)
{
	static const struct question questions[] = {
		{"status", false, answer_status},
		{"graph", false, answer_graph},
		{"errors", false, answer_errors},
		{"reload", true, answer_reload},
		{"stop", true, answer_stop},
		{"hold", true, answer_hold},
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(questions); i++) {
		const struct question *q = &questions[i];

		if (strcmp(ask->what, q->what) != 0)
			continue;
		if (q->is_for_owner && v->peer.uid != 0 && v->peer.uid != v->supervisor->uid)
			pl_visitor_error(
				v, -EACCES, 1, "only root and the daemon's own user may ask this");
		else
			q->answer(v, ask);
		return;
	}
	pl_visitor_error(
		v, -EINVAL, 64, "a question is one of: status, graph, errors, reload, stop, hold");
}

void pl_ask_reloaded(struct pl_supervisor *s)
{
	for (struct pl_visitor *v = s->visitors; v; v = v->next) {
		bool some = false;
		char *text;

		if (v->state != PL_VISITOR_RELOADS)
			continue;
		text = errors_text(s, &v->peer, &some);
		pl_visitor_answer(v, some ? -EINVAL : 0, some ? 78 : 0, text);
	}
}

void pl_ask_finish(struct pl_supervisor *s)
{
	pl_graph_finish(s);
}
