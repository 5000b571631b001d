/* daemon/plan/plan.c - from the resolved tree to the plan, for a file and for a seal. */
#include "daemon/plan/plan.h"

#include <limits.h>
#include <stdio.h>

#include "daemon/plan/build.h"
#include "daemon/plan/expand.h"

void pl_plan_destroy(struct pl_plan *plan)
{
	struct pl_plan_box *box;

	if (!plan)
		return;
	box = PL_CONTAINER_OF(plan, struct pl_plan_box, plan);
	pl_pool_finish(&box->pool);
	free(box);
}

static bool parse_stage(
	struct pl_build *b, const char *stage, enum pl_stage where, struct pl_step_list *list)
{
	const struct pl_node *steps = pl_stage_steps(b->root, stage);
	struct pl_steps_at at = {.stage = where, .view = ""};

	if (!steps || steps->kind == PL_NODE_TEXT)
		return true;
	return pl_steps_parse(b, steps, &at, list);
}

static bool parse_stages(struct pl_build *b)
{
	bool is_ok = parse_stage(b, "pre_main", PL_STAGE_PRE, &b->plan->pre);

	is_ok &= parse_stage(b, "workers", PL_STAGE_WORKER, &b->plan->worker);
	is_ok &= parse_stage(b, "post_main", PL_STAGE_POST, &b->plan->post);
	return is_ok;
}

static void copy_file_names(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;

	for (int i = 0; i < PL_TEXTS_MAX && pl_diag_text_name(b->diag, i)[0]; i++) {
		const char *name = pl_diag_text_name(b->diag, i);

		plan->text_name[i] = pl_pool_text(b->pool, name, strlen(name));
		if (plan->text_name[i])
			plan->n_texts = i + 1;
	}
}

bool pl_plan_build(
	struct pl_plan_box *box, struct pl_diag *diag, const struct pl_resolved *resolved)
{
	struct pl_build *b = calloc(1, sizeof(*b));
	bool is_ok;
	bool has_source;

	if (!b)
		return false;
	b->plan = &box->plan;
	b->pool = &box->pool;
	b->diag = diag;
	b->root = box->root;
	is_ok = pl_settings_read(b, resolved);
	is_ok &= parse_stages(b);
	has_source = pl_source_read(b, resolved);
	is_ok &= has_source;
	if (has_source)
		is_ok &= pl_check(b);
	if (is_ok)
		is_ok = pl_layout(b, resolved);
	if (is_ok) {
		pl_fuse(b->plan);
		pl_fingerprint(b);
		copy_file_names(b);
	}
	free(b);
	return is_ok;
}

/* Steps of a list under define that nobody uses: checked as far as that goes without a place. */
static void check_unused(const struct pl_define *define, struct pl_expand *x)
{
	struct pl_steps_at at = {.view = ""};
	struct pl_build *scratch = calloc(1, sizeof(*scratch));
	struct pl_plan *plan = calloc(1, sizeof(*plan));
	const struct pl_node *list = pl_splice(x, define->list, 0);
	struct pl_step_list steps = {0};

	if (scratch && plan && list) {
		scratch->plan = plan;
		scratch->pool = x->pool;
		scratch->diag = x->diag;
		scratch->root = list;
		(void)pl_steps_parse(scratch, list, &at, &steps);
	}
	free(scratch);
	free(plan);
}

static bool set_paths(struct pl_plan_box *box, const char *path)
{
	char real[PATH_MAX];
	char *slash;

	if (!realpath(path, real))
		return false;
	box->plan.file = pl_pool_text(&box->pool, real, strlen(real));
	slash = strrchr(real, '/');
	box->plan.dir =
		slash == real ? "/" : pl_pool_text(&box->pool, real, (size_t)(slash - real));
	return box->plan.file && box->plan.dir;
}

static bool read_into(struct pl_plan_box *box, struct pl_expand *x)
{
	const struct pl_resolved nothing = {0};

	box->root = pl_expand_file(x);
	if (!box->root)
		return false;
	if (!set_paths(box, x->path)) {
		pl_diag_error(x->diag, (struct pl_place){.file = -1}, "can't read '%s'", x->path);
		return false;
	}
	if (!pl_plan_build(box, x->diag, &nothing) && pl_diag_n_errors(x->diag) == 0)
		pl_diag_error(x->diag, (struct pl_place){.file = -1}, "out of memory");
	for (int i = 0; i < x->n_defines; i++)
		if (!x->define[i].is_used)
			check_unused(&x->define[i], x);
	return pl_diag_n_errors(x->diag) == 0;
}

struct pl_plan *pl_plan_read(
	const char *path, const struct pl_setting *settings, int n_settings, struct pl_diag *diag)
{
	struct pl_plan_box *box = calloc(1, sizeof(*box));
	struct pl_expand *x = calloc(1, sizeof(*x));
	bool is_ok = box && x;

	if (is_ok) {
		x->pool = &box->pool;
		x->diag = diag;
		x->path = path;
		x->setting = settings;
		x->n_settings = n_settings;
		is_ok = read_into(box, x);
	}
	if (!is_ok && pl_diag_n_errors(diag) == 0)
		pl_diag_error(diag, (struct pl_place){.file = -1}, "out of memory");
	free(x);
	if (is_ok)
		return &box->plan;
	if (box)
		pl_plan_destroy(&box->plan);
	return NULL;
}
