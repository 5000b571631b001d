/* tests/unit/test_sources_tar.c - archives made here: grouping, links, cuts, caches, order. */
#include "tests/unit/golden.h"
#include "tests/unit/declared_harness.h"
#include "tests/unit/tar_maker.h"

TestSuite(sources_tar, .init = tree_begin, .fini = tree_end, .timeout = 60);

static void expect_all(const char *path, const char *fields, const char *all)
{
	struct records r;

	records_open(&r, &pl_source_tar, path, fields);
	cr_expect_str_eq(records_all(&r), all);
	records_close(&r);
}

Test(sources_tar, first_suffix_that_is_there)
{
	struct tar_maker t = tar_begin("a.tar");

	tar_file(&t, "1.png", "p");
	tar_file(&t, "1.JPG", "j");
	tar_file(&t, "2.png", "q");
	tar_end(&t, 2);
	expect_all("a.tar", "data: bytes jpg|png", "1 data=j; 2 data=q");
}

Test(sources_tar, fields_of_one_member)
{
	struct tar_maker t = tar_begin("a.tar");

	tar_file(&t, "1.json",
		"{\"w\": 3, \"box\": [[1, 2.5], [3, 4]], \"tags\": [\"a\", \"b\"], "
		"\"ok\": true, \"deep\": [{\"t\":\"x\"}]}");
	tar_end(&t, 2);
	expect_all("a.tar",
		"w: i16 json.w, box: f32(n 2) json.box, tags: list(text) json.tags, ok: bool "
		"json.ok, t: text json.deep[0].t, j: json json.deep",
		"1 w=3 box=1,2.5,3,4 tags=a|b ok=1 t=x j=[{\"t\":\"x\"}]");
}

static void expect_read_error(const char *fields, const char *text)
{
	struct records r;

	records_open(&r, &pl_source_tar, "a.tar", fields);
	cr_expect_lt(records_read(&r, 0), 0);
	expect_text(r.err.text, text);
	expect_text(r.err.text, "a.tar: ");
	records_close(&r);
}

Test(sources_tar, values_that_do_not_fit)
{
	struct tar_maker t = tar_begin("a.tar");

	tar_file(&t, "k.json",
		"{\"n\": 300, \"f\": 1.5, \"s\": \"x\", \"a\": [[1], [2, 3]], \"z\": null}");
	tar_file(&t, "k.cls", "seven");
	tar_file(&t, "k.bad.json", "{");
	tar_file(&t, "k.latin", "\xe9");
	tar_end(&t, 2);
	expect_read_error(
		"n: u8 json.n", "member 'k.json': column 7: field 'n': '300' doesn't fit u8");
	expect_read_error("f: i64 json.f", "'1.5' is no whole number");
	expect_read_error("s: i64 json.s", "is no number");
	expect_read_error("z: i64 json.z", "'null' is no number");
	expect_read_error("a: i64(n m) json.a", "'[2, 3]' has 2 items, the arrays before it 1");
	expect_read_error("q: i64 json.q", "no key 'q' in the record");
	expect_read_error("b: json bad.json", "member 'k.bad.json': no JSON: at its byte 1");
	expect_read_error("b: i64 bad.json.x", "member 'k.bad.json': no JSON: at its byte 1");
	expect_read_error("l: text latin", "not UTF-8: its byte 0");
	expect_read_error("c: i64 cls", "member 'k.cls': field 'c': 'seven' is no whole number");
}

Test(sources_tar, what_require_leaves_out)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;
	struct pl_param_texts *require;

	tar_file(&t, "1.jpg", "j");
	tar_file(&t, "2.jpg", "k");
	tar_file(&t, "2.txt", "t");
	tar_end(&t, 2);
	records_set(&r, &pl_source_tar, "a.tar", "jpg: bytes, txt: text, score: f32");
	require = param_at(r.op->params, r.params, "require");
	require->v[0] = "jpg";
	cr_assert_eq(records_list(&r), 0, "%s", r.err.text);
	cr_expect_str_eq(records_all(&r), "1 jpg=j txt= score=nan; 2 jpg=k txt=t score=nan");
	records_close(&r);
}

static void expect_refused(const char *fields, const char *require, const char *text)
{
	struct records r;

	records_set(&r, &pl_source_tar, "a.tar", fields);
	if (require) {
		struct pl_param_texts *list = param_at(r.op->params, r.params, "require");

		list->v[0] = require;
	}
	cr_expect_eq(r.op->check(r.params, &r.err), -EINVAL);
	expect_text(r.err.text, text);
}

Test(sources_tar, declarations_that_are_refused)
{
	expect_refused("a: i64(n) cls", NULL, "found in JSON");
	expect_refused("a: image(h w 3) png", NULL, "decode_image");
	expect_refused("a: bytes json.x", NULL, "a JSON value is no bytes");
	expect_refused("a: bytes jpg||png", NULL, "not a suffix");
	expect_refused("a: bytes .jpg", NULL, "not a suffix");
	expect_refused("a: i64 json.x|json.y", NULL, "single suffix");
	expect_refused("a: bytes, b: text", "c", "'c' is none of the fields");
	expect_refused("a: bytes, b: i64", "a", "'b' must be among them");
}

Test(sources_tar, hard_links_are_the_member_they_name)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;

	tar_file(&t, "1.txt", "one");
	tar_member(&t, '1', "2.txt", "1.txt", NULL, 0);
	tar_member(&t, '1', "3.txt", "2.txt", NULL, 0);
	tar_member(&t, '1', "4.txt", "9.txt", NULL, 0);
	tar_file(&t, "5.txt", "five");
	tar_end(&t, 2);
	expect_all("a.tar", "txt: text", "1 txt=one; 2 txt=one; 3 txt=one; 4 ERROR; 5 txt=five");
	records_open(&r, &pl_source_tar, "a.tar", "txt: text");
	cr_expect_eq(records_read(&r, 3), -EBADMSG);
	expect_text(
		r.err.text, "member '4.txt': it is a hard link to '9.txt', which is no earlier");
	records_close(&r);
}

Test(sources_tar, archives_one_behind_the_other)
{
	struct tar_maker t = tar_begin("a.tar");

	tar_file(&t, "1.txt", "one");
	tar_blocks(&t, 20);
	tar_file(&t, "2.txt", "two");
	tar_end(&t, 2);
	expect_all("a.tar", "txt: text", "1 txt=one; 2 txt=two");
}

Test(sources_tar, bytes_behind_the_end_are_told)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;

	tar_file(&t, "1.txt", "one");
	tar_blocks(&t, 2);
	tar_bytes(&t, "garbage that is no archive", 26);
	tar_end(&t, 0);
	records_open(&r, &pl_source_tar, "a.tar", "txt: text");
	cr_expect_str_eq(records_all(&r), "1 txt=one");
	expect_text(r.warning, "1 x archive with bytes behind its end");
	records_close(&r);
}

/* Whatever the file is cut to, what was whole is read, the next one is an error, and no more. */
Test(sources_tar, cut_at_every_byte)
{
	struct tar_maker t = tar_begin("a.tar");

	tar_file(&t, "1.txt", "one");
	tar_file(&t, "1.cls", "1");
	tar_file(&t, "2.txt", "two");
	tar_file(&t, "2.cls", "2");
	tar_end(&t, 2);
	for (off_t n = 5119; n >= 1024; n -= n > 4096 ? 101 : 37) {
		struct records r;
		const char *all;

		cr_assert_eq(truncate(tree_path("a.tar"), n), 0);
		records_open(&r, &pl_source_tar, "a.tar", "txt: text, cls: i64");
		all = records_all(&r);
		if (n >= 3 * 1024 + 513)
			cr_expect_str_eq(all, "1 txt=one cls=1; 2 txt=two cls=2", "%d", (int)n);
		else if (n > 2 * 1024)
			cr_expect(!strcmp(all, "1 txt=one cls=1; 2 ERROR") ||
					  (n < 2 * 1024 + 512 && !strcmp(all, "1 ERROR")),
				"%d: %s", (int)n, all);
		else
			cr_expect_str_eq(
				all, n > 1536 ? "1 txt=one cls=1" : "1 ERROR", "%d", (int)n);
		records_close(&r);
	}
}

Test(sources_tar, sparse_members_are_expanded)
{
	static const char *const files[] = {"sparse_pax_0_1.tar", "sparse_pax_1_0.tar"};

	for (size_t i = 0; i < PL_ARRAY_LEN(files); i++) {
		char path[64];
		struct golden_file file;
		struct records r;
		const char *data;

		snprintf(path, sizeof(path), "cases/tar/%s", files[i]);
		file = golden_read(path);
		tree_write("a.tar", file.data, file.n);
		free(file.data);
		records_open(&r, &pl_source_tar, "a.tar", "bin: bytes");
		cr_assert_eq(records_read(&r, 0), 0, "%s", r.err.text);
		cr_assert_eq(r.sample.value[0].shape[0], 1572868);
		data = r.sample.value[0].data;
		for (int64_t k = 0; k < 1572868; k++)
			cr_assert_eq(
				data[k], k >= 1048576 && k < 1048580 ? "tail"[k - 1048576] : 0);
		records_close(&r);
	}
}

Test(sources_tar, a_member_larger_than_a_sample_may_be)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;

	tar_member(&t, '0', "1.bin", "", NULL, 1 << 20);
	tar_sparse_gap(&t, 1 << 20);
	tar_end(&t, 2);
	records_open(&r, &pl_source_tar, "a.tar", "bin: bytes");
	pl_scratch_finish(&r.scratch);
	pl_scratch_init(&r.scratch, 1 << 16);
	cr_expect_eq(records_read(&r, 0), -EMSGSIZE);
	expect_text(r.err.text, "1048576 bytes are more than the 65536 bytes a sample may take");
	records_close(&r);
}

Test(sources_tar, an_archive_that_changed_is_noticed)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;

	tar_file(&t, "1.txt", "one");
	tar_end(&t, 2);
	records_open(&r, &pl_source_tar, "a.tar", "txt: text");
	cr_assert_eq(truncate(tree_path("a.tar"), 8192), 0);
	cr_expect_eq(records_read(&r, 0), -ESTALE);
	records_close(&r);
}

Test(sources_tar, names_of_records)
{
	struct tar_maker t = tar_begin("shard-7.tar");
	struct records r;

	tar_file(&t, "dir.x/0001.left.png", "one");
	tar_end(&t, 2);
	records_open(&r, &pl_source_tar, "shard-7.tar", "data: bytes left.png");
	cr_expect_str_eq(records_key(&r, 0), "dir.x/0001");
	cr_expect_str_eq(records_name(&r, 0), "shard-7.tar: dir.x/0001");
	records_close(&r);
}

/* 200 archives of different lengths, an index beside one of them: the order is that of the names.
 */
Test(sources_tar, many_archives_in_order)
{
	struct records r;
	uint64_t at = 0;

	for (int i = 0; i < 200; i++) {
		char name[32];
		struct tar_maker t;

		snprintf(name, sizeof(name), "s-%03d.tar", i);
		t = tar_begin(name);
		for (int k = 0; k < i % 7; k++) {
			snprintf(name, sizeof(name), "%d.txt", k);
			tar_file(&t, name, name);
		}
		tar_end(&t, 2);
	}
	tree_add("s-005.tar.plidx", "no index");
	records_open(&r, &pl_source_tar, "s-*", "txt: text");
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < i % 7; k++, at++) {
			char name[64];

			snprintf(name, sizeof(name), "s-%03d.tar: %d", i, k);
			cr_expect_str_eq(records_name(&r, at), name);
			cr_expect_eq(records_read(&r, at), 0, "%s", r.err.text);
		}
	cr_expect_eq(records_n(&r), at);
	records_close(&r);
}

Test(sources_tar, one_bad_archive_among_many_is_named)
{
	struct records r;

	for (int i = 0; i < 20; i++) {
		char name[32];
		struct tar_maker t;

		snprintf(name, sizeof(name), "s-%03d.tar", i);
		t = tar_begin(name);
		tar_file(&t, "1.txt", name);
		tar_end(&t, 2);
	}
	tree_add("s-013.tar", "<html>404</html>");
	records_set(&r, &pl_source_tar, "s-*.tar", "txt: text");
	cr_expect_eq(records_list(&r), -EBADMSG);
	expect_text(r.err.text, "s-013.tar: byte 0: it is no tar archive");
}

static void make_indexed(void)
{
	struct tar_maker t = tar_begin("a.tar");
	struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	tar_file(&t, "1.txt", "one");
	tar_member(&t, '1', "2.txt", "1.txt", NULL, 0);
	tar_member(&t, '1', "3.txt", "gone.txt", NULL, 0);
	tar_end(&t, 2);
	cr_assert_eq(utimensat(AT_FDCWD, tree_path("a.tar"), old, 0), 0);
}

/* The listing's warning. */
static const char *open_indexed(const char *index)
{
	static struct records r;

	records_set(&r, &pl_source_tar, "a.tar", "txt: text");
	PARAM(const char *, r.op->params, r.params, "index") = index;
	cr_assert_eq(records_list(&r), 0, "%s", r.err.text);
	cr_expect_str_eq(records_all(&r), "1 txt=one; 2 txt=one; 3 ERROR");
	records_close(&r);
	return r.warning;
}

Test(sources_tar, an_index_is_kept_and_used)
{
	char *index;

	make_indexed();
	open_indexed("cache");
	index = tree_only_file("cache");
	cr_assert_not_null(index);
	tree_flip(index, -1, 0x10); /* the last byte: a letter of the fault's text */
	expect_text(open_indexed("cache"), "its checksum is wrong");
	cr_expect_eq(strstr(open_indexed("cache"), "index"), NULL, "it was not written anew");
}

/* The archive's bytes are gone, its size and time are not: only an index still knows the samples.
 */
Test(sources_tar, an_index_spares_the_walk)
{
	struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct records r;
	struct stat st;

	make_indexed();
	open_indexed("cache");
	cr_assert_eq(stat(tree_path("a.tar"), &st), 0);
	cr_assert_eq(truncate(tree_path("a.tar"), 0), 0);
	cr_assert_eq(truncate(tree_path("a.tar"), st.st_size), 0);
	cr_assert_eq(utimensat(AT_FDCWD, tree_path("a.tar"), old, 0), 0);
	records_set(&r, &pl_source_tar, "a.tar", "txt: text");
	PARAM(const char *, r.op->params, r.params, "index") = "cache";
	cr_assert_eq(records_list(&r), 0);
	cr_expect_eq(records_n(&r), 3);
	records_close(&r);
	old[1].tv_nsec = 1;
	cr_assert_eq(utimensat(AT_FDCWD, tree_path("a.tar"), old, 0), 0);
	records_set(&r, &pl_source_tar, "a.tar", "txt: text");
	PARAM(const char *, r.op->params, r.params, "index") = "cache";
	cr_assert_eq(records_list(&r), 0);
	cr_expect_eq(records_n(&r), 0, "an index of another time was used");
	records_close(&r);
}

Test(sources_tar, an_index_that_others_may_write_is_not_used)
{
	make_indexed();
	open_indexed("cache");
	cr_assert_eq(chmod(tree_path(tree_only_file("cache")), 0666), 0);
	expect_text(open_indexed("cache"), "others could have written it");
}

Test(sources_tar, a_fresh_archive_gets_no_index)
{
	struct tar_maker t = tar_begin("a.tar");
	struct records r;

	tar_file(&t, "1.txt", "one");
	tar_end(&t, 2);
	records_set(&r, &pl_source_tar, "a.tar", "txt: text");
	PARAM(const char *, r.op->params, r.params, "index") = "cache";
	cr_assert_eq(records_list(&r), 0);
	records_close(&r);
	cr_expect_null(tree_only_file("cache"));
}
