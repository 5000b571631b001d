/* daemon/sources/tar_read.c - reads a member of a sample out of its archive. */
#include "daemon/sources/tar_read.h"

#include <errno.h>

/* Spans one behind the other in the archive; what lies between them in the member is zeros. */
static int read_sparse(struct pl_any_place *p, size_t file, const struct pl_tar_part *part,
	uint8_t *to, struct pl_err *err)
{
	struct pl_unpacked map = part->map;
	uint64_t offset = part->offset;
	uint64_t end = 0;
	uint64_t n, gap, bytes;

	memset(to, 0, part->bytes);
	if (!pl_packed_get(&map, &n))
		n = 0;
	for (uint64_t i = 0; i < n; i++) {
		int r;

		if (!pl_packed_get(&map, &gap) || !pl_packed_get(&map, &bytes) ||
			gap > part->bytes - end || bytes > part->bytes - end - gap)
			return pl_err_set(err, -EINVAL, "the listing is broken");
		r = pl_any_place_read(p, file, offset, to + end + gap, bytes, err);
		if (r)
			return r;
		end += gap + bytes;
		offset += bytes;
	}
	return 0;
}

int pl_tar_part_read(struct pl_any_place *p, size_t file, const struct pl_tar_part *part, void *to,
	struct pl_err *err)
{
	int r = part->is_sparse ? read_sparse(p, file, part, to, err)
				: pl_any_place_read(p, file, part->offset, to, part->bytes, err);

	if (r)
		pl_err_prefix(err, "byte %llu: ", (unsigned long long)part->offset);
	return r;
}
