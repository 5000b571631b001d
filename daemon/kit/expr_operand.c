/* daemon/kit/expr_operand.c - operands of an expression: literals, fields, calls. */
#include "daemon/kit/expr_parser.h"
#include "daemon/kit/registry.h"

#include <stdio.h>

static struct pl_expr_part push(struct pl_expr_parser *p, struct pl_expr_value value, size_t offset)
{
	bool is_number = value.tag == PL_EXPR_INTEGER;

	if (!pl_expr_reserve(p, offset) || !pl_expr_add_constant(p, value) ||
		!pl_expr_emit(p, PL_EXPR_PUSH, p->e->n_constants - 1, 0))
		return PL_EXPR_NOTHING;
	return (struct pl_expr_part){is_number ? PL_EXPR_FLOAT : value.tag, offset};
}

static const char *field_at(const void *context, size_t i)
{
	const struct pl_expr_parser *p = context;

	return p->is_live[i] ? p->name[i] : NULL;
}

static struct pl_expr_part fail_unknown(struct pl_expr_parser *p, size_t offset, const char *name)
{
	const char *near = pl_nearest(name, (size_t)p->n_fields, field_at, p);
	char all[512] = "";
	size_t at = 0;

	if (near)
		return pl_expr_fail(
			p, offset, "no field '%s' here (did you mean '%s'?)", name, near);
	for (int i = 0; i < p->n_fields && at < sizeof(all) - 1; i++)
		if (p->is_live[i])
			at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s",
				at ? ", " : "; there are: ", p->name[i]);
	return pl_expr_fail(p, offset, "no field '%s' here%s", name, all);
}

/* The number of the field that the token names; -1 with the error set. */
static int find_field(struct pl_expr_parser *p)
{
	char name[128];
	size_t n = p->token.n < sizeof(name) - 1 ? p->token.n : sizeof(name) - 1;

	memcpy(name, p->text + p->token.offset, n);
	name[n] = '\0';
	for (int i = 0; i < p->n_fields; i++)
		if (p->is_live[i] && pl_expr_token_is(p->text, &p->token, p->name[i]))
			return i;
	fail_unknown(p, p->token.offset, name);
	return -1;
}

static struct pl_expr_part parse_field(struct pl_expr_parser *p)
{
	size_t offset = p->token.offset;
	int i = find_field(p);
	const struct pl_type *type;
	enum pl_expr_opcode op = PL_EXPR_FIELD;
	char format[512];

	if (i < 0)
		return PL_EXPR_NOTHING;
	type = &p->type[i];
	if (type->kind == PL_KIND_TEXT && type->rank == 1)
		op = PL_EXPR_FIELD_TEXT;
	else if (type->rank == 0 && type->dtype == PL_BOOL)
		op = PL_EXPR_FIELD_BOOL;
	else if (type->rank != 0)
		return pl_expr_fail(p, offset,
			"'%s' is %s: an expression takes scalars and texts, other fields only in "
			"len(%s)",
			p->name[i], pl_type_format(format, sizeof(format), type), p->name[i]);
	p->e->fields |= (uint64_t)1 << i;
	if (!pl_expr_reserve(p, offset) || !pl_expr_emit(p, op, (size_t)i, 0) ||
		!pl_expr_advance(p))
		return PL_EXPR_NOTHING;
	return (struct pl_expr_part){op == PL_EXPR_FIELD_TEXT   ? PL_EXPR_TEXT
				     : op == PL_EXPR_FIELD_BOOL ? PL_EXPR_BOOL
								: PL_EXPR_FLOAT,
		offset};
}

/* Behind "len(". */
static struct pl_expr_part parse_len(struct pl_expr_parser *p, size_t offset)
{
	int i;

	if (p->token.kind != PL_EXPR_TOKEN_NAME)
		return pl_expr_fail(p, p->token.offset, "len takes the name of a field");
	i = find_field(p);
	if (i < 0)
		return PL_EXPR_NOTHING;
	if (p->type[i].rank == 0)
		return pl_expr_fail(
			p, p->token.offset, "'%s' is a scalar and has no length", p->name[i]);
	p->e->fields |= (uint64_t)1 << i;
	if (!pl_expr_reserve(p, offset) || !pl_expr_emit(p, PL_EXPR_FIELD_LEN, (size_t)i, 0) ||
		!pl_expr_advance(p) || !pl_expr_expect(p, ")"))
		return PL_EXPR_NOTHING;
	return (struct pl_expr_part){PL_EXPR_FLOAT, offset};
}

/* Behind "min(", "max(" or "abs(". */
static struct pl_expr_part parse_arguments(
	struct pl_expr_parser *p, size_t offset, enum pl_expr_opcode op, const char *name)
{
	int n = 0;

	do {
		if (n && !pl_expr_advance(p))
			return PL_EXPR_NOTHING;
		if (!pl_expr_needs(p, pl_expr_parse_part(p), PL_EXPR_FLOAT, name))
			return PL_EXPR_NOTHING;
		if ((n++ || op == PL_EXPR_ABS) && !pl_expr_emit(p, op, 0, 0))
			return PL_EXPR_NOTHING;
		p->n_values -= n > 1;
	} while (pl_expr_is_at(p, ",") && op != PL_EXPR_ABS);
	if (n < 2 && op != PL_EXPR_ABS)
		return pl_expr_fail(p, offset, "%s needs at least two numbers", name);
	return pl_expr_expect(p, ")") ? (struct pl_expr_part){PL_EXPR_FLOAT, offset}
				      : PL_EXPR_NOTHING;
}

static bool begins_call(struct pl_expr_parser *p)
{
	size_t at = p->token.offset + p->token.n;

	while (p->text[at] == ' ')
		at++;
	return p->text[at] == '(';
}

static struct pl_expr_part parse_call(struct pl_expr_parser *p)
{
	static const struct {
		const char *name;
		enum pl_expr_opcode op;
	} functions[] = {{"min", PL_EXPR_MIN}, {"max", PL_EXPR_MAX}, {"abs", PL_EXPR_ABS}};
	size_t offset = p->token.offset;
	bool is_len = pl_expr_is_at(p, "len");

	for (size_t i = 0; i < PL_ARRAY_LEN(functions); i++)
		if (pl_expr_is_at(p, functions[i].name))
			return pl_expr_advance(p) && pl_expr_advance(p)
				       ? parse_arguments(
						 p, offset, functions[i].op, functions[i].name)
				       : PL_EXPR_NOTHING;
	if (!is_len)
		return pl_expr_fail(p, offset, "no function '%.*s'; there are min, max, len, abs",
			(int)(p->token.n < 64 ? p->token.n : 64), p->text + offset);
	return pl_expr_advance(p) && pl_expr_advance(p) ? parse_len(p, offset) : PL_EXPR_NOTHING;
}

static bool is_word(const struct pl_expr_parser *p)
{
	return pl_expr_is_at(p, "and") || pl_expr_is_at(p, "or") || pl_expr_is_at(p, "not") ||
	       pl_expr_is_at(p, "in");
}

struct pl_expr_part pl_expr_parse_operand(struct pl_expr_parser *p)
{
	struct pl_expr_token t = p->token;
	struct pl_expr_part inner;

	if (t.kind == PL_EXPR_TOKEN_ERROR)
		return PL_EXPR_NOTHING;
	if (t.kind == PL_EXPR_TOKEN_NUMBER || t.kind == PL_EXPR_TOKEN_TEXT)
		return pl_expr_advance(p) ? push(p, t.value, t.offset) : PL_EXPR_NOTHING;
	if (pl_expr_is_at(p, "true") || pl_expr_is_at(p, "false")) {
		struct pl_expr_value value = {
			.tag = PL_EXPR_BOOL, .truth = pl_expr_is_at(p, "true")};

		return pl_expr_advance(p) ? push(p, value, t.offset) : PL_EXPR_NOTHING;
	}
	if (pl_expr_is_at(p, "(")) {
		if (!pl_expr_advance(p))
			return PL_EXPR_NOTHING;
		inner = pl_expr_parse_part(p);
		if (inner.type == PL_EXPR_NONE || !pl_expr_expect(p, ")"))
			return PL_EXPR_NOTHING;
		return (struct pl_expr_part){inner.type, t.offset};
	}
	if (pl_expr_is_at(p, "["))
		return pl_expr_fail(p, t.offset, "a list stands only behind 'in'");
	if (t.kind == PL_EXPR_TOKEN_NAME && !is_word(p))
		return begins_call(p) ? parse_call(p) : parse_field(p);
	if (t.kind == PL_EXPR_TOKEN_END)
		return pl_expr_fail(p, t.offset, "a value is missing at the end");
	return pl_expr_fail(p, t.offset, "expected a value, not '%.*s'", (int)(t.n < 64 ? t.n : 64),
		p->text + t.offset);
}
