/* proto/token.c - a position in a stream as bytes that survive files, machines and years. */
#include "proto/wire.h"

#include <errno.h>

/*
 * Everything little-endian: "PLT1", mode u32, world size u32, fingerprint, epoch, number, record,
 * discard, bad (u64 each), n_done u32, the bits of `done`, and FNV-1a of all before it (u32).
 */
#define MAGIC      "PLT1"
#define HEAD_BYTES (4 + 4 + 4 + PL_FINGERPRINT_BYTES + 5 * 8 + 4)

static uint8_t *put(uint8_t *out, uint64_t value, int n)
{
	for (int i = 0; i < n; i++)
		*out++ = (uint8_t)(value >> (8 * i));
	return out;
}

static uint64_t get(const uint8_t **in, int n)
{
	uint64_t value = 0;

	for (int i = 0; i < n; i++)
		value |= (uint64_t) * (*in)++ << (8 * i);
	return value;
}

static uint32_t checksum(const uint8_t *bytes, size_t n)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

size_t pl_token_pack(const struct pl_token *t, uint8_t *out)
{
	uint32_t n_done = t->n_done > 8 * sizeof(t->done) ? 8 * sizeof(t->done) : t->n_done;
	size_t done_bytes = (n_done + 7) / 8;
	uint8_t *at = out;

	memcpy(at, MAGIC, 4);
	at = put(at + 4, (uint64_t)t->mode, 4);
	at = put(at, t->world_size, 4);
	memcpy(at, t->fingerprint, PL_FINGERPRINT_BYTES);
	at = put(at + PL_FINGERPRINT_BYTES, t->at.epoch, 8);
	at = put(at, t->at.number, 8);
	at = put(at, t->at.record, 8);
	at = put(at, t->at.discard, 8);
	at = put(at, t->at.bad, 8);
	at = put(at, n_done, 4);
	memcpy(at, t->done, done_bytes);
	at += done_bytes;
	at = put(at, checksum(out, (size_t)(at - out)), 4);
	return (size_t)(at - out);
}

static int check(const uint8_t *bytes, size_t n, struct pl_err *err)
{
	const uint8_t *sum = bytes + (n < 4 ? 0 : n - 4);

	if (n < 4 || memcmp(bytes, MAGIC, 4) != 0)
		return pl_err_set(err, -EBADMSG,
			"the resume token is no token of this version (%zu bytes)", n);
	if (n < HEAD_BYTES + 4)
		return pl_err_set(err, -EBADMSG, "the resume token is cut (%zu bytes)", n);
	if (get(&sum, 4) != checksum(bytes, n - 4))
		return pl_err_set(
			err, -EBADMSG, "the resume token is damaged: its checksum does not fit");
	return 0;
}

int pl_token_unpack(struct pl_token *t, const uint8_t *bytes, size_t n, struct pl_err *err)
{
	const uint8_t *at = bytes + 4;
	uint32_t mode;
	int r = check(bytes, n, err);

	if (r)
		return r;
	memset(t, 0, sizeof(*t));
	mode = (uint32_t)get(&at, 4);
	t->mode = (enum pl_mode)mode;
	t->world_size = (uint32_t)get(&at, 4);
	memcpy(t->fingerprint, at, PL_FINGERPRINT_BYTES);
	at += PL_FINGERPRINT_BYTES;
	t->at.epoch = get(&at, 8);
	t->at.number = get(&at, 8);
	t->at.record = get(&at, 8);
	t->at.discard = get(&at, 8);
	t->at.bad = get(&at, 8);
	t->n_done = (uint32_t)get(&at, 4);
	if (mode > PL_BROADCAST || t->n_done > 8 * sizeof(t->done) ||
		n != HEAD_BYTES + (t->n_done + 7) / 8 + 4)
		return pl_err_set(err, -EBADMSG, "the resume token is damaged");
	memcpy(t->done, at, (t->n_done + 7) / 8);
	return 0;
}
