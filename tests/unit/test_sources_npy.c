/* tests/unit/test_sources_npy.c - arrays of tests/golden/cases/npy as their MANIFEST lines say, and
 * rows. */
#include <math.h>

#include "source_harness.h"

TestSuite(sources_npy, .init = tree_begin, .fini = tree_end, .timeout = 60);

static int list(struct source *s, const char *path, bool per_file)
{
	source_begin(s, &pl_source_npy);
	PARAM(const char *, s->op->params, s->params, "path") = path;
	PARAM(int, s->op->params, s->params, "per") = per_file;
	PARAM(const char *, s->op->params, s->params, "to") = "data";
	return source_list(s, tree_root);
}

/* Element of the record in hand, as a number. */
static double at(const struct source *s, int64_t i, int64_t j)
{
	const struct pl_tensor *t = &s->sample.value[0];
	const char *p = (const char *)t->data + i * (t->rank > 0 ? t->stride[0] : 0) +
			j * (t->rank > 1 ? t->stride[1] : 0);
	float f;
	double d;

	if (t->dtype == PL_F64) {
		memcpy(&d, p, sizeof(d));
		return d;
	}
	cr_assert_eq(t->dtype, PL_F32);
	memcpy(&f, p, sizeof(f));
	return (double)f;
}

Test(sources_npy, every_good_case_has_its_values)
{
	static const char *const like_v1[] = {"fortran.npy", "hdr_60k_v1.npy", "hdr_key_order.npy",
		"hdr_no_spaces.npy", "hdr_python2_long.npy", "two_arrays.npy", "v1_f4.npy",
		"v2_f4.npy", "v3_f4.npy"};
	char name[64];
	struct source s;

	for (size_t k = 0; k < PL_ARRAY_LEN(like_v1); k++) {
		snprintf(name, sizeof(name), "npy/%s", like_v1[k]);
		cr_assert_eq(list(&s, case_path(name), true), 0, "%s: %s", name, s.err.text);
		cr_assert_eq(source_read(&s, 0), 0, "%s: %s", name, s.err.text);
		cr_assert_eq(s.sample.value[0].rank, 2, "%s", name);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 4; j++)
				cr_expect_eq(at(&s, i, j), 4 * i + j, "%s [%d, %d]", name, i, j);
		source_end(&s);
		cr_assert_eq(list(&s, case_path(name), false), 0, "%s: %s", name, s.err.text);
		cr_expect_eq(source_count(&s), 3);
		cr_expect_eq(s.fields[0].type.shape[0], 4);
		for (uint64_t i = 0; i < 3; i++) {
			cr_assert_eq(source_read(&s, i), 0, "%s: %s", name, s.err.text);
			for (int j = 0; j < 4; j++)
				cr_expect_eq(at(&s, j, 0), (double)(4 * i) + j, "%s", name);
		}
		source_end(&s);
	}
}

Test(sources_npy, other_good_cases)
{
	struct source s;

	cr_assert_eq(list(&s, case_path("npy/zero_d.npy"), true), 0, "%s", s.err.text);
	cr_assert_eq(source_read(&s, 0), 0);
	cr_expect_eq(s.sample.value[0].rank, 0);
	cr_expect_eq(at(&s, 0, 0), 7.25);
	source_end(&s);
	cr_assert_eq(list(&s, case_path("npy/dtype_f8.npy"), true), 0, "%s", s.err.text);
	cr_assert_eq(source_read(&s, 0), 0);
	cr_expect_eq(at(&s, 0, 0), 1e300);
	cr_expect(at(&s, 1, 0) == 0 && signbit(at(&s, 1, 0)));
	source_end(&s);
	cr_assert_eq(list(&s, case_path("npy/empty_3x0.npy"), true), 0, "%s", s.err.text);
	cr_assert_eq(source_read(&s, 0), 0, "%s", s.err.text);
	cr_expect(s.sample.value[0].shape[0] == 3 && s.sample.value[0].shape[1] == 0);
	source_end(&s);
	cr_assert_eq(list(&s, case_path("npy/fortran_1d_flag.npy"), false), 0, "%s", s.err.text);
	cr_expect_eq(source_count(&s), 12);
	cr_assert_eq(source_read(&s, 11), 0, "%s", s.err.text);
	cr_expect_eq(at(&s, 0, 0), 11);
	source_end(&s);
}

Test(sources_npy, every_bad_case_says_why)
{
	static const struct {
		const char *file;
		const char *text;
	} bad[] = {
		{"npy/dims_32.npy", "more than 16 dimensions"},
		{"npy/dtype_S4.npy", "dtype '|S4'"},
		{"npy/empty.npz", "not a .npy file"},
		{"npy/hdr_code_injection.npy", "malformed .npy header"},
		{"npy/hdr_descr_unknown.npy", "dtype '<q9'"},
		{"npy/hdr_negative_shape.npy", "negative dimension"},
		{"npy/hdr_nested_4000.npy", "malformed .npy header"},
		{"npy/hdr_shape_digits.npy", "doesn't fit 64 bits"},
		{"npy/hdr_shape_huge.npy", "data too short"},
		{"npy/hdr_shape_no_comma.npy", "shape is no tuple"},
		{"npy/prefix_junk.npz", "not a .npy file"},
		{"npy/structured_unicode_v3.npy", "structured dtype"},
		{"npy/trunc_magic.npy", "truncated"},
		{"npy/v2_hdr_len_4g.npy", "too long"},
		{"misc/empty.npy", "truncated"},
	};
	struct source s;

	for (size_t i = 0; i < PL_ARRAY_LEN(bad); i++) {
		cr_expect_lt(list(&s, case_path(bad[i].file), true), 0, "%s", bad[i].file);
		expect_text(s.err.text, bad[i].text);
		expect_text(s.err.text, bad[i].file + 4);
		source_end(&s);
	}
}

/* A version 1.0 file with that dictionary and data. */
static void make(const char *name, const char *dictionary, const void *data, size_t n)
{
	size_t text = strlen(dictionary), padded = pl_align_up(text + 11, 64) - 10;
	FILE *f = fopen(tree_path(name), "w");

	cr_assert_not_null(f);
	fprintf(f, "%cNUMPY%c%c%c%c%s%*s\n", 0x93, 1, 0, (int)(padded & 255), (int)(padded >> 8),
		dictionary, (int)(padded - text - 1), "");
	fwrite(data, 1, n, f);
	cr_assert_eq(fclose(f), 0);
}

Test(sources_npy, big_endian_is_swapped)
{
	static const unsigned char data[] = {0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0};
	struct source s;

	make("b.npy", "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", data,
		sizeof(data));
	cr_assert_eq(list(&s, "b.npy", true), 0, "%s", s.err.text);
	cr_assert_eq(source_read(&s, 0), 0, "%s", s.err.text);
	cr_expect_eq(at(&s, 0, 0), 1);
	cr_expect_eq(at(&s, 1, 0), -2);
	source_end(&s);
}

Test(sources_npy, rows_run_through_all_files_and_large_ones_are_read)
{
	static float data[2 * 10000];
	struct source s;

	for (int k = 0; k < 2; k++) {
		char name[32];

		for (int i = 0; i < 20000; i++)
			data[i] = (float)(k * 20000 + i);
		snprintf(name, sizeof(name), "p-0%d.npy", k);
		make(name, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 10000)}", data,
			sizeof(data));
	}
	cr_assert_eq(list(&s, "p-{00..01}.npy", false), 0, "%s", s.err.text);
	cr_assert_eq(source_count(&s), 4);
	for (uint64_t i = 4; i-- > 0;) {
		char text[200];

		cr_assert_eq(source_read(&s, i), 0, "%s", s.err.text);
		cr_expect_eq(at(&s, 0, 0), (double)(i * 10000));
		cr_expect_eq(at(&s, 9999, 0), (double)(i * 10000 + 9999));
		s.op->describe(s.params, &s.listing, i, text, sizeof(text));
		expect_text(text, i < 2 ? "/p-00.npy row" : "/p-01.npy row");
	}
	source_end(&s);
}

Test(sources_npy, files_that_differ_and_files_that_change_are_refused)
{
	static const float data[4];
	struct source s;

	make("a.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", data, 16);
	make("b.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1)}", data, 16);
	cr_expect_lt(list(&s, "*.npy", false), 0);
	expect_text(
		s.err.text, "b.npy: the array is f32 [4, 1] where the first file has f32 [2, 2]");
	source_end(&s);
	cr_assert_eq(list(&s, "a.npy", false), 0, "%s", s.err.text);
	make("a.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", data, 8);
	cr_expect_eq(source_read(&s, 0), -ESTALE);
	expect_text(s.err.text, "when it was listed");
	source_end(&s);
}
