/* proto/tensor/dtype.c - the table of element types: size, name, kind. */
#include "proto/base.h"
#include "proto/tensor/tensor.h"

#include <string.h>

struct dtype_row {
	char name[6];
	unsigned char size;
	bool is_float;
};

static const struct dtype_row rows[PL_DTYPE_END] = {
	[PL_BOOL] = {"bool", 1, false},
	[PL_U8] = {"u8", 1, false},
	[PL_U16] = {"u16", 2, false},
	[PL_U32] = {"u32", 4, false},
	[PL_U64] = {"u64", 8, false},
	[PL_I8] = {"i8", 1, false},
	[PL_I16] = {"i16", 2, false},
	[PL_I32] = {"i32", 4, false},
	[PL_I64] = {"i64", 8, false},
	[PL_F16] = {"f16", 2, true},
	[PL_BF16] = {"bf16", 2, true},
	[PL_F32] = {"f32", 4, true},
	[PL_F64] = {"f64", 8, true},
};

static const struct dtype_row *row_of(enum pl_dtype dtype)
{
	unsigned int number = (unsigned int)dtype;

	return number < PL_DTYPE_END && rows[number].size ? &rows[number] : NULL;
}

PL_EXPORT size_t pl_dtype_size(enum pl_dtype dtype)
{
	const struct dtype_row *row = row_of(dtype);

	return row ? row->size : 0;
}

PL_EXPORT const char *pl_dtype_name(enum pl_dtype dtype)
{
	const struct dtype_row *row = row_of(dtype);

	return row ? row->name : "?";
}

PL_EXPORT enum pl_dtype pl_dtype_parse(const char *name, size_t n)
{
	for (unsigned int i = PL_BOOL; i < PL_DTYPE_END; i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
			return (enum pl_dtype)i;
	return (enum pl_dtype)0;
}

PL_EXPORT bool pl_dtype_is_float(enum pl_dtype dtype)
{
	const struct dtype_row *row = row_of(dtype);

	return row && row->is_float;
}
