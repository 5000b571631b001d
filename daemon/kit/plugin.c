/* daemon/kit/plugin.c - loads shared objects and adds their steps and sources to the registry. */
#include "daemon/kit/plugin.h"

#include <dlfcn.h>
#include <errno.h>

#include "daemon/kit/registry.h"

#define NAME_MAX_BYTES 63

/* A registry under construction; once published, it and what it is made of are never freed. */
struct tables {
	struct pl_registry registry;
	const struct pl_op **op;
	const struct pl_source_op **source;
	char **path;
	int n_paths;
};

static void tables_destroy(struct tables *t)
{
	if (!t)
		return;
	for (int i = 0; t->path && i < t->n_paths; i++)
		free(t->path[i]);
	free(t->path);
	free(t->op);
	free(t->source);
	free(t);
}

static void tables_destroyp(struct tables **t)
{
	tables_destroy(*t);
}

static bool is_name(const char *name)
{
	size_t n = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;

	return n > 0 && n <= NAME_MAX_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static const char *fault_of_op(const struct pl_op *op)
{
	if (op->abi != PL_OP_ABI || op->size != sizeof(*op))
		return "was built for another version of struct pl_op";
	if (!is_name(op->name) || !op->help || !op->class_)
		return "has no proper name, help or class";
	if (op->flags & PL_OP_STRUCTURE)
		return "claims to have lists of steps";
	if (op->stages != PL_STAGE_WORKER)
		return "claims another stage than workers";
	return op->run ? NULL : "has no run";
}

static const char *fault_of_source(const struct pl_source_op *op)
{
	if (op->abi != PL_SOURCE_ABI || op->size != sizeof(*op))
		return "was built for another version of struct pl_source_op";
	if (!is_name(op->name) || !op->help)
		return "has no proper name or help";
	return op->fields && op->list && op->read && op->describe
		       ? NULL
		       : "lacks fields, list, read or describe";
}

/* The words of the language that no step may take. */
static bool is_taken(const struct tables *t, const char *name)
{
	for (size_t i = 0; i < t->registry.n_ops; i++)
		if (strcmp(t->op[i]->name, name) == 0)
			return true;
	for (size_t i = 0; i < t->registry.n_sources; i++)
		if (strcmp(t->source[i]->name, name) == 0)
			return true;
	return strcmp(name, "use") == 0 || strcmp(name, "include") == 0;
}

static int add_op(struct tables *t, const struct pl_op *op, const char *path, struct pl_err *err)
{
	const char *fault = op ? fault_of_op(op) : "is NULL";
	const struct pl_op **grown;

	if (fault)
		return pl_err_set(err, -EINVAL, "plugin %s: step '%s' %s", path,
			op && is_name(op->name) ? op->name : "?", fault);
	if (is_taken(t, op->name))
		return pl_err_set(
			err, -EINVAL, "plugin %s: the name '%s' is taken", path, op->name);
	grown = reallocarray(t->op, t->registry.n_ops + 1, sizeof(struct pl_op *));
	if (!grown)
		return pl_err_set(err, -ENOMEM, "out of memory");
	t->op = grown;
	t->op[t->registry.n_ops++] = op;
	return 0;
}

static int add_source(
	struct tables *t, const struct pl_source_op *op, const char *path, struct pl_err *err)
{
	const char *fault = op ? fault_of_source(op) : "is NULL";
	const struct pl_source_op **grown;

	if (fault)
		return pl_err_set(err, -EINVAL, "plugin %s: source '%s' %s", path,
			op && is_name(op->name) ? op->name : "?", fault);
	if (is_taken(t, op->name))
		return pl_err_set(
			err, -EINVAL, "plugin %s: the name '%s' is taken", path, op->name);
	grown = reallocarray(t->source, t->registry.n_sources + 1, sizeof(struct pl_source_op *));
	if (!grown)
		return pl_err_set(err, -ENOMEM, "out of memory");
	t->source = grown;
	t->source[t->registry.n_sources++] = op;
	return 0;
}

static int add_all(
	struct tables *t, const struct pl_plugin *plugin, const char *path, struct pl_err *err)
{
	int r = 0;

	for (size_t i = 0; i < plugin->n_ops && !r; i++)
		r = add_op(t, plugin->ops[i], path, err);
	for (size_t i = 0; i < plugin->n_sources && !r; i++)
		r = add_source(t, plugin->sources[i], path, err);
	return r;
}

/* It stays open, for its code is used until the end. */
static int add_plugin(struct tables *t, const char *path, struct pl_err *err)
{
	const struct pl_plugin *plugin;
	const uint32_t *abi;
	void *object;

	if (path[0] != '/')
		return pl_err_set(err, -EINVAL, "plugin '%s': an absolute path is needed", path);
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return pl_err_set(err, -EINVAL, "plugin can't be loaded: %s", dlerror());
	abi = dlsym(object, "pl_plugin_abi");
	plugin = dlsym(object, "pl_plugin");
	if (!abi || !plugin)
		return pl_err_set(err, -EINVAL, "plugin %s: it exports no pl_plugin%s", path,
			abi ? "" : "_abi");
	if (*abi != PL_PLUGIN_ABI || plugin->size != sizeof(*plugin))
		return pl_err_set(err, -EINVAL,
			"plugin %s: built for abi %u with %u bytes, this daemon has abi %d with "
			"%zu: build it against this version's headers",
			path, *abi, *abi == PL_PLUGIN_ABI ? plugin->size : 0, PL_PLUGIN_ABI,
			sizeof(*plugin));
	return add_all(t, plugin, path, err);
}

static int compare_ops(const void *a, const void *b)
{
	return strcmp(
		(*(const struct pl_op *const *)a)->name, (*(const struct pl_op *const *)b)->name);
}

static int compare_sources(const void *a, const void *b)
{
	return strcmp((*(const struct pl_source_op *const *)a)->name,
		(*(const struct pl_source_op *const *)b)->name);
}

static struct tables *built_in(const struct pl_param_texts *paths)
{
	struct pl_registry all = {pl_ops, pl_n_ops, pl_sources, pl_n_sources};
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->op = calloc(all.n_ops, sizeof(struct pl_op *));
	t->source = calloc(all.n_sources, sizeof(struct pl_source_op *));
	t->path = calloc((size_t)paths->n, sizeof(char *));
	if (!t->op || !t->source || !t->path) {
		tables_destroy(t);
		return NULL;
	}
	memcpy(t->op, all.op, all.n_ops * sizeof(struct pl_op *));
	memcpy(t->source, all.source, all.n_sources * sizeof(struct pl_source_op *));
	t->registry.n_ops = all.n_ops;
	t->registry.n_sources = all.n_sources;
	return t;
}

static bool has_loaded(const struct tables *t, const struct pl_param_texts *paths)
{
	bool is_same = t->n_paths == paths->n;

	for (int i = 0; i < paths->n && is_same; i++)
		is_same = strcmp(t->path[i], paths->v[i]) == 0;
	return is_same;
}

/* Of several threads that come here at once one publishes; the others find what it did. */
static int publish(struct tables **t, const struct pl_param_texts *paths, struct pl_err *err)
{
	const struct pl_registry *now = pl_registry_publish(&(*t)->registry);

	if (now == &(*t)->registry)
		*t = NULL; /* kept for ever */
	return has_loaded(PL_CONTAINER_OF(now, struct tables, registry), paths)
		       ? 0
		       : pl_err_set(err, -EEXIST, "other plugins were loaded before");
}

int pl_plugins_load(const struct pl_param_texts *paths, struct pl_err *err)
{
	PL_CLEANUP(tables_destroyp) struct tables *t = NULL;

	if (paths->n == 0)
		return 0;
	t = built_in(paths);
	if (!t)
		return pl_err_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < paths->n; i++) {
		int r = add_plugin(t, paths->v[i], err);

		if (r)
			return r;
		t->path[i] = strdup(paths->v[i]);
		if (!t->path[i])
			return pl_err_set(err, -ENOMEM, "out of memory");
		t->n_paths++;
	}
	qsort(t->op, t->registry.n_ops, sizeof(struct pl_op *), compare_ops);
	qsort(t->source, t->registry.n_sources, sizeof(struct pl_source_op *), compare_sources);
	t->registry.op = t->op;
	t->registry.source = t->source;
	return publish(&t, paths, err);
}
