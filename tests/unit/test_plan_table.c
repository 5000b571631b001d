/* tests/unit/test_plan_table.c - tables of texts: maps, files, and what is wrong with either. */
#include "tests/unit/plan_harness.h"

TestSuite(plan_table, .init = enter_new_folder);

static struct plan_reading read_lookup(const char *step)
{
	char text[512];

	snprintf(
		text, sizeof(text), "source: {list: [cat, dog]}\nworkers:\n  - lookup: %s\n", step);
	return plan_of(text);
}

static const struct pl_param_table *table_of(const struct pl_plan *plan)
{
	return plan->worker.step[0].params; /* its first member */
}

static void expect_entry(const struct pl_plan *plan, int64_t i, const char *text, int64_t number)
{
	cr_assert_lt(i, table_of(plan)->n);
	cr_expect_str_eq(table_of(plan)->entry[i].text, text);
	cr_expect_eq(table_of(plan)->entry[i].number, number);
}

Test(plan_table, a_map)
{
	struct plan_reading r = read_lookup("{table: {\"<=50K\": 0, zebra: -3, ant: 7}}");

	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(table_of(r.plan)->n, 3);
	expect_entry(r.plan, 0, "<=50K", 0);
	expect_entry(r.plan, 1, "ant", 7);
	expect_entry(r.plan, 2, "zebra", -3);
	plan_end(&r);
	r = read_lookup("{cat: 1, dog: 0}");
	cr_assert_not_null(r.plan, "%s", r.messages);
	expect_entry(r.plan, 0, "cat", 1);
	plan_end(&r);
}

Test(plan_table, a_file)
{
	struct plan_reading r;

	write_text("classes.txt", "\xef\xbb\xbf"
				  "dog\r\nbig cat\nant");
	r = read_lookup("classes.txt");
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(table_of(r.plan)->n, 3);
	expect_entry(r.plan, 0, "ant", 2);
	expect_entry(r.plan, 1, "big cat", 1);
	expect_entry(r.plan, 2, "dog", 0);
	plan_end(&r);
}

/* The content is sealed with the plan: the file may change or go. */
Test(plan_table, the_file_is_read_once)
{
	struct plan_reading r;
	struct pl_err err = {0};
	struct pl_plan *again;
	int fd;

	write_text("classes.txt", "dog\ncat\n");
	r = read_lookup("{table: classes.txt, unknown: 5}");
	cr_assert_not_null(r.plan, "%s", r.messages);
	fd = pl_plan_seal(r.plan);
	cr_assert_geq(fd, 0);
	cr_assert_eq(unlink("classes.txt"), 0);
	again = pl_plan_load(fd, &err);
	cr_assert_not_null(again, "%s", err.text);
	expect_entry(again, 0, "cat", 1);
	expect_entry(again, 1, "dog", 0);
	cr_expect_arr_eq(again->fingerprint, r.plan->fingerprint, sizeof(again->fingerprint));
	pl_plan_destroy(again);
	close(fd);
	plan_end(&r);
}

/* A token of a plan with other numbers must not fit. */
Test(plan_table, the_content_is_in_the_fingerprint)
{
	uint32_t first[6];
	struct plan_reading r;

	write_text("classes.txt", "dog\ncat\n");
	r = read_lookup("classes.txt");
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_assert_eq(sizeof(first), sizeof(r.plan->fingerprint));
	memcpy(first, r.plan->fingerprint, sizeof(first));
	plan_end(&r);
	r = read_lookup("{dog: 0, cat: 1}");
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_arr_eq(first, r.plan->fingerprint, sizeof(first), "however it is written");
	plan_end(&r);
	write_text("classes.txt", "cat\ndog\n");
	r = read_lookup("classes.txt");
	cr_assert_not_null(r.plan, "%s", r.messages);
	cr_expect_neq(first[4], r.plan->fingerprint[4]);
	plan_end(&r);
}

static void expect_refused(const char *step, const char *part)
{
	struct plan_reading r = read_lookup(step);

	cr_expect_null(r.plan, "%s", step);
	cr_expect_not_null(strstr(r.messages, part), "'%s' is not in '%s'", part, r.messages);
	plan_end(&r);
}

Test(plan_table, what_is_refused)
{
	write_text("twice.txt", "dog\ncat\ndog\n");
	write_text("empty.txt", "");
	write_bytes("zeros.txt", "a\0b", 3);
	cr_assert_eq(mkdir("folder", 0755), 0);
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	expect_refused("none.txt",
		"p.yaml:3:13: error: step 'lookup': table: 'none.txt' No such file or directory");
	expect_refused("twice.txt", "table: 'dog' is there twice, in lines 1 and 3");
	expect_refused("empty.txt", "table: 'empty.txt' is empty");
	expect_refused("zeros.txt", "table: 'zeros.txt' has NUL bytes");
	expect_refused("folder", "table: 'folder' is not a regular file");
	expect_refused("fifo", "table: 'fifo' is not a regular file");
	expect_refused(
		"{table: {cat: x}}", "table: 'cat' must be a whole number in decimal digits");
	expect_refused("{table: {cat: [1]}}", "table: 'cat' must be a whole number");
	expect_refused("{table: {}}", "table must be a map of text: number, or a file");
	expect_refused("{table: [a, b]}", "table must be a map of text: number, or a file");
	expect_refused(
		"{table: {cat: 1}, unknown: maybe}", "unknown must be a whole number or error");
}

Test(plan_table, a_file_that_is_too_large)
{
	FILE *file = fopen("large.txt", "we");

	cr_assert_not_null(file);
	cr_assert_eq(ftruncate(fileno(file), (16 << 20) + 1), 0);
	fclose(file);
	expect_refused("large.txt", "has more than 16 MiB");
	file = fopen("long.txt", "we");
	cr_assert_not_null(file);
	for (int i = 0; i <= 262144; i++)
		fprintf(file, "%d\n", i);
	fclose(file);
	expect_refused("long.txt", "has 262145 lines, and a table may have 262144");
}

Test(plan_table, not_in_pre_main_yet)
{
	struct plan_reading r = plan_of("source: {list: [cat]}\npre_main: [lookup: {cat: 1}]\n"
					"workers: [trace: a]\n");

	cr_expect_null(r.plan);
	cr_expect_not_null(strstr(r.messages, "step 'lookup' in pre_main is not in this build yet"),
		"%s", r.messages);
	plan_end(&r);
}
