/* daemon/ops/numbers.c - conversion between element types, one element or many. */
#include "daemon/ops/numbers.h"

/*
 * Values go in blocks through a wide type: integers through int64_t (u64 by its bits), floats
 * through double. So there are thirteen loads and twice thirteen stores instead of 169 conversions.
 */
#define BLOCK 512

#define LOAD(name, type, wide)                                                                     \
	static void load_##name(void *out, const void *in, int64_t n)                              \
	{                                                                                          \
		const type *from = in;                                                             \
		wide *to = out;                                                                    \
                                                                                                   \
		for (int64_t i = 0; i < n; i++)                                                    \
			to[i] = (wide)from[i];                                                     \
	}

LOAD(u8, uint8_t, int64_t)
LOAD(u16, uint16_t, int64_t)
LOAD(u32, uint32_t, int64_t)
LOAD(u64, uint64_t, int64_t)
LOAD(i8, int8_t, int64_t)
LOAD(i16, int16_t, int64_t)
LOAD(i32, int32_t, int64_t)
LOAD(f32, float, double)
LOAD(f64, double, double)

static void load_f16(void *out, const void *in, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		((double *)out)[i] = pl_f16_to_f32(((const uint16_t *)in)[i]);
}

static void load_bf16(void *out, const void *in, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		((double *)out)[i] = pl_bf16_to_f32(((const uint16_t *)in)[i]);
}

/* NaN gives 0. */
static inline double at_least(double v, double low)
{
	return v > low ? v : v != v ? 0 : low;
}

/* From int64_t, and from double: towards zero, limited, NaN gives 0. */
#define STORE(name, type, low, high)                                                               \
	static void store_##name(void *out, const void *in, int64_t n)                             \
	{                                                                                          \
		const int64_t *from = in;                                                          \
		type *to = out;                                                                    \
                                                                                                   \
		for (int64_t i = 0; i < n; i++)                                                    \
			to[i] = (type)from[i];                                                     \
	}                                                                                          \
                                                                                                   \
	static void cut_##name(void *out, const void *in, int64_t n)                               \
	{                                                                                          \
		const double *from = in;                                                           \
		type *to = out;                                                                    \
                                                                                                   \
		for (int64_t i = 0; i < n; i++)                                                    \
			to[i] = from[i] >= (double)(high)                                          \
					? (high)                                                   \
					: (type)at_least(from[i], (double)(low));                  \
	}

STORE(u8, uint8_t, 0, UINT8_MAX)
STORE(u16, uint16_t, 0, UINT16_MAX)
STORE(u32, uint32_t, 0, UINT32_MAX)
STORE(u64, uint64_t, 0, UINT64_MAX)
STORE(i8, int8_t, INT8_MIN, INT8_MAX)
STORE(i16, int16_t, INT16_MIN, INT16_MAX)
STORE(i32, int32_t, INT32_MIN, INT32_MAX)
STORE(i64, int64_t, INT64_MIN, INT64_MAX)

/* Into bool and the floats, from each of the three wide types. */
#define STORE_AS(name, type, wide, expression)                                                     \
	static void name(void *out, const void *in, int64_t n)                                     \
	{                                                                                          \
		const wide *from = in;                                                             \
		type *to = out;                                                                    \
                                                                                                   \
		for (int64_t i = 0; i < n; i++) {                                                  \
			wide v = from[i];                                                          \
                                                                                                   \
			to[i] = (expression);                                                      \
		}                                                                                  \
	}

STORE_AS(store_bool, uint8_t, int64_t, v != 0)
STORE_AS(store_f16, uint16_t, int64_t, pl_f32_to_f16((float)v))
STORE_AS(store_bf16, uint16_t, int64_t, pl_f32_to_bf16((float)v))
STORE_AS(store_f32, float, int64_t, (float)v)
STORE_AS(store_f64, double, int64_t, (double)v)
STORE_AS(store_u64_f16, uint16_t, uint64_t, pl_f32_to_f16((float)v))
STORE_AS(store_u64_bf16, uint16_t, uint64_t, pl_f32_to_bf16((float)v))
STORE_AS(store_u64_f32, float, uint64_t, (float)v)
STORE_AS(store_u64_f64, double, uint64_t, (double)v)
STORE_AS(cut_bool, uint8_t, double, v != 0.0)
STORE_AS(cut_f16, uint16_t, double, pl_f32_to_f16((float)v))
STORE_AS(cut_bf16, uint16_t, double, pl_f32_to_bf16((float)v))
STORE_AS(cut_f32, float, double, (float)v)

static void copy_wide(void *out, const void *in, int64_t n)
{
	memcpy(out, in, (size_t)n * sizeof(int64_t));
}

typedef void convert_fn(void *out, const void *in, int64_t n);

struct number {
	convert_fn *load; /* to int64_t, or to double for a float */
	convert_fn *from_i64;
	convert_fn *from_u64;
	convert_fn *from_f64;
};

static const struct number numbers[PL_DTYPE_END] = {
	[PL_BOOL] = {load_u8, store_bool, store_bool, cut_bool},
	[PL_U8] = {load_u8, store_u8, store_u8, cut_u8},
	[PL_U16] = {load_u16, store_u16, store_u16, cut_u16},
	[PL_U32] = {load_u32, store_u32, store_u32, cut_u32},
	[PL_U64] = {load_u64, store_u64, store_u64, cut_u64},
	[PL_I8] = {load_i8, store_i8, store_i8, cut_i8},
	[PL_I16] = {load_i16, store_i16, store_i16, cut_i16},
	[PL_I32] = {load_i32, store_i32, store_i32, cut_i32},
	[PL_I64] = {copy_wide, store_i64, store_i64, cut_i64},
	[PL_F16] = {load_f16, store_f16, store_u64_f16, cut_f16},
	[PL_BF16] = {load_bf16, store_bf16, store_u64_bf16, cut_bf16},
	[PL_F32] = {load_f32, store_f32, store_u64_f32, cut_f32},
	[PL_F64] = {load_f64, store_f64, store_u64_f64, copy_wide},
};

void pl_numbers_convert(void *dst, enum pl_dtype to, const void *src, enum pl_dtype from, int64_t n)
{
	const struct number *target = &numbers[to];
	convert_fn *store = pl_dtype_is_float(from) ? target->from_f64
			    : from == PL_U64        ? target->from_u64
						    : target->from_i64;
	int64_t from_size = (int64_t)pl_dtype_size(from);
	int64_t to_size = (int64_t)pl_dtype_size(to);
	int64_t wide[BLOCK];

	if (from == to) {
		if (n > 0)
			memcpy(dst, src, (size_t)(n * to_size));
		return;
	}
	for (int64_t at = 0; at < n; at += BLOCK) {
		int64_t count = n - at < BLOCK ? n - at : BLOCK;

		numbers[from].load(wide, (const char *)src + at * from_size, count);
		store((char *)dst + at * to_size, wide, count);
	}
}

void pl_number_store(void *dst, enum pl_dtype dtype, double value)
{
	numbers[dtype].from_f64(dst, &value, 1);
}

bool pl_number_fits(enum pl_dtype dtype, double value)
{
	int64_t stored = 0;
	double back;

	if (pl_dtype_is_float(dtype))
		return true;
	pl_number_store(&stored, dtype, value);
	pl_numbers_convert(&back, PL_F64, &stored, dtype, 1);
	return back == value;
}
