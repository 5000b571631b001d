/* tests/unit/test_sources_field_spec.c - every type a field of a record can have, and every error.
 */
#include "daemon/sources/field_spec.h"

#include <errno.h>

#include "param_at.h"

static struct pl_field_spec parse(const char *text)
{
	struct pl_param_text_map map = {.n = 1, .v = {{"name", text}}};
	struct pl_field_specs specs;
	struct pl_err err = {0};

	cr_assert_eq(pl_field_specs_parse(&specs, &map, &err), 0, "%s", err.text);
	cr_assert_eq(specs.n, 1);
	cr_assert_str_eq(specs.v[0].name, "name");
	return specs.v[0];
}

static void expect(const char *text, const char *type, const char *where)
{
	struct pl_field_spec spec = parse(text);
	char shown[256];

	cr_expect_str_eq(pl_type_format(shown, sizeof(shown), &spec.type), type);
	cr_expect_str_eq(spec.where, where);
}

static void refuse_named(const char *name, const char *text, const char *part)
{
	struct pl_param_text_map map = {.n = 1, .v = {{name, text}}};
	struct pl_field_specs specs;
	struct pl_err err = {0};

	cr_expect_eq(pl_field_specs_parse(&specs, &map, &err), -EINVAL, "%s: %s", name, text);
	expect_text(err.text, part);
	expect_text(err.text, name);
}

static void refuse(const char *text, const char *part)
{
	refuse_named("name", text, part);
}

Test(sources_field_spec, types)
{
	expect("i64", "scalar i64", "");
	expect("bool", "scalar bool", "");
	expect("bf16", "scalar bf16", "");
	expect("f32(n 4)", "tensor f32 [?, 4]", "");
	expect("u8( n )", "tensor u8 [?]", "");
	expect("i64(2 3 n m_1)", "tensor i64 [2, 3, ?, ?]", "");
	expect("f64(0)", "tensor f64 [0]", "");
	expect("image(h w 3)", "image u8 [?, ?, 3]", "");
	expect("mask(32 32)", "mask u8 [32, 32]", "");
	expect("text", "text u8 [?]", "");
	expect("bytes", "bytes u8 [?]", "");
	expect("json", "json u8 [?]", "");
	expect("list(text)", "list u8 [?]", "");
}

Test(sources_field_spec, where_is_the_rest)
{
	expect("i64 .a.b[0]", "scalar i64", ".a.b[0]");
	expect("bytes jpg|jpeg|png", "bytes u8 [?]", "jpg|jpeg|png");
	expect("f32(n 4)  Age in years", "tensor f32 [?, 4]", "Age in years");
	expect("list(text) .captions", "list u8 [?]", ".captions");
	expect("text ", "text u8 [?]", "");
}

Test(sources_field_spec, types_that_are_none)
{
	refuse("", "unknown type ''");
	refuse("int64", "unknown type 'int64'");
	refuse("txt", "did you mean 'text'?");
	refuse("f33", "did you mean 'f32'?");
	refuse("(n)", "unknown type ''");
	refuse("string", "types: text, bytes, json");
	refuse("list", "list(text)");
	refuse("list(i64)", "list(text)");
	refuse("text(n)", "no lengths");
	refuse("image", "needs 3 lengths, as image(h w 3)");
	refuse("image(h w)", "needs 3 lengths");
	refuse("mask(h w 1)", "needs 2 lengths");
	refuse("i64.a", "a space must stand between");
	refuse("i64\xff", "'i64\\xFF'");
}

Test(sources_field_spec, lengths_that_are_none)
{
	refuse("f32()", "no length");
	refuse("f32(n", "')' is missing");
	refuse("f32(", "')' is missing");
	refuse("f32(n,4)", "with spaces between");
	refuse("f32(-1)", "a number or a name");
	refuse("f32(4x)", "a number or a name");
	refuse("f32(n n)", "two lengths");
	refuse("f32(9223372036854775808)", "too large");
	refuse("f32(9223372036854775807)", "no value can be that large");
	refuse("u8(4294967296 4294967296)", "no value can be that large");
	refuse("u8(a b c d e f g h i j k l m n o p q)", "more than 16 lengths");
}

Test(sources_field_spec, names_of_fields)
{
	refuse_named("_key", "i64", "no name for a field");
	refuse_named("0", "i64", "no name for a field");
	refuse_named("a b", "i64", "goes behind the type");
	refuse_named("a.b", "i64", "no name for a field");
	refuse_named("", "i64", "no name for a field");
	refuse_named("a234567890123456789012345678901234567890123456789012345678901234", "i64",
		"at most 63");
}

Test(sources_field_spec, no_field_at_all)
{
	struct pl_param_text_map map = {0};
	struct pl_field_specs specs;
	struct pl_err err = {0};

	cr_expect_eq(pl_field_specs_parse(&specs, &map, &err), -EINVAL);
	expect_text(err.text, "fields names none");
}
