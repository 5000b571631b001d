/* tests/unit/files_harness.h - lists a temporary tree and reads its records. */
#pragma once

#include "daemon/kit/listing.h"
#include "daemon/sources/table.h"
#include "param_at.h"
#include "temp_tree.h"

struct files {
	char params[256];
	struct pl_listing listing;
	void *state;
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_err err;
	int listed; /* what list returned */
	char warning[512];
};

TREE_HELPER void files_set(struct files *f, const char *path, bool has_labels)
{
	const struct pl_source_op *op = &pl_source_files;

	memset(f, 0, sizeof(*f));
	cr_assert_leq(op->params_size, sizeof(f->params));
	PARAM(const char *, op->params, f->params, "path") = path;
	PARAM(int, op->params, f->params, "label") = has_labels;
	PARAM(const char *, op->params, f->params, "classes") = "";
	PARAM(const char *, op->params, f->params, "to") = "data";
}

TREE_HELPER int files_list(struct files *f, bool only_first)
{
	const struct pl_source_op *op = &pl_source_files;
	struct pl_listing_writer w;
	PL_AUTO_CLOSE int fd = -1;

	cr_assert_eq(op->check(f->params, &f->err), 0, "%s", f->err.text);
	pl_listing_writer_init(&w);
	f->listed = (only_first ? op->list_first : op->list)(f->params, tree_root, &w, &f->err);
	snprintf(f->warning, sizeof(f->warning), "%.511s", f->err.text);
	if (f->listed == 0) {
		struct pl_err err = {0};

		fd = pl_listing_seal(&w);
		cr_assert_eq(pl_listing_map(&f->listing, fd, &err), 0, "%s", err.text);
		cr_assert_eq(op->open(f->params, &f->listing, &f->state, &err), 0, "%s", err.text);
		pl_scratch_init(&f->scratch, 1 << 20);
		f->sample.scratch = &f->scratch;
	}
	pl_listing_writer_finish(&w);
	return f->listed;
}

TREE_HELPER void files_open(struct files *f, const char *path, bool has_labels)
{
	files_set(f, path, has_labels);
	cr_assert_eq(files_list(f, false), 0, "%s", f->err.text);
}

TREE_HELPER void files_close(struct files *f)
{
	pl_source_files.close(f->state);
	pl_listing_unmap(&f->listing);
	pl_scratch_finish(&f->scratch);
}

TREE_HELPER const char *files_name(struct files *f, uint64_t index)
{
	static char name[PATH_MAX];

	pl_source_files.describe(f->params, &f->listing, index, name, sizeof(name));
	return name;
}

TREE_HELPER int files_read(struct files *f, uint64_t index, bool known_only)
{
	static const int field[] = {0, 1};

	pl_scratch_reset(&f->scratch);
	memset(f->sample.value, 0, sizeof(f->sample.value));
	f->err = (struct pl_err){0};
	return pl_source_files.read(
		f->params, f->state, &f->listing, index, field, known_only, &f->sample, &f->err);
}

/* The names in order, with their labels after a colon when there are any: "a/x.txt:0 b.txt:1". */
TREE_HELPER const char *files_all(struct files *f)
{
	static char all[16384];
	size_t at = 0;

	all[0] = '\0';
	for (uint64_t i = 0; i < f->listing.head->n_records; i++) {
		at += (size_t)snprintf(
			all + at, sizeof(all) - at, "%s%s", i ? " " : "", files_name(f, i));
		cr_assert_eq(files_read(f, i, true), 0, "%s", f->err.text);
		if (f->sample.value[1].data)
			at += (size_t)snprintf(all + at, sizeof(all) - at, ":%d",
				(int)*(int64_t *)f->sample.value[1].data);
		cr_assert_lt(at, sizeof(all));
	}
	return all;
}
