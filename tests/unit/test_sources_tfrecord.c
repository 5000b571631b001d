/* tests/unit/test_sources_tfrecord.c - TFRecord files made here: CRCs, cuts, wire forms, values. */
#include "daemon/sources/crc32c.h"
#include "tests/unit/declared_harness.h"
#include "tests/unit/tar_maker.h"

TestSuite(sources_tfrecord, .init = tree_begin, .fini = tree_end, .timeout = 60);

static void put_record(struct tar_maker *t, const char *message, size_t n)
{
	uint64_t length = n;
	uint32_t crc = pl_crc32c_mask(pl_crc32c(&length, sizeof(length)));

	tar_bytes(t, &length, sizeof(length));
	tar_bytes(t, &crc, sizeof(crc));
	tar_bytes(t, message, n);
	crc = pl_crc32c_mask(pl_crc32c(message, n));
	tar_bytes(t, &crc, sizeof(crc));
}

/* A message or string inside of another, with its key; at most 127 bytes. */
static size_t put(char *to, int key, const char *bytes, size_t n)
{
	cr_assert_lt(n, 128);
	to[0] = (char)key;
	to[1] = (char)n;
	memmove(to + 2, bytes, n);
	return n + 2;
}

/* An Example with one feature, whose message is given; written behind what `to` has already. */
static size_t put_feature(char *to, const char *name, const char *feature, size_t n)
{
	char entry[256];
	char map[256];
	size_t used = put(entry, 0x0a, name, strlen(name));

	used += put(entry + used, 0x12, feature, n);
	used = put(map, 0x0a, entry, used);
	return put(to, 0x0a, map, used);
}

#define BYTES(text) text, sizeof(text) - 1

static void write_features(const char *const *feature, const size_t *n, int n_features)
{
	struct tar_maker t = tar_begin("a.tfrecord");
	char message[1024];
	size_t used = 0;

	for (int i = 0; i < n_features; i++)
		used += put_feature(message + used, "x", feature[i], n[i]);
	put_record(&t, message, used);
	tar_end(&t, 0);
}

static void write_feature(const char *feature, size_t n)
{
	write_features(&feature, &n, 1);
}

static void expect_all(const char *fields, const char *all)
{
	struct records r;

	records_open(&r, &pl_source_tfrecord, "a.tfrecord", fields);
	cr_expect_str_eq(records_all(&r), all);
	records_close(&r);
}

static void expect_error(const char *fields, const char *text)
{
	struct records r;

	records_open(&r, &pl_source_tfrecord, "a.tfrecord", fields);
	(void)records_all(&r);
	expect_text(r.err.text, text);
	records_close(&r);
}

Test(sources_tfrecord, crc_by_every_way)
{
	char bytes[300];

	cr_expect_eq(pl_crc32c("123456789", 9), 0xe3069283);
	cr_expect_eq(pl_crc32c_portable("123456789", 9), 0xe3069283);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * i + 7);
	for (size_t n = 0; n + 8 < sizeof(bytes); n++)
		for (size_t at = 0; at < 8; at++)
			cr_assert_eq(pl_crc32c(bytes + at, n), pl_crc32c_portable(bytes + at, n));
}

Test(sources_tfrecord, packed_and_unpacked_numbers)
{
	write_feature(BYTES("\x1a\x09\x0a\x03\x01\x02\x03\x08\x04\x08\x05"));
	expect_all("x: i64(n)", "0 x=1,2,3,4,5");
	expect_all("x: i64(5 n)", "0 x=1,2,3,4,5");
	expect_error("x: i64(2 n)", "5 values are no tensor i64 [2, ?]");
	write_feature(BYTES("\x12\x0b\x0d\0\0\x80\x3f\x0a\x04\0\0\0\x40"));
	expect_all("x: f32(n)", "0 x=1,2");
	expect_all("x: u8(2)", "0 x=1,2");
}

Test(sources_tfrecord, the_last_of_a_name_and_of_a_kind_counts)
{
	const char *features[] = {"\x1a\x03\x0a\x01\x07", "\x1a\x03\x0a\x01\x09"};
	size_t n[] = {5, 5};

	write_features(features, n, 2);
	expect_all("x: i64", "0 x=9");
	write_feature(BYTES("\x1a\x03\x0a\x01\x07\x0a\x03\x0a\x01\x61"));
	expect_all("x: text", "0 x=a");
	write_feature(BYTES("\x1a\x03\x0a\x01\x07\x1a\x03\x0a\x01\x08"));
	expect_all("x: i64(n)", "0 x=7,8");
}

Test(sources_tfrecord, values_that_do_not_fit)
{
	write_feature(BYTES("\x1a\x04\x0a\x02\xac\x02"));
	expect_error("x: u8", "feature 'x' (field 'x'): 300 is no u8");
	expect_error("x: text", "it is an int64 list, not a bytes list");
	expect_error("y: i64", "the record has no feature 'y'");
	expect_all("x: f64", "0 x=300");
	write_feature(BYTES("\x0a\x04\x0a\x02hi"));
	expect_error("x: i64", "it is a bytes list, not an int64 or float list");
	expect_all("x: u8(n)", "0 x=104,105");
	expect_all("x: mask(1 w)", "0 x=104,105");
	expect_error("x: u8(3)", "2 values are no tensor u8 [3]");
	write_feature(BYTES("\x1a\x0c\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	expect_all("x: i64", "0 x=-1");
	expect_error("x: u64", "-1 is no u64");
	write_feature(BYTES("\x1a\x0c\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
	expect_error("x: i64", "malformed Example");
}

Test(sources_tfrecord, groups)
{
	write_feature(BYTES("\x2b\x33\x34\x08\x01\x2c\x1a\x03\x0a\x01\x07"));
	expect_all("x: i64", "0 x=7");
	write_feature(BYTES("\x2b\x34\x1a\x03\x0a\x01\x07"));
	expect_error("x: i64", "malformed Example");
	write_feature(BYTES("\x1a\x03\x0a\x01\x07\x2b"));
	expect_error("x: i64", "malformed Example");
	write_feature(BYTES("\x1a\x03\x0a\x01\x07\x2c"));
	expect_error("x: i64", "malformed Example");
}

Test(sources_tfrecord, more_than_one_length_unknown_is_refused)
{
	struct records r;

	records_set(&r, &pl_source_tfrecord, "a.tfrecord", "x: f32(n m)");
	cr_expect_eq(r.op->check(r.params, &r.err), -EINVAL);
	expect_text(r.err.text, "at most one length can be unknown");
}

static void write_three(void)
{
	struct tar_maker t = tar_begin("a.tfrecord");
	char message[256];

	for (int i = 0; i < 3; i++) {
		char feature[] = {0x1a, 3, 0x0a, 1, (char)(i + 1)};

		put_record(&t, message, put_feature(message, "x", feature, sizeof(feature)));
	}
	tar_end(&t, 0);
}

Test(sources_tfrecord, cut_at_every_byte)
{
	long size;
	struct stat st;

	write_three();
	cr_assert_eq(stat(tree_path("a.tfrecord"), &st), 0);
	size = st.st_size;
	cr_assert_eq(size % 3, 0);
	for (long n = size - 1; n > 12; n--) {
		cr_assert_eq(truncate(tree_path("a.tfrecord"), n), 0);
		expect_all("x: i64",
			n >= size * 2 / 3
				? (n == size * 2 / 3 ? "0 x=1; 1 x=2" : "0 x=1; 1 x=2; 2 ERROR")
			: n >= size / 3 ? (n == size / 3 ? "0 x=1" : "0 x=1; 1 ERROR")
					: "0 ERROR");
	}
}

Test(sources_tfrecord, every_flipped_byte_is_noticed)
{
	struct stat st;

	write_three();
	cr_assert_eq(stat(tree_path("a.tfrecord"), &st), 0);
	for (long at = 0; at < st.st_size; at++) {
		struct records r;

		tree_flip("a.tfrecord", at, 0x04);
		records_set(&r, &pl_source_tfrecord, "a.tfrecord", "x: i64");
		if (records_list(&r) == 0)
			(void)records_all(&r);
		cr_expect_lt(r.err.code, 0, "byte %ld", at);
		records_close(&r);
		tree_flip("a.tfrecord", at, 0x04);
	}
}

Test(sources_tfrecord, an_index_is_kept_and_used)
{
	struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	const char *wanted[] = {"0 x=1; 1 x=2; 2 x=3", "0 ERROR; 1 ERROR; 2 ERROR"};
	struct stat st;

	write_three();
	cr_assert_eq(stat(tree_path("a.tfrecord"), &st), 0);
	for (int i = 0; i < 2; i++) {
		struct records r;

		cr_assert_eq(utimensat(AT_FDCWD, tree_path("a.tfrecord"), old, 0), 0);
		records_set(&r, &pl_source_tfrecord, "a.tfrecord", "x: i64");
		PARAM(const char *, r.op->params, r.params, "index") = "cache";
		cr_assert_eq(records_list(&r), 0, "%s", r.err.text);
		cr_expect_str_eq(records_all(&r), wanted[i]);
		records_close(&r);
		cr_assert_not_null(tree_only_file("cache"));
		cr_assert_eq(truncate(tree_path("a.tfrecord"), 0), 0);
		cr_assert_eq(truncate(tree_path("a.tfrecord"), st.st_size), 0);
	}
}

Test(sources_tfrecord, names_of_records)
{
	struct records r;

	write_three();
	records_open(&r, &pl_source_tfrecord, "a.tfrecord", "x: i64");
	cr_expect_str_eq(records_name(&r, 2), "a.tfrecord: record 2");
	records_close(&r);
}
