/* daemon/kit/trace.c - how a value is shown on one line of a trace. */
#include "daemon/kit/trace.h"

#include <stdio.h>

#include "proto/err.h"

#define TEXT_SHOWN 1024

/* The shortest decimal that reads back as the same float. */
static void format_float(char *out, size_t n, double value, bool is_single)
{
	int most = is_single ? 9 : 17;

	for (int digits = is_single ? 6 : 15; digits <= most; digits++) {
		snprintf(out, n, "%.*g", digits, value);
		if (is_single ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value)
			return;
	}
}

static int64_t signed_at(const void *data, enum pl_dtype dtype)
{
	int64_t v = 0;

	memcpy(&v, data, pl_dtype_size(dtype));
	switch (dtype) {
	case PL_I8:
		return (int8_t)v;
	case PL_I16:
		return (int16_t)v;
	case PL_I32:
		return (int32_t)v;
	default:
		return v;
	}
}

static void format_real(char *out, size_t n, const void *data, enum pl_dtype dtype)
{
	uint16_t half;
	float single;
	double value;

	if (dtype == PL_F64) {
		memcpy(&value, data, sizeof(value));
		format_float(out, n, value, false);
		return;
	}
	if (dtype == PL_F32) {
		memcpy(&single, data, sizeof(single));
	} else {
		memcpy(&half, data, sizeof(half));
		single = dtype == PL_F16 ? pl_f16_to_f32(half) : pl_bf16_to_f32(half);
	}
	format_float(out, n, (double)single, true);
}

static void format_scalar(char *out, size_t n, const struct pl_tensor *value)
{
	uint64_t v = 0;

	switch (value->dtype) {
	case PL_F16:
	case PL_BF16:
	case PL_F32:
	case PL_F64:
		format_real(out, n, value->data, value->dtype);
		return;
	case PL_I8:
	case PL_I16:
	case PL_I32:
	case PL_I64:
		snprintf(out, n, "%lld", (long long)signed_at(value->data, value->dtype));
		return;
	case PL_BOOL:
		snprintf(out, n, "%s", *(const unsigned char *)value->data ? "true" : "false");
		return;
	default:
		memcpy(&v, value->data, pl_dtype_size(value->dtype));
		snprintf(out, n, "%llu", (unsigned long long)v);
	}
}

/* A NUL inside the text would end it early: each piece between them is quoted alone. */
static void format_text(char *out, size_t n, const struct pl_tensor *value)
{
	char text[TEXT_SHOWN + 1];
	int64_t length = value->shape[0] < TEXT_SHOWN ? value->shape[0] : TEXT_SHOWN;
	bool is_cut = length < value->shape[0];
	size_t at = 0;

	for (int64_t i = 0; i < length; i++)
		text[i] = ((const char *)value->data)[i * value->stride[0]];
	text[length] = '\0';
	out[0] = '\0';
	for (int64_t i = 0; i < length && at < n; i += (int64_t)strlen(text + i) + 1) {
		if (i)
			at += (size_t)snprintf(out + at, n - at, "\\x00");
		if (at >= n)
			return;
		pl_err_quote(out + at, n - at, text + i);
		at += strlen(out + at);
	}
	if (length && text[length - 1] == '\0' && at < n)
		at += (size_t)snprintf(out + at, n - at, "\\x00");
	if (is_cut && at < n)
		snprintf(out + at, n - at, "...");
}

char *pl_trace_format(char *out, size_t n, const struct pl_tensor *value, bool is_text)
{
	char shape[PL_RANK_MAX * 22];

	if (n == 0)
		return out;
	if (value->rank == 0 && pl_dtype_size(value->dtype))
		format_scalar(out, n, value);
	else if (is_text && value->rank == 1 && value->dtype == PL_U8)
		format_text(out, n, value);
	else
		snprintf(out, n, "%s %s", pl_dtype_name(value->dtype),
			pl_shape_format(shape, sizeof(shape), value->rank, value->shape));
	return out;
}
