/* tests/unit/test_kit_type.c - names, comparison and size of types. */
#include "daemon/kit/type.h"

#include <errno.h>

#include <criterion/criterion.h>

Test(kit_type, kinds_have_names_both_ways)
{
	for (int k = PL_KIND_TENSOR; k < PL_KIND_END; k++)
		cr_expect_eq((int)pl_kind_parse(pl_kind_name((enum pl_kind)k)), k);
	cr_expect_str_eq(pl_kind_name(PL_KIND_BOXES), "boxes");
	cr_expect_str_eq(pl_kind_name(0), "?");
	cr_expect_str_eq(pl_kind_name(PL_KIND_END), "?");
	cr_expect_eq((int)pl_kind_parse("picture"), 0);
}

Test(kit_type, types_are_written_for_people)
{
	struct pl_type image = pl_type_image(-1, -1, 3);
	struct pl_type scalar = pl_type_scalar(PL_I64);
	struct pl_type bytes = pl_type_bytes(PL_KIND_TEXT);
	char out[64];

	cr_expect_str_eq(pl_type_format(out, sizeof(out), &image), "image u8 [?, ?, 3]");
	cr_expect_str_eq(pl_type_format(out, sizeof(out), &scalar), "scalar i64");
	cr_expect_str_eq(pl_type_format(out, sizeof(out), &bytes), "text u8 [?]");
	cr_expect_str_eq(pl_type_format(out, 8, &image), "image u");
}

Test(kit_type, fixed_means_that_every_length_is_known)
{
	struct pl_type scalar = pl_type_scalar(PL_F32);
	struct pl_type bytes = pl_type_bytes(PL_KIND_BYTES);
	struct pl_type image = pl_type_image(4, 5, 3);

	cr_expect(pl_type_is_fixed(&scalar));
	cr_expect(pl_type_is_fixed(&image));
	cr_expect_not(pl_type_is_fixed(&bytes));
	cr_expect_eq(pl_type_bytes_of(&scalar), 4);
	cr_expect_eq(pl_type_bytes_of(&image), 60);
	cr_expect_eq(pl_type_bytes_of(&bytes), -EINVAL);
	image = pl_type_image(INT64_MAX, 5, 3);
	cr_expect_eq(pl_type_bytes_of(&image), -EOVERFLOW);
}

Test(kit_type, unknown_lengths_agree_with_all)
{
	struct pl_type a = pl_type_image(-1, 5, 3);
	struct pl_type b = pl_type_image(4, 5, -1);
	struct pl_type c = pl_type_image(4, 6, 3);

	cr_expect(pl_type_is_same(&a, &b));
	cr_expect_not(pl_type_is_same(&a, &c));
	b.dtype = PL_F32;
	cr_expect_not(pl_type_is_same(&a, &b));
	b = pl_type_bytes(PL_KIND_BYTES);
	cr_expect_not(pl_type_is_same(&a, &b));
}
