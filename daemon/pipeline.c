/* daemon/pipeline.c - a configured name, and the instances that serve it. */
#include "daemon/pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/sys/log.h"

/* "photos" of "/etc/pipeloaderd/pipelines/photos.yaml": what it is called until its plan says a
 * name. */
static void name_of_file(char *name, size_t n, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const char *dot = strrchr(base, '.');
	size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);

	snprintf(name, n, "%.*s", (int)pl_min_u64(length, n - 1), base);
}

struct pl_pipeline *pl_pipeline_create(struct pl_supervisor *s, const char *file)
{
	struct pl_pipeline *p = calloc(1, sizeof(*p)), **last = &s->pipelines;

	if (!p)
		return NULL;
	p->supervisor = s;
	p->file = strdup(file);
	p->now = pl_instance_create(p);
	if (!p->file || !p->now) {
		pl_pipeline_destroy(p);
		return NULL;
	}
	name_of_file(p->name, sizeof(p->name), file);
	while (*last)
		last = &(*last)->next;
	*last = p;
	return p;
}

void pl_pipeline_destroy(struct pl_pipeline *p)
{
	if (!p)
		return;
	pl_instance_destroy(p->now);
	pl_instance_destroy(p->candidate);
	while (p->retired) {
		struct pl_instance *i = p->retired;

		p->retired = i->next;
		pl_instance_destroy(i);
	}
	free(p->file);
	free(p->refused);
	free(p);
}

struct pl_pipeline *pl_pipeline_find(struct pl_supervisor *s, const char *name)
{
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next)
		if (!p->is_gone && (s->options->is_job || strcmp(p->name, name) == 0))
			return p;
	return NULL;
}

struct pl_pipeline *pl_pipeline_of_file(struct pl_supervisor *s, const char *file)
{
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next)
		if (!p->is_gone && strcmp(p->file, file) == 0)
			return p;
	return NULL;
}

bool pl_pipeline_allows(const struct pl_pipeline *p, const struct pl_peer *peer)
{
	return pl_allow_holds(&p->now->allow, peer, p->supervisor->uid);
}

static void retire(struct pl_pipeline *p, struct pl_instance *i)
{
	if (!i)
		return;
	i->next = p->retired;
	p->retired = i;
	pl_instance_retire(i);
}

static bool is_live(const struct pl_instance *i)
{
	return i->team.is_born || i->state == PL_INSTANCE_LISTING || i->state == PL_INSTANCE_BORN;
}

static void refuse_candidate(struct pl_pipeline *p, const char *text)
{
	free(p->refused);
	p->refused = strdup(text ? text : "out of memory");
	pl_log(PL_LOG_ERROR, "pipeline=%s reload refused: %s goes on as it was", p->name, p->name);
	retire(p, p->candidate);
	p->candidate = NULL;
}

/* New opens go to the candidate; the old instance serves its last streams. */
static void take_candidate(struct pl_pipeline *p)
{
	struct pl_instance *old = p->now;
	bool runs = is_live(old);

	p->now = p->candidate;
	p->candidate = NULL;
	free(p->refused);
	p->refused = NULL;
	retire(p, old);
	if (p->now->card)
		snprintf(p->name, sizeof(p->name), "%s", p->now->card->name);
	pl_log(PL_LOG_INFO, "pipeline=%s file=%s reloaded", p->name, p->file);
	if (p->now->card && (runs || p->now->card->starts_eagerly))
		pl_instance_want(p->now);
}

static bool has_taken_name(const struct pl_pipeline *p, const char *name, const char **by)
{
	for (const struct pl_pipeline *q = p->supervisor->pipelines; q; q = q->next) {
		if (q == p || q->is_gone || !q->now->card || strcmp(q->name, name) != 0)
			continue;
		*by = q->file;
		return true;
	}
	return false;
}

/* Plans are equal when their sealed bytes are: nothing in them is read here. */
static bool is_same_plan(const struct pl_instance *a, const struct pl_instance *b)
{
	struct stat sa, sb;
	void *ma, *mb;
	bool same;

	if (a->plan_fd < 0 || b->plan_fd < 0 || fstat(a->plan_fd, &sa) < 0 ||
		fstat(b->plan_fd, &sb) < 0 || sa.st_size != sb.st_size || sa.st_size == 0)
		return false;
	ma = mmap(NULL, (size_t)sa.st_size, PROT_READ, MAP_PRIVATE, a->plan_fd, 0);
	mb = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, b->plan_fd, 0);
	same = ma != MAP_FAILED && mb != MAP_FAILED && memcmp(ma, mb, (size_t)sa.st_size) == 0;
	if (ma != MAP_FAILED)
		munmap(ma, (size_t)sa.st_size);
	if (mb != MAP_FAILED)
		munmap(mb, (size_t)sb.st_size);
	return same;
}

static void first_probed(struct pl_pipeline *p, struct pl_instance *i)
{
	if (i->state == PL_INSTANCE_FAILED)
		return;
	snprintf(p->name, sizeof(p->name), "%s", i->card->name);
	pl_log(PL_LOG_INFO, "pipeline=%s file=%s checked workers=%lld%s", p->name, p->file,
		(long long)i->card->n_workers,
		i->card->is_sequential ? " (sequential: workers: none)" : "");
	if (i->card->starts_eagerly || p->supervisor->options->is_job)
		pl_instance_want(i);
}

static void candidate_probed(struct pl_pipeline *p, struct pl_instance *i)
{
	if (p->is_asked_anew && p->now->state != PL_INSTANCE_FAILED && is_same_plan(i, p->now)) {
		retire(p, i);
		p->candidate = NULL;
	} else if (p->is_asked_anew || p->now->state == PL_INSTANCE_FAILED) {
		take_candidate(
			p); /* nobody uses it: openers get the newest errors, or the newest plan */
	} else if (i->state == PL_INSTANCE_FAILED) {
		refuse_candidate(p, i->reason);
	} else if (is_live(p->now)) {
		free(p->refused);
		p->refused = NULL;
		pl_instance_list(i);
	} else {
		take_candidate(p);
	}
	p->is_asked_anew = false;
}

void pl_pipeline_probed(struct pl_pipeline *p, struct pl_instance *i)
{
	const char *by;

	if (i->state != PL_INSTANCE_FAILED && has_taken_name(p, i->card->name, &by)) {
		pl_instance_fail(i, 78, "%s: name: '%s' is already the name of %s", p->file,
			i->card->name, by);
		pl_log(PL_LOG_ERROR, "%s", i->reason ? i->reason : "out of memory");
	}
	if (i == p->now)
		first_probed(p, i);
	else if (i == p->candidate)
		candidate_probed(p, i);
}

void pl_pipeline_listed(struct pl_pipeline *p, struct pl_instance *i)
{
	if (i != p->candidate)
		return;
	if (i->state == PL_INSTANCE_FAILED)
		refuse_candidate(p, i->reason);
	else
		take_candidate(p);
}

void pl_pipeline_renew(struct pl_pipeline *p)
{
	if (p->candidate || p->now->state == PL_INSTANCE_PROBING)
		return;
	p->candidate = pl_instance_create(p);
	if (!p->candidate)
		pl_log(PL_LOG_ERROR, "pipeline=%s reload: out of memory", p->name);
}

/* A birth that never had a client is a reborn one: its clients are on their way back, and mean the
 * plan they had. */
static bool is_deserted(const struct pl_instance *i)
{
	const struct pl_team *team = &i->team;

	if (i->state == PL_INSTANCE_FAILED)
		return true;
	return i->state == PL_INSTANCE_RUNNING && team->n_given > 0 && team->n_clients == 0 &&
	       team->pong == team->ping;
}

void pl_pipeline_opened(struct pl_pipeline *p)
{
	if (!p->supervisor->options->is_job || p->candidate || !is_deserted(p->now))
		return;
	pl_pipeline_renew(p);
	p->is_asked_anew = p->candidate != NULL;
}

void pl_pipeline_remove(struct pl_pipeline *p)
{
	pl_log(PL_LOG_INFO, "pipeline=%s file=%s is no more", p->name, p->file);
	p->is_gone = true;
	if (p->candidate)
		retire(p, p->candidate);
	p->candidate = NULL;
	pl_instance_retire(p->now);
}

void pl_pipeline_refuse(struct pl_pipeline *p, int code, const char *text)
{
	for (struct pl_visitor *v = p->supervisor->visitors; v; v = v->next)
		if (v->state == PL_VISITOR_WAITS && v->pipeline == p)
			pl_visitor_error(v, code, 1, text);
}

static void refuse_uid(struct pl_pipeline *p, struct pl_visitor *v)
{
	char text[PL_NAME_MAX + 160];

	if (p->now->card)
		snprintf(text, sizeof(text), "uid %u may not open pipeline '%s' (serve: allow)",
			v->peer.uid, p->name);
	else
		snprintf(text, sizeof(text),
			"the file of pipeline '%s' has errors; the daemon's log names them",
			p->name);
	pl_visitor_error(v, -EACCES, p->now->card ? 1 : 78, text);
}

static void give(struct pl_instance *i, struct pl_visitor *v)
{
	int r = pl_team_give(&i->team, v->fd, v->peer.uid, v->peer.pid);

	if (r == 0)
		pl_visitor_part(v);
	else if (r != -EAGAIN)
		pl_log(PL_LOG_WARNING,
			"pipeline=%s errno=%d: a connection can't be handed over yet",
			i->pipeline->name, -r);
}

void pl_pipeline_serve(struct pl_pipeline *p, struct pl_visitor *v)
{
	struct pl_instance *i = p->now;

	if (p->is_gone)
		pl_visitor_error(v, -ENOENT, 64, "this pipeline's file is no more");
	else if (i->state == PL_INSTANCE_PROBING || p->is_asked_anew)
		return;
	else if (!pl_pipeline_allows(p, &v->peer))
		refuse_uid(p, v);
	else if (i->state == PL_INSTANCE_FAILED)
		pl_visitor_error(
			v, -EINVAL, i->exit_status, i->reason ? i->reason : "out of memory");
	else if (i->state == PL_INSTANCE_RUNNING && i->team.is_ready &&
		 i->team.end == PL_TEAM_LIVES)
		give(i, v);
	else
		pl_instance_want(i);
}

bool pl_pipeline_settle(struct pl_pipeline *p)
{
	pl_instance_settle(p->now);
	if (p->candidate)
		pl_instance_settle(p->candidate);
	for (struct pl_instance **at = &p->retired; *at;) {
		struct pl_instance *i = *at;

		pl_instance_settle(i);
		if (!i->is_over) {
			at = &i->next;
			continue;
		}
		*at = i->next;
		pl_instance_destroy(i);
	}
	return p->is_gone && p->now->is_over && !p->retired;
}

bool pl_pipeline_is_probing(const struct pl_pipeline *p)
{
	const struct pl_instance *i = p->candidate ? p->candidate : p->now;

	return !p->is_gone && i->state == PL_INSTANCE_PROBING;
}
