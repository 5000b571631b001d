/* daemon/sources/line_reader.h - a process's way to the bytes of any record of a line listing. */
#pragma once

#include "daemon/kit/sample.h"
#include "daemon/sources/line_listing.h"
#include "daemon/sources/open_files.h"

/* Packed files that are kept open, each at the place of its last record. */
#define PL_LINE_STREAMS_MAX 4

struct pl_line_stream {
	struct pl_file_stream stream;
	size_t number;    /* of the file */
	uint64_t used_at; /* a count of uses; 0: this place is free */
};

/*
 * Plain files are read at any place; records that follow one another are read ahead. A packed file
 * can only be read forwards: a record behind the last one of its file costs what lies between, one
 * before it costs everything from the beginning.
 */
struct pl_line_reader {
	struct pl_record_listing records;
	struct pl_open_files files;
	struct pl_line_stream stream[PL_LINE_STREAMS_MAX];
	uint64_t n_uses;
	char *ahead; /* bytes read ahead */
	size_t ahead_bytes;
	size_t ahead_file;
	uint64_t ahead_at;
	uint64_t next_index; /* one behind the last record read */
};

/* 0, or -EINVAL with err when this is no listing of lines. Opens nothing; finish also after an
 * error. */
int pl_line_reader_init(
	struct pl_line_reader *r, const struct pl_listing *l, struct pl_err *err) PL_MUST_CHECK;
void pl_line_reader_finish(struct pl_line_reader *r);

/*
 * The bytes from the record's first one to the next record's, or the file's end, with a NUL behind
 * them, in scratch. 0 or -errno with err, which doesn't say which record: -EINVAL for no such
 * record, -EMSGSIZE when it is larger than scratch may become, -ESTALE when the file is another.
 */
int pl_line_reader_get(struct pl_line_reader *r, uint64_t index, struct pl_scratch *scratch,
	char **bytes, size_t *n, struct pl_err *err) PL_MUST_CHECK;
