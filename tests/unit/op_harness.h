/* tests/unit/op_harness.h - runs one step of daemon/ops on values of the test's own, without a plan
 * or a worker. */
#pragma once

#include <ctype.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "daemon/kit/op.h"

#define OP_FIELDS 8

/*
 * op_begin, op_set for parameters other than the defaults, op_field for each input, op_load, then
 * op_run as often as wanted; op_end. The result of field i is op_value(&h, i); texts of errors are
 * in h.err.text.
 */
struct op_harness {
	const struct pl_op *op;
	void *params;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_type type[PL_FIELDS_MAX];
	const char *name[PL_FIELDS_MAX];
	bool is_live[PL_FIELDS_MAX];
	int in[OP_FIELDS];
	int out[OP_FIELDS];
	bool writes_row[OP_FIELDS];
	struct pl_tensor given[OP_FIELDS];
	int n;
	int n_own; /* of the n; op_also adds others */
	int n_fields;
	const char *dir; /* what paths count from; NULL: nothing reads one */
	const struct pl_param_texts *roots;
	void *state;
	struct pl_draw_key key;
	struct pl_err err;
};

#define OP_HELPER __attribute__((unused)) static

/* A number or a fraction at *text, which moves behind it. */
OP_HELPER double op_number(const char **text)
{
	char *end;
	double v = strtod(*text, &end);

	cr_assert(end != *text, "no number in '%s'", *text);
	if (*end == '/') {
		const char *rest = end + 1;
		double divisor = op_number(&rest);

		*text = rest;
		return v / divisor;
	}
	*text = end;
	return v;
}

/* The numbers of "7", "[1, 2]" or "1/255"; returns how many. */
OP_HELPER int op_numbers(const char *text, double *v, int max)
{
	int n = 0;

	while (*text) {
		if (strchr("[], ", *text)) {
			text++;
			continue;
		}
		cr_assert(n < max);
		v[n++] = op_number(&text);
	}
	return n;
}

OP_HELPER void op_set_map(struct pl_param_map *map, const char *text)
{
	for (int i = 0; i < map->n; i++)
		free((void *)(uintptr_t)map->v[i].key);
	map->n = 0;
	while (*text && *text != '}') {
		size_t length = strcspn(text, ":}");
		const char *key = text + strspn(text, "{, ");

		if (text[length] != ':')
			break;
		map->v[map->n].key = strndup(key, (size_t)(text + length - key));
		text += length + 1;
		map->v[map->n++].value = op_number(&text);
	}
}

OP_HELPER int op_choice(const struct pl_param *p, const char *text)
{
	for (int i = 0; p->choices[i]; i++)
		if (strcmp(p->choices[i], text) == 0)
			return i;
	cr_assert(false, "%s has no choice '%s'", p->key, text);
	return 0;
}

OP_HELPER void op_set_lists(const struct pl_param *p, void *at, const char *text)
{
	double v[PL_PARAM_LIST_MAX];
	int n = op_numbers(text, v, PL_PARAM_LIST_MAX);

	if (p->kind == PL_PARAM_SIZE)
		*(struct pl_param_size *)at =
			(struct pl_param_size){(int64_t)v[0], (int64_t)v[n - 1], true};
	if (p->kind == PL_PARAM_RANGE)
		*(struct pl_param_range *)at = (struct pl_param_range){v[0], v[n - 1]};
	if (p->kind == PL_PARAM_FLOATS) {
		((struct pl_param_floats *)at)->n = n;
		memcpy(((struct pl_param_floats *)at)->v, v, sizeof(v));
	}
	if (p->kind == PL_PARAM_INTS) {
		((struct pl_param_ints *)at)->n = n;
		for (int i = 0; i < n; i++)
			((struct pl_param_ints *)at)->v[i] = (int64_t)v[i];
	}
}

OP_HELPER void op_set_param(struct op_harness *h, const struct pl_param *p, const char *text)
{
	char *at = (char *)h->params + p->offset;
	const char *rest = text;

	switch (p->kind) {
	case PL_PARAM_INT:
	case PL_PARAM_BYTES:
		for (int i = 0; p->choices && p->choices[i]; i++)
			if (strcmp(p->choices[i], text) == 0) {
				*(int64_t *)(void *)at = PL_PARAM_WORD(i);
				return;
			}
		*(int64_t *)(void *)at = strtoll(text, NULL, 10);
		return;
	case PL_PARAM_FLOAT:
		*(double *)(void *)at = op_number(&rest);
		return;
	case PL_PARAM_BOOL:
		*(bool *)at = strcmp(text, "true") == 0;
		return;
	case PL_PARAM_TEXT:
		*(const char **)(void *)at = text;
		return;
	case PL_PARAM_CHOICE:
		*(int *)(void *)at = op_choice(p, text);
		return;
	case PL_PARAM_DTYPE:
		*(enum pl_dtype *)(void *)at = pl_dtype_parse(text, strlen(text));
		return;
	case PL_PARAM_MAP:
		op_set_map((struct pl_param_map *)(void *)at, text);
		return;
	default:
		op_set_lists(p, at, text);
	}
}

OP_HELPER void op_begin(struct op_harness *h, const struct pl_op *op)
{
	memset(h, 0, sizeof(*h));
	h->op = op;
	h->params = calloc(1, op->params_size + 1);
	h->key = (struct pl_draw_key){.seed = 42};
	pl_scratch_init(&h->scratch, (size_t)1 << 30);
	h->sample.scratch = &h->scratch;
	for (const struct pl_param *p = op->params; p && p->key; p++)
		if (p->def && p->def[0])
			op_set_param(h, p, p->def);
}

OP_HELPER void op_set(struct op_harness *h, const char *key, const char *text)
{
	for (const struct pl_param *p = h->op->params; p && p->key; p++) {
		if (strcmp(p->key, key) != 0)
			continue;
		op_set_param(h, p, text);
		return;
	}
	cr_assert(false, "%s has no parameter '%s'", h->op->name, key);
}

/* Adds an input; `data` is borrowed. The type starts with every length known: change h->type[i] for
 * others. */
OP_HELPER int op_field(struct op_harness *h, const char *name, enum pl_kind kind,
	enum pl_dtype dtype, int rank, const int64_t *shape, const void *data)
{
	int i = h->n++;
	int field = h->n_fields++;

	cr_assert(h->n <= OP_FIELDS);
	h->type[field] = (struct pl_type){.kind = kind, .dtype = dtype, .rank = rank};
	memcpy(h->type[field].shape, shape, (size_t)rank * sizeof(*shape));
	h->name[field] = name;
	h->is_live[field] = true;
	h->in[i] = field;
	h->out[i] = h->op->to ? h->n_fields++ : field;
	h->n_own++;
	cr_assert(pl_tensor_init(&h->given[i], (void *)(uintptr_t)data, dtype, rank, shape) == 0);
	return i;
}

/* The last field added stands for a further one of the step, which it changes or reads in place. */
OP_HELPER void op_also(struct op_harness *h)
{
	h->out[h->n - 1] = h->in[h->n - 1];
	h->n_own--;
}

/* A further field that the step writes. */
OP_HELPER int op_also_writes(struct op_harness *h, const char *name)
{
	int i = h->n++;

	h->in[i] = h->in[0];
	h->given[i] = h->given[0];
	h->out[i] = h->n_fields++;
	h->name[h->out[i]] = name;
	return i;
}

OP_HELPER int op_load(struct op_harness *h)
{
	struct pl_infer io = {
		.type = h->type,
		.name = h->name,
		.is_live = h->is_live,
		.n_fields = h->n_fields,
		.in = h->in,
		.out = h->out,
		.n = h->n,
		.n_own = h->n_own,
		.stage = PL_STAGE_WORKER,
		.dir = h->dir,
		.roots = h->roots,
	};
	int rc = h->op->check ? h->op->check(h->params, &h->err) : 0;

	if (h->op->destroy)
		h->op->destroy(h->state);
	h->state = NULL;
	if (rc == 0 && h->op->infer)
		rc = h->op->infer(&io, h->params, &h->err);
	if (rc == 0 && h->op->prepare)
		rc = h->op->prepare(&io, h->params, &h->state, &h->err);
	return rc;
}

OP_HELPER int op_run(struct op_harness *h)
{
	struct pl_run r = {
		.sample = &h->sample,
		.op = h->op,
		.params = h->params,
		.state = h->state,
		.in = h->in,
		.out = h->out,
		.n = h->n,
		.n_own = h->n_own,
		.writes_row = h->writes_row,
		.err = &h->err,
	};

	pl_scratch_reset(&h->scratch);
	h->err = (struct pl_err){0};
	for (int i = 0; i < h->n; i++)
		h->sample.value[h->in[i]] = h->given[i];
	pl_rng_init(&r.rng, &h->key, pl_rng_place(h->op->name, 0, ""), 0);
	return h->op->run(&r);
}

OP_HELPER const struct pl_tensor *op_value(const struct op_harness *h, int i)
{
	return &h->sample.value[h->out[i]];
}

OP_HELPER const struct pl_type *op_type(const struct op_harness *h, int i)
{
	return &h->type[h->out[i]];
}

/* One element as a number; `at` has the rank's length. */
OP_HELPER double op_at(const struct op_harness *h, int i, const int64_t *at)
{
	const struct pl_tensor *t = op_value(h, i);
	const char *p = t->data;

	for (int d = 0; d < t->rank; d++) {
		cr_assert(at[d] >= 0 && at[d] < t->shape[d], "axis %d: %d of %d", d, (int)at[d],
			(int)t->shape[d]);
		p += at[d] * t->stride[d];
	}
	switch (t->dtype) {
	case PL_U8:
		return *(const uint8_t *)p;
	case PL_U16:
		return *(const uint16_t *)(const void *)p;
	case PL_I32:
		return *(const int32_t *)(const void *)p;
	case PL_I64:
		return (double)*(const int64_t *)(const void *)p;
	case PL_F32:
		return *(const float *)(const void *)p;
	case PL_F64:
		return *(const double *)(const void *)p;
	default:
		cr_assert(false, "op_at does not read %s", pl_dtype_name(t->dtype));
		return 0;
	}
}

OP_HELPER void op_end(struct op_harness *h)
{
	if (h->op->destroy)
		h->op->destroy(h->state);
	for (const struct pl_param *p = h->op->params; p && p->key; p++) {
		struct pl_param_map *map = (void *)((char *)h->params + p->offset);

		for (int i = 0; p->kind == PL_PARAM_MAP && i < map->n; i++)
			free((void *)(uintptr_t)map->v[i].key);
	}
	free(h->params);
	pl_scratch_finish(&h->scratch);
}

#define op_expect_error(h, rc, part)                                                               \
	do {                                                                                       \
		cr_expect((rc) < 0, "an error was expected");                                      \
		cr_expect(                                                                         \
			strstr((h)->err.text, part), "'%s' is not in '%s'", part, (h)->err.text);  \
	} while (0)
