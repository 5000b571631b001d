/* daemon/sources/token_file.h - where the tokens of a file begin, what they are and how many. */
#pragma once

#include "proto/err.h"
#include "proto/tensor/tensor.h"

enum pl_token_format { PL_TOKENS_RAW, PL_TOKENS_MEGATRON, PL_TOKENS_LLMC };

/* Little-endian on disk, as the machine is. */
struct pl_token_file {
	enum pl_dtype dtype;
	uint64_t data_offset; /* of the first token */
	uint64_t n_tokens;
};

/*
 * Looks at the open file `fd` of `bytes` bytes, whose path is `path`:
 *	raw       nothing but tokens; `dtype` says which, 0 is an error
 *	llmc      llm.c: 256 int32 of head (magic 20240520: u16, version 1; 20240801: u32, version
 *	          7), then tokens
 *	megatron  the .bin beside a MMIDIDX .idx of the same name, which must describe all of it
 *	          without gaps
 * A `dtype` other than 0 must be what the file says. 0 or -EINVAL with err.
 */
int pl_token_file_look(struct pl_token_file *t, enum pl_token_format format, enum pl_dtype dtype,
	const char *path, int fd, uint64_t bytes, struct pl_err *err) PL_MUST_CHECK;
