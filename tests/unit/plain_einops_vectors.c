/* tests/unit/plain_einops_vectors.c - runs files of test vectors: `einops_vectors FILE...`. */
#include "proto/einops/einops.h"

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
#define N_MAX 64

struct input {
	struct pl_tensor tensor;
	char *buffer;
};

struct expected {
	struct pl_tensor shape;
	char *line; /* from "hash" or "tol" on */
};

struct vector {
	long number;
	char *file;
	enum pl_einops_op op;
	char reduction[32];
	char *pattern;
	size_t n_pattern;
	size_t n_axes;
	struct pl_einops_axis axes[N_MAX];
	bool is_list;
	size_t n_inputs;
	struct input inputs[N_MAX];
	struct pl_tensor tensors[N_MAX];
	bool has_packed;
	size_t n_packed;
	struct pl_einops_shape packed[N_MAX];
	bool is_ok;
	char error[64];
	size_t n_dims;
	struct pl_einops_axis dims[N_MAX];
	size_t n_outputs;
	struct expected outputs[N_MAX];
};

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

static void die(const char *what)
{
	fprintf(stderr, "einops_vectors: %s\n", what);
	exit(2);
}

static void *get(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		die("out of memory");
	return p;
}

/* The next word of the line, cut off. */
static char *word(char **at)
{
	char *w = *at;
	size_t n = strcspn(w, " \n");

	if (n == 0)
		die("a line ends too early");
	*at = w + n + (w[n] == ' ');
	w[n] = '\0';
	return w;
}

static int64_t number(char **at)
{
	char *w = word(at);
	char *end;
	int64_t n;

	errno = 0;
	n = strtoll(w, &end, 10);
	if (*end || errno)
		die("no number");
	return n;
}

/* The quoted string at *at, in memory of its own; *n its length. */
static char *quoted(char **at, size_t *n)
{
	const char *s = strchr(*at, '"');
	char *out = get(strlen(*at));
	char hex[3] = "";

	*n = 0;
	if (!s)
		die("no quoted string");
	for (s++; *s && *s != '"'; s++) {
		if (*s != '\\') {
			out[(*n)++] = *s;
			continue;
		}
		s++;
		if (*s == 'x') {
			memcpy(hex, s + 1, 2);
			out[(*n)++] = (char)strtol(hex, NULL, 16);
			s += 2;
		} else {
			out[(*n)++] = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'r' ? '\r' : *s;
		}
	}
	*at = (char *)s + (*s == '"') + (*s == '"' && s[1] == ' ');
	out[*n] = '\0';
	return out;
}

static void store(enum pl_dtype dtype, char *at, int64_t whole, double real)
{
	uint16_t half = dtype == PL_BF16 ? pl_f32_to_bf16((float)real) : pl_f32_to_f16((float)real);
	float single = (float)real;
	uint8_t truth = whole != 0;

	if (dtype == PL_F64)
		memcpy(at, &real, 8);
	else if (dtype == PL_F32)
		memcpy(at, &single, 4);
	else if (dtype == PL_F16 || dtype == PL_BF16)
		memcpy(at, &half, 2);
	else if (dtype == PL_BOOL)
		memcpy(at, &truth, 1);
	else
		memcpy(at, &whole, pl_dtype_size(dtype));
}

static double real_at(enum pl_dtype dtype, const char *at)
{
	uint16_t half;
	float single;
	double real;

	memcpy(&half, at, 2);
	if (dtype == PL_F16)
		return pl_f16_to_f32(half);
	if (dtype == PL_BF16)
		return pl_bf16_to_f32(half);
	if (dtype == PL_F32) {
		memcpy(&single, at, 4);
		return single;
	}
	if (dtype != PL_F64)
		return NAN;
	memcpy(&real, at, 8);
	return real;
}

static void fill(enum pl_dtype dtype, char *buffer, int64_t n, char *at)
{
	int64_t size = (int64_t)pl_dtype_size(dtype);
	bool is_list = strcmp(word(&at), "list") == 0;
	char *texts[4096];
	uint64_t p[5];

	if (!is_list) {
		for (int i = 0; i < 5; i++)
			p[i] = (uint64_t)number(&at);
		for (int64_t j = 0; j < n; j++) {
			uint64_t t = (p[0] * (uint64_t)j + p[1]) % p[2];
			int64_t v = t < p[4] ? 0 : (int64_t)t + (int64_t)p[3];

			store(dtype, buffer + j * size, v, (double)v);
		}
		return;
	}
	p[0] = (uint64_t)number(&at);
	if (p[0] == 0 || p[0] > PL_ARRAY_LEN(texts))
		die("a list too long");
	for (uint64_t i = 0; i < p[0]; i++)
		texts[i] = word(&at);
	for (int64_t j = 0; j < n; j++) {
		const char *text = texts[(uint64_t)j % p[0]];
		int64_t v =
			*text == '-' ? strtoll(text, NULL, 10) : (int64_t)strtoull(text, NULL, 10);

		store(dtype, buffer + j * size, v, strtod(text, NULL));
	}
}

static enum pl_dtype dtype_of(const char *name)
{
	enum pl_dtype dtype = pl_dtype_parse(name, strlen(name));

	if (!dtype)
		die("no dtype");
	return dtype;
}

/* Reads "DT RANK d0 .." as a contiguous tensor. */
static struct pl_tensor tensor(char **at)
{
	struct pl_tensor t = {.dtype = dtype_of(word(at))};
	int64_t shape[PL_RANK_MAX];
	int64_t rank = number(at);

	if (rank > PL_RANK_MAX)
		die("rank");
	for (int d = 0; d < rank; d++)
		shape[d] = number(at);
	if (pl_tensor_init(&t, NULL, t.dtype, (int)rank, shape))
		die("shape");
	return t;
}

static struct input input(char *at)
{
	struct input in = {.tensor = tensor(&at)};
	struct pl_tensor *t = &in.tensor;
	int64_t size = (int64_t)pl_dtype_size(t->dtype);
	int64_t n;
	int64_t offset;

	word(&at);
	n = number(&at);
	word(&at);
	offset = number(&at);
	word(&at);
	for (int d = 0; d < t->rank; d++)
		t->stride[d] = number(&at) * size;
	word(&at);
	in.buffer = (char *)get((size_t)(n * size) + 16) + 1;
	fill(t->dtype, in.buffer, n, at);
	t->data = in.buffer + offset * size;
	if (pl_tensor_check(t, in.buffer, (size_t)(n * size)))
		die("an input outside of its buffer");
	return in;
}

static struct pl_einops_axis axis(char *at)
{
	struct pl_einops_axis a;
	size_t n;

	a.name = quoted(&at, &n);
	a.length = number(&at);
	return a;
}

static void take_packed(struct vector *v, char *at)
{
	struct pl_einops_shape *s = &v->packed[v->n_packed++];

	s->rank = (int)number(&at);
	for (int d = 0; d < s->rank; d++)
		s->length[d] = number(&at);
}

static enum pl_einops_op op_of(const char *name)
{
	for (int op = PL_EINOPS_REARRANGE; op <= PL_EINOPS_EINSUM; op++)
		if (strcmp(name, pl_einops_op_name((enum pl_einops_op)op)) == 0)
			return (enum pl_einops_op)op;
	die("no such operation");
	return PL_EINOPS_REARRANGE;
}

/* One line of a case; counts of things that follow are not needed. */
static void take_line(struct vector *v, char *at)
{
	const char *key = word(&at);

	if (v->n_axes == N_MAX || v->n_inputs == N_MAX || v->n_packed == N_MAX ||
		v->n_outputs == N_MAX || v->n_dims == N_MAX)
		die("more of something than expected");
	if (strcmp(key, "op") == 0)
		v->op = op_of(word(&at));
	else if (strcmp(key, "red") == 0)
		snprintf(v->reduction, sizeof(v->reduction), "%s", word(&at));
	else if (strcmp(key, "pattern") == 0)
		v->pattern = quoted(&at, &v->n_pattern);
	else if (strcmp(key, "axis") == 0)
		v->axes[v->n_axes++] = axis(at);
	else if (strcmp(key, "list") == 0)
		v->is_list = number(&at);
	else if (strcmp(key, "in") == 0)
		v->inputs[v->n_inputs++] = input(at);
	else if (strcmp(key, "ps") == 0)
		v->has_packed = true;
	else if (strcmp(key, "p") == 0)
		take_packed(v, at);
	else if (strcmp(key, "expect") == 0)
		v->is_ok = strcmp(word(&at), "ok") == 0;
	else if (strcmp(key, "error") == 0)
		snprintf(v->error, sizeof(v->error), "%s", word(&at));
	else if (strcmp(key, "dim") == 0)
		v->dims[v->n_dims++] = axis(at);
	else if (strcmp(key, "out") == 0) {
		struct expected *e = &v->outputs[v->n_outputs++];

		e->shape = tensor(&at);
		e->line = strdup(at);
	}
}

static void finish(struct vector *v)
{
	for (size_t i = 0; i < v->n_inputs; i++)
		free(v->inputs[i].buffer - 1);
	for (size_t i = 0; i < v->n_axes; i++)
		free((char *)v->axes[i].name);
	for (size_t i = 0; i < v->n_dims; i++)
		free((char *)v->dims[i].name);
	for (size_t i = 0; i < v->n_outputs; i++)
		free(v->outputs[i].line);
	free(v->pattern);
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
