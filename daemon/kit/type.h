/* daemon/kit/type.h - what a field is: its kind, dtype and shape, known or not, between two steps.
 */
#pragma once

#include "proto/err.h"
#include "proto/tensor/tensor.h"

#pragma GCC visibility push(default) /* plugins call these */

/* Which steps apply to a field by default. The numbers are part of the wire protocol: append only.
 */
enum pl_kind {
	PL_KIND_TENSOR = 1,
	PL_KIND_IMAGE,  /* u8 or f32, [h, w, c] */
	PL_KIND_MASK,   /* [h, w] */
	PL_KIND_BOXES,  /* f32 [n, 4], x0 y0 x1 y1 in pixels */
	PL_KIND_POINTS, /* f32 [n, 2], x y in pixels */
	PL_KIND_VIDEO,  /* u8 [t, h, w, c] */
	PL_KIND_AUDIO,  /* f32 [frames, channels] */
	PL_KIND_TOKENS,
	PL_KIND_TEXT, /* u8 [n], UTF-8 */
	PL_KIND_LIST,
	PL_KIND_JSON,
	PL_KIND_SCALAR, /* rank 0 */
	PL_KIND_BYTES,  /* u8 [n], an undecoded file */
	PL_KIND_END,
};

#define PL_KIND_BIT(kind) (1u << (kind))
#define PL_KINDS_GEOMETRY                                                                          \
	(PL_KIND_BIT(PL_KIND_IMAGE) | PL_KIND_BIT(PL_KIND_MASK) | PL_KIND_BIT(PL_KIND_BOXES) |     \
		PL_KIND_BIT(PL_KIND_POINTS) | PL_KIND_BIT(PL_KIND_VIDEO))
#define PL_KINDS_COLOUR (PL_KIND_BIT(PL_KIND_IMAGE) | PL_KIND_BIT(PL_KIND_VIDEO))
#define PL_KINDS_MEDIA                                                                             \
	(PL_KIND_BIT(PL_KIND_IMAGE) | PL_KIND_BIT(PL_KIND_VIDEO) | PL_KIND_BIT(PL_KIND_AUDIO) |    \
		PL_KIND_BIT(PL_KIND_TENSOR))

/* The type of a field at one place of a pipeline. A length that isn't known before a sample is read
 * is -1. */
struct pl_type {
	enum pl_kind kind;
	enum pl_dtype dtype;
	int rank;
	int64_t shape[PL_RANK_MAX];
	int link; /* not 0: row i of this field belongs to row i of all fields with this number */
};

/* "image", "mask" ...; "?" for a number that is no kind. Static storage. */
const char *pl_kind_name(enum pl_kind kind);

/* The kind of that name, or 0. */
enum pl_kind pl_kind_parse(const char *name);

/* A scalar of `dtype`; u8 [?] of kind bytes or text; u8 [h, w, c] of kind image (-1 = unknown). */
struct pl_type pl_type_scalar(enum pl_dtype dtype);
struct pl_type pl_type_bytes(enum pl_kind kind);
struct pl_type pl_type_image(int64_t height, int64_t width, int64_t channels);

/* True when every length is known. */
bool pl_type_is_fixed(const struct pl_type *type);

/* True when dtype, rank and every length known on both sides agree. */
bool pl_type_is_same(const struct pl_type *a, const struct pl_type *b);

/* Bytes of one value of a fixed type; -EOVERFLOW, or -EINVAL when a length is unknown. */
int64_t pl_type_bytes_of(const struct pl_type *type);

/* Writes "image u8 [?, ?, 3]" into out (n bytes with NUL); returns out. */
char *pl_type_format(char *out, size_t n, const struct pl_type *type);

#pragma GCC visibility pop
