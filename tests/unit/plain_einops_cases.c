/* tests/unit/plain_einops_cases.c - `einops_cases FILE` runs the cases of a table. */
#include "proto/einops/einops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base.h"

/*
 * A line: pattern, input shape, lengths, result shape, values or the reason of the error, verdict,
 * between tabs. The input counts up from 0. Of a verdict EITHER both answers are right, but what is
 * answered must be as said.
 */
#define COLUMNS  6
#define AXES_MAX 8

struct line {
	char *column[COLUMNS];
	int rank;
	int64_t shape[64];
	size_t n_axes;
	struct pl_einops_axis axes[AXES_MAX];
};

static int read_numbers(const char *text, int64_t *out, int max)
{
	int n = 0;

	while (n < max && *(text += strcspn(text, "0123456789")))
		out[n++] = strtoll(text, (char **)&text, 10);
	return n;
}

static bool read_line(struct line *l, char *text)
{
	char *at;

	text[strcspn(text, "\n")] = '\0';
	for (int i = 0; i < COLUMNS; i++)
		if (!(l->column[i] = strsep(&text, "\t")))
			return false;
	at = strstr(l->column[0], "<TAB>");
	if (at) {
		*at = '\t';
		memmove(at + 1, at + 5, strlen(at + 5) + 1);
	}
	l->rank = read_numbers(l->column[1], l->shape, 64);
	l->n_axes = 0;
	for (char *rest = l->column[2]; (at = strsep(&rest, ",")) && *at;) {
		struct pl_einops_axis *a = &l->axes[l->n_axes++];

		a->name = strsep(&at, "=");
		a->length = strtoll(at, NULL, 10);
	}
	return true;
}

static bool check_result(const struct line *l, const struct pl_tensor *out)
{
	int64_t wanted[64];
	static int64_t values[4096];
	int rank = read_numbers(l->column[3], wanted, 64);
	int n = read_numbers(l->column[4], values, 4096);

	return rank == out->rank &&
	       memcmp(wanted, out->shape, (size_t)rank * sizeof(*wanted)) == 0 &&
	       n == pl_tensor_count(out) &&
	       memcmp(values, out->data, (size_t)n * sizeof(*values)) == 0;
}

/* -1: refused; 0: other values; 1: as said. */
static int run(const struct line *l)
{
	struct pl_einops_spec spec = {
		PL_EINOPS_REARRANGE, l->column[0], strlen(l->column[0]), NULL};
	static int64_t data[4096];
	static int64_t result[4096];
	struct pl_tensor in;
	struct pl_tensor out;
	struct pl_einops_args args = {
		.inputs = &in, .n_inputs = 1, .axes = l->axes, .n_axes = l->n_axes};
	struct pl_einops_plan *plan;
	struct pl_einops_error error;
	int r;

	for (int i = 0; i < 4096; i++)
		data[i] = i;
	if (l->rank > PL_RANK_MAX || pl_tensor_init(&in, data, PL_I64, l->rank, l->shape) ||
		pl_einops_cache_plan(NULL, &spec, &args, &plan, &error))
		return -1;
	out = *pl_einops_plan_result(plan, 0);
	out.data = result;
	r = pl_einops_run(plan, &in, &out) == 0 && check_result(l, &out);
	pl_einops_plan_release(plan);
	return r;
}

static bool is_right(const struct line *l, int answer)
{
	bool is_error = strcmp(l->column[3], "ERROR") == 0;

	if (strncmp(l->column[5], "EITHER", 6) == 0)
		return is_error || answer != 0;
	return answer == (is_error ? -1 : 1);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *text = NULL;
	size_t size = 0;
	int n = 0;
	int n_failed = 0;

	if (!file || getline(&text, &size, file) < 0) {
		fprintf(stderr, "usage: einops_cases FILE\n");
		return 2;
	}
	while (getline(&text, &size, file) > 0) {
		struct line l;

		if (!read_line(&l, text))
			return 2;
		n++;
		if (is_right(&l, run(&l)))
			continue;
		n_failed++;
		printf("%s %s: not as said: %s\n", l.column[0], l.column[1], l.column[5]);
	}
	free(text);
	fclose(file);
	printf("%d passed, %d failed\n", n - n_failed, n_failed);
	return n_failed != 0;
}
