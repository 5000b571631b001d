/* daemon/plan/settings.c - the top level without source and steps, into the plan. */
#include "daemon/plan/settings.h"

#include <math.h>

#include "daemon/kit/registry.h"
#include "daemon/plan/build.h"
#include "daemon/plan/names.h"
#include "daemon/plan/params.h"
#include "daemon/plan/scalar.h"

static bool is_name(const char *name)
{
	size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return n > 0 && n < PL_NAME_MAX && !name[n];
}

/* The file's name without folder and ending; what can't be in a name becomes '_'. */
static void name_of_file(const char *file, char out[PL_NAME_MAX])
{
	const char *slash = strrchr(file, '/');
	const char *stem = slash ? slash + 1 : file;
	const char *dot = strrchr(stem, '.');
	size_t n = dot && dot > stem ? (size_t)(dot - stem) : strlen(stem);

	n = n < PL_NAME_MAX ? n : PL_NAME_MAX - 1;
	for (size_t i = 0; i < n; i++) {
		char one[2] = {stem[i], '\0'};

		out[i] = is_name(one) ? stem[i] : '_';
	}
	out[n] = '\0';
}

static bool read_name(struct pl_build *b, const char *name)
{
	if (!name) {
		name_of_file(b->plan->file, b->plan->name);
		return true;
	}
	if (!is_name(name)) {
		pl_diag_error(b->diag, pl_node_find(b->root, "name")->at,
			"name must be 1 to %d letters, digits, '_', '.' or '-'", PL_NAME_MAX - 1);
		return false;
	}
	strcpy(b->plan->name, name);
	return true;
}

static struct pl_names shape_names(void)
{
	struct pl_names names = {0};

	for (const struct pl_settings_shape *s = pl_settings_shapes; s->key; s++)
		pl_names_add(&names, s->key);
	return names;
}

/* A step whose name the key resembles or begins with ("batchsize"); NULL: none. */
static const char *step_like(const char *key)
{
	const char *near = pl_op_nearest(key);
	struct pl_registry r = pl_registry();

	for (size_t i = 0; !near && i < r.n_ops; i++)
		if (strncmp(key, r.op[i]->name, strlen(r.op[i]->name)) == 0)
			near = r.op[i]->name;
	return near;
}

/* A step at the top level: where it belongs. True: `key` was one, told. */
static bool refuse_step_key(struct pl_build *b, const struct pl_node *key)
{
	const struct pl_op *op = pl_op_find(key->text);
	const char *near = op ? NULL : step_like(key->text);
	unsigned stages = op ? op->stages : near ? pl_op_find(near)->stages : 0;
	const char *stage = stages & PL_STAGE_WORKER ? "workers"
			    : stages & PL_STAGE_PRE  ? "pre_main"
						     : "post_main";

	if (op)
		pl_diag_error(b->diag, key->at, "'%s' is a step: it belongs in the list under %s",
			op->name, stage);
	else if (near)
		pl_diag_error(b->diag, key->at,
			"unknown key '%s' (did you mean the step '%s', under %s?)", key->text, near,
			stage);
	return stages != 0;
}

/* Keys that look like steps are told here, and count as known then. */
static bool refuse_steps_at_top(struct pl_build *b, struct pl_names *known)
{
	struct pl_names names = *known;
	bool is_ok = true;

	pl_params_names(pl_settings_top, &names);
	for (int i = 0; i < b->root->n; i++) {
		const struct pl_node *key = b->root->key[i];

		if (pl_names_has(&names, key->text) || pl_names_nearest(&names, key->text) ||
			!refuse_step_key(b, key))
			continue;
		pl_names_add(known, key->text);
		is_ok = false;
	}
	return is_ok;
}

static bool read_top(struct pl_build *b)
{
	struct pl_convert c = {b->pool, b->diag, "", NULL, b->root->at, NULL};
	struct pl_names shapes = shape_names();
	struct pl_top_values v = {0};
	struct pl_plan *plan = b->plan;
	bool is_ok = refuse_steps_at_top(b, &shapes);

	is_ok &= pl_params_fill(&c, pl_settings_top, b->root, &shapes, &v);
	plan->seed = (uint64_t)v.seed;
	plan->epochs = v.epochs == PL_PARAM_WORD(PL_EPOCHS_FOREVER) ? 0 : v.epochs;
	plan->memory = v.memory < 0 ? 0 : v.memory;
	plan->sample_max = v.sample_max;
	plan->populate = v.populate;
	plan->shard = v.shard;
	plan->dispatch = (enum pl_dispatch)v.dispatch;
	plan->fuses = v.fuse == PL_FUSE_ON;
	plan->roots = v.roots;
	b->memory = pl_node_find(b->root, "memory");
	return read_name(b, v.name) & is_ok;
}

/* Refuses what the language has and this build hasn't; those keys count as known. */
static bool refuse_later(struct pl_build *b, const struct pl_node *map, struct pl_names *known)
{
	bool is_ok = true;

	for (int i = 0; i < map->n; i++) {
		const char *when = pl_names_later_setting(map->key[i]->text);

		if (!when)
			continue;
		pl_diag_error(
			b->diag, map->key[i]->at, "workers: '%s' is %s", map->key[i]->text, when);
		pl_names_add(known, map->key[i]->text);
		is_ok = false;
	}
	return is_ok;
}

static bool read_env(struct pl_build *b, const struct pl_node *env)
{
	struct pl_plan *plan = b->plan;

	if (!env || env->kind == PL_NODE_BAD)
		return !env;
	if (env->kind != PL_NODE_MAP || env->n > PL_PARAM_LIST_MAX) {
		pl_diag_error(b->diag, env->at,
			"workers: env must be a map of at most %d NAME: value", PL_PARAM_LIST_MAX);
		return false;
	}
	for (int i = 0; i < env->n; i++) {
		const char *name = env->key[i]->text;

		if (env->item[i]->kind != PL_NODE_TEXT || !name[0] || strchr(name, '=')) {
			pl_diag_error(b->diag, env->key[i]->at,
				"workers: env: '%s' must be a NAME: value", name);
			return false;
		}
		plan->env_name[i] = name;
		plan->env_value[i] = env->item[i]->text;
	}
	plan->n_env = env->n;
	return true;
}

static void tell_sequential(struct pl_build *b, struct pl_place at)
{
	pl_diag_warning(b->diag, at,
		"the pipeline is sequential: one process does all reading and all steps, one "
		"sample at a time");
}

static void count_workers(struct pl_build *b, int64_t count, const struct pl_resolved *resolved)
{
	struct pl_plan *plan = b->plan;

	plan->is_sequential = count == PL_PARAM_WORD(PL_COUNT_NONE);
	plan->n_workers = plan->is_sequential ? 1 : count;
	if (count == PL_PARAM_WORD(PL_COUNT_AUTO))
		plan->n_workers = resolved->n_workers > 0
					  ? resolved->n_workers
					  : (int64_t)pl_min_u64(
						    (uint64_t)pl_cpus_available(), PL_WORKERS_MAX);
}

static bool read_workers_map(
	struct pl_build *b, const struct pl_node *map, const struct pl_resolved *resolved)
{
	struct pl_convert c = {b->pool, b->diag, "workers: ", NULL, b->root->at, NULL};
	struct pl_names known = {0};
	struct pl_workers_values v = {0};
	bool is_ok;

	pl_names_add(&known, "steps");
	pl_names_add(&known, "env");
	is_ok = !map || refuse_later(b, map, &known);
	is_ok &= pl_params_fill(&c, pl_settings_workers, map, &known, &v);
	count_workers(b, v.count, resolved);
	b->plan->worker_prefetch = v.prefetch;
	b->plan->nice = v.nice;
	b->plan->cpus = v.cpus;
	b->plan->sample_timeout_ns = v.sample_timeout;
	return read_env(b, pl_node_find(map, "env")) & is_ok;
}

/* Nobody shall get a sequential pipeline without having said so. */
static bool check_workers_steps(struct pl_build *b, const struct pl_node *workers)
{
	const struct pl_node *steps = pl_stage_steps(b->root, "workers");

	if (workers && workers->kind == PL_NODE_BAD)
		return false;
	if (steps && steps->kind == PL_NODE_LIST && steps->n > 0)
		return true;
	if (steps && steps->kind != PL_NODE_LIST)
		return true;
	pl_diag_error(b->diag, workers ? workers->at : b->root->at,
		"%s: list the steps that run in parallel, or write 'workers: none' for a "
		"sequential pipeline",
		workers ? "workers has no steps" : "'workers' is missing");
	return false;
}

static bool read_workers(struct pl_build *b, const struct pl_resolved *resolved)
{
	const struct pl_node *workers = pl_node_find(b->root, "workers");
	bool is_none =
		workers && workers->kind == PL_NODE_TEXT && strcmp(workers->text, "none") == 0;
	bool is_map = workers && workers->kind == PL_NODE_MAP;
	bool is_ok;

	if (workers && workers->kind == PL_NODE_TEXT && !is_none) {
		pl_diag_error(b->diag, workers->at,
			"workers must be a list of steps, a map with 'steps:', or none; not '%s' "
			"(the "
			"number of workers is 'workers: {count: ..., steps: [...]}')",
			workers->text);
		return false;
	}
	is_ok = read_workers_map(b, is_map ? workers : NULL, resolved);
	if (is_none)
		count_workers(b, PL_PARAM_WORD(PL_COUNT_NONE), resolved);
	if (!is_none && !b->plan->is_sequential)
		is_ok &= check_workers_steps(b, workers);
	if (b->plan->is_sequential)
		tell_sequential(b, workers->at);
	return is_ok;
}

/* pre_main and post_main: a bare list has no settings. */
static bool read_stage_map(
	struct pl_build *b, const char *stage, const struct pl_param *table, void *values)
{
	const struct pl_node *node = pl_node_find(b->root, stage);
	struct pl_convert c = {
		b->pool, b->diag, pl_pool_format(b->pool, "%s: ", stage), NULL, b->root->at, NULL};
	struct pl_names steps = {0};

	if (node && node->kind == PL_NODE_TEXT) {
		pl_diag_error(b->diag, node->at,
			"%s must be a list of steps, or a map with 'steps:'", stage);
		return false;
	}
	pl_names_add(&steps, "steps");
	return c.what && pl_params_fill(&c, table, node && node->kind == PL_NODE_MAP ? node : NULL,
				 &steps, values);
}

static bool read_serve(struct pl_build *b)
{
	const struct pl_node *serve = pl_node_find(b->root, "serve");
	struct pl_convert c = {b->pool, b->diag, "serve: ", NULL, b->root->at, NULL};
	struct pl_serve_values v = {0};
	bool is_ok;

	if (serve && serve->kind != PL_NODE_MAP) {
		if (serve->kind != PL_NODE_BAD)
			pl_diag_error(b->diag, serve->at, "serve must be a map, not %s",
				pl_node_kind_name(serve));
		return false;
	}
	is_ok = pl_params_fill(&c, pl_settings_serve, serve, NULL, &v);
	b->plan->allow = v.allow;
	b->plan->starts_eagerly = v.start == 1;
	b->plan->idle_timeout_ns = v.idle_timeout;
	b->plan->max_clients = v.clients;
	for (int i = 0; i < v.allow.n; i++) {
		if (strlen(v.allow.v[i]) < 64 && v.allow.v[i][0])
			continue;
		pl_diag_error(b->diag, pl_node_find(serve, "allow")->at,
			"serve: allow: a name has 1 to 63 bytes");
		is_ok = false;
	}
	return is_ok;
}

/* `skip: 1%` is a share of the samples seen so far, `skip: 100` a count. */
static bool read_budget(struct pl_build *b, const struct pl_node *budget)
{
	size_t n = budget->kind == PL_NODE_TEXT ? strlen(budget->text) : 0;
	struct pl_err err = {0};
	char *number;
	double share;

	if (budget->kind == PL_NODE_BAD)
		return false;
	if (n > 0 && budget->text[n - 1] == '%') {
		number = pl_pool_text(b->pool, budget->text, n - 1);
		if (number && pl_scalar_float(number, &share, &err) == 0 && share >= 0 &&
			share <= 100) {
			b->plan->skip_share = share / 100;
			return true;
		}
	} else if (n > 0 && pl_scalar_int(budget->text, &b->plan->skip_count, &err) == 0 &&
		   b->plan->skip_count >= 0) {
		return true;
	}
	pl_diag_error(b->diag, budget->at,
		"on_error: skip must be how many bad samples are allowed: a count such as 100, or "
		"a "
		"share such as 1%%");
	return false;
}

static bool read_on_error(struct pl_build *b)
{
	const struct pl_node *node = pl_node_find(b->root, "on_error");
	const char *word = node && node->kind == PL_NODE_TEXT ? node->text : "";

	b->plan->skip_count = -1;
	b->plan->skip_share = -1;
	if (!node || strcmp(word, "fail") == 0)
		return true;
	if (node->kind == PL_NODE_BAD)
		return false;
	if (strcmp(word, "substitute") == 0) {
		b->plan->on_error = PL_ON_ERROR_SUBSTITUTE;
		return true;
	}
	if (node->kind == PL_NODE_MAP && node->n == 1 && strcmp(node->key[0]->text, "skip") == 0) {
		b->plan->on_error = PL_ON_ERROR_SKIP;
		return read_budget(b, node->item[0]);
	}
	pl_diag_error(b->diag, node->at,
		"on_error must be fail, substitute, or {skip: budget} with a "
		"budget such as 100 or 1%%");
	return false;
}

bool pl_settings_read(struct pl_build *b, const struct pl_resolved *resolved)
{
	static const struct pl_param none[] = {{0}};
	struct pl_post_values post = {0};
	bool is_ok = read_top(b);

	is_ok &= read_stage_map(b, "pre_main", none, NULL);
	is_ok &= read_workers(b, resolved);
	is_ok &= read_stage_map(b, "post_main", pl_settings_post, &post);
	is_ok &= read_on_error(b);
	is_ok &= read_serve(b);
	b->plan->post_prefetch = post.prefetch;
	return is_ok;
}
