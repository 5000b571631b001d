/* daemon/sources/example.h - reads tf.train.Example, a protocol buffer of named lists. */
/*
 * Example { Features features = 1; }  Features { map<string, Feature> feature = 1; }
 * Feature { oneof kind { BytesList = 1; FloatList = 2; Int64List = 3; } }  each { repeated value =
 * 1; }
 *
 * Read where it lies, strictly: every length must fit, a packed list must end with its last value,
 * unknown fields of any wire type are passed over. Of a name that comes twice the last counts, and
 * so does the last kind of a feature; lists of that kind in one feature go on, as protocol buffers
 * merge them.
 */
#pragma once

#include "proto/err.h"

enum pl_feature_kind {
	PL_FEATURE_EMPTY, /* no kind was set */
	PL_FEATURE_BYTES,
	PL_FEATURE_FLOATS,
	PL_FEATURE_INTS,
};

struct pl_bytes_view {
	const uint8_t *at;
	const uint8_t *end;
};

struct pl_feature {
	enum pl_feature_kind kind;
	struct pl_bytes_view lists; /* the message Feature */
	uint64_t n;                 /* values */
	uint64_t n_bytes;           /* of bytes values, in all */
};

/*
 * Checks all of the message and finds features by name: found[i] for name[i], and has_it[i]. 0,
 * -EBADMSG with err (the text says at which byte), or -ENOTSUP with err for a SequenceExample,
 * which has field 2 beside field 1.
 */
int pl_example_parse(struct pl_bytes_view message, size_t n_names, const char *const *name,
	struct pl_feature *found, bool *has_it, struct pl_err *err) PL_MUST_CHECK;

/* The values of a feature that parse found, in order: each is given once. */
struct pl_feature_walk {
	struct pl_bytes_view lists; /* the feature's; the rest is zero */
	struct pl_bytes_view list;
	struct pl_bytes_view packed;
};

bool pl_feature_next_bytes(struct pl_feature_walk *w, struct pl_bytes_view *value);
bool pl_feature_next_float(struct pl_feature_walk *w, float *value);
bool pl_feature_next_int(struct pl_feature_walk *w, int64_t *value);
