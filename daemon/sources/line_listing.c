/* daemon/sources/line_listing.c - lists the records of text files, a line each, and says which line
 * one is. */
#include "daemon/sources/line_listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/sources/file_set.h"
#include "daemon/sources/regular.h"

#define READ_BYTES ((size_t)256 << 10)
#define HEAD_MAX   ((size_t)1 << 20)

#define FORM_CODEC_BITS 3

_Static_assert(PL_CODEC_END <= 1 << FORM_CODEC_BITS, "a form has no room for all codecs");

/* found: enough was seen. Never leaves this file. */
#define STOP 1

enum pl_codec pl_line_form_codec(uint64_t form)
{
	uint64_t codec = form & ((1u << FORM_CODEC_BITS) - 1);

	return codec < PL_CODEC_END ? (enum pl_codec)codec : PL_CODEC_NONE;
}

uint64_t pl_line_form_bytes(uint64_t form)
{
	return form >> FORM_CODEC_BITS;
}

/* One file while it is listed. */
struct lister {
	const struct pl_line_format *format;
	struct pl_listing_writer *w;
	struct pl_err *err;
	struct pl_file_stream stream;
	struct pl_line_index index;
	char *bytes; /* room for HEAD_MAX and two readings: `head` gets the first row whole */
	size_t n_bytes;
	bool only_first;
	bool is_header_next;
	uint64_t next_line; /* what the next record's line would be without a gap */
};

static int found(void *context, const struct pl_line *line)
{
	struct lister *l = context;
	struct pl_line_run run = {l->w->n_records, line->line};
	int r = 0;

	if (l->is_header_next) {
		l->is_header_next = false;
		return 0;
	}
	if (line->line != l->next_line)
		r = pl_listing_append(l->w, PL_LINE_SECTION_RUNS, &run, sizeof(run));
	l->next_line = line->line + 1;
	if (!r)
		r = pl_record_listing_add(l->w, line->at);
	return r ? pl_err_set(l->err, r, "out of memory") : l->only_first ? STOP : 0;
}

static const char *wide_text(const uint8_t *p, size_t n)
{
	static const char *const names[] = {"UTF-16", "UTF-32"};
	bool is_wide = n >= 4 && ((!memcmp(p, "\xff\xfe\0", 4)) || !memcmp(p, "\0\0\xfe\xff", 4));

	if (is_wide)
		return names[1];
	if (n >= 2 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2)))
		return names[0];
	if (n >= 4 && ((p[0] && !p[1] && p[2] && !p[3]) || (!p[0] && p[1] && !p[2] && p[3])))
		return names[0];
	return NULL;
}

/* Passes over a byte order mark; refuses other encodings. */
static int look_at_beginning(struct lister *l)
{
	const char *wide = wide_text((const uint8_t *)l->bytes, l->n_bytes);

	if (wide)
		return pl_err_set(l->err, -EILSEQ,
			"it is %s text: convert it, as by 'iconv -f %s -t UTF-8'", wide, wide);
	if (l->n_bytes >= 3 && !memcmp(l->bytes, "\xef\xbb\xbf", 3))
		l->index.at = 3;
	return 0;
}

static int stop_at_second(void *context, const struct pl_line *line)
{
	struct pl_line *rows = context;

	rows[rows[0].line ? 1 : 0] = *line;
	return rows[1].line ? STOP : 0;
}

/* Where the first row that is no blank lies in what was read: up to the row behind it. 0: none. */
static int find_first_row(const struct lister *l, bool is_all, size_t *begin, size_t *end)
{
	struct pl_line rows[2] = {{0}};
	struct pl_line_index x = {.blank = l->format->blank,
		.delimiter = l->format->delimiter,
		.found = stop_at_second,
		.context = rows,
		.at = l->index.at};
	int r = pl_line_index_feed(&x, l->bytes + x.at, l->n_bytes - x.at);

	*begin = rows[0].at;
	*end = r == STOP ? rows[1].at : l->n_bytes;
	if (!rows[0].line)
		return is_all ? 0 : -EAGAIN;
	return r == STOP || is_all || !x.is_begun ? 1 : -EAGAIN;
}

/* Gives the format the first row, which may need more than one reading. */
static int read_head(struct lister *l)
{
	size_t begin = 0, end = 0, got = l->n_bytes;
	int r;

	if (!l->format->head)
		return 0;
	while ((r = find_first_row(l, got < READ_BYTES, &begin, &end)) == -EAGAIN) {
		if (l->n_bytes > HEAD_MAX)
			return pl_err_set(l->err, -EMSGSIZE,
				"line 1: the first row is longer than %zu bytes, or a quote in it "
				"is never closed",
				HEAD_MAX);
		r = pl_file_stream_read(
			&l->stream, l->bytes + l->n_bytes, READ_BYTES, &got, l->err);
		if (r)
			return r;
		l->n_bytes += got;
	}
	if (r == 0)
		return l->format->head(l->format->context, NULL, 0, l->w, l->err);
	while (end > begin && (l->bytes[end - 1] == '\n' || l->bytes[end - 1] == '\r'))
		end--;
	return l->format->head(l->format->context, l->bytes + begin, end - begin, l->w, l->err);
}

static int index_all(struct lister *l)
{
	size_t got = l->n_bytes;
	size_t from = l->index.at;
	int r = 0;

	while (!r && got) {
		r = pl_line_index_feed(&l->index, l->bytes + from, l->n_bytes - from);
		from = 0;
		got = 0;
		if (!r)
			r = pl_file_stream_read(&l->stream, l->bytes, READ_BYTES, &got, l->err);
		l->n_bytes = got;
	}
	if (r == STOP)
		return 0;
	if (!r && pl_line_index_is_open(&l->index))
		return pl_err_set(l->err, -EBADMSG,
			"line %llu: a quote in the row that begins here is never closed",
			(unsigned long long)l->index.row.line);
	return r;
}

static int check_unchanged(const struct lister *l, const struct stat *before)
{
	struct stat st;

	if (fstat(l->stream.fd, &st))
		return pl_err_set(l->err, -errno, "%s", strerror(errno));
	if (st.st_size != before->st_size || st.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		st.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
		return pl_err_set(l->err, -EAGAIN, "it was written while it was listed");
	return 0;
}

static int list_stream(struct lister *l)
{
	int r = pl_file_stream_read(&l->stream, l->bytes, READ_BYTES, &l->n_bytes, l->err);

	if (!r)
		r = look_at_beginning(l);
	if (!r)
		r = read_head(l);
	return r ? r : index_all(l);
}

static int list_file(struct lister *l, const char *path)
{
	struct stat st;
	uint64_t bytes;
	int fd = -1;
	int r = pl_regular_open(AT_FDCWD, path, &fd, &bytes, l->err);

	if (r)
		return r;
	l->index = (struct pl_line_index){.blank = l->format->blank,
		.delimiter = l->format->delimiter,
		.found = found,
		.context = l};
	l->is_header_next = l->format->has_header;
	l->next_line = 0;
	r = pl_file_stream_open(&l->stream, fd, l->err);
	if (!r && fstat(fd, &st))
		r = pl_err_set(l->err, -errno, "%s", strerror(errno));
	if (!r && pl_record_listing_add_file(l->w, path, &st, 0))
		r = pl_err_set(l->err, -ENOMEM, "out of memory");
	if (!r)
		r = list_stream(l);
	if (!r)
		r = check_unchanged(l, &st);
	if (!r)
		pl_record_listing_set_form(l->w, l->stream.at << FORM_CODEC_BITS | l->stream.codec);
	pl_file_stream_close(&l->stream);
	return r;
}

static int list_files(struct lister *l, const struct pl_file_set *files)
{
	for (size_t i = 0; i < files->n; i++) {
		const char *path = pl_file_set_path(files, i);
		char quoted[1024];
		int r = list_file(l, path);

		if (r) {
			pl_err_prefix(l->err, "%s: ", pl_err_quote(quoted, sizeof(quoted), path));
			return r;
		}
	}
	return 0;
}

int pl_line_listing_make(const char *path, const char *dir, bool only_first,
	const struct pl_line_format *format, struct pl_listing_writer *w, struct pl_err *err)
{
	PL_CLEANUP(pl_file_set_finish) struct pl_file_set files = {0};
	PL_AUTO_FREE char *bytes = malloc(READ_BYTES + HEAD_MAX + READ_BYTES);
	struct lister l = {.format = format, .w = w, .err = err, .only_first = only_first};
	int r = pl_file_set_init(&files, path, dir, only_first ? 1 : SIZE_MAX, err);

	if (r)
		return r;
	if (!bytes)
		return pl_err_set(err, -ENOMEM, "out of memory");
	l.bytes = bytes;
	return list_files(&l, &files);
}

/* The last run that begins at or before the record. */
uint64_t pl_line_listing_line(const struct pl_listing *l, uint64_t index)
{
	size_t bytes;
	const struct pl_line_run *runs = pl_listing_section_at(l, PL_LINE_SECTION_RUNS, &bytes);
	size_t low = 0;
	size_t high = bytes / sizeof(*runs);

	if (high == 0)
		return 0;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (runs[middle].record <= index)
			low = middle;
		else
			high = middle;
	}
	return runs[low].line + (index - runs[low].record);
}

void pl_line_listing_describe(const struct pl_listing *l, uint64_t index, char *out, size_t n)
{
	struct pl_record_listing records;

	if (pl_record_listing_open(&records, l, NULL) || index >= records.n_records)
		snprintf(out, n, "record %llu", (unsigned long long)index);
	else
		snprintf(out, n, "%s:%llu",
			pl_record_listing_path(
				&records, pl_record_listing_file_of(&records, index)),
			(unsigned long long)pl_line_listing_line(l, index));
}
