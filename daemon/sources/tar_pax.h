/* daemon/sources/tar_pax.h - the records of a pax extended header: "LENGTH KEY=VALUE\n". */
#pragma once

#include "daemon/sources/tar_sparse.h"

/* An extended header is no larger than this; names of 64 KiB fit many times. */
#define PL_TAR_PAX_MAX (1u << 20)

struct pl_tar_text {
	const char *text; /* NULL: not given; in the header's bytes, without a NUL */
	size_t n;
};

/* What the reader of an archive needs; a record that says nothing takes back what a global one
 * said. */
struct pl_tar_pax {
	struct pl_tar_text path;
	struct pl_tar_text link;
	bool has_bytes;
	uint64_t bytes;

	/* GNU's sparse members, forms 0.0, 0.1 and 1.0. */
	bool is_sparse;
	bool has_map_in_data; /* 1.0 */
	bool has_real_bytes;
	uint64_t real_bytes;
	struct pl_tar_text sparse_name;
	bool has_span_offset; /* 0.0: an offset without its length yet */
	uint64_t span_offset;
	struct pl_tar_map map; /* 0.0 and 0.1 */
};

/*
 * Adds the records in n bytes to what `pax` says already. 0, -ENOMEM, or -EBADMSG with err: a
 * length that doesn't fit, no '=', a number that is none, a name with a NUL. finish frees the map.
 */
int pl_tar_pax_parse(
	struct pl_tar_pax *pax, const char *bytes, size_t n, struct pl_err *err) PL_MUST_CHECK;
void pl_tar_pax_finish(struct pl_tar_pax *pax);
