/* daemon/sources/tfrecord_fill.h - the values of a record's fields, made of the features of an
 * Example. */
#pragma once

#include "daemon/sources/example.h"
#include "daemon/sources/field_spec.h"

/*
 * bytes, text and json are a bytes list of one value, list(text) one of any number. Numbers come
 * from int64 and float lists: a scalar is one value, a tensor as many as its shape has, in row
 * order, where one length may be unknown. A u8 tensor (an image, a mask) may also be the bytes of
 * one value. A feature without a kind is a list of no values.
 */

/* 0, or -EINVAL with err: a type that no feature can be. */
int pl_tfrecord_fill_check(const struct pl_field_specs *specs, struct pl_err *err) PL_MUST_CHECK;

/* Sets sample->value[field[i]] for every field i with field[i] >= 0; values of bytes stay where
 * they are in the message. 0, or -errno with err, which names feature and field. */
int pl_tfrecord_fill(const struct pl_field_specs *specs, struct pl_bytes_view message,
	const int *field, struct pl_sample *sample, struct pl_err *err) PL_MUST_CHECK;
