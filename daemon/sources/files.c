/* daemon/sources/files.c - the files of a tree, one a record: bytes, and class by folder. */
/*
 * The order is the byte order of the path below the root: below the folder named, or below the part
 * of a glob that has no wildcard. `label: folder` numbers the root's visible folders, also those
 * without files, in the byte order of their names, or as the file `classes` lists them; a file
 * belongs to the first folder of its path, however deep it lies, and one that lies in no folder is
 * left out. Hidden names (a leading dot) are left out unless the pattern has the dot. Links to
 * files are files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "daemon/sources/file_listing.h"
#include "daemon/sources/regular.h"
#include "daemon/sources/table.h"
#include "daemon/sources/tree.h"

enum { LABEL_NONE, LABEL_FOLDER };

struct files_params {
	const char *path;
	int label;
	const char *classes;
	const char *to;
};

static const char *const labels[] = {"none", "folder", NULL};

static const struct pl_param params[] = {
	{
		.key = "path",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct files_params, path),
		.help = "a folder (all files below it) or a glob: * ? [a-z] {a,b} and ** for any "
			"folders",
		.is_obvious = true,
	},
	{
		.key = "label",
		.kind = PL_PARAM_CHOICE,
		.offset = offsetof(struct files_params, label),
		.def = "none",
		.choices = labels,
		.help = "folder: the number of the file's top folder below the path's fixed part",
	},
	{
		.key = "classes",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct files_params, classes),
		.def = "",
		.help = "file of class names, one a line, in label order; else the folders sorted "
			"by name",
	},
	{
		.key = "to",
		.kind = PL_PARAM_TEXT,
		.offset = offsetof(struct files_params, to),
		.def = "data",
		.help = "name of the field with the file's bytes",
	},
	{0},
};

static bool has_text(const char *text)
{
	return text && *text;
}

static int files_check(void *data, struct pl_err *err)
{
	const struct files_params *p = data;

	if (!has_text(p->path))
		return pl_err_set(err, -EINVAL,
			"path is empty: name a folder, or files as in photos/**/*.jpg");
	if (!has_text(p->to))
		return pl_err_set(err, -EINVAL, "to is empty: name a field");
	if (p->label == LABEL_FOLDER && !strcmp(p->to, "label"))
		return pl_err_set(
			err, -EINVAL, "to: label is the name of the class number already");
	if (p->label != LABEL_FOLDER && has_text(p->classes))
		return pl_err_set(err, -EINVAL, "classes needs label: folder");
	return 0;
}

static int files_fields(const void *data, const char *dir, struct pl_source_field *fields, int *n,
	struct pl_err *err)
{
	const struct files_params *p = data;

	fields[0] = (struct pl_source_field){.name = p->to, .type = pl_type_bytes(PL_KIND_BYTES)};
	fields[1] = (struct pl_source_field){
		.name = "label", .type = pl_type_scalar(PL_I64), .is_known = true};
	*n = p->label == LABEL_FOLDER ? 2 : 1;
	return 0;
}

static int list_tree(const void *data, const char *dir, bool only_first,
	struct pl_listing_writer *w, struct pl_err *err)
{
	const struct files_params *p = data;
	struct pl_tree tree = {
		.path = p->path,
		.dir = dir,
		.classes_file = has_text(p->classes) ? p->classes : NULL,
		.has_labels = p->label == LABEL_FOLDER,
		.only_first = only_first,
	};

	return pl_tree_list(&tree, w, err);
}

static int files_list(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_tree(data, dir, false, w, err);
}

static int files_list_first(
	const void *data, const char *dir, struct pl_listing_writer *w, struct pl_err *err)
{
	return list_tree(data, dir, true, w, err);
}

struct files_state {
	struct pl_file_listing listing;
	int root_fd; /* -1 until a file is read: the dispatcher, which reads labels only, opens
			nothing */
};

static int files_open(
	const void *data, const struct pl_listing *listing, void **state, struct pl_err *err)
{
	struct files_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return pl_err_set(err, -ENOMEM, "out of memory");
	s->root_fd = -1;
	r = pl_file_listing_open(&s->listing, listing, err);
	if (r)
		free(s);
	else
		*state = s;
	return r;
}

static void files_close(void *state)
{
	struct files_state *s = state;

	if (!s)
		return;
	if (s->root_fd >= 0)
		close(s->root_fd);
	free(s);
}

static int open_record(
	struct files_state *s, const char *path, int *fd, uint64_t *bytes, struct pl_err *err)
{
	if (s->root_fd < 0)
		s->root_fd = open(s->listing.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->root_fd < 0)
		return pl_err_set(err, -errno, "the folder is gone: %s", strerror(errno));
	return pl_regular_open(s->root_fd, path, fd, bytes, err);
}

static int read_bytes(struct files_state *s, const char *path, struct pl_sample *sample, int field,
	struct pl_err *err)
{
	const struct pl_scratch *scratch = sample->scratch;
	PL_AUTO_CLOSE int fd = -1;
	uint64_t n;
	void *to;
	int r = open_record(s, path, &fd, &n, err);

	if (r)
		return r;
	if (n > scratch->limit - scratch->taken)
		return pl_err_set(err, -EMSGSIZE,
			"a file of %llu bytes is more than the %zu bytes a sample may take",
			(unsigned long long)n, scratch->limit);
	to = pl_sample_alloc(sample, field, (size_t)n);
	if (!to)
		return pl_err_set(err, -ENOMEM, "no memory for %llu bytes", (unsigned long long)n);
	r = pl_regular_read(fd, to, (size_t)n, err);
	if (r)
		return r;
	sample->value[field] = (struct pl_tensor){
		.data = to, .dtype = PL_U8, .rank = 1, .shape = {(int64_t)n}, .stride = {1}};
	return 0;
}

static int files_read(const void *data, void *state, const struct pl_listing *listing,
	uint64_t index, const int *field, bool known_only, struct pl_sample *sample,
	struct pl_err *err)
{
	const struct files_params *p = data;
	struct files_state *s = state;
	char path[PATH_MAX];
	char quoted[1024];
	int r = 0;

	if (index >= s->listing.n_records)
		return pl_err_set(
			err, -EINVAL, "the listing has no record %llu", (unsigned long long)index);
	if (p->label == LABEL_FOLDER && field[1] >= 0)
		sample->value[field[1]] = (struct pl_tensor){
			.data = (void *)(uintptr_t)&pl_file_listing_run(&s->listing, index)->label,
			.dtype = PL_I64};
	if (known_only || field[0] < 0)
		return 0;
	pl_file_listing_path(&s->listing, index, path, sizeof(path));
	r = read_bytes(s, path, sample, field[0], err);
	if (r) {
		pl_err_prefix(err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
		pl_err_prefix(err, "%s/", pl_err_quote(quoted, sizeof(quoted), s->listing.root));
	}
	return r;
}

static void files_describe(
	const void *data, const struct pl_listing *listing, uint64_t index, char *out, size_t n)
{
	struct pl_file_listing f;

	if (pl_file_listing_open(&f, listing, NULL) || index >= f.n_records)
		snprintf(out, n, "record %llu", (unsigned long long)index);
	else
		pl_file_listing_path(&f, index, out, n);
}

const struct pl_source_op pl_source_files = {
	.abi = PL_SOURCE_ABI,
	.size = sizeof(struct pl_source_op),
	.name = "files",
	.help = "the files of a folder or glob, sorted by path: bytes, and a label from their "
		"folder",
	.version = 1,
	.params = params,
	.params_size = sizeof(struct files_params),
	.check = files_check,
	.fields = files_fields,
	.list = files_list,
	.list_first = files_list_first,
	.open = files_open,
	.close = files_close,
	.read = files_read,
	.describe = files_describe,
};
