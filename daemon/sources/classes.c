/* daemon/sources/classes.c - the class names of a source, in label order. */
#include "daemon/sources/classes.h"

#include <errno.h>
#include <fcntl.h>

#include "daemon/sources/regular.h"

#define FILE_MAX (16 << 20)

void pl_classes_finish(struct pl_classes *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		free(c->name[i]);
	free(c->name);
	free(c->sorted);
	*c = (struct pl_classes){0};
}

int pl_classes_add(struct pl_classes *c, const char *name)
{
	if (c->n == c->room) {
		uint32_t room = c->room ? c->room * 2 : 64;
		char **grown = reallocarray(c->name, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		c->name = grown;
		c->room = room;
	}
	c->name[c->n] = strdup(name);
	if (!c->name[c->n])
		return -ENOMEM;
	c->n++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void pl_classes_number_by_name(struct pl_classes *c)
{
	if (c->n)
		qsort(c->name, c->n, sizeof(*c->name), compare_names);
}

static int compare_labels(const void *a, const void *b, void *names)
{
	char *const *name = names;

	return strcmp(name[*(const uint32_t *)a], name[*(const uint32_t *)b]);
}

int pl_classes_sort(struct pl_classes *c, const char **twice)
{
	c->sorted = reallocarray(c->sorted, c->n + 1, sizeof(*c->sorted));
	if (!c->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		c->sorted[i] = i;
	qsort_r(c->sorted, c->n, sizeof(*c->sorted), compare_labels, c->name);
	for (uint32_t i = 1; i < c->n; i++)
		if (!strcmp(c->name[c->sorted[i - 1]], c->name[c->sorted[i]])) {
			*twice = c->name[c->sorted[i]];
			return -EEXIST;
		}
	return 0;
}

int64_t pl_classes_find(const struct pl_classes *c, const char *name)
{
	uint32_t low = 0;
	uint32_t high = c->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int d = strcmp(name, c->name[c->sorted[middle]]);

		if (d == 0)
			return c->sorted[middle];
		if (d < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

/* Adds the lines of `text` (n bytes and a NUL behind them). */
static int add_lines(struct pl_classes *c, char *text, size_t n, struct pl_err *err)
{
	char *end = text + n;

	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *stop = newline ? newline : end;
		int r;

		*stop = '\0';
		if (stop > line && stop[-1] == '\r')
			stop[-1] = '\0';
		if (!*line)
			return pl_err_set(err, -EINVAL, "line %u is empty", c->n + 1);
		r = pl_classes_add(c, line);
		if (r)
			return pl_err_set(err, r, "out of memory");
		line = stop + 1;
	}
	return c->n ? 0 : pl_err_set(err, -EINVAL, "the file is empty; one class name a line");
}

static int read_file(struct pl_classes *c, const char *path, struct pl_err *err)
{
	PL_AUTO_CLOSE int fd = -1;
	PL_AUTO_FREE char *text = NULL;
	const char *twice = NULL;
	uint64_t n;
	int r = pl_regular_open(AT_FDCWD, path, &fd, &n, err);

	if (r)
		return r;
	if (n > FILE_MAX)
		return pl_err_set(err, -EFBIG, "larger than 16 MiB; one class name a line");
	text = malloc((size_t)n + 1);
	if (!text)
		return pl_err_set(err, -ENOMEM, "out of memory");
	r = pl_regular_read(fd, text, (size_t)n, err);
	if (r)
		return r;
	if (memchr(text, 0, (size_t)n))
		return pl_err_set(err, -EINVAL, "there is a NUL in it; one class name a line");
	text[n] = '\0';
	r = add_lines(c, text, (size_t)n, err);
	if (r)
		return r;
	r = pl_classes_sort(c, &twice);
	return r ? pl_err_set(err, r, "class '%s' is there twice", twice ? twice : "?") : 0;
}

int pl_classes_read(struct pl_classes *c, const char *path, struct pl_err *err)
{
	char quoted[1024];
	int r = read_file(c, path, err);

	if (r)
		pl_err_prefix(err, "classes: %s: ", pl_err_quote(quoted, sizeof(quoted), path));
	return r;
}
