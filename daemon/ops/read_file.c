/* daemon/ops/read_file.c - reads the file that a text field names, below one folder. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/kit/op.h"

/*
 * Names come out of data, so they are not trusted: the kernel itself keeps them below `root`,
 * whatever "..", symbolic links or renames they meet on the way. On a kernel without openat2 a name
 * with ".." or a symbolic link in it is refused. An absolute name is taken when it begins with
 * root.
 */
struct read_file_params {
	const char *root;
	int64_t max;
};

#define AT(member) offsetof(struct read_file_params, member)

static const struct pl_param params[] = {
	{.key = "root",
		.kind = PL_PARAM_TEXT,
		.offset = AT(root),
		.def = "",
		.help = "the folder that names count from and must lie below; the pipeline file's "
			"folder when left out"},
	{.key = "max",
		.kind = PL_PARAM_BYTES,
		.offset = AT(max),
		.def = "1GiB",
		.min = 1,
		.max = (double)((int64_t)1 << 40),
		.help = "a larger file is an error, before it is read"},
	{0},
};

static int infer(struct pl_infer *io, void *params_, struct pl_err *err)
{
	(void)params_;
	for (int i = 0; i < io->n; i++) {
		const struct pl_type *t = &io->type[io->in[i]];
		char text[256];

		if (t->kind != PL_KIND_TEXT)
			return pl_err_set(err, -EINVAL,
				"field '%s' is %s, but the name of a file is a text",
				io->name[io->in[i]], pl_type_format(text, sizeof(text), t));
		io->type[io->out[i]] = pl_type_bytes(PL_KIND_BYTES);
	}
	return 0;
}

/* Opened for the first sample, so that a folder that isn't there is that sample's error. */
struct root {
	const char *dir; /* the plan's, and so are `given` and `roots` */
	const char *given;
	const struct pl_param_texts *roots;
	int fd;
	char path[PATH_MAX]; /* without symbolic links, no final slash */
};

static void destroy(void *state)
{
	struct root *root = state;

	if (!root)
		return;
	if (root->fd >= 0)
		close(root->fd);
	free(root);
}

/* True when path is the folder or lies below it; both without symbolic links. */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	n -= n > 0 && folder[n - 1] == '/';
	return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int open_folder(struct root *root, const char *path, struct pl_err *err)
{
	PL_AUTO_CLOSE int folder = open(root->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char link[64];
	char quoted[300];
	ssize_t n;

	if (folder >= 0)
		root->fd = openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return pl_err_set(err, -errno, "root: '%s' can't be opened: %s",
			pl_err_quote(quoted, sizeof(quoted), path), strerror(errno));
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", root->fd);
	n = readlink(link, root->path, sizeof(root->path) - 1);
	if (n < 0)
		return pl_err_set(err, -errno, "root: its path can't be read: %s", strerror(errno));
	root->path[n] = '\0';
	return 0;
}

/* `roots:` of the pipeline, if it has any: one of them must hold the folder. */
static int check_roots(const struct root *root, struct pl_err *err)
{
	char quoted[300];

	for (int i = 0; i < root->roots->n; i++) {
		struct root allowed = {.dir = root->dir, .fd = -1};
		int rc = open_folder(&allowed, root->roots->v[i], NULL);

		if (allowed.fd >= 0)
			close(allowed.fd);
		if (rc == 0 && is_below(root->path, allowed.path))
			return 0;
	}
	if (root->roots->n == 0)
		return 0;
	return pl_err_set(err, -EACCES, "root: '%s' lies below none of the folders in roots:",
		pl_err_quote(quoted, sizeof(quoted), root->path));
}

static int open_root(struct root *root, struct pl_err *err)
{
	int rc = open_folder(root, root->given, err);

	if (rc == 0)
		rc = check_roots(root, err);
	if (rc < 0 && root->fd >= 0) {
		close(root->fd);
		root->fd = -1;
	}
	return rc;
}

static int prepare(const struct pl_infer *io, const void *params_, void **state, struct pl_err *err)
{
	const struct read_file_params *p = params_;
	struct root *root = calloc(1, sizeof(*root));

	if (!root)
		return pl_err_set(err, -ENOMEM, "out of memory");
	root->dir = io->dir;
	root->given = p->root ? p->root : ".";
	root->roots = io->roots;
	root->fd = -1;
	*state = root;
	return 0;
}

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Without openat2: folder by folder, and no symbolic link is followed. */
static int walk_beneath(int root, const char *name)
{
	PL_AUTO_CLOSE int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (at >= 0) {
		size_t n = strcspn(name, "/");
		char part[NAME_MAX + 1];
		int next;

		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(part, name, n);
		part[n] = '\0';
		if (strcmp(part, "..") == 0)
			return -EXDEV;
		name += n;
		name += strspn(name, "/");
		if (!*name) {
			next = openat(at, n ? part : ".", OPEN_FLAGS | O_NOFOLLOW);
			return next < 0 ? -errno : next;
		}
		next = openat(at, n ? part : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		close(at);
		at = next;
	}
	return -errno;
}

static int open_beneath(const struct root *root, const char *name)
{
	struct open_how how = {
		.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, root->fd, name, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	if (errno == ENOSYS || errno == EPERM)
		return walk_beneath(root->fd, name);
	return -errno;
}

static const char *reason_of(int code)
{
	switch (code) {
	case -EXDEV:
		return "it leads out of the folder that names must lie below";
	case -ELOOP:
		return "a symbolic link in it can't be followed";
	default:
		return strerror(-code);
	}
}

/* The name as a terminated text relative to root, in `name`. 0 or -EINVAL. */
static int read_name(struct pl_run *r, int i, char name[PATH_MAX])
{
	const struct root *root = r->state;
	size_t n = (size_t)pl_tensor_bytes(&r->sample->value[r->in[i]]);
	const char *text = pl_run_contiguous(r, i);
	size_t skipped = 0;

	if (!text && n > 0)
		return pl_run_failed(r);
	if (n == 0)
		return pl_err_set(r->err, -EINVAL, "the name of the file is empty");
	if (n >= PATH_MAX || memchr(text, '\0', n))
		return pl_err_set(r->err, -EINVAL, "the name of the file is %s",
			n >= PATH_MAX ? "too long" : "no text: it has a NUL byte");
	memcpy(name, text, n);
	name[n] = '\0';
	if (name[0] == '/' && is_below(name, root->path)) {
		skipped = strlen(root->path);
		skipped += strspn(name + skipped, "/");
		memmove(name, name + skipped, n - skipped + 1);
	}
	return 0;
}

static int fail(const struct pl_run *r, const char *name, int code, const char *reason)
{
	const struct root *root = r->state;
	char quoted[400];
	char folder[400];

	return pl_err_set(r->err, code, "the file '%s' below '%s' can't be read: %s",
		pl_err_quote(quoted, sizeof(quoted), name),
		pl_err_quote(folder, sizeof(folder), root->path), reason);
}

static int read_exactly(int fd, char *to, int64_t n)
{
	for (int64_t used = 0; used < n;) {
		ssize_t got = pread(fd, to + used, (size_t)(n - used), used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		used += got;
	}
	return 0;
}

static int read_opened(struct pl_run *r, int i, int fd, const char *name)
{
	const struct read_file_params *p = r->params;
	char reason[160];
	struct stat st;
	int64_t n;
	void *to;
	int rc;

	if (fstat(fd, &st) < 0)
		return fail(r, name, -errno, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(r, name, -EINVAL, "it is not a regular file");
	n = st.st_size;
	if (n > p->max) {
		(void)snprintf(reason, sizeof(reason),
			"it has %" PRId64 " bytes, more than max: %" PRId64, n, p->max);
		return fail(r, name, -EMSGSIZE, reason);
	}
	to = pl_run_out(r, i, PL_U8, 1, &n);
	if (!to)
		return pl_run_failed(r);
	rc = read_exactly(fd, to, n);
	return rc == 0 ? 0
		       : fail(r, name, rc, rc == -EIO ? "it ended before its end" : strerror(-rc));
}

static int read_field(struct pl_run *r, int i)
{
	char name[PATH_MAX];
	PL_AUTO_CLOSE int fd = -1;
	struct root *root = r->state;
	int rc = root->fd < 0 ? open_root(root, r->err) : 0;

	if (rc == 0)
		rc = read_name(r, i, name);
	if (rc < 0)
		return rc;
	fd = open_beneath(r->state, name);
	if (fd < 0)
		return fail(r, name, fd, reason_of(fd));
	return read_opened(r, i, fd, name);
}

static int run(struct pl_run *r)
{
	for (int i = 0; i < r->n; i++) {
		int rc = read_field(r, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_read_file;
const struct pl_op pl_op_read_file = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "read_file",
	.help = "reads the file that a text field names, below one folder",
	.class_ = "decode",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_ONE_FIELD,
	.takes = PL_KIND_BIT(PL_KIND_TEXT),
	.to = "data",
	.params = params,
	.params_size = sizeof(struct read_file_params),
	.infer = infer,
	.prepare = prepare,
	.destroy = destroy,
	.run = run,
};
