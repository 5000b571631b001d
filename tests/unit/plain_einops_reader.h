/* tests/unit/plain_einops_reader.h - reads files of test vectors. */
#pragma once

#include "proto/einops/einops.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base.h"

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

static inline void die(const char *what)
{
	fprintf(stderr, "einops_vectors: %s\n", what);
	exit(2);
}

static inline void *get(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		die("out of memory");
	return p;
}

/* The next word of the line, cut off. */
static inline char *word(char **at)
{
	char *w = *at;
	size_t n = strcspn(w, " \n");

	if (n == 0)
		die("a line ends too early");
	*at = w + n + (w[n] == ' ');
	w[n] = '\0';
	return w;
}

static inline int64_t number(char **at)
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
static inline char *quoted(char **at, size_t *n)
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

static inline void store(enum pl_dtype dtype, char *at, int64_t whole, double real)
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

static inline double real_at(enum pl_dtype dtype, const char *at)
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

static inline void fill(enum pl_dtype dtype, char *buffer, int64_t n, char *at)
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

static inline enum pl_dtype dtype_of(const char *name)
{
	enum pl_dtype dtype = pl_dtype_parse(name, strlen(name));

	if (!dtype)
		die("no dtype");
	return dtype;
}

/* Reads "DT RANK d0 .." as a contiguous tensor. */
static inline struct pl_tensor tensor(char **at)
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

static inline struct input input(char *at)
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

static inline struct pl_einops_axis axis(char *at)
{
	struct pl_einops_axis a;
	size_t n;

	a.name = quoted(&at, &n);
	a.length = number(&at);
	return a;
}

static inline void take_packed(struct vector *v, char *at)
{
	struct pl_einops_shape *s = &v->packed[v->n_packed++];

	s->rank = (int)number(&at);
	for (int d = 0; d < s->rank; d++)
		s->length[d] = number(&at);
}

static inline enum pl_einops_op op_of(const char *name)
{
	for (int op = PL_EINOPS_REARRANGE; op <= PL_EINOPS_EINSUM; op++)
		if (strcmp(name, pl_einops_op_name((enum pl_einops_op)op)) == 0)
			return (enum pl_einops_op)op;
	die("no such operation");
	return PL_EINOPS_REARRANGE;
}

/* One line of a case; counts of things that follow are not needed. */
static inline void take_line(struct vector *v, char *at)
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

static inline void finish(struct vector *v)
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
