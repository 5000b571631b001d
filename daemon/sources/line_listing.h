/* daemon/sources/line_listing.h - lists the records of text files, a line each, and says which line
 * one is. */
#pragma once

#include "daemon/sources/line_index.h"
#include "daemon/sources/record_listing.h"
#include "daemon/sources/file_stream.h"

/*
 * Places are offsets in the unpacked text. A file's form holds its codec and how many bytes it has
 * unpacked. Own section 4: struct pl_line_run, one where the line isn't that of the record before
 * plus one; that is one a file, and more behind blank lines and line feeds inside of quotes. Own
 * section 5 is the format's.
 */
struct pl_line_run {
	uint64_t record;
	uint64_t line;
};

enum { PL_LINE_SECTION_RUNS = PL_RECORD_OWN_SECTION, PL_LINE_SECTION_FORMAT };

enum pl_codec pl_line_form_codec(uint64_t form);
uint64_t pl_line_form_bytes(uint64_t form);

/*
 * What a format wants of a listing. `head`, when it isn't NULL, is called once for each file with
 * the bytes of its first row, without the line end, or NULL when it has none, and may append to
 * PL_LINE_SECTION_FORMAT; with has_header that row is no record. A first row longer than 1 MiB is
 * refused then.
 */
struct pl_line_format {
	enum pl_line_blank blank;
	char delimiter;
	bool has_header;
	int (*head)(void *context, const char *row, size_t n, struct pl_listing_writer *w,
		struct pl_err *err);
	void *context;
};

/*
 * Lists all records of the files of `path`, or just one of the first file. Blocks on the file
 * system. 0 or -errno with err, which names the file: not there, a folder, UTF-16 or UTF-32,
 * damaged or cut packed bytes, a quote that is never closed, a file that changed meanwhile.
 */
int pl_line_listing_make(const char *path, const char *dir, bool only_first,
	const struct pl_line_format *format, struct pl_listing_writer *w,
	struct pl_err *err) PL_MUST_CHECK;

/* The line that a record begins on, from 1. */
uint64_t pl_line_listing_line(const struct pl_listing *l, uint64_t index);

/* What an error calls a record: "/data/a.jsonl:12". At most n bytes with NUL. */
void pl_line_listing_describe(const struct pl_listing *l, uint64_t index, char *out, size_t n);
