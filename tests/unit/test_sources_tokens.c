/* tests/unit/test_sources_tokens.c - windows, and the files of tests/golden/cases/tokens as their
 * MANIFEST lines say. */
#include "source_harness.h"

TestSuite(sources_tokens, .init = tree_begin, .fini = tree_end, .timeout = 60);

enum { RAW, MEGATRON, LLMC };

static int list(struct source *s, const char *path, int format, const char *dtype, int64_t length)
{
	source_begin(s, &pl_source_tokens);
	PARAM(const char *, s->op->params, s->params, "path") = path;
	PARAM(const char *, s->op->params, s->params, "dtype") = dtype;
	PARAM(int, s->op->params, s->params, "format") = format;
	PARAM(int64_t, s->op->params, s->params, "length") = length;
	PARAM(const char *, s->op->params, s->params, "to") = "tokens";
	return source_list(s, tree_root);
}

static void expect_window(struct source *s, uint64_t index, const uint32_t *want, size_t n)
{
	const struct pl_tensor *t = &s->sample.value[0];

	cr_assert_eq(source_read(s, index), 0, "%s", s->err.text);
	cr_assert(t->rank == 1 && t->shape[0] == (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		uint32_t have = t->dtype == PL_U16 ? ((const uint16_t *)t->data)[i]
						   : ((const uint32_t *)t->data)[i];

		cr_expect_eq(have, want[i], "token %zu of window %d", i, (int)index);
	}
}

Test(sources_tokens, good_cases)
{
	static const uint32_t tens[] = {10, 20, 30, 40, 50, 60, 70, 80, 90};
	static const uint32_t wide[] = {1, 65536, 100000, 151643, 5};
	struct source s;

	cr_assert_eq(
		list(&s, case_path("tokens/u16_5_exact.bin"), RAW, "u16", 4), 0, "%s", s.err.text);
	cr_expect_eq(source_count(&s), 1);
	expect_window(&s, 0, tens, 5);
	source_end(&s);
	cr_assert_eq(list(&s, case_path("tokens/u16_8.bin"), RAW, "u16", 4), 0, "%s", s.err.text);
	cr_expect_eq(source_count(&s), 1, "the second window lacks its last target: not read");
	source_end(&s);
	cr_assert_eq(list(&s, case_path("tokens/u32.bin"), RAW, "u32", 4), 0, "%s", s.err.text);
	expect_window(&s, 0, wide, 5);
	source_end(&s);
	cr_assert_eq(list(&s, case_path("tokens/llmc_header.bin"), LLMC, "auto", 8), 0, "%s",
		s.err.text);
	cr_expect_eq(s.fields[0].type.dtype, PL_U16);
	expect_window(&s, 0, tens, 9);
	source_end(&s);
	cr_assert_eq(
		list(&s, case_path("tokens/mega.bin"), MEGATRON, "auto", 4), 0, "%s", s.err.text);
	cr_expect_eq(source_count(&s), 2);
	expect_window(&s, 1, tens + 4, 5);
	source_end(&s);
}

/* mega.bin beside one of the broken indexes. */
static int list_broken(struct source *s, const char *idx)
{
	char name[64], data[4096];
	FILE *f;
	size_t n;

	snprintf(name, sizeof(name), "tokens/%s", idx);
	for (int k = 0; k < 2; k++) {
		f = fopen(case_path(k ? name : "tokens/mega.bin"), "r");
		cr_assert_not_null(f);
		n = fread(data, 1, sizeof(data), f);
		fclose(f);
		f = fopen(tree_path(k ? "m.idx" : "m.bin"), "w");
		cr_assert_not_null(f);
		fwrite(data, 1, n, f);
		cr_assert_eq(fclose(f), 0);
	}
	return list(s, "m.bin", MEGATRON, "auto", 4);
}

Test(sources_tokens, bad_cases)
{
	static const struct {
		const char *file;
		const char *text;
	} broken[] = {
		{"mega_bad_magic.idx", "bad .idx magic"},
		{"mega_count_huge.idx", "does not fit the file"},
		{"mega_doc_idx_mismatch.idx", "last document index 1 != 2 sequences"},
		{"mega_dtype0.idx", "dtype code 0"},
		{"mega_past_bin.idx", "sequence 1 (8+100 bytes) ends past the .bin (18 bytes)"},
		{"mega_pointer_negative.idx", "negative pointer"},
		{"mega_trunc.idx", "truncated .idx"},
		{"mega_version2.idx", ".idx version 2"},
	};
	struct source s;

	for (size_t i = 0; i < PL_ARRAY_LEN(broken); i++) {
		cr_expect_lt(list_broken(&s, broken[i].file), 0, "%s", broken[i].file);
		expect_text(s.err.text, broken[i].text);
		expect_text(s.err.text, "m.idx");
		source_end(&s);
	}
	cr_expect_lt(list(&s, case_path("tokens/u16_4_short.bin"), RAW, "u16", 4), 0);
	expect_text(s.err.text, "4 tokens are fewer than the 5 of a window (length + 1)");
	cr_expect_lt(list(&s, case_path("tokens/llmc_header_version7.bin"), LLMC, "auto", 4), 0);
	expect_text(s.err.text, "header version 7");
	cr_expect_lt(list(&s, case_path("tokens/u16_8.bin"), RAW, "auto", 4), 0);
	expect_text(s.err.text, "write dtype: u16 or u32");
	cr_expect_lt(list(&s, case_path("tokens/mega.bin"), RAW, "u32", 4), 0);
	expect_text(s.err.text, "no whole number of u32");
	cr_expect_lt(list(&s, case_path("tokens/llmc_header.bin"), LLMC, "u32", 4), 0);
	expect_text(s.err.text, "dtype is u32, but the header says u16");
}

Test(sources_tokens, windows_have_no_gap_and_overlap_by_one)
{
	uint16_t token[1000];
	FILE *f = fopen(tree_path("t.bin"), "w");
	struct source s;

	for (int i = 0; i < 1000; i++)
		token[i] = (uint16_t)i;
	cr_assert_not_null(f);
	fwrite(token, 2, 1000, f);
	fclose(f);
	for (int64_t length = 1; length < 1000; length += 37) {
		cr_assert_eq(list(&s, "t.bin", RAW, "u16", length), 0, "%s", s.err.text);
		cr_expect_eq(source_count(&s), (uint64_t)(999 / length));
		for (uint64_t i = 0; i < source_count(&s); i++) {
			const uint16_t *w;

			cr_assert_eq(source_read(&s, i), 0, "%s", s.err.text);
			w = s.sample.value[0].data;
			cr_expect_eq(w[0], i * (uint64_t)length);
			cr_expect_eq(w[length], (i + 1) * (uint64_t)length);
		}
		source_end(&s);
	}
}
