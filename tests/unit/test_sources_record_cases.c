/* tests/unit/test_sources_record_cases.c - every file of tests/golden/cases/tar and tfrecord as its
 * MANIFEST line says. */
#include "tests/unit/golden.h"
#include "tests/unit/declared_harness.h"

/*
 * How a row is tried: the fields asked for, what all records are, and, when one of them or the
 * listing must be refused, a part of the error. `all` NULL: the listing itself is refused. `path`:
 * what is opened instead of the file. `warning`: a part of what the listing tells.
 */
struct trial {
	const char *file;
	const char *fields;
	const char *all;
	const char *error;
	const char *path;
	const char *warning;
};

#define WEB    "jpg: bytes, cls: i64, i: i32 json.i"
#define WEB0   "000000 jpg=<711> cls=0 i=0"
#define WEB01  WEB0 "; 000001 jpg=<711> cls=1 i=1"
#define WEB012 WEB01 "; 000002 jpg=<711> cls=2 i=2"
#define DDD    "dddddddddddddddddddddddddddddddddddddddd" /* 40 of the 60 */

static const struct trial trials[] = {
	{"tar/bad_checksum.tar", "txt: text", .error = "checksum is wrong"},
	{"tar/basic.tar.gz", WEB, .all = WEB012},
	{"tar/basic.tar.zst", WEB, .all = WEB012},
	{"tar/basic_gnu.tar", WEB, .all = WEB012},
	{"tar/basic_gnu.tar", "all: json json, b: bytes JPG|png",
		.all = "000000 all={\"i\":0} b=<711>; 000001 all={\"i\":1} b=<711>; 000002 "
		       "all={\"i\":2} "
		       "b=<711>"},
	{"tar/dirs_fifo_device.tar", "txt: text, cls: u8", .all = "d/1 txt=a cls=4"},
	{"tar/dots_in_dirs.tar", "x: bytes d.jpg, cls: u8", .all = "a.b/c x=<711> cls=5",
		.warning = "2 x sample with none"},
	{"tar/dots_in_dirs.tar", "txt: text", .all = "train.v1/0001 txt=x; train.v1/0002 txt=y",
		.warning = "1 x sample with none"},
	{"tar/empty_archive.tar", "txt: text", .all = "", .warning = "no sample at all"},
	{"tar/gz_named.tar", WEB, .all = WEB012},
	{"tar/name_exactly_100.tar", "txt: text",
		.all = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn txt=a"},
	{"tar/no_eoa.tar", WEB, .all = WEB012, .warning = "without end marker"},
	{"tar/no_extension.tar", "txt: text", .all = "1 txt=a; 2 txt=b",
		.warning = "2 x member without key.suffix"},
	{"tar/not_a_tar.tar", "txt: text", .error = "no tar archive"},
	{"tar/not_grouped.tar", "txt: text",
		.error = "not_grouped.tar: the members of key '1' are apart: some at byte 512, "
			 "more at byte 2560"},
	{"tar/pax_bad_length.tar", "txt: text", .all = "(damaged) ERROR",
		.error = "malformed pax header"},
	{"tar/pax_global.tar", WEB, .all = WEB012},
	{"tar/pax_long_name.tar", "txt: text, cls: i64", .all = DDD " txt=long cls=1"},
	{"tar/pax_size_override.tar", "txt: text, cls: i64", .all = "big/1 txt=hello cls=9"},
	{"tar/shards_same_keys/s-0.tar", "txt: text",
		.all = "000 txt=0; 001 txt=10; 000 txt=1; 001 txt=11",
		.path = "shards_same_keys/s-{0..1}.tar"},
	{"tar/shards_same_keys/s-1.tar", "txt: text",
		.all = "000 txt=0; 001 txt=10; 000 txt=1; 001 txt=11",
		.path = "shards_same_keys/*.tar"},
	{"tar/signed_checksum.tar", "txt: text", .all = "\351 txt=a"},
	{"tar/size_garbage.tar", "txt: text", .error = "size is no number"},
	{"tar/sparse_pax_0_1.tar", "bin: bytes, cls: i64", .all = "1 bin=<1572868> cls=6"},
	{"tar/sparse_pax_1_0.tar", "bin: bytes, cls: i64", .all = "1 bin=<1572868> cls=6"},
	{"tar/trunc.tar.gz", WEB, .error = "its gzip stream is cut short"},
	{"tar/trunc_between_members.tar", WEB, .all = WEB0 "; 000001 ERROR",
		.error = "sample '000001' has no member .json", .warning = "without end marker"},
	{"tar/trunc_header.tar", WEB, .all = WEB01 "; 000002 ERROR",
		.error = "byte 9728: the file ends within a header"},
	{"tar/trunc_payload.tar", WEB, .all = "000000 ERROR",
		.error = "trunc_payload.tar: byte 0: member '000000.jpg' was cut"},
	{"tar/two_frames.tar.zst", WEB, .all = WEB012},
	{"tar/two_gzip_members.tar.gz", WEB, .all = WEB012},
	{"tar/type7_contiguous.tar", "txt: text", .all = "1 txt=a"},
	{"tar/unknown_type_Z.tar", "txt: text", .all = "1 txt=a",
		.warning = "1 x member of unknown type"},
	{"tar/v7.tar", WEB, .all = WEB012},
	{"tfrecord/empty_bytes_value.tfrecord", "b: list(text)", .all = "0 b=|x|<2>"},
	{"tfrecord/empty_lists.tfrecord", "a: i64(n), b: list(text), f: f32(n), k: u8(n)",
		.all = "0 a= b= f= k="},
	{"tfrecord/empty_lists.tfrecord", "k: i64", .all = "0 ERROR",
		.error = "0 values are no scalar"},
	{"tfrecord/group_wire_type.tfrecord", "a: i64", .all = "0 a=1"},
	{"tfrecord/gzip_named.tfrecord", "label: i64, name: text, w: f32(2)",
		.all = "0 label=0 name=rec0 w=0.5,-1; 1 label=1 name=rec1 w=1.5,-1; 2 label=2 "
		       "name=rec2 "
		       "w=2.5,-1; 3 label=3 name=rec3 w=3.5,-1; 4 label=4 name=rec4 w=4.5,-1"},
	{"tfrecord/length_minus_one.tfrecord", "label: i64", .all = "0 label=0; 1 ERROR",
		.error = "record 1 at byte 802: it was cut"},
	{"tfrecord/missing_feature_rec1.tfrecord", "image: bytes, label: i64",
		.all = "0 image=<711> label=0; 1 ERROR; 2 image=<711> label=2",
		.error = "has no feature 'image'"},
	{"tfrecord/ok5.tfrecord", "label: i64, name: text, w: f64(n), image: bytes",
		.all = "0 label=0 name=rec0 w=0.5,-1 image=<711>; 1 label=1 name=rec1 w=1.5,-1 "
		       "image=<711>; "
		       "2 label=2 name=rec2 w=2.5,-1 image=<711>; 3 label=3 name=rec3 w=3.5,-1 "
		       "image=<711>; "
		       "4 label=4 name=rec4 w=4.5,-1 image=<711>"},
	{"tfrecord/packed_varint_straddles.tfrecord", "a: i64(n)", .all = "0 ERROR",
		.error = "malformed Example"},
	{"tfrecord/proto_len_past_end.tfrecord", "a: i64(n)", .all = "0 ERROR",
		.error = "malformed Example"},
	{"tfrecord/proto_trunc_varint.tfrecord", "a: i64(n)", .all = "0 ERROR",
		.error = "malformed Example"},
	{"tfrecord/ragged_lengths.tfrecord", "a: i64(n) x", .all = "0 a=1,2,3; 1 a=4"},
	{"tfrecord/sequence_example.tfrecord", "id: i64", .all = "0 ERROR",
		.error = "SequenceExample"},
	{"tfrecord/special_floats.tfrecord", "f: f32(5)", .all = "0 f=nan,inf,-inf,-0,1.4013e-45"},
	{"tfrecord/text_named.tfrecord", "a: i64",
		.error = "record 0 at byte 0: not a TFRecord file"},
	{"tfrecord/trunc_in_length.tfrecord", "label: i64",
		.all = "0 label=0; 1 label=1; 2 label=2; 3 label=3; 4 label=4; 5 ERROR",
		.error = "record 5 at byte 4010: the file ends within its length"},
	{"tfrecord/unknown_fields.tfrecord", "a: i64", .all = "0 a=1"},
	{"misc/empty.tar", "txt: text", .error = "it is empty"},
	{"misc/empty.tfrecord", "a: i64", .all = "", .warning = "no record at all"},
};

static const char *case_path(const char *name)
{
	static char path[PATH_MAX];
	const char *source = getenv("PL_SOURCE");
	char real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/tests/golden/cases/%s", source ? source : ".", name);
	if (realpath(path, real))
		snprintf(path, sizeof(path), "%s", real);
	return path;
}

static void try_row(const struct trial *t, const char *verdict)
{
	bool is_tar = strstr(t->file, ".tar") != NULL;
	struct records r;
	const char *all = NULL;

	records_set(&r, is_tar ? &pl_source_tar : &pl_source_tfrecord, t->file, t->fields);
	if (t->path)
		PARAM(const char *, r.op->params, r.params, "path") = t->path;
	records_list_in(&r, case_path(t->path ? "tar" : ""), false);
	if (r.listed == 0)
		all = records_all(&r);
	printf("%-4s %-40s %s%s%s\n", verdict, t->file,
		all ? all : "refused: ", r.err.code ? ": " : "", r.err.text);
	if (t->error) {
		cr_expect(r.err.code < 0, "%s", t->file);
		expect_text(r.err.text, t->error);
	} else {
		cr_expect(strcmp(verdict, "ERR") != 0 && r.err.code == 0, "%s: %s", t->file,
			r.err.text);
	}
	if (t->all && all)
		cr_expect_str_eq(all, t->all, "%s", t->file);
	cr_expect_eq(t->all == NULL, all == NULL, "%s", t->file);
	if (t->warning)
		expect_text(r.warning, t->warning);
	records_close(&r);
}

static int try_file(const char *file, const char *verdict)
{
	int n = 0;

	for (size_t k = 0; k < PL_ARRAY_LEN(trials); k++)
		if (strcmp(trials[k].file, file) == 0 && ++n)
			try_row(&trials[k], verdict);
	cr_expect(n > 0, "%s: no trial", file);
	return n;
}

static void try_manifest(const char *name, int wanted)
{
	struct golden_file manifest = golden_read(name);
	char *rest = manifest.data;
	char *line = golden_line(&rest); /* the heading */
	int n_rows = 0;
	int n_trials = 0;

	while ((line = golden_line(&rest))) {
		char *file = golden_field(&line);

		for (int skipped = 0; skipped < 3; skipped++)
			(void)golden_field(&line);
		n_trials += try_file(file, golden_field(&line));
		n_rows++;
	}
	printf("%s: %d rows, %d trials\n", name, n_rows, n_trials);
	cr_expect_eq(n_rows, wanted);
	free(manifest.data);
}

Test(sources_record_cases, every_row_of_tar)
{
	try_manifest("cases/tar/MANIFEST.tsv", 32);
}

Test(sources_record_cases, every_row_of_tfrecord)
{
	try_manifest("cases/tfrecord/MANIFEST.tsv", 16);
}

Test(sources_record_cases, empty_files)
{
	try_file("misc/empty.tar", "DOC");
	try_file("misc/empty.tfrecord", "OK");
}
