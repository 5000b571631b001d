/* tests/unit/test_ops_subset.c - parts that share nothing and leave nothing out. */
#include "daemon/ops/table.h"
#include "param_at.h"

#include <stdio.h>

static int check(const char *keep, char *params, struct pl_err *err)
{
	PARAM(const char *, pl_op_subset.params, params, "keep") = keep;
	return pl_op_subset.check(params, err);
}

static bool keeps(const char *params, const char *key)
{
	struct pl_sample sample = {.where.name = key};
	struct pl_run r = {.sample = &sample, .params = params};

	return pl_op_subset.run(&r) == 0;
}

Test(ops_subset, parts_add_up_to_the_whole)
{
	static const char *const parts[] = {"0%..70%", "70%..85%", "0.85..1"};
	_Alignas(16) char params[3][64] = {{0}};
	struct pl_err err = {0};
	int n[3] = {0};

	for (int k = 0; k < 3; k++)
		cr_assert_eq(check(parts[k], params[k], &err), 0, "%s", err.text);
	for (int i = 0; i < 20000; i++) {
		char key[32];
		int kept = 0;

		snprintf(key, sizeof(key), "class%d/%d.jpg", i % 10, i);
		for (int k = 0; k < 3; k++) {
			bool is_in = keeps(params[k], key);

			kept += is_in;
			n[k] += is_in;
		}
		cr_assert_eq(kept, 1, "%s", key);
	}
	cr_expect(n[0] > 13700 && n[0] < 14300, "%d of 14000", n[0]);
	cr_expect(n[1] > 2800 && n[1] < 3200, "%d of 3000", n[1]);
}

Test(ops_subset, one_number_is_the_end)
{
	_Alignas(16) char a[64] = {0}, b[64] = {0};
	struct pl_err err = {0};

	cr_assert_eq(check("80%", a, &err), 0);
	cr_assert_eq(check("0..0.8", b, &err), 0);
	for (int i = 0; i < 1000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		cr_expect_eq(keeps(a, key), keeps(b, key));
	}
}

Test(ops_subset, what_is_no_part_is_refused)
{
	static const char *const bad[] = {
		"", "..", "80%..20%", "0..0", "101%", "1.5", "-1..1", "a..b", "0%..80", "5", "0x1"};

	for (size_t i = 0; i < PL_ARRAY_LEN(bad); i++) {
		_Alignas(16) char params[64] = {0};
		struct pl_err err = {0};

		cr_expect_lt(check(bad[i], params, &err), 0, "%s", bad[i]);
		expect_text(err.text, "keep must be a part such as 0%..80%");
	}
}
