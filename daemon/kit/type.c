/* daemon/kit/type.c - the names, comparison and size of what a field is. */
#include "daemon/kit/type.h"

#include <errno.h>
#include <stdio.h>

static const char *const kind_names[PL_KIND_END] = {
	[PL_KIND_TENSOR] = "tensor",
	[PL_KIND_IMAGE] = "image",
	[PL_KIND_MASK] = "mask",
	[PL_KIND_BOXES] = "boxes",
	[PL_KIND_POINTS] = "points",
	[PL_KIND_VIDEO] = "video",
	[PL_KIND_AUDIO] = "audio",
	[PL_KIND_TOKENS] = "tokens",
	[PL_KIND_TEXT] = "text",
	[PL_KIND_LIST] = "list",
	[PL_KIND_JSON] = "json",
	[PL_KIND_SCALAR] = "scalar",
	[PL_KIND_BYTES] = "bytes",
};

const char *pl_kind_name(enum pl_kind kind)
{
	return kind >= PL_KIND_TENSOR && kind < PL_KIND_END ? kind_names[kind] : "?";
}

enum pl_kind pl_kind_parse(const char *name)
{
	for (int k = PL_KIND_TENSOR; k < PL_KIND_END; k++)
		if (!strcmp(name, kind_names[k]))
			return (enum pl_kind)k;
	return 0;
}

struct pl_type pl_type_scalar(enum pl_dtype dtype)
{
	return (struct pl_type){.kind = PL_KIND_SCALAR, .dtype = dtype};
}

struct pl_type pl_type_bytes(enum pl_kind kind)
{
	return (struct pl_type){.kind = kind, .dtype = PL_U8, .rank = 1, .shape = {-1}};
}

struct pl_type pl_type_image(int64_t height, int64_t width, int64_t channels)
{
	return (struct pl_type){.kind = PL_KIND_IMAGE,
		.dtype = PL_U8,
		.rank = 3,
		.shape = {height, width, channels}};
}

bool pl_type_is_fixed(const struct pl_type *type)
{
	for (int d = 0; d < type->rank; d++)
		if (type->shape[d] < 0)
			return false;
	return true;
}

bool pl_type_is_same(const struct pl_type *a, const struct pl_type *b)
{
	if (a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (int d = 0; d < a->rank; d++)
		if (a->shape[d] >= 0 && b->shape[d] >= 0 && a->shape[d] != b->shape[d])
			return false;
	return true;
}

int64_t pl_type_bytes_of(const struct pl_type *type)
{
	struct pl_tensor t;
	int r = pl_tensor_init(&t, NULL, type->dtype, type->rank, type->shape);

	return r ? r : pl_tensor_bytes(&t);
}

char *pl_type_format(char *out, size_t n, const struct pl_type *type)
{
	char shape[PL_RANK_MAX * 22] = "";

	if (type->rank > 0)
		pl_shape_format(shape, sizeof(shape), type->rank, type->shape);
	snprintf(out, n, "%s %s%s%s", pl_kind_name(type->kind), pl_dtype_name(type->dtype),
		type->rank > 0 ? " " : "", shape);
	return out;
}
