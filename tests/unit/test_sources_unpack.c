/* tests/unit/test_sources_unpack.c - packed files: every codec, several members, damage, cuts. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "record_harness.h"

TestSuite(sources_unpack, .init = tree_begin, .fini = tree_end, .timeout = 120);

extern char **environ;

#define LINES 30000

static char *lines; /* LINES numbered lines of several lengths */
static size_t n_lines_bytes;

static void make_lines(void)
{
	FILE *f = open_memstream(&lines, &n_lines_bytes);

	for (int i = 0; i < LINES; i++)
		fprintf(f, "%d %08x %.*s\n", i, (unsigned)i * 2654435761u, i % 60,
			"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	fclose(f);
}

static void run(const char *command)
{
	char sh[] = "sh";
	char dash_c[] = "-c";
	char *text = strdup(command);
	char *argv[] = {sh, dash_c, text, NULL};
	int status;
	pid_t pid;

	cr_assert_eq(chdir(tree_root), 0);
	cr_assert_eq(posix_spawnp(&pid, sh, NULL, NULL, argv, environ), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s failed", command);
	free(text);
}

static void expect_line(struct records *r, uint64_t i)
{
	char wanted[100];

	snprintf(wanted, sizeof(wanted), "%d %08x %.*s", (int)i, (unsigned)i * 2654435761u,
		(int)i % 60, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	cr_assert_eq(records_read(r, i), 0, "line %d: %s", (int)i, r->err.text);
	cr_assert_str_eq(records_value(r, 0), wanted);
}

/* Forwards, backwards, and at the ends. */
static void expect_lines(const char *file)
{
	static const uint64_t order[] = {0, LINES - 1, 0, 17, 16, 29000, 28999, 5};
	struct records r;

	records_set(&r, &pl_source_text, file);
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), LINES, "%s", file);
	for (size_t i = 0; i < PL_ARRAY_LEN(order); i++)
		expect_line(&r, order[i]);
	for (uint64_t step = 7; step; step = step == 7) /* with gaps, then without any */
		for (uint64_t i = 0; i < LINES; i += step)
			expect_line(&r, i);
	records_close(&r);
}

static int list_error(struct records *r, const char *file)
{
	records_set(r, &pl_source_text, file);
	return records_list(r, false);
}

static void expect_refused(const char *file, const char *part)
{
	struct records r;

	cr_expect_lt(list_error(&r, file), 0, "%s is listed", file);
	expect_text(r.err.text, part);
	expect_text(r.err.text, file);
	records_close(&r);
}

static void begin(void)
{
	make_lines();
	tree_add("lines.txt", lines);
}

Test(sources_unpack, every_codec_is_told_by_its_bytes)
{
	begin();
	run("gzip -c lines.txt > gz.txt; zstd -q -c lines.txt > zst.txt; xz -c lines.txt > xz.txt");
	expect_lines("lines.txt");
	expect_lines("gz.txt");
	expect_lines("zst.txt");
	expect_lines("xz.txt");
	free(lines);
}

Test(sources_unpack, all_members_frames_and_streams_are_read)
{
	begin();
	run("split -n l/3 lines.txt part.; for c in gzip 'zstd -q' xz; do for p in part.??; do $c "
	    "-c $p; done > all.${c%% *}; done");
	expect_lines("all.gzip");
	expect_lines("all.zstd");
	expect_lines("all.xz");
	run("head -c 512 /dev/zero >> all.gzip");
	expect_lines("all.gzip");
	free(lines);
}

Test(sources_unpack, cut_streams_are_errors)
{
	begin();
	run("for c in gzip zstd xz; do $c -q -c lines.txt > a; n=$(stat -c %s a); for k in 8 20 "
	    "$((n / "
	    "2)) $((n - 1)); do head -c $k a > $c.$k; done; head -c $((n - 1)) a > $c.cut; done");
	expect_refused("gzip.cut", "gzip stream is cut short, near byte ");
	expect_refused("zstd.cut", "zstd stream is cut short, near byte ");
	expect_refused("xz.cut", "xz stream is cut short, near byte ");
	expect_refused("gzip.20", "gzip stream is cut short, near byte 20 of the file");
	expect_refused("zstd.20", "zstd stream is cut short, near byte 20 of the file");
	expect_refused("xz.20", "xz stream is cut short, near byte 20 of the file");
	free(lines);
}

Test(sources_unpack, damaged_streams_are_errors)
{
	static const char *const names[] = {"gzip", "zstd", "xz"};

	begin();
	run("for c in 'gzip -q' 'zstd -q --check' 'xz -q'; do $c -c lines.txt > a; cp a ${c%% "
	    "*}.mid; "
	    "printf 'XXXXXXXXXXXXXXXXXXXX' | dd of=${c%% *}.mid bs=1 seek=40000 conv=notrunc "
	    "2>/dev/null; (cat a; echo more, and more than the head of a stream) > ${c%% *}.tail; "
	    "done");
	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		char file[32];
		char text[64];

		snprintf(text, sizeof(text), "its %s stream is damaged: ", names[i]);
		snprintf(file, sizeof(file), "%s.mid", names[i]);
		expect_refused(file, text);
		snprintf(file, sizeof(file), "%s.tail", names[i]);
		expect_refused(file, text);
	}
	/* the checksum alone is wrong: the length before the last four bytes of a gzip file */
	run("gzip -c lines.txt > crc; n=$(stat -c %s crc); printf 'XXXX' | dd of=crc bs=1 "
	    "seek=$((n - "
	    "8)) conv=notrunc 2>/dev/null");
	expect_refused("crc", "its gzip stream is damaged: incorrect data check");
	free(lines);
}

Test(sources_unpack, a_packed_file_that_changed_is_noticed)
{
	struct records r;

	begin();
	run("gzip -c lines.txt > gz.txt");
	records_set(&r, &pl_source_text, "gz.txt");
	cr_assert_eq(records_list(&r, false), 0);
	run("echo x | gzip -c > gz.txt");
	expect_bad(&r, 3, "when it was listed");
	records_close(&r);
	free(lines);
}

Test(sources_unpack, more_files_than_streams_are_kept)
{
	struct records r;

	begin();
	run("split -n l/10 -d lines.txt part.; gzip part.*");
	records_set(&r, &pl_source_text, "part.*.gz");
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_assert_eq(records_count(&r), LINES);
	for (uint64_t k = 0; k < 3; k++)
		for (uint64_t i = k; i < LINES; i += LINES / 20)
			expect_line(&r, i);
	cr_expect(strstr(records_name(&r, LINES - 1), "/part.09.gz:") != NULL);
	records_close(&r);
	free(lines);
}

Test(sources_unpack, an_empty_member_is_no_record)
{
	struct records r;

	run(": | gzip -c > e.gz; printf 'a\\nb' | gzip -c >> e.gz; : | gzip -c >> e.gz");
	records_set(&r, &pl_source_text, "e.gz");
	cr_assert_eq(records_list(&r, false), 0, "%s", r.err.text);
	cr_expect_eq(records_count(&r), 2);
	expect_record(&r, 1, "b");
	records_close(&r);
}
