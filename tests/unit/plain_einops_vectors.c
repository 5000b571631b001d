/* tests/unit/plain_einops_vectors.c - runs files of test vectors: `einops_vectors FILE...`. */
#include "tests/unit/plain_einops_reader.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base.h"

/*
 * The format is told at the head of each file. Every case is run through parse, infer, plan and
 * run; with the input at an odd address and with a guard around the result; through the view, if
 * the plan is one; and through the cache twice. All must agree.
 */
#define GUARD 64

static char why[512];

static bool fail(const char *format, ...) PL_PRINTF(1, 2);

static bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return false;
}

static uint64_t hash(const char *bytes, int64_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (int64_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return h;
}

static bool is_near(double x, double v, double relative, double absolute)
{
	if (isnan(v) || isinf(v))
		return isnan(v) ? isnan(x) : x == v;
	return fabs(x - v) <= absolute + relative * fabs(v);
}

/* Dense bytes against what is expected. */
static bool is_right(const struct expected *e, const struct pl_tensor *got)
{
	const char *bytes = got->data;
	char *line = strdup(e->line);
	char *at = line;
	bool is_ok = true;
	double relative;
	double absolute;
	int64_t n;

	if (strcmp(word(&at), "hash") == 0) {
		is_ok = hash(bytes, pl_tensor_bytes(got)) == strtoull(word(&at), NULL, 16);
		free(line);
		return is_ok;
	}
	relative = strtod(word(&at), NULL);
	absolute = strtod(word(&at), NULL);
	word(&at);
	n = number(&at);
	for (int64_t i = 0; is_ok && i < n; i++)
		is_ok = is_near(real_at(got->dtype, bytes + i * (int64_t)pl_dtype_size(got->dtype)),
			strtod(word(&at), NULL), relative, absolute);
	free(line);
	return is_ok;
}

static bool has_same_shape(const struct pl_tensor *a, const struct pl_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(a->shape[0])) == 0;
}

static struct pl_einops_spec spec_of(const struct vector *v)
{
	return (struct pl_einops_spec){v->op, v->pattern, v->n_pattern, v->reduction};
}

static struct pl_einops_args args_of(const struct vector *v)
{
	return (struct pl_einops_args){.inputs = v->tensors,
		.n_inputs = v->n_inputs,
		.is_list = v->is_list,
		.axes = v->axes,
		.n_axes = v->n_axes,
		.packed = v->packed,
		.n_packed = v->op == PL_EINOPS_UNPACK ? v->n_packed : 0};
}

/* Memory for the results, with a guard before and behind each. */
static void outputs_init(struct pl_tensor *outputs, const struct pl_einops_plan *plan)
{
	for (size_t i = 0; i < pl_einops_plan_n_results(plan); i++) {
		size_t n;

		outputs[i] = *pl_einops_plan_result(plan, i);
		n = (size_t)pl_tensor_bytes(&outputs[i]);
		outputs[i].data = (char *)get(n + 2 * GUARD) + GUARD;
		memset((char *)outputs[i].data - GUARD, 0xa5, n + 2 * GUARD);
	}
}

static bool outputs_finish(struct pl_tensor *outputs, size_t n)
{
	bool is_whole = true;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *before = (unsigned char *)outputs[i].data - GUARD;
		const unsigned char *behind =
			(unsigned char *)outputs[i].data + pl_tensor_bytes(&outputs[i]);

		for (int k = 0; k < GUARD; k++)
			is_whole &= before[k] == 0xa5 && behind[k] == 0xa5;
		free((void *)before);
	}
	return is_whole;
}

/* Shapes that are known in part must never contradict the whole. */
static bool check_infer(
	const struct vector *v, const struct pl_einops_pattern *p, const struct pl_tensor *result)
{
	struct pl_tensor inputs[N_MAX];
	struct pl_einops_args args = args_of(v);
	struct pl_tensor got;
	struct pl_einops_error error;

	if (v->op == PL_EINOPS_UNPACK)
		return true;
	if (pl_einops_infer(p, &args, &got, &error) || !has_same_shape(&got, result))
		return fail("infer with all known differs");
	args.inputs = inputs;
	for (int hidden = 0; hidden < 8; hidden++) {
		memcpy(inputs, v->tensors, sizeof(inputs));
		for (size_t i = 0; i < v->n_inputs; i++)
			for (int d = 0; d < inputs[i].rank; d++)
				if (hidden == 7 || (d + (int)i) % 7 == hidden)
					inputs[i].shape[d] = -1;
		if (pl_einops_infer(p, &args, &got, &error))
			return fail("infer with unknown lengths: %s", error.text);
		if (got.rank != result->rank || got.dtype != result->dtype)
			return fail("infer with unknown lengths: rank or dtype");
		for (int d = 0; d < got.rank; d++)
			if (got.shape[d] != -1 && got.shape[d] != result->shape[d])
				return fail("infer with unknown lengths: length %d", d);
	}
	return true;
}

static bool check_outputs(const struct vector *v, const struct pl_tensor *outputs, const char *how)
{
	for (size_t i = 0; i < v->n_outputs; i++)
		if (!is_right(&v->outputs[i], &outputs[i]))
			return fail("%s: result %zu has other values", how, i);
	return true;
}

static bool check_view(const struct vector *v, const struct pl_einops_plan *plan, size_t i,
	const struct pl_tensor *output)
{
	struct pl_tensor view;

	if (!pl_einops_plan_view(plan, i, &v->tensors[0], &view))
		return true;
	memset(output->data, 0x5a, (size_t)pl_tensor_bytes(output));
	if (pl_tensor_copy(output, &view))
		return fail("the view of result %zu has another shape", i);
	return is_right(&v->outputs[i], output) || fail("the view of result %zu differs", i);
}

static bool check_packed(const struct vector *v, const struct pl_einops_plan *plan)
{
	struct pl_einops_shape s;

	for (size_t i = 0; v->op == PL_EINOPS_PACK && i < v->n_packed; i++)
		if (!pl_einops_plan_packed(plan, i, &s) || s.rank != v->packed[i].rank ||
			memcmp(s.length, v->packed[i].length, (size_t)s.rank * sizeof(s.length[0])))
			return fail("packed shape %zu differs", i);
	return true;
}

static bool run_plan(const struct vector *v, const struct pl_einops_plan *plan,
	struct pl_einops_cache *cache, const struct pl_tensor *outputs)
{
	struct pl_einops_spec spec = spec_of(v);
	struct pl_einops_args args = args_of(v);
	bool is_ok = true;

	if (pl_einops_run(plan, v->tensors, outputs))
		return fail("run refuses");
	is_ok = check_outputs(v, outputs, "run");
	for (size_t i = 0; is_ok && i < v->n_outputs; i++)
		is_ok = check_view(v, plan, i, &outputs[i]);
	for (int again = 0; is_ok && again < 2; again++) {
		if (pl_einops_call(cache, &spec, &args, outputs, NULL))
			return fail("the cached call refuses");
		is_ok = check_outputs(v, outputs, "cached call");
	}
	return is_ok && check_packed(v, plan);
}

static bool check_plan(const struct vector *v, const struct pl_einops_pattern *p,
	const struct pl_einops_plan *plan, struct pl_einops_cache *cache)
{
	struct pl_tensor outputs[N_MAX];
	bool is_ok;

	if (pl_einops_plan_n_results(plan) != v->n_outputs)
		return fail("%zu results", pl_einops_plan_n_results(plan));
	for (size_t i = 0; i < v->n_outputs; i++)
		if (!has_same_shape(pl_einops_plan_result(plan, i), &v->outputs[i].shape))
			return fail("result %zu has another shape or dtype", i);
	if (!check_infer(v, p, pl_einops_plan_result(plan, 0)))
		return false;
	outputs_init(outputs, plan);
	is_ok = run_plan(v, plan, cache, outputs);
	return outputs_finish(outputs, v->n_outputs) ? is_ok
						     : fail("written outside of the result");
}

static bool check_shape(const struct vector *v, const struct pl_einops_axis *found, size_t n)
{
	if (n != v->n_dims)
		return fail("%zu names", n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(found[i].name, v->dims[i].name) || found[i].length != v->dims[i].length)
			return fail("name %zu differs", i);
	return true;
}

static bool check_error(const struct vector *v, const struct pl_einops_error *e, int r)
{
	const char *got = r ? pl_einops_code_name(e->code) : "success";

	if (v->is_ok)
		return fail("%s: %s", got, e->text);
	if (strcmp(got, v->error) != 0)
		return fail("%s instead of %s", got, v->error);
	if (e->column > v->n_pattern || !e->reason[0] || !strstr(e->text, e->reason) ||
		!strchr(strrchr(e->text, '\n') ? strrchr(e->text, '\n') : "", '^'))
		return fail("an error without a text or a place");
	return true;
}

static bool check(const struct vector *v, struct pl_einops_cache *cache)
{
	struct pl_einops_spec spec = spec_of(v);
	struct pl_einops_args args = args_of(v);
	struct pl_einops_pattern *p = NULL;
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_axis found[PL_RANK_MAX];
	struct pl_einops_error error = {.code = PL_EINOPS_OK};
	size_t n_found = 0;
	bool is_ok;
	int r = pl_einops_parse(&spec, &p, &error);

	if (!r && v->op == PL_EINOPS_PARSE_SHAPE)
		r = pl_einops_parse_shape(p, &v->tensors[0], found, &n_found, &error);
	else if (!r)
		r = pl_einops_plan_create(p, &args, &plan, &error);
	if (r || !v->is_ok)
		is_ok = check_error(v, &error, r);
	else if (v->op == PL_EINOPS_PARSE_SHAPE)
		is_ok = check_shape(v, found, n_found);
	else
		is_ok = check_plan(v, p, plan, cache);
	pl_einops_plan_release(plan);
	pl_einops_pattern_destroy(p);
	return is_ok;
}

struct counts {
	long passed;
	long failed;
};

static void run_case(struct vector *v, struct pl_einops_cache *cache, struct counts *counts)
{
	for (size_t i = 0; i < v->n_inputs; i++)
		v->tensors[i] = v->inputs[i].tensor;
	if (check(v, cache)) {
		counts->passed++;
		return;
	}
	counts->failed++;
	printf("%s: case %ld: %s \"%s\": %s\n", v->file, v->number, pl_einops_op_name(v->op),
		v->pattern ? v->pattern : "", why);
}

static void run_file(char *name, struct pl_einops_cache *cache, struct counts *counts)
{
	FILE *file = fopen(name, "r");
	struct vector v = {0};
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		perror(name);
		exit(2);
	}
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0')
			continue;
		if (strncmp(line, "case ", 5) == 0) {
			v = (struct vector){.file = name, .number = strtol(line + 5, NULL, 10)};
		} else if (strcmp(line, "end") == 0) {
			run_case(&v, cache, counts);
			finish(&v);
		} else {
			take_line(&v, line);
		}
	}
	free(line);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct pl_einops_cache *cache = pl_einops_cache_create(256);
	struct counts counts = {0, 0};

	if (!cache)
		die("out of memory");
	for (int i = 1; i < argc; i++)
		run_file(argv[i], cache, &counts);
	pl_einops_cache_destroy(cache);
	printf("kernels: %s\n", pl_einops_kernels_name());
	printf("%ld passed, %ld failed\n", counts.passed, counts.failed);
	return counts.failed || argc < 2;
}
