/* daemon/sources/tar_header.c - one 512-byte header block of a tar archive. */
#include "daemon/sources/tar_header.h"

#include <errno.h>

/* Where the fields stand, and how long they are. */
enum {
	NAME = 0,
	NAME_BYTES = 100,
	SIZE = 124,
	SIZE_BYTES = 12,
	CHECKSUM = 148,
	CHECKSUM_BYTES = 8,
	TYPE = 156,
	LINK = 157,
	LINK_BYTES = 100,
	MAGIC = 257,
	PREFIX = 345,
	PREFIX_BYTES = 155,
};

static bool read_base256(const uint8_t *field, size_t n, uint64_t *number)
{
	uint64_t value = field[0] & 0x7f;

	if (field[0] & 0x40)
		return false; /* negative */
	for (size_t i = 1; i < n; i++) {
		if (value >> 55)
			return false;
		value = value << 8 | field[i];
	}
	*number = value;
	return true;
}

/* Spaces, digits, then spaces and NULs; what follows a NUL doesn't count. */
bool pl_tar_number(const uint8_t *field, size_t n, uint64_t *number)
{
	uint64_t value = 0;
	size_t i = 0;

	if (field[0] & 0x80)
		return read_base256(field, n, number);
	while (i < n && field[i] == ' ')
		i++;
	for (; i < n && field[i] >= '0' && field[i] <= '7'; i++) {
		if (value >> 60)
			return false;
		value = value << 3 | (uint64_t)(field[i] - '0');
	}
	while (i < n && field[i] == ' ')
		i++;
	*number = value;
	return i == n || field[i] == '\0';
}

static bool is_zeros(const uint8_t *block)
{
	return block[0] == 0 && memcmp(block, block + 1, PL_TAR_BLOCK - 1) == 0;
}

/* Old tars summed signed bytes. The sum's own field counts as spaces. */
static bool has_good_sum(const uint8_t *block)
{
	uint64_t wanted;
	uint16_t lane[16] = {0}; /* a lane's 32 bytes are less than 8192: vectors add them */
	uint32_t sum = CHECKSUM_BYTES * ' ';
	int32_t signed_sum;

	if (!pl_tar_number(block + CHECKSUM, CHECKSUM_BYTES, &wanted))
		return false;
	for (int i = 0; i < PL_TAR_BLOCK; i += 16)
		for (int k = 0; k < 16; k++)
			lane[k] = (uint16_t)(lane[k] + block[i + k]);
	for (int k = 0; k < 16; k++)
		sum += lane[k];
	for (int i = CHECKSUM; i < CHECKSUM + CHECKSUM_BYTES; i++)
		sum -= block[i];
	if (sum == wanted)
		return true;
	signed_sum = (int32_t)sum;
	for (int i = 0; i < PL_TAR_BLOCK; i++)
		if (i < CHECKSUM || i >= CHECKSUM + CHECKSUM_BYTES)
			signed_sum -= block[i] >= 0x80 ? 256 : 0;
	return signed_sum >= 0 && (uint64_t)signed_sum == wanted;
}

/* A directory in V7 is a file whose name ends in a slash. */
static enum pl_tar_type type_of(char flag, const char *name)
{
	size_t n = strlen(name);

	switch (flag) {
	case '\0':
	case '0':
		return n && name[n - 1] == '/' ? PL_TAR_NO_DATA : PL_TAR_FILE;
	case '7':
		return PL_TAR_FILE;
	case '1':
		return PL_TAR_HARD_LINK;
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
		return PL_TAR_NO_DATA;
	case 'S':
		return PL_TAR_SPARSE;
	case 'L':
		return PL_TAR_LONG_NAME;
	case 'K':
		return PL_TAR_LONG_LINK;
	case 'x':
	case 'X':
		return PL_TAR_PAX;
	case 'g':
		return PL_TAR_PAX_GLOBAL;
	default:
		return PL_TAR_UNKNOWN;
	}
}

/* GNU's magic ends in a space, and its blocks have times where ustar has a prefix. */
static void read_names(struct pl_tar_header *h, const uint8_t *block)
{
	size_t n_prefix = 0;
	size_t n_name = strnlen((const char *)block + NAME, NAME_BYTES);
	size_t n_link = strnlen((const char *)block + LINK, LINK_BYTES);

	if (memcmp(block + MAGIC, "ustar", 6) == 0)
		n_prefix = strnlen((const char *)block + PREFIX, PREFIX_BYTES);
	if (n_prefix) {
		memcpy(h->name, block + PREFIX, n_prefix);
		h->name[n_prefix++] = '/';
	}
	memcpy(h->name + n_prefix, block + NAME, n_name);
	h->name[n_prefix + n_name] = '\0';
	memcpy(h->link, block + LINK, n_link);
	h->link[n_link] = '\0';
}

int pl_tar_header_read(
	struct pl_tar_header *h, const uint8_t block[PL_TAR_BLOCK], struct pl_err *err)
{
	if (is_zeros(block))
		return PL_TAR_ZEROS;
	if (!has_good_sum(block))
		return pl_err_set(err, -EBADMSG, "the header's checksum is wrong");
	if (!pl_tar_number(block + SIZE, SIZE_BYTES, &h->bytes))
		return pl_err_set(err, -EBADMSG, "the header's size is no number");
	read_names(h, block);
	h->type = type_of((char)block[TYPE], h->name);
	return 0;
}
