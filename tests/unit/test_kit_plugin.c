/* tests/unit/test_kit_plugin.c - loading plugins, and every reason not to. */
#include "daemon/kit/plugin.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "daemon/kit/registry.h"

static struct pl_err err;

static int load(const char *name)
{
	static char path[4096];
	struct pl_param_texts paths = {.n = 1, .v = {path}};
	const char *build = getenv("PL_BUILD");

	snprintf(path, sizeof(path), "%s/tests/plugin_%s.so", build ? build : "/none", name);
	return pl_plugins_load(&paths, &err);
}

Test(kit_plugin, steps_and_sources_are_found_beside_the_built_in_ones)
{
	struct pl_registry before = pl_registry();

	cr_assert_eq(load("twice"), 0, "%s", err.text);
	cr_expect_eq(pl_registry().n_ops, before.n_ops + 1);
	cr_assert_not_null(pl_op_find("twice"));
	cr_assert_not_null(pl_source_find("countdown"));
	for (size_t i = 0; i < before.n_ops; i++)
		cr_expect_eq(pl_op_find(before.op[i]->name), before.op[i]);
	cr_expect_str_eq(pl_op_nearest("twcie"), "twice");
}

Test(kit_plugin, the_same_again_is_fine_others_are_not)
{
	struct pl_param_texts none = {0};

	cr_assert_eq(load("twice"), 0, "%s", err.text);
	cr_expect_eq(load("twice"), 0);
	cr_expect_eq(pl_plugins_load(&none, &err), 0);
	cr_expect_lt(load("taken"), 0);
	cr_assert_not_null(pl_op_find("twice"));
}

Test(kit_plugin, what_is_not_as_it_should_be_is_refused_with_its_reason)
{
	static const struct {
		const char *name;
		const char *text;
	} bad[] = {
		{"other_abi", "abi 99"},
		{"other_size", "8 bytes"},
		{"other_op", "step 'twice' was built for another version"},
		{"taken", "the name 'resize' is taken"},
		{"dispatcher", "another stage than workers"},
		{"no_table", "exports no pl_plugin"},
		{"absent", "can't be loaded"},
	};
	struct pl_param_texts relative = {.n = 1, .v = {"plugin_twice.so"}};

	for (size_t i = 0; i < PL_ARRAY_LEN(bad); i++) {
		cr_expect_eq(load(bad[i].name), -EINVAL, "%s", bad[i].name);
		cr_expect(strstr(err.text, bad[i].text), "%s: %s", bad[i].name, err.text);
		cr_expect(strstr(err.text, bad[i].name), "%s", err.text);
	}
	cr_expect_eq(pl_plugins_load(&relative, &err), -EINVAL);
	cr_expect(strstr(err.text, "absolute"), "%s", err.text);
	cr_expect_null(pl_op_find("twice"));
}
