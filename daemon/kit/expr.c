/* daemon/kit/expr.c - evaluates a compiled expression on a sample. */
#include "daemon/kit/expr_code.h"

#include <errno.h>
#include <math.h>

/* What comparing two numbers gives when one of them is not a number. */
#define UNORDERED 2

void pl_expr_free(struct pl_expr *e)
{
	if (!e)
		return;
	free(e->code);
	free(e->constant);
	free(e->text);
	free(e);
}

uint64_t pl_expr_fields(const struct pl_expr *e)
{
	return e->fields;
}

static struct pl_expr_value of_integer(__int128 i)
{
	return (struct pl_expr_value){.tag = PL_EXPR_INTEGER, .integer = i};
}

static struct pl_expr_value of_real(double x)
{
	return (struct pl_expr_value){.tag = PL_EXPR_FLOAT, .real = x};
}

static struct pl_expr_value of_truth(bool b)
{
	return (struct pl_expr_value){.tag = PL_EXPR_BOOL, .truth = b};
}

static double as_real(const struct pl_expr_value *v)
{
	return v->tag == PL_EXPR_INTEGER ? (double)v->integer : v->real;
}

static struct pl_expr_value load_signed(const struct pl_tensor *t)
{
	int64_t v = 0;

	memcpy(&v, t->data, pl_dtype_size(t->dtype));
	switch (t->dtype) {
	case PL_I8:
		return of_integer((int8_t)v);
	case PL_I16:
		return of_integer((int16_t)v);
	case PL_I32:
		return of_integer((int32_t)v);
	default:
		return of_integer(v);
	}
}

static struct pl_expr_value load_real(const struct pl_tensor *t)
{
	uint16_t half;
	float single;
	double real;

	switch (t->dtype) {
	case PL_F64:
		memcpy(&real, t->data, sizeof(real));
		return of_real(real);
	case PL_F32:
		memcpy(&single, t->data, sizeof(single));
		return of_real((double)single);
	default:
		memcpy(&half, t->data, sizeof(half));
		single = t->dtype == PL_F16 ? pl_f16_to_f32(half) : pl_bf16_to_f32(half);
		return of_real((double)single);
	}
}

static struct pl_expr_value load_number(const struct pl_tensor *t)
{
	uint64_t v = 0;

	if (pl_dtype_is_float(t->dtype))
		return load_real(t);
	if (t->dtype >= PL_I8 && t->dtype <= PL_I64)
		return load_signed(t);
	memcpy(&v, t->data, pl_dtype_size(t->dtype));
	return of_integer(v);
}

static int load_field(const struct pl_expr_code *code, const struct pl_sample *sample,
	struct pl_expr_value *out, struct pl_err *err)
{
	const struct pl_tensor *t = &sample->value[code->arg];
	bool is_scalar = code->op == PL_EXPR_FIELD || code->op == PL_EXPR_FIELD_BOOL;

	if (pl_dtype_size(t->dtype) == 0 || (is_scalar ? t->rank != 0 : t->rank < 1))
		return pl_err_set(err, -EINVAL, "field %u of the expression has no such value",
			(unsigned)code->arg);
	if (code->op == PL_EXPR_FIELD_TEXT && t->shape[0] > 1 && t->stride[0] != 1)
		return pl_err_set(err, -EINVAL, "field %u of the expression is no plain text",
			(unsigned)code->arg);
	if (code->op == PL_EXPR_FIELD)
		*out = load_number(t);
	else if (code->op == PL_EXPR_FIELD_BOOL)
		*out = of_truth(*(const unsigned char *)t->data != 0);
	else if (code->op == PL_EXPR_FIELD_LEN)
		*out = of_integer(t->shape[0]);
	else
		*out = (struct pl_expr_value){
			.tag = PL_EXPR_TEXT, .text = {.bytes = t->data, .n = (size_t)t->shape[0]}};
	return 0;
}

/* long double holds every 64-bit integer and every double exactly. */
static int compare_numbers(const struct pl_expr_value *a, const struct pl_expr_value *b)
{
	long double x;
	long double y;

	if (a->tag == PL_EXPR_INTEGER && b->tag == PL_EXPR_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	x = a->tag == PL_EXPR_INTEGER ? (long double)a->integer : (long double)a->real;
	y = b->tag == PL_EXPR_INTEGER ? (long double)b->integer : (long double)b->real;
	if (isnan(x) || isnan(y))
		return UNORDERED;
	return (x > y) - (x < y);
}

static int compare(const struct pl_expr_value *a, const struct pl_expr_value *b)
{
	size_t n;
	int c;

	if (a->tag == PL_EXPR_BOOL)
		return a->truth - b->truth;
	if (a->tag != PL_EXPR_TEXT)
		return compare_numbers(a, b);
	n = a->text.n < b->text.n ? a->text.n : b->text.n;
	c = n ? memcmp(a->text.bytes, b->text.bytes, n) : 0;
	return c ? c : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

static bool holds(enum pl_expr_opcode op, int c)
{
	switch (op) {
	case PL_EXPR_EQ:
		return c == 0;
	case PL_EXPR_NE:
		return c != 0;
	case PL_EXPR_LT:
		return c < 0;
	case PL_EXPR_LE:
		return c <= 0;
	case PL_EXPR_GT:
		return c > 0 && c != UNORDERED;
	default:
		return c >= 0 && c != UNORDERED;
	}
}

/* False when the exact result leaves 128 bits; it is then computed in f64. */
static bool integer_result(enum pl_expr_opcode op, __int128 a, __int128 b, __int128 *out)
{
	switch (op) {
	case PL_EXPR_ADD:
		return !__builtin_add_overflow(a, b, out);
	case PL_EXPR_SUBTRACT:
		return !__builtin_sub_overflow(a, b, out);
	case PL_EXPR_MULTIPLY:
		return !__builtin_mul_overflow(a, b, out);
	case PL_EXPR_MODULO:
		if (b == -1) {
			*out = 0;
			return true;
		}
		*out = a % b;
		if (*out && (*out < 0) != (b < 0))
			*out += b;
		return true;
	default:
		return false;
	}
}

static double real_result(enum pl_expr_opcode op, double a, double b)
{
	double r;

	switch (op) {
	case PL_EXPR_ADD:
		return a + b;
	case PL_EXPR_SUBTRACT:
		return a - b;
	case PL_EXPR_MULTIPLY:
		return a * b;
	case PL_EXPR_DIVIDE:
		return a / b;
	default:
		r = fmod(a, b);
		return r != 0 && (r < 0) != (b < 0) ? r + b : r;
	}
}

/* *a becomes a op b. */
static int calculate(enum pl_expr_opcode op, struct pl_expr_value *a, const struct pl_expr_value *b,
	struct pl_err *err)
{
	bool is_exact = a->tag == PL_EXPR_INTEGER && b->tag == PL_EXPR_INTEGER;
	__int128 i;
	int c;

	if (op == PL_EXPR_MIN || op == PL_EXPR_MAX) {
		c = compare_numbers(a, b);
		if (c == UNORDERED)
			*a = of_real(NAN);
		else if (op == PL_EXPR_MIN ? c > 0 : c < 0)
			*a = *b;
		return 0;
	}
	if ((op == PL_EXPR_DIVIDE || op == PL_EXPR_MODULO) && as_real(b) == 0)
		return pl_err_set(err, -EDOM, "division by zero");
	if (is_exact && integer_result(op, a->integer, b->integer, &i))
		*a = of_integer(i);
	else
		*a = of_real(real_result(op, as_real(a), as_real(b)));
	return 0;
}

static void negate(struct pl_expr_value *v, bool is_abs)
{
	if (v->tag == PL_EXPR_INTEGER) {
		if (!is_abs || v->integer < 0)
			v->integer = (__int128)(0 - (unsigned __int128)v->integer);
	} else {
		v->real = is_abs ? fabs(v->real) : -v->real;
	}
}

static bool is_among(
	const struct pl_expr *e, const struct pl_expr_code *code, const struct pl_expr_value *v)
{
	for (uint32_t i = 0; i < code->n; i++)
		if (compare(v, &e->constant[code->arg + i]) == 0)
			return true;
	return false;
}

/* The instructions that replace the top of the stack, or the two values there by one. */
static int operate(const struct pl_expr *e, const struct pl_expr_code *code,
	struct pl_expr_value *stack, size_t *n, struct pl_err *err)
{
	struct pl_expr_value *top = &stack[*n - 1];

	switch (code->op) {
	case PL_EXPR_NEGATE:
	case PL_EXPR_ABS:
		negate(top, code->op == PL_EXPR_ABS);
		return 0;
	case PL_EXPR_NOT:
		top->truth = !top->truth;
		return 0;
	case PL_EXPR_IN:
		*top = of_truth(is_among(e, code, top));
		return 0;
	default:
		*n -= 1;
		if (code->op < PL_EXPR_EQ)
			return calculate(code->op, top - 1, top, err);
		top[-1] = of_truth(holds(code->op, compare(top - 1, top)));
		return 0;
	}
}

int pl_expr_eval(
	const struct pl_expr *e, const struct pl_sample *sample, double *result, struct pl_err *err)
{
	struct pl_expr_value stack[PL_EXPR_STACK_MAX];
	size_t n = 0;
	size_t at = 0;
	int r = 0;

	while (at < e->n_code && !r) {
		const struct pl_expr_code *code = &e->code[at++];

		if (code->op == PL_EXPR_PUSH)
			stack[n++] = e->constant[code->arg];
		else if (code->op <= PL_EXPR_FIELD_LEN)
			r = load_field(code, sample, &stack[n++], err);
		else if (code->op < PL_EXPR_AND)
			r = operate(e, code, stack, &n, err);
		else if (stack[n - 1].truth == (code->op == PL_EXPR_OR))
			at = code->arg;
		else
			n--;
	}
	if (r)
		return r;
	*result = stack[0].tag == PL_EXPR_BOOL ? (double)stack[0].truth : as_real(&stack[0]);
	return 0;
}
