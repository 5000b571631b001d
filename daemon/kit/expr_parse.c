/* daemon/kit/expr_parse.c - parses and types an expression, and compiles it. */
/*
 * Recursive descent, one function a level of the grammar, emitting code in the order of evaluation.
 * Every level that can recur goes through `enter`, which bounds the depth; pl_expr_reserve bounds
 * the values that evaluation holds at once.
 */
#include "daemon/kit/expr_parser.h"

#include <errno.h>
#include <stdio.h>

#define DEPTH_MAX  32
#define LENGTH_MAX 65536

static bool enter(struct pl_expr_parser *p)
{
	if (p->depth == DEPTH_MAX) {
		pl_expr_fail(p, p->token.offset, "the expression is nested deeper than %d levels",
			DEPTH_MAX);
		return false;
	}
	p->depth++;
	return true;
}

static struct pl_expr_part leave(struct pl_expr_parser *p, struct pl_expr_part part)
{
	p->depth--;
	return part;
}

static struct pl_expr_part parse_unary(struct pl_expr_parser *p)
{
	size_t offset = p->token.offset;
	struct pl_expr_part part;

	if (!pl_expr_is_at(p, "-"))
		return pl_expr_parse_operand(p);
	if (!enter(p) || !pl_expr_advance(p))
		return PL_EXPR_NOTHING;
	part = parse_unary(p);
	if (!pl_expr_needs(p, part, PL_EXPR_FLOAT, "'-'") || !pl_expr_emit(p, PL_EXPR_NEGATE, 0, 0))
		return PL_EXPR_NOTHING;
	return leave(p, (struct pl_expr_part){PL_EXPR_FLOAT, offset});
}

struct binary {
	const char *sign;
	enum pl_expr_opcode op;
};

static const struct binary *binary_at(const struct pl_expr_parser *p, const struct binary *all)
{
	for (; all->sign; all++)
		if (pl_expr_is_at(p, all->sign))
			return all;
	return NULL;
}

/* A chain of operators of one level over numbers, from left to right. */
static struct pl_expr_part parse_chain(struct pl_expr_parser *p, const struct binary *all,
	struct pl_expr_part (*operand)(struct pl_expr_parser *p))
{
	struct pl_expr_part left = operand(p);
	const struct binary *b;
	char who[8];

	while (left.type != PL_EXPR_NONE && (b = binary_at(p, all))) {
		snprintf(who, sizeof(who), "'%s'", b->sign);
		if (!pl_expr_needs(p, left, PL_EXPR_FLOAT, who) || !pl_expr_advance(p) ||
			!pl_expr_needs(p, operand(p), PL_EXPR_FLOAT, who) ||
			!pl_expr_emit(p, b->op, 0, 0))
			return PL_EXPR_NOTHING;
		p->n_values--;
	}
	return left;
}

static struct pl_expr_part parse_product(struct pl_expr_parser *p)
{
	static const struct binary all[] = {
		{"*", PL_EXPR_MULTIPLY}, {"/", PL_EXPR_DIVIDE}, {"%", PL_EXPR_MODULO}, {NULL, 0}};

	return parse_chain(p, all, parse_unary);
}

static struct pl_expr_part parse_sum(struct pl_expr_parser *p)
{
	static const struct binary all[] = {{"+", PL_EXPR_ADD}, {"-", PL_EXPR_SUBTRACT}, {NULL, 0}};

	return parse_chain(p, all, parse_product);
}

/* One literal of a list. */
static bool parse_item(struct pl_expr_parser *p, enum pl_expr_tag type)
{
	bool is_negative = pl_expr_is_at(p, "-");
	size_t offset = p->token.offset;
	struct pl_expr_value v;

	if (is_negative && !pl_expr_advance(p))
		return false;
	v = p->token.value;
	if (pl_expr_is_at(p, "true") || pl_expr_is_at(p, "false"))
		v = (struct pl_expr_value){.tag = PL_EXPR_BOOL, .truth = pl_expr_is_at(p, "true")};
	else if (p->token.kind != PL_EXPR_TOKEN_NUMBER &&
		 (p->token.kind != PL_EXPR_TOKEN_TEXT || is_negative))
		v.tag = PL_EXPR_NONE;
	if (v.tag == PL_EXPR_NONE)
		pl_expr_fail(p, offset, "a list holds numbers, texts, true and false only");
	if (!pl_expr_needs(p,
		    (struct pl_expr_part){v.tag == PL_EXPR_INTEGER ? PL_EXPR_FLOAT : v.tag, offset},
		    type, "the list"))
		return false;
	if (is_negative && v.tag == PL_EXPR_INTEGER)
		v.integer = -v.integer;
	else if (is_negative)
		v.real = -v.real;
	return pl_expr_add_constant(p, v) && pl_expr_advance(p);
}

/* At the "[" behind `in`. */
static bool parse_list(struct pl_expr_parser *p, enum pl_expr_tag type)
{
	size_t first = p->e->n_constants;

	if (!pl_expr_is_at(p, "[")) {
		pl_expr_fail(p, p->token.offset, "'in' needs a list, such as x in [1, 2, 3]");
		return false;
	}
	do {
		if (!pl_expr_advance(p))
			return false;
		if (pl_expr_is_at(p, "]") && first == p->e->n_constants)
			break;
		if (!parse_item(p, type))
			return false;
	} while (pl_expr_is_at(p, ","));
	return pl_expr_expect(p, "]") &&
	       pl_expr_emit(p, PL_EXPR_IN, first, p->e->n_constants - first);
}

static const struct binary comparisons[] = {{"==", PL_EXPR_EQ}, {"!=", PL_EXPR_NE},
	{"<", PL_EXPR_LT}, {"<=", PL_EXPR_LE}, {">", PL_EXPR_GT}, {">=", PL_EXPR_GE}, {NULL, 0}};

static bool parse_right_side(
	struct pl_expr_parser *p, const struct binary *b, struct pl_expr_part left)
{
	struct pl_expr_part right;
	bool is_order = b->op != PL_EXPR_EQ && b->op != PL_EXPR_NE;

	if (!pl_expr_advance(p))
		return false;
	right = parse_sum(p);
	if (right.type == PL_EXPR_NONE)
		return false;
	if (right.type != left.type) {
		pl_expr_fail(p, left.offset, "'%s' compares %s with %s", b->sign,
			pl_expr_type_name(left.type), pl_expr_type_name(right.type));
		return false;
	}
	if (is_order && left.type == PL_EXPR_BOOL) {
		pl_expr_fail(p, left.offset,
			"'%s' needs numbers or texts; true and false have no order", b->sign);
		return false;
	}
	p->n_values--;
	return pl_expr_emit(p, b->op, 0, 0);
}

static struct pl_expr_part parse_comparison(struct pl_expr_parser *p)
{
	struct pl_expr_part left = parse_sum(p);
	const struct binary *b;
	bool is_not;

	if (left.type == PL_EXPR_NONE)
		return PL_EXPR_NOTHING;
	b = binary_at(p, comparisons);
	is_not = !b && pl_expr_is_at(p, "not");
	if (!b && !is_not && !pl_expr_is_at(p, "in"))
		return left;
	if (b && !parse_right_side(p, b, left))
		return PL_EXPR_NOTHING;
	if (is_not && !pl_expr_advance(p))
		return PL_EXPR_NOTHING;
	if (is_not && !pl_expr_is_at(p, "in"))
		return pl_expr_fail(p, p->token.offset, "expected 'in' behind 'not'");
	if (!b && (!pl_expr_advance(p) || !parse_list(p, left.type)))
		return PL_EXPR_NOTHING;
	if (is_not && !pl_expr_emit(p, PL_EXPR_NOT, 0, 0))
		return PL_EXPR_NOTHING;
	if (binary_at(p, comparisons) || pl_expr_is_at(p, "in"))
		return pl_expr_fail(
			p, p->token.offset, "comparisons can't be chained: write a < b and b < c");
	return (struct pl_expr_part){PL_EXPR_BOOL, left.offset};
}

static struct pl_expr_part parse_not(struct pl_expr_parser *p)
{
	size_t offset = p->token.offset;
	struct pl_expr_part part;

	if (!pl_expr_is_at(p, "not"))
		return parse_comparison(p);
	if (!enter(p) || !pl_expr_advance(p))
		return PL_EXPR_NOTHING;
	part = parse_not(p);
	if (!pl_expr_needs(p, part, PL_EXPR_BOOL, "'not'") || !pl_expr_emit(p, PL_EXPR_NOT, 0, 0))
		return PL_EXPR_NOTHING;
	return leave(p, (struct pl_expr_part){PL_EXPR_BOOL, offset});
}

/* A chain of `and` or of `or`: each jumps to the chain's end once the outcome is known. */
static struct pl_expr_part parse_logic(struct pl_expr_parser *p, const struct binary *b,
	struct pl_expr_part (*operand)(struct pl_expr_parser *p))
{
	struct pl_expr_part left = operand(p);
	size_t jump;

	if (left.type == PL_EXPR_NONE || !pl_expr_is_at(p, b->sign))
		return left;
	while (pl_expr_is_at(p, b->sign)) {
		if (!pl_expr_needs(p, left, PL_EXPR_BOOL, b->sign) || !pl_expr_emit(p, b->op, 0, 0))
			return PL_EXPR_NOTHING;
		jump = p->e->n_code - 1;
		p->n_values--;
		if (!pl_expr_advance(p) || !pl_expr_needs(p, operand(p), PL_EXPR_BOOL, b->sign))
			return PL_EXPR_NOTHING;
		p->e->code[jump].arg = (uint32_t)p->e->n_code;
	}
	return (struct pl_expr_part){PL_EXPR_BOOL, left.offset};
}

static struct pl_expr_part parse_and(struct pl_expr_parser *p)
{
	static const struct binary b = {"and", PL_EXPR_AND};

	return parse_logic(p, &b, parse_not);
}

struct pl_expr_part pl_expr_parse_part(struct pl_expr_parser *p)
{
	static const struct binary b = {"or", PL_EXPR_OR};

	return enter(p) ? leave(p, parse_logic(p, &b, parse_and)) : PL_EXPR_NOTHING;
}

static struct pl_expr_part parse_whole(struct pl_expr_parser *p, bool wants_bool)
{
	struct pl_expr_part whole;

	if (!pl_expr_advance(p))
		return PL_EXPR_NOTHING;
	if (p->token.kind == PL_EXPR_TOKEN_END)
		return pl_expr_fail(p, 0, "the expression is empty");
	whole = pl_expr_parse_part(p);
	if (whole.type == PL_EXPR_NONE)
		return PL_EXPR_NOTHING;
	if (p->token.kind != PL_EXPR_TOKEN_END)
		return pl_expr_fail(p, p->token.offset,
			"expected an operator or the end, not '%.*s'",
			(int)(p->token.n < 64 ? p->token.n : 64), p->text + p->token.offset);
	if (wants_bool && whole.type != PL_EXPR_BOOL)
		return pl_expr_fail(p, 0, "the expression gives %s, and must be true or false",
			pl_expr_type_name(whole.type));
	if (!wants_bool && whole.type != PL_EXPR_FLOAT)
		return pl_expr_fail(p, 0, "the expression gives %s, and must be a number",
			pl_expr_type_name(whole.type));
	return whole;
}

struct pl_expr *pl_expr_parse(const char *text, int n, const char *const *name,
	const struct pl_type *type, const bool *is_live, bool wants_bool,
	struct pl_expr_error *error)
{
	struct pl_expr_parser p = {.n_fields = n < PL_FIELDS_MAX ? n : PL_FIELDS_MAX,
		.name = name,
		.type = type,
		.is_live = is_live,
		.error = error};

	*error = (struct pl_expr_error){0};
	if (strlen(text) > LENGTH_MAX) {
		pl_expr_fail(&p, LENGTH_MAX, "the expression is longer than %d bytes", LENGTH_MAX);
		return NULL;
	}
	p.e = calloc(1, sizeof(*p.e));
	if (p.e)
		p.e->text = strdup(text);
	if (!p.e || !p.e->text) {
		pl_expr_fail_memory(&p);
		pl_expr_free(p.e);
		return NULL;
	}
	p.text = p.e->text;
	if (parse_whole(&p, wants_bool).type != PL_EXPR_NONE)
		return p.e;
	pl_expr_free(p.e);
	return NULL;
}
