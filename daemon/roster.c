/* daemon/roster.c - which pipeline files there are: the daemon's own file, folders and files. */
#include "daemon/roster.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/config.h"
#include "daemon/pipeline.h"
#include "daemon/sys/log.h"

#define FILES_MAX 1024

struct files {
	int n;
	bool is_partial; /* something could not be read: nothing may be taken for gone */
	char *path[FILES_MAX];
};

static bool is_pipeline_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static int filter(const struct dirent *entry)
{
	return is_pipeline_file(entry);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_file(struct files *files, const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		real = strdup(path); /* its probe says what is wrong with it */
	for (int i = 0; real && i < files->n; i++) {
		if (strcmp(files->path[i], real) != 0)
			continue;
		free(real);
		return;
	}
	if (!real || files->n == FILES_MAX) {
		pl_log(PL_LOG_ERROR, "file=%s: more than %d pipeline files", path, FILES_MAX);
		files->is_partial = true;
		free(real);
		return;
	}
	files->path[files->n++] = real;
}

static void add_folder(struct files *files, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, filter, by_bytes);

	if (n < 0) {
		pl_log(PL_LOG_ERROR, "folder=%s: %s", folder, strerror(errno));
		files->is_partial = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name) <
			(int)sizeof(path))
			add_file(files, path);
		free(entries[i]);
	}
	free(entries);
}

static void add_path(struct files *files, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		add_folder(files, path);
	else
		add_file(files, path);
}

/* As everywhere in the language, relative paths count from the file that names them. */
static void add_named(struct files *files, const char *config, const char *path)
{
	const char *slash = strrchr(config, '/');
	char whole[PATH_MAX];

	if (path[0] == '/' || !slash)
		add_path(files, path);
	else if (snprintf(whole, sizeof(whole), "%.*s/%s", (int)(slash - config), config, path) <
		 (int)sizeof(whole))
		add_path(files, whole);
}

static void apply(struct pl_supervisor *s, const struct files *files)
{
	for (struct pl_pipeline *p = s->pipelines; p; p = p->next) {
		bool is_there = false;

		for (int i = 0; i < files->n; i++)
			is_there |= strcmp(files->path[i], p->file) == 0;
		if (p->is_gone)
			continue;
		if (is_there)
			pl_pipeline_renew(p);
		else if (!files->is_partial)
			pl_pipeline_remove(p);
	}
	for (int i = 0; i < files->n; i++)
		if (!pl_pipeline_of_file(s, files->path[i]) &&
			!pl_pipeline_create(s, files->path[i]))
			pl_log(PL_LOG_ERROR, "file=%s: out of memory", files->path[i]);
}

static void log_diag(const struct pl_diag *diag)
{
	PL_AUTO_FREE char *text = pl_diag_render(diag);
	char *rest = text;

	for (char *line; rest && (line = strsep(&rest, "\n"));)
		if (*line)
			pl_log(PL_LOG_ERROR, "%s", line);
}

/* The limits take effect at once; the socket only at the start, which knows of it beforehand. */
static bool read_config(struct pl_supervisor *s, struct files *files)
{
	struct pl_diag *diag = pl_diag_create();
	struct pl_config config = {0};
	bool is_good = diag && pl_config_read(&config, s->options->config, diag);

	if (is_good) {
		s->memory_max = (uint64_t)config.memory_max;
		s->probe_timeout_ms = (uint64_t)config.probe_timeout_ns / 1000000;
		s->list_timeout_ms = (uint64_t)config.list_timeout_ns / 1000000;
		for (int i = 0; s->options->n_paths == 0 && i < config.pipelines.n; i++)
			add_named(files, s->options->config, config.pipelines.v[i]);
	} else if (diag) {
		log_diag(diag);
	}
	pl_config_finish(&config);
	pl_diag_destroy(diag);
	return is_good;
}

bool pl_roster_read(struct pl_supervisor *s)
{
	static struct files files; /* 8 KiB of pointers, empty between calls */
	bool is_good = true;

	files.n = 0;
	files.is_partial = false;
	if (s->options->config)
		is_good = read_config(s, &files);
	for (int i = 0; is_good && i < s->options->n_paths; i++)
		add_path(&files, s->options->paths[i]);
	if (is_good)
		apply(s, &files);
	for (int i = 0; i < files.n; i++)
		free(files.path[i]);
	files.n = 0;
	return is_good;
}
