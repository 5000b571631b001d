/* daemon/main.c - pipeloaderd's command line: which of its lives it is asked for. */
#include <errno.h>
#include <stdio.h>

#include "daemon/check.h"
#include "daemon/config.h"
#include "daemon/kit/plugin.h"
#include "daemon/supervisor.h"
#include "daemon/sys/log.h"

#define EX_USAGE_STATUS  64
#define EX_CONFIG_STATUS 78
#define DEFAULT_CONFIG   "/etc/pipeloaderd/pipeloaderd.yaml"
#define DEFAULT_FOLDER   "/etc/pipeloaderd/pipelines"
#define LIST_MAX         64

struct command_line;

struct mode {
	const char *option;   /* NULL: the machine's daemon */
	const char *argument; /* what follows it, or NULL */
	const char *help;
	int (*run)(const struct command_line *line);
};

struct command_line {
	const struct mode *mode;
	const char *file;
	const char *config;
	const char *socket;
	const char *format;
	const char *is_json;
	int n_pipelines;
	const char *pipelines[LIST_MAX];
	int n_settings;
	struct pl_setting settings[LIST_MAX];
};

/* An option beside the mode: stores its argument, or appends it. */
struct option_rule {
	const char *option;
	const char *argument; /* NULL: takes none */
	const char *help;
	int (*store)(struct command_line *line, char *argument);
};

static int usage_error(const char *text, const char *what)
{
	fprintf(stderr, "pipeloaderd: %s%s\nTry 'pipeloaderd --help'.\n", text, what);
	return EX_USAGE_STATUS;
}

static int store_config(struct command_line *line, char *argument)
{
	line->config = argument;
	return 0;
}

static int store_socket(struct command_line *line, char *argument)
{
	line->socket = argument;
	return 0;
}

static int store_format(struct command_line *line, char *argument)
{
	line->format = argument;
	return 0;
}

static int store_json(struct command_line *line, char *argument)
{
	line->is_json = "json";
	return 0;
}

static int store_pipelines(struct command_line *line, char *argument)
{
	if (line->n_pipelines == LIST_MAX)
		return usage_error("too many --pipelines: ", argument);
	line->pipelines[line->n_pipelines++] = argument;
	return 0;
}

static int store_setting(struct command_line *line, char *argument)
{
	char *equals = strchr(argument, '=');

	if (!equals || equals == argument)
		return usage_error("--set wants name=value, not ", argument);
	if (line->n_settings == LIST_MAX)
		return usage_error("too many --set: ", argument);
	*equals = '\0';
	line->settings[line->n_settings].name = argument;
	line->settings[line->n_settings++].value = equals + 1;
	return 0;
}

static const struct option_rule rules[] = {
	{"--config", "FILE", "the daemon's own file (default " DEFAULT_CONFIG ", if it is there)",
		store_config},
	{"--pipelines", "PATH",
		"a pipeline file or a folder of them, instead of the config's; may be repeated",
		store_pipelines},
	{"--socket", "PATH", "where clients connect: an absolute path or @name", store_socket},
	{"--set", "NAME=VALUE", "a declared parameter of the pipeline file; may be repeated",
		store_setting},
	{"--format", "FORMAT", "of --graph: text, dot or json", store_format},
	{"--json", NULL, "of --ops and --sources", store_json},
};

static int run_machine(const struct command_line *line)
{
	struct pl_supervisor_options options = {.n_paths = line->n_pipelines,
		.paths = line->pipelines,
		.config = line->config,
		.socket = line->socket};
	const char *folder = DEFAULT_FOLDER;
	struct pl_config config = {0};
	struct pl_diag *diag = pl_diag_create();
	PL_AUTO_FREE char *text = NULL;
	int status = EX_CONFIG_STATUS;

	if (!options.config && access(DEFAULT_CONFIG, R_OK) == 0)
		options.config = DEFAULT_CONFIG;
	if (!options.config && options.n_paths == 0) {
		options.paths = &folder;
		options.n_paths = 1;
	}
	if (options.config && diag && !pl_config_read(&config, options.config, diag)) {
		text = pl_diag_render(diag);
		fprintf(stderr, "%s\n", text ? text : "out of memory");
	} else {
		pl_log_open(PL_LOG_STDERR,
			options.config ? (enum pl_log_level)config.log : PL_LOG_INFO);
		pl_log_role("supervisor");
		if (!options.socket && config.socket && *config.socket)
			options.socket = config.socket;
		options.plugins = config.plugins;
		status = pl_supervisor_run(&options);
	}
	pl_config_finish(&config);
	pl_diag_destroy(diag);
	return status;
}

/* A user's own processes take plugins from the environment: paths with ':' between. `copy` keeps
 * the texts. */
static int plugins_of_user(struct pl_param_texts *plugins, char **copy)
{
	const char *text = getenv("PIPELOADER_PLUGINS");
	char *rest = NULL;

	*copy = strdup(text ? text : "");
	if (!*copy)
		return usage_error("out of memory", "");
	for (char *path = strtok_r(*copy, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) {
		if (plugins->n == PL_PARAM_LIST_MAX)
			return usage_error("too many plugins: ", text);
		plugins->v[plugins->n++] = path;
	}
	return 0;
}

/* For what this very process does with steps: the plugins of the config, else the user's. */
static int load_plugins(const struct command_line *line)
{
	PL_CLEANUP(pl_config_finish) struct pl_config config = {0};
	struct pl_diag *diag = pl_diag_create();
	PL_AUTO_FREE char *text = NULL, *copy = NULL;
	struct pl_err err = {0};
	int status = 0;

	if (line->config && diag && !pl_config_read(&config, line->config, diag)) {
		text = pl_diag_render(diag);
		fprintf(stderr, "%s\n", text ? text : "out of memory");
		status = EX_CONFIG_STATUS;
	} else if (!line->config) {
		status = plugins_of_user(&config.plugins, &copy);
	}
	pl_diag_destroy(diag);
	if (status == 0 && pl_plugins_load(&config.plugins, &err) < 0) {
		fprintf(stderr, "pipeloaderd: %s\n", err.text);
		status = EX_CONFIG_STATUS;
	}
	return status;
}

static int run_job(const struct command_line *line)
{
	struct pl_supervisor_options options = {.is_job = true,
		.n_paths = 1,
		.paths = &line->file,
		.n_settings = line->n_settings,
		.settings = line->settings,
		.socket = line->socket};
	PL_AUTO_FREE char *copy = NULL;
	int status = plugins_of_user(&options.plugins, &copy);

	if (status)
		return status;
	pl_log_open(PL_LOG_JOURNAL, PL_LOG_INFO);
	pl_log_role("job");
	return pl_supervisor_run(&options);
}

static struct pl_check_order check_order(const struct command_line *line)
{
	return (struct pl_check_order){
		.file = line->file, .settings = line->settings, .n_settings = line->n_settings};
}

static int run_check(const struct command_line *line)
{
	struct pl_check_order order = check_order(line);
	int status = load_plugins(line);

	return status ? status : pl_check_run(&order);
}

static int run_graph(const struct command_line *line)
{
	static const char *const formats[] = {"text", "dot", "json"};
	struct pl_check_order order = check_order(line);
	int status = load_plugins(line);

	if (status)
		return status;
	for (size_t i = 0; i < PL_ARRAY_LEN(formats); i++) {
		if (line->format && strcmp(line->format, formats[i]) != 0)
			continue;
		order.format = (enum pl_dump_format)i;
		return pl_check_graph(&order);
	}
	return usage_error("--format wants text, dot or json, not ", line->format);
}

static int run_ops(const struct command_line *line)
{
	int status = load_plugins(line);

	if (status)
		return status;
	pl_dump_ops(stdout, line->is_json != NULL);
	return fflush(stdout) != 0;
}

static int run_sources(const struct command_line *line)
{
	int status = load_plugins(line);

	if (status)
		return status;
	pl_dump_sources(stdout, line->is_json != NULL);
	return fflush(stdout) != 0;
}

static int run_schema(const struct command_line *line)
{
	pl_dump_schema(stdout);
	return fflush(stdout) != 0;
}

static int run_version(const struct command_line *line)
{
	puts("pipeloaderd " PL_VERSION);
	return 0;
}

static int run_help(const struct command_line *line);

static const struct mode machine = {NULL, NULL, "", run_machine};

static const struct mode modes[] = {
	{"--job", "FILE", "a job's daemon: one pipeline file, ends after its last client", run_job},
	{"--check", "FILE", "check a pipeline file; print every error, or each step's fields",
		run_check},
	{"--graph", "FILE", "print where each step runs", run_graph},
	{"--ops", NULL, "print the steps and their parameters", run_ops},
	{"--sources", NULL, "print the sources and their parameters", run_sources},
	{"--schema", NULL, "print the JSON Schema of pipeline files", run_schema},
	{"--version", NULL, "print the version", run_version},
	{"--help", NULL, "print this", run_help},
};

static int run_help(const struct command_line *line)
{
	char left[32];

	puts("Usage: pipeloaderd [OPTION]...\n"
	     "Prepares training data for every process of this machine, or does one of:\n");
	for (size_t i = 0; i < PL_ARRAY_LEN(modes); i++) {
		snprintf(left, sizeof(left), "%s %s", modes[i].option,
			modes[i].argument ? modes[i].argument : "");
		printf("  %-24s%s\n", left, modes[i].help);
	}
	puts("\nOptions:");
	for (size_t i = 0; i < PL_ARRAY_LEN(rules); i++) {
		snprintf(left, sizeof(left), "%s %s", rules[i].option,
			rules[i].argument ? rules[i].argument : "");
		printf("  %-24s%s\n", left, rules[i].help);
	}
	puts("\nExit status: 0, 1 (failed), 64 (usage), 78 (the configuration or a pipeline "
	     "file).");
	return 0;
}

/* The argument of an option that wants one: after '=' or the next word. */
static char *argument_of(char **argv, int *i, size_t n)
{
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	return argv[*i + 1] ? argv[++*i] : NULL;
}

static bool is_option(const char *word, const char *option)
{
	size_t n = strlen(option);

	return strncmp(word, option, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

static int take_mode(struct command_line *line, const struct mode *mode, char **argv, int *i)
{
	if (line->mode != &machine)
		return usage_error("only one of its lives at a time: ", argv[*i]);
	line->mode = mode;
	if (mode->argument)
		line->file = argument_of(argv, i, strlen(mode->option));
	return mode->argument && !line->file ? usage_error("a file must follow ", mode->option) : 0;
}

static int take_rule(struct command_line *line, const struct option_rule *rule, char **argv, int *i)
{
	char *argument = rule->argument ? argument_of(argv, i, strlen(rule->option)) : NULL;

	if (rule->argument && !argument)
		return usage_error("something must follow ", rule->option);
	return rule->store(line, argument);
}

static int take_word(struct command_line *line, char **argv, int *i)
{
	for (size_t m = 0; m < PL_ARRAY_LEN(modes); m++)
		if (is_option(argv[*i], modes[m].option))
			return take_mode(line, &modes[m], argv, i);
	for (size_t r = 0; r < PL_ARRAY_LEN(rules); r++)
		if (is_option(argv[*i], rules[r].option))
			return take_rule(line, &rules[r], argv, i);
	return usage_error("not an option: ", argv[*i]);
}

int main(int argc, char **argv)
{
	struct command_line line = {.mode = &machine};

	for (int i = 1; i < argc; i++) {
		int status = take_word(&line, argv, &i);

		if (status)
			return status;
	}
	return line.mode->run(&line);
}
