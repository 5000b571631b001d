/* tests/unit/test_kit_registry.c - finding names, and guessing what was meant. */
#include "daemon/kit/registry.h"

#include <criterion/criterion.h>

Test(kit_registry, every_entry_is_found_by_its_name)
{
	for (size_t i = 0; i < pl_n_ops; i++)
		cr_expect_eq(pl_op_find(pl_ops[i]->name), pl_ops[i]);
	for (size_t i = 0; i < pl_n_sources; i++)
		cr_expect_eq(pl_source_find(pl_sources[i]->name), pl_sources[i]);
}

Test(kit_registry, other_names_are_not_found)
{
	static const char *const names[] = {"", "a", "shuffl", "shufflee", "zzz", "Shuffle"};

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		cr_expect_null(pl_op_find(names[i]));
		cr_expect_null(pl_source_find(names[i]));
	}
}

Test(kit_registry, slips_find_what_was_meant)
{
	cr_expect_str_eq(pl_op_nearest("RandomResizedCrop"), "random_resized_crop");
	cr_expect_str_eq(pl_op_nearest("shufle"), "shuffle");
	cr_expect_str_eq(pl_op_nearest("ersize"), "resize");
	cr_expect_str_eq(pl_op_nearest("tkae"), "take");
	cr_expect_str_eq(pl_op_nearest("batchs"), "batch");
	cr_expect_str_eq(pl_source_nearest("file"), "files");
	cr_expect_str_eq(pl_source_nearest("rnage"), "range");
}

Test(kit_registry, names_unlike_all_find_nothing)
{
	char long_name[300];

	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	cr_expect_null(pl_op_nearest("qqqqqq"));
	cr_expect_null(pl_op_nearest(""));
	cr_expect_null(pl_op_nearest("__"));
	cr_expect_null(pl_op_nearest(long_name));
}

Test(kit_registry, nearest_takes_the_first_of_equals_and_skips_missing_ones)
{
	static const char *const names[] = {"width", "wight", "height"};

	cr_expect_str_eq(pl_nearest_of("widht", 3, names), "width");
	cr_expect_str_eq(pl_nearest_of("hight", 3, names), "wight");
	cr_expect_null(pl_nearest_of("x", 3, names));
	cr_expect_null(pl_nearest_of("widht", 0, names));
}
