/* tests/fuzz/fuzz_einops_run.c - patterns are run and compared with a naive reference. */
#include "proto/einops/einops.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base.h"

/*
 * The input chooses up to seven axes with lengths of 0 to 5, how they are grouped on the left and
 * in which order and groups on the right, which are new or reduced, strides with gaps, negative or
 * zero, dtype and reduction. The reference walks over every combination of the axes and knows
 * nothing of blocks, strides that merge, or kernels.
 */
#define AXES 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
	const uint8_t *at;
	size_t n;
};

static unsigned int draw(struct source *s, unsigned int below)
{
	unsigned int v = s->n ? *s->at : 0;

	if (s->n) {
		s->at++;
		s->n--;
	}
	return v % below;
}

struct axis {
	int64_t n;
	bool is_left;
	bool is_right;
	int64_t in;  /* elements */
	int64_t out; /* elements */
};

struct made {
	enum pl_einops_op op;
	int n_axes;
	struct axis axes[AXES];
	int order[AXES]; /* right side */
	char text[256];
	struct pl_einops_axis lengths[AXES];
	int rank;
	int64_t shape[AXES];
	int64_t stride[AXES]; /* elements */
};

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static const char names[AXES][2] = {"a", "b", "c", "d", "e", "f", "g"};

static void draw_axes(struct made *m, struct source *s)
{
	static const enum pl_einops_op ops[] = {
		PL_EINOPS_REARRANGE, PL_EINOPS_REDUCE, PL_EINOPS_REPEAT};

	m->op = ops[draw(s, 3)];
	m->n_axes = (int)draw(s, AXES) + 1;
	for (int i = 0; i < m->n_axes; i++) {
		unsigned int side = draw(s, 3);

		m->axes[i].n = (int64_t)draw(s, 6);
		m->axes[i].is_left = m->op != PL_EINOPS_REPEAT || side;
		m->axes[i].is_right = m->op != PL_EINOPS_REDUCE || side;
		m->order[i] = i;
		m->lengths[i] = (struct pl_einops_axis){names[i], m->axes[i].n};
	}
	for (int i = m->n_axes - 1; i > 0; i--) {
		int k = (int)draw(s, (unsigned int)i + 1);
		int kept = m->order[i];

		m->order[i] = m->order[k];
		m->order[k] = kept;
	}
}

static void append(struct made *m, const char *text)
{
	strncat(m->text, text, sizeof(m->text) - strlen(m->text) - 1);
}

/* Writes one side with random groups; on the left also the shape of the input. */
static void draw_side(struct made *m, struct source *s, bool is_left)
{
	bool is_open = false;

	for (int k = 0; k < m->n_axes; k++) {
		int i = is_left ? k : m->order[k];

		if (is_left ? !m->axes[i].is_left : !m->axes[i].is_right)
			continue;
		if (!is_open && draw(s, 8) == 0)
			append(m, is_left ? "" : "1 ");
		if (!is_open && draw(s, 2)) {
			append(m, "(");
			is_open = true;
			if (is_left)
				m->shape[m->rank++] = 1;
		} else if (!is_open && is_left) {
			m->shape[m->rank++] = 1;
		}
		append(m, names[i]);
		append(m, " ");
		if (is_left)
			m->shape[m->rank - 1] *= m->axes[i].n;
		if (is_open && draw(s, 2)) {
			append(m, ") ");
			is_open = false;
		}
	}
	append(m, is_open ? ")" : "");
}

/* Strides that reach each element once or not at all, forwards or backwards, or again and again. */
static int64_t draw_strides(struct made *m, struct source *s, int64_t *first)
{
	int64_t next = 1;
	int64_t reach = 1;

	*first = 0;
	for (int k = m->rank - 1; k >= 0; k--) {
		int d = draw(s, 4) ? k : (k + 1) % m->rank;
		unsigned int how = draw(s, 8);

		d = m->stride[d] ? k : d;
		d = m->stride[d] ? (k + 1) % m->rank : d;
		m->stride[d] = how == 0 ? 0 : next;
		if (how == 1 && m->shape[d] > 0) {
			m->stride[d] = -next;
			*first += next * (m->shape[d] - 1);
		}
		if (how > 0 && m->shape[d] > 0) {
			reach += next * (m->shape[d] - 1);
			next = reach + (int64_t)(draw(s, 4) == 0);
		}
	}
	return reach;
}

/* Where each axis lies in the input, and in the result. */
static void find_strides(struct made *m, const char *text)
{
	int64_t out = 1;
	int d = -1;
	int last = -1;
	bool is_open = false;
	int dim_of[AXES];

	for (const char *c = text; *c != '-'; c++) {
		if (*c == '(') {
			is_open = true;
			d++;
		} else if (*c == ')') {
			is_open = false;
		} else if (*c >= 'a' && *c <= 'g') {
			d += !is_open;
			dim_of[*c - 'a'] = d;
			last = *c - 'a';
		}
	}
	for (int i = last, at = -1; i >= 0; i--) {
		static int64_t stride;

		if (!m->axes[i].is_left)
			continue;
		if (dim_of[i] != at)
			stride = m->stride[dim_of[i]];
		at = dim_of[i];
		m->axes[i].in = stride;
		stride *= m->axes[i].n;
	}
	for (int k = m->n_axes - 1; k >= 0; k--) {
		struct axis *a = &m->axes[m->order[k]];

		if (!a->is_right)
			continue;
		a->out = out;
		out *= a->n;
	}
}

static double load(enum pl_dtype dtype, const char *at)
{
	uint16_t half = 0;
	float single = 0;
	int64_t whole = 0;

	switch (dtype) {
	case PL_F16:
		memcpy(&half, at, 2);
		return pl_f16_to_f32(half);
	case PL_BF16:
		memcpy(&half, at, 2);
		return pl_bf16_to_f32(half);
	case PL_F32:
		memcpy(&single, at, 4);
		return single;
	case PL_F64: {
		double real;

		memcpy(&real, at, 8);
		return real;
	}
	default:
		memcpy(&whole, at, pl_dtype_size(dtype));
		return (double)whole;
	}
}

/* Small numbers that every type has, and whose sums and products are exact in any order. */
static void store(enum pl_dtype dtype, char *at, int value)
{
	int64_t whole = value;
	uint16_t half =
		dtype == PL_BF16 ? pl_f32_to_bf16((float)value) : pl_f32_to_f16((float)value);
	float single = (float)value;
	double real = value;

	if (dtype == PL_F16 || dtype == PL_BF16)
		memcpy(at, &half, 2);
	else if (dtype == PL_F32)
		memcpy(at, &single, 4);
	else if (dtype == PL_F64)
		memcpy(at, &real, 8);
	else
		memcpy(at, &whole, pl_dtype_size(dtype));
}

enum kind { COPY, MIN, MAX, SUM, PROD, ANY, ALL, KINDS };

static const char *const reductions[KINDS] = {"", "min", "max", "sum", "prod", "any", "all"};

static double combine(enum kind kind, double a, double b)
{
	switch (kind) {
	case MIN:
		return a < b ? a : b;
	case MAX:
		return a > b ? a : b;
	case SUM:
		return a + b;
	case PROD:
		return a * b;
	case ANY:
		return a != 0 || b != 0;
	case ALL:
		return a != 0 && b != 0;
	default:
		return b;
	}
}

static double neutral(enum kind kind)
{
	return kind == PROD || kind == ALL ? 1 : kind == MIN ? 1e9 : kind == MAX ? -1e9 : 0;
}

/* Every combination of all axes, one by one. */
static void reference(
	const struct made *m, enum kind kind, const struct pl_tensor *in, double *result)
{
	int64_t at[AXES] = {0};
	int d;

	for (int i = 0; i < m->n_axes; i++)
		if (m->axes[i].n == 0)
			return;
	do {
		int64_t from = 0;
		int64_t to = 0;

		for (int i = 0; i < m->n_axes; i++) {
			from += m->axes[i].is_left ? at[i] * m->axes[i].in : 0;
			to += m->axes[i].is_right ? at[i] * m->axes[i].out : 0;
		}
		result[to] = combine(kind, result[to],
			load(in->dtype,
				(char *)in->data + from * (int64_t)pl_dtype_size(in->dtype)));
		for (d = m->n_axes - 1; d >= 0; d--) {
			if (++at[d] < m->axes[d].n)
				break;
			at[d] = 0;
		}
	} while (d >= 0);
}

static bool is_empty_reduce(const struct made *m)
{
	for (int i = 0; i < m->n_axes; i++)
		if (!m->axes[i].is_right && m->axes[i].n == 0)
			return true;
	return false;
}

static bool reduces(const struct made *m)
{
	for (int i = 0; i < m->n_axes; i++)
		if (!m->axes[i].is_right)
			return true;
	return false;
}

/* A sum may need more bits than a half has: the nearest one is right. */
static double rounded(enum pl_dtype dtype, double value)
{
	if (dtype == PL_F16)
		return pl_f16_to_f32(pl_f32_to_f16((float)value));
	return dtype == PL_BF16 ? pl_bf16_to_f32(pl_f32_to_bf16((float)value)) : value;
}

static void compare(const struct made *m, enum kind kind, const struct pl_tensor *in,
	const struct pl_tensor *out)
{
	int64_t n = pl_tensor_count(out);
	double *wanted = malloc((size_t)(n + 1) * sizeof(*wanted));

	require(wanted != NULL);
	for (int64_t i = 0; i < n; i++)
		wanted[i] = neutral(kind);
	reference(m, kind, in, wanted);
	for (int64_t i = 0; i < n; i++)
		require(rounded(out->dtype, wanted[i]) ==
			load(out->dtype,
				(char *)out->data + i * (int64_t)pl_dtype_size(out->dtype)));
	free(wanted);
}

static void run(const struct made *m, enum kind kind, const struct pl_tensor *in)
{
	struct pl_einops_spec spec = {m->op, m->text, strlen(m->text), reductions[kind]};
	struct pl_einops_args args = {
		.inputs = in, .n_inputs = 1, .axes = m->lengths, .n_axes = (size_t)m->n_axes};
	struct pl_einops_plan *plan = NULL;
	struct pl_einops_error e = {.code = PL_EINOPS_OK};
	struct pl_tensor out;
	int r = pl_einops_cache_plan(NULL, &spec, &args, &plan, &e);

	if (m->op == PL_EINOPS_REDUCE && (kind == MIN || kind == MAX) && is_empty_reduce(m)) {
		require(r && e.code == PL_EINOPS_E_EMPTY_REDUCE);
		return;
	}
	require(r == 0);
	out = *pl_einops_plan_result(plan, 0);
	out.data = malloc((size_t)pl_tensor_bytes(&out) + 1);
	require(out.data && pl_einops_run(plan, in, &out) == 0);
	compare(m, m->op == PL_EINOPS_REDUCE && reduces(m) ? kind : COPY, in, &out);
	free(out.data);
	pl_einops_plan_release(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source s = {data, size};
	struct made m = {.rank = 0};
	struct pl_tensor in = {.data = NULL};
	int64_t first;
	int64_t reach;
	enum kind kind;
	char *memory;

	draw_axes(&m, &s);
	draw_side(&m, &s, true);
	append(&m, "->");
	draw_side(&m, &s, false);
	reach = draw_strides(&m, &s, &first);
	find_strides(&m, m.text);
	kind = (enum kind)(1 + draw(&s, KINDS - 1));
	in.dtype = (enum pl_dtype)(PL_BOOL + draw(&s, 13));
	in.rank = m.rank;
	memory = malloc((size_t)reach * pl_dtype_size(in.dtype) + 1);
	require(memory != NULL);
	for (int64_t i = 0; i < reach; i++)
		store(in.dtype, memory + 1 + i * (int64_t)pl_dtype_size(in.dtype),
			kind == PROD && m.op == PL_EINOPS_REDUCE ? i % 7 != 3
								 : (int)((i * 5 + 1) % 2));
	in.data = memory + 1 + first * (int64_t)pl_dtype_size(in.dtype);
	for (int d = 0; d < m.rank; d++) {
		in.shape[d] = m.shape[d];
		in.stride[d] = m.stride[d] * (int64_t)pl_dtype_size(in.dtype);
	}
	run(&m, kind, &in);
	free(memory);
	return 0;
}
