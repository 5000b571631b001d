/* daemon/sources/packed.c - numbers and texts one behind the other, in few bytes. */
#include "daemon/sources/packed.h"

#include <errno.h>

void pl_packed_finish(struct pl_packed *p)
{
	free(p->data);
	*p = (struct pl_packed){0};
}

static int reserve(struct pl_packed *p, size_t n)
{
	size_t need, room;
	uint8_t *grown;

	if (p->room - p->used >= n)
		return 0;
	if (!pl_size_add(p->used, n, &need) || !pl_size_add(p->room, p->room / 2 + 4096, &room))
		return -ENOMEM;
	room = room < need ? need : room;
	grown = realloc(p->data, room);
	if (!grown)
		return -ENOMEM;
	p->data = grown;
	p->room = room;
	return 0;
}

int pl_packed_put(struct pl_packed *p, uint64_t number)
{
	int r = reserve(p, PL_PACKED_NUMBER_MAX);

	if (r)
		return r;
	for (; number >= 0x80; number >>= 7)
		p->data[p->used++] = (uint8_t)(number | 0x80);
	p->data[p->used++] = (uint8_t)number;
	return 0;
}

int pl_packed_put_signed(struct pl_packed *p, int64_t number)
{
	return pl_packed_put(p, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

int pl_packed_put_bytes(struct pl_packed *p, const void *bytes, size_t n)
{
	int r = reserve(p, n);

	if (r)
		return r;
	if (n)
		memcpy(p->data + p->used, bytes, n);
	p->used += n;
	return 0;
}

bool pl_packed_get(struct pl_unpacked *u, uint64_t *number)
{
	uint64_t value = 0;

	for (unsigned shift = 0; u->at < u->end; shift += 7) {
		uint8_t byte = *u->at++;

		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*number = value;
			return true;
		}
	}
	return false;
}

bool pl_packed_get_signed(struct pl_unpacked *u, int64_t *number)
{
	uint64_t folded;

	if (!pl_packed_get(u, &folded))
		return false;
	*number = (int64_t)(folded >> 1 ^ -(folded & 1));
	return true;
}

bool pl_packed_get_bytes(struct pl_unpacked *u, size_t n, const char **bytes)
{
	if ((size_t)(u->end - u->at) < n)
		return false;
	*bytes = (const char *)u->at;
	u->at += n;
	return true;
}
