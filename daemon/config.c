/* daemon/config.c - the daemon's own file, in the language of pipeline files. */
#include "daemon/config.h"

#include "daemon/plan/params.h"
#include "daemon/sys/log.h"

#define MEMBER(member) .offset = offsetof(struct pl_config, member)

static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

static const struct pl_param keys[] = {
	{
		.key = "pipelines",
		.kind = PL_PARAM_TEXTS,
		MEMBER(pipelines),
		.def = "/etc/pipeloaderd/pipelines",
		.help = "pipeline files, and folders whose *.yaml files are pipelines",
	},
	{
		.key = "socket",
		.kind = PL_PARAM_TEXT,
		MEMBER(socket),
		.def = "",
		.help = "where clients connect: an absolute path or @name; default "
			"/run/pipeloader/socket",
	},
	{
		.key = "memory_max",
		.kind = PL_PARAM_BYTES,
		MEMBER(memory_max),
		.def = "0",
		.min = 0,
		.max = 0x1p46,
		.help = "shared memory of all pipelines together; 0: no limit beside each "
			"pipeline's own",
	},
	{
		.key = "probe_timeout",
		.kind = PL_PARAM_DURATION,
		MEMBER(probe_timeout_ns),
		.def = "60s",
		.min = 1e6,
		.max = 1e15,
		.help = "for checking one pipeline file",
	},
	{
		.key = "list_timeout",
		.kind = PL_PARAM_DURATION,
		MEMBER(list_timeout_ns),
		.def = "1h",
		.min = 1e6,
		.max = 1e15,
		.help = "for listing one source",
	},
	{
		.key = "plugins",
		.kind = PL_PARAM_TEXTS,
		MEMBER(plugins),
		.def = "",
		.help = "shared objects with more steps and sources: absolute paths",
	},
	{
		.key = "log",
		.kind = PL_PARAM_CHOICE,
		MEMBER(log),
		.def = "info",
		.choices = levels,
		.help = "least severe lines that are logged",
	},
	{.key = NULL},
};

bool pl_config_read(struct pl_config *config, const char *path, struct pl_diag *diag)
{
	struct pl_pool pool = {0};
	struct pl_convert convert = {.pool = &pool, .diag = diag, .what = ""};
	const struct pl_node *root;
	int missing = 0;
	bool is_good;

	*config = (struct pl_config){0};
	root = pl_yaml_read(&pool, diag, path, path, &missing);
	if (missing) {
		int file = pl_diag_add_text(diag, path, "", 0);

		pl_diag_error(diag, (struct pl_place){.file = file, .line = 1, .column = 1},
			"can't be read: %s", strerror(missing));
	}
	if (root)
		convert.at = root->at;
	is_good = root && pl_params_fill(&convert, keys, root, NULL, config);
	config->pool = pool;
	return is_good && pl_diag_n_errors(diag) == 0;
}

void pl_config_finish(struct pl_config *config)
{
	pl_pool_finish(&config->pool);
	*config = (struct pl_config){0};
}
