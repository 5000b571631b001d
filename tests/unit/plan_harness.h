/* tests/unit/plan_harness.h - pipeline texts to plans, for the tests of the plan room. */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "daemon/plan/plan.h"

#define PLAN_HELPER __attribute__((unused)) static

/* What a reading gave: the plan (NULL: refused) and all messages. plan_end frees both. */
struct plan_reading {
	struct pl_plan *plan;
	char *messages;
	int n_errors;
	int n_warnings;
};

/* A path below the source tree. */
PLAN_HELPER const char *source_path(const char *below)
{
	static char path[PATH_MAX];
	const char *root = getenv("PL_SOURCE");

	snprintf(path, sizeof(path), "%s/%s", root ? root : ".", below);
	return path;
}

PLAN_HELPER struct plan_reading plan_read_with(
	const char *path, const struct pl_setting *settings, int n_settings)
{
	struct pl_diag *diag = pl_diag_create();
	struct plan_reading r = {0};

	cr_assert_not_null(diag);
	r.plan = pl_plan_read(path, settings, n_settings, diag);
	r.messages = pl_diag_render(diag);
	r.n_errors = pl_diag_n_errors(diag);
	r.n_warnings = pl_diag_n_warnings(diag);
	cr_assert_not_null(r.messages);
	cr_assert_eq(r.plan == NULL, r.n_errors > 0, "%s", r.messages);
	pl_diag_destroy(diag);
	return r;
}

PLAN_HELPER struct plan_reading plan_read(const char *path)
{
	return plan_read_with(path, NULL, 0);
}

/* A new folder under /tmp; the caller stands in it afterwards, so that messages show bare names. */
PLAN_HELPER void enter_new_folder(void)
{
	static char folder[] = "/tmp/plan_test_XXXXXX";

	strcpy(folder, "/tmp/plan_test_XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
}

PLAN_HELPER void write_bytes(const char *path, const void *bytes, size_t n)
{
	FILE *file = fopen(path, "we");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes, 1, n, file), n);
	cr_assert_eq(fclose(file), 0);
}

PLAN_HELPER void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

/* Reads the text as the file p.yaml of the folder we stand in. */
PLAN_HELPER struct plan_reading plan_of(const char *text)
{
	write_text("p.yaml", text);
	return plan_read("p.yaml");
}

/* The same, and it must be accepted. */
PLAN_HELPER struct pl_plan *good_plan(const char *text)
{
	struct plan_reading r = plan_of(text);

	cr_assert_not_null(r.plan, "%s\n%s", text, r.messages);
	free(r.messages);
	return r.plan;
}

PLAN_HELPER void plan_end(struct plan_reading *r)
{
	pl_plan_destroy(r->plan);
	free(r->messages);
	*r = (struct plan_reading){0};
}

/* The whole file, terminated; the caller frees. */
PLAN_HELPER char *read_text(const char *path, size_t *n)
{
	FILE *file = fopen(path, "re");
	char *text;
	long size;

	cr_assert_not_null(file, "%s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = malloc((size_t)size + 1);
	cr_assert_not_null(text);
	cr_assert_eq(fread(text, 1, (size_t)size, file), (size_t)size);
	text[size] = '\0';
	if (n)
		*n = (size_t)size;
	fclose(file);
	return text;
}

PLAN_HELPER int field_named(const struct pl_plan *plan, const char *name)
{
	for (int i = 0; i < plan->n_fields; i++)
		if (strcmp(plan->field_name[i], name) == 0)
			return i;
	return -1;
}

/* The type a step leaves field `name` with, as text; "" when it doesn't write it. Static. */
PLAN_HELPER const char *type_after(
	const struct pl_plan *plan, const struct pl_step *step, const char *name)
{
	static char text[256];

	text[0] = '\0';
	for (int i = 0; i < step->n; i++)
		if (strcmp(plan->field_name[step->out[i]], name) == 0)
			pl_type_format(text, sizeof(text), &step->type[i]);
	return text;
}
