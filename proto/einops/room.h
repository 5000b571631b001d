/* proto/einops/room.h - the parsed pattern, lengths and faults, for this room. */
#pragma once

#include "proto/base.h"
#include "proto/einops/einops.h"

/* Elementary axes once the ellipsis is spelled out; einsum has up to 52 names besides it. */
#define PL_AXES_ALL (PL_EINOPS_AXES_MAX + PL_RANK_MAX + 1)

/* A list adds one dimension to its tensors. */
#define PL_RANK_ALL (PL_RANK_MAX + 1)

/* A length nobody has said yet. No caller's length can be it by mistake: negative ones are refused.
 */
#define PL_UNKNOWN INT64_MIN

enum pl_char_kind {
	PL_CHAR_FOREIGN,  /* can't be in a pattern */
	PL_CHAR_START,    /* anywhere in a name */
	PL_CHAR_CONTINUE, /* in a name, but not first */
	PL_CHAR_NEVER,    /* part of a word, and then the word is no name */
};

/* The kind of a character beyond ASCII. */
enum pl_char_kind pl_char_kind(uint32_t c);

/* Decodes the character at text (n >= 1 bytes left): its length, or 0 if the bytes are no UTF-8. */
size_t pl_utf8_decode(const char *text, size_t n, uint32_t *out);

/* A stretch of the pattern's text. */
struct span {
	uint32_t at;
	uint32_t n;
};

enum axis_kind {
	AXIS_NAME,
	AXIS_NUMBER,
	AXIS_ELLIPSIS,
};

/* An elementary axis. The same name on both sides is one axis; every number is its own. */
struct axis {
	enum axis_kind kind;
	struct span span; /* where it was first seen */
	uint32_t name;    /* offset in `names`, for AXIS_NAME */
	int64_t length;   /* for AXIS_NUMBER */
	bool is_left;
	bool is_right;
};

/* A dimension of a side: `n` axes from items[first]; none for a unit. */
struct dim {
	struct span span;
	uint32_t first;
	uint32_t n;
	bool is_group; /* written in parentheses */
};

struct side {
	struct span span;
	uint32_t first; /* in dims */
	uint32_t n;
	int ellipsis; /* dim that holds it, counted from first; -1: none */
	struct span ellipsis_at;
};

/*
 * One block of memory. rearrange, reduce, repeat: sides[0] -> sides[1]; parse_shape: sides[0];
 * einsum: the left sides, then the right one; pack, unpack: `star` names before the star, and so
 * many after it.
 */
struct pl_einops_pattern {
	enum pl_einops_op op;
	enum reduction {
		REDUCE_NONE,
		REDUCE_MIN,
		REDUCE_MAX,
		REDUCE_SUM,
		REDUCE_MEAN,
		REDUCE_PROD,
		REDUCE_ANY,
		REDUCE_ALL,
	} reduction;
	uint32_t n_text;
	uint32_t n_names;
	uint32_t n_axes;
	uint32_t n_dims;
	uint32_t n_items;
	uint32_t n_sides;
	uint32_t n_before;
	uint32_t n_after;
	struct span star;
	struct axis axes[PL_EINOPS_AXES_MAX];
	struct side *sides;
	struct dim *dims;
	uint8_t *items; /* indices of axes */
	char *names;    /* NUL-terminated, one after the other */
	char *text;     /* n_text bytes, then NUL */
};

/* Where an error is written, and what it is about. */
struct fault {
	struct pl_einops_error *error;
	enum pl_einops_op op;
	const char *text;
	size_t n_text;
};

static inline struct fault fault_of(
	const struct pl_einops_pattern *p, struct pl_einops_error *error)
{
	return (struct fault){error, p->op, p->text, p->n_text};
}

/* Writes the error (if there is one to write) and returns the errno that goes with the code. */
int pl_fault(const struct fault *f, enum pl_einops_code code, struct span at, const char *format,
	...) PL_PRINTF(4, 5);

/* Copies the name or word at `at` into out[48], shortened and made printable. Returns out. */
const char *pl_fault_word(char out[48], const char *text, struct span at);

/* The whole text as a span. */
static inline struct span span_all(const struct fault *f)
{
	return (struct span){0, (uint32_t)f->n_text};
}

/* How a side is read. */
enum side_flags {
	SIDE_UNDERSCORE = 1, /* "_" is a name, any number of times */
	SIDE_REPEATS = 2,    /* a name may come twice */
	SIDE_RIGHT = 4,      /* behind the arrow */
};

/* Reads the text at `at` as one more side of the pattern. */
PL_MUST_CHECK int pl_side_read(
	struct pl_einops_pattern *p, struct span at, unsigned int flags, const struct fault *f);

/* True if the n bytes are a name. */
bool pl_is_name(const char *text, size_t n);

/* The three parsers beside that of rearrange, reduce, repeat. */
PL_MUST_CHECK int pl_parse_pack(struct pl_einops_pattern *p, const struct fault *f);
PL_MUST_CHECK int pl_parse_einsum(struct pl_einops_pattern *p, const struct fault *f);

/* Finds the only "->". */
PL_MUST_CHECK int pl_arrow_find(const struct fault *f, uint32_t *at);

static inline const struct dim *side_dim(
	const struct pl_einops_pattern *p, const struct side *s, uint32_t i)
{
	return &p->dims[s->first + i];
}

static inline const struct axis *dim_axis(
	const struct pl_einops_pattern *p, const struct dim *d, uint32_t i)
{
	return &p->axes[p->items[d->first + i]];
}

/* Checks dtype, rank, lengths and size of a tensor; with may_miss, a length of -1 and a dtype of 0
 * are fine. */
PL_MUST_CHECK int pl_tensor_usable(const struct pl_tensor *t, bool may_miss, const struct fault *f);

/* What the pattern is applied to, list already stacked. A length of -1 is PL_UNKNOWN here. */
struct subject {
	enum pl_dtype dtype; /* 0: unknown */
	int rank;
	int64_t shape[PL_RANK_ALL];
};

/* Checks the arguments themselves (negative lengths, dtypes, list) and stacks. With may_miss, -1 is
 * unknown. */
PL_MUST_CHECK int pl_subject_init(
	struct subject *s, const struct pl_einops_args *args, bool may_miss, const struct fault *f);

/*
 * Lengths of everything. `ellipsis` are the input's dimensions that "..." stands for; `length` are
 * per axis of the pattern (of the ellipsis: the product, which only repeat's and reduce's sizes
 * need).
 */
struct lengths {
	int64_t length[PL_EINOPS_AXES_MAX];
	int ellipsis_first;
	int ellipsis_n;
};

/* The rank against a left side; finds what "..." stands for. */
PL_MUST_CHECK int pl_check_rank(struct lengths *l, const struct pl_einops_pattern *p,
	const struct side *side, const struct subject *s, const struct fault *f);

/* Steps 5 (repeat's sizes) to 10 of the order of checks, for rearrange, reduce, repeat. */
PL_MUST_CHECK int pl_lengths_resolve(struct lengths *l, const struct pl_einops_pattern *p,
	const struct subject *s, const struct pl_einops_args *args, const struct fault *f);

/* The result: shape (PL_UNKNOWN where unknown), dtype. Checks what is left of step 10. */
PL_MUST_CHECK int pl_result_shape(struct subject *out, const struct pl_einops_pattern *p,
	const struct subject *s, const struct lengths *l, const struct fault *f);

/* True when the axis is reduced away. */
bool pl_is_reduced(const struct pl_einops_pattern *p, const struct lengths *l, uint32_t axis);

/* True when the reduction has an axis to reduce in this rank. */
bool pl_reduces(const struct pl_einops_pattern *p, const struct lengths *l);

/* a * b for lengths >= 0, INT64_MAX if it doesn't fit. */
static inline int64_t mul_saturated(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}
