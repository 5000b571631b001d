/* daemon/sources/file_stream.h - a file's bytes from front to back, unpacked when it is packed. */
#pragma once

#include "daemon/sources/unpack.h"

struct pl_file_stream {
	int fd;
	enum pl_codec codec;
	uint64_t at;      /* bytes given out */
	uint64_t file_at; /* bytes read from the file */
	struct pl_unpack *unpack;
	uint8_t *packed; /* read, not yet unpacked */
	size_t n_packed;
	size_t packed_used;
	bool is_at_end; /* of the file */
};

/*
 * Begins at the file's first byte and looks at what it is. Takes fd, also on error; close gives
 * everything back, also after an error. 0 or -errno with err, which doesn't say which file.
 */
int pl_file_stream_open(struct pl_file_stream *s, int fd, struct pl_err *err) PL_MUST_CHECK;
void pl_file_stream_close(struct pl_file_stream *s);

/*
 * Reads n bytes; *got < n only at the end. Blocks on the file system. 0, -errno with err, -EBADMSG
 * or -ENODATA when the packed bytes are damaged or cut, with err saying at which byte of the file.
 */
int pl_file_stream_read(struct pl_file_stream *s, void *to, size_t n, size_t *got,
	struct pl_err *err) PL_MUST_CHECK;

/* Reads on to byte `offset` >= s->at and throws away what lies between. -EIO when the end comes
 * first, else as read. */
int pl_file_stream_skip_to(
	struct pl_file_stream *s, uint64_t offset, struct pl_err *err) PL_MUST_CHECK;
