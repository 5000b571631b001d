/* daemon/plan/table.c - a table of texts and their numbers: from a file of one text a line, or a
 * map. */
#include "daemon/plan/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/plan/scalar.h"

static bool refuse(const struct pl_convert *c, const char *key, const struct pl_node *at,
	const char *path, const char *reason)
{
	char quoted[300];

	pl_diag_error(c->diag, at->at, "%s%s: '%s' %s", c->what, key,
		pl_err_quote(quoted, sizeof(quoted), path), reason);
	return false;
}

static int open_below(const char *dir, const char *path)
{
	PL_AUTO_CLOSE int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (folder < 0)
		return -errno;
	fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_all(int fd, char *to, size_t n)
{
	size_t used = 0;

	while (used < n) {
		ssize_t got = read(fd, to + used, n - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

/* The whole file in the pool, terminated; NULL: told. */
static char *read_text(
	const struct pl_convert *c, const char *key, const struct pl_node *node, size_t *n)
{
	PL_AUTO_CLOSE int fd = open_below(c->dir, node->text);
	struct stat st;
	char *text;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0) {
		refuse(c, key, node, node->text, strerror(fd < 0 ? -fd : errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || (size_t)st.st_size > PL_TABLE_BYTES_MAX) {
		refuse(c, key, node, node->text,
			S_ISREG(st.st_mode) ? "has more than 16 MiB, too large for a table"
					    : "is not a regular file");
		return NULL;
	}
	text = pl_pool_alloc(c->pool, (size_t)st.st_size + 1);
	got = text ? read_all(fd, text, (size_t)st.st_size) : -ENOMEM;
	if (got < 0) {
		refuse(c, key, node, node->text, strerror((int)-got));
		return NULL;
	}
	*n = (size_t)got;
	return text;
}

/* Cuts the next line off, without a CR before its end; NULL at the end. */
static char *next_line(char **rest, char *end)
{
	char *line = *rest;
	char *stop;

	if (line >= end)
		return NULL;
	stop = memchr(line, '\n', (size_t)(end - line));
	stop = stop ? stop : end;
	*rest = stop + 1;
	*stop = '\0';
	if (stop > line && stop[-1] == '\r')
		stop[-1] = '\0';
	return line;
}

static int count_lines(const char *text, size_t n)
{
	int lines = n > 0 && text[n - 1] != '\n';

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static struct pl_node *map_of(
	const struct pl_convert *c, struct pl_place at, char *text, size_t n, int n_lines)
{
	struct pl_node *map = pl_node_branch(c->pool, PL_NODE_MAP, at, n_lines);
	char *rest = text + (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);

	for (int i = 0; map && i < n_lines; i++) {
		const char *line = next_line(&rest, text + n);
		char number[16];
		int length = snprintf(number, sizeof(number), "%d", i);

		map->key[i] = pl_node_text(c->pool, at, line ? line : "", line ? strlen(line) : 0);
		map->item[i] = pl_node_text(c->pool, at, number, (size_t)length);
		if (!map->key[i] || !map->item[i])
			return NULL;
	}
	return map;
}

bool pl_table_read(const struct pl_convert *c, const char *key, struct pl_node *node)
{
	struct pl_node *map;
	char reason[80];
	size_t n = 0;
	char *text;
	int n_lines;

	text = c->dir ? read_text(c, key, node, &n) : NULL;
	if (!text)
		return false;
	if (memchr(text, '\0', n))
		return refuse(c, key, node, node->text, "has NUL bytes: it is no text");
	n_lines = count_lines(text, n);
	if (n_lines == 0)
		return refuse(c, key, node, node->text, "is empty");
	if (n_lines > PL_TABLE_ENTRIES_MAX) {
		snprintf(reason, sizeof(reason), "has %d lines, and a table may have %d", n_lines,
			PL_TABLE_ENTRIES_MAX);
		return refuse(c, key, node, node->text, reason);
	}
	map = map_of(c, node->at, text, n, n_lines);
	if (!map)
		return refuse(c, key, node, node->text, "needs too much memory");
	*node = *map;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct pl_table_entry *x = a;
	const struct pl_table_entry *y = b;

	return strcmp(x->text, y->text);
}

/* A map has no two keys alike, but the lines of a file may be. */
static bool check_apart(const struct pl_convert *c, const char *key, const struct pl_node *map,
	const struct pl_param_table *table)
{
	char reason[80];

	for (int64_t i = 1; i < table->n; i++) {
		const struct pl_table_entry *a = &table->entry[i - 1];
		const struct pl_table_entry *b = a + 1;

		if (strcmp(a->text, b->text) != 0)
			continue;
		snprintf(reason, sizeof(reason), "is there twice, in lines %lld and %lld",
			(long long)pl_min_u64((uint64_t)a->number, (uint64_t)b->number) + 1,
			(long long)pl_max_u64((uint64_t)a->number, (uint64_t)b->number) + 1);
		return refuse(c, key, map, a->text, reason);
	}
	return true;
}

bool pl_table_convert(const struct pl_convert *c, const char *key, const struct pl_node *map,
	struct pl_param_table *table)
{
	struct pl_table_entry *entry = pl_pool_array(c->pool, (size_t)map->n, sizeof(*entry));
	struct pl_err err = {0};

	if (!entry)
		return refuse(c, key, map, "", "needs too much memory");
	for (int i = 0; i < map->n; i++) {
		const struct pl_node *item = map->item[i];

		entry[i].text = map->key[i]->text;
		if (item->kind == PL_NODE_TEXT &&
			pl_scalar_int(item->text, &entry[i].number, &err) == 0)
			continue;
		if (item->kind != PL_NODE_BAD)
			refuse(c, key, item, map->key[i]->text,
				item->kind == PL_NODE_TEXT ? err.text : "must be a whole number");
		return false;
	}
	qsort(entry, (size_t)map->n, sizeof(*entry), compare);
	*table = (struct pl_param_table){.n = map->n, .entry = entry};
	return check_apart(c, key, map, table);
}
