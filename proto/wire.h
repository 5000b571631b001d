/* proto/wire.h - the messages as plain structs; wire.c is the only file that sees protobuf-c. */
#pragma once

#include "proto/err.h"
#include "proto/tensor/tensor.h"

#define PL_PROTOCOL_VERSION  1
#define PL_WIRE_FIELDS_MAX   64
#define PL_WIRE_RELEASES_MAX 256
#define PL_WIRE_TEXT_MAX     4096 /* longer texts are cut when packed, refused when unpacked */
#define PL_WIRE_TOKEN_MAX    2048
#define PL_FINGERPRINT_BYTES 24

enum pl_mode { PL_PRIVATE, PL_SPLIT, PL_SHARE, PL_BROADCAST };

enum pl_wire_kind {
	PL_WIRE_OPEN = 1,
	PL_WIRE_NEXT,
	PL_WIRE_RELEASE,
	PL_WIRE_DESCRIBE,
	PL_WIRE_WHY,
	PL_WIRE_CLOSE,
	PL_WIRE_ASK,
	PL_WIRE_WELCOME = 32,
	PL_WIRE_BATCH,
	PL_WIRE_TRACE,
	PL_WIRE_DESCRIBED,
	PL_WIRE_BECAUSE,
	PL_WIRE_ERROR,
	PL_WIRE_END,
	PL_WIRE_CLOSED,
	PL_WIRE_ANSWER,
};

struct pl_wire_open {
	uint32_t version;
	char pipeline[PL_WIRE_TEXT_MAX];
	enum pl_mode mode;
	char group[256];
	uint32_t rank;
	uint32_t world_size;
	uint32_t members;
	uint8_t token[PL_WIRE_TOKEN_MAX];
	size_t token_bytes;
	bool wants_trace;
	int64_t epoch;
	char client_name[64];
};

struct pl_wire_release {
	uint32_t slot;
	uint32_t generation;
	uint64_t number;
	uint64_t epoch;
};

struct pl_wire_next {
	uint32_t credits;
	int n_releases;
	struct pl_wire_release release[PL_WIRE_RELEASES_MAX];
};

struct pl_wire_describe {
	int n;
	uint64_t index[256];
};

struct pl_wire_ask {
	uint32_t version;
	char what[32];
	char pipeline[PL_WIRE_TEXT_MAX];
	char format[16];
};

struct pl_wire_field {
	char name[64];
	uint32_t kind;
	uint32_t dtype;
	int rank;
	int64_t shape[PL_RANK_MAX];
	uint32_t form;
};

struct pl_wire_welcome {
	uint32_t version;
	uint64_t arena_bytes;
	uint64_t birth;
	int n_fields;
	struct pl_wire_field field[PL_WIRE_FIELDS_MAX];
	uint64_t classes_offset;
	uint64_t classes_bytes;
	uint32_t n_classes;
	uint64_t batch_size;
	int64_t epochs;
	uint8_t token[PL_WIRE_TOKEN_MAX];
	size_t token_bytes;
	uint8_t fingerprint[PL_FINGERPRINT_BYTES];
	uint32_t prefetch;
	char pipeline[256];
	int64_t records;
	int64_t batches_per_epoch;
	uint32_t daemon_pid;
	uint32_t dispatcher_pid;
	uint64_t generations_offset;
	uint32_t n_slots;
};

struct pl_wire_view {
	uint64_t offset;
	uint32_t dtype;
	int rank;
	int64_t shape[PL_RANK_MAX];
	int64_t stride[PL_RANK_MAX]; /* filled by unpack also when the message left them out */
	uint64_t offsets_offset;     /* 0 = not ragged */
};

struct pl_wire_position {
	uint64_t epoch;
	uint64_t number;
	uint64_t record;
	uint64_t discard;
	uint64_t bad;
};

struct pl_wire_batch {
	uint64_t epoch;
	uint64_t number;
	uint32_t slot;
	uint32_t generation;
	uint64_t size;
	int n_views;
	struct pl_wire_view view[PL_WIRE_FIELDS_MAX];
	struct pl_wire_position after;
	uint64_t index_offset;
	bool is_last;
	bool is_repeated;
	uint64_t skipped;
	uint64_t bad;
};

struct pl_wire_described {
	int n;
	char *name[256]; /* pack borrows (-EMSGSIZE when all is too long); unpack points into `text`
			  */
	char *source[256];
	char text[60000];
};

struct pl_wire_error {
	int32_t code;
	uint32_t exit_status;
	char text[PL_WIRE_TEXT_MAX * 4]; /* a pipeline file's errors come whole, up to this */
};

struct pl_wire_answer {
	int32_t code;
	uint32_t exit_status;
	bool is_more;
	size_t n;
	char text[49152];
};

/* One message. Large: keep it in static or heap memory, not on a stack. */
struct pl_wire {
	enum pl_wire_kind kind;
	union {
		struct pl_wire_open open;
		struct pl_wire_next next;
		struct pl_wire_release release;
		struct pl_wire_describe describe;
		struct pl_wire_ask ask;
		struct pl_wire_welcome welcome;
		struct pl_wire_batch batch;
		char text[PL_WIRE_TEXT_MAX]; /* TRACE, BECAUSE, END */
		struct pl_wire_described described;
		struct pl_wire_error error;
		struct pl_wire_answer answer;
	};
};

/*
 * Packs a message into out (room for PL_FRAME_MAX bytes) and returns its length, or -EMSGSIZE when
 * it does not fit, -EINVAL when the struct is no message.
 */
int pl_wire_pack(const struct pl_wire *w, void *out) PL_MUST_CHECK;

/*
 * Unpacks n bytes. Everything is bounds-checked and copied: ranks, list lengths, text lengths,
 * dtypes, NULs in texts. -EBADMSG when it isn't a well-formed message, -EPROTO when it is of a kind
 * that this side doesn't know. *w is undefined then.
 */
int pl_wire_unpack(struct pl_wire *w, const void *bytes, size_t n) PL_MUST_CHECK;

/*
 * A position in a stream as the client keeps it: opaque to users, 72 bytes and more. Format:
 * "PLT1", mode, world size, fingerprint, position, checksum (XXH32-like, our own FNV-1a); share
 * adds a bitmap.
 */
struct pl_token {
	enum pl_mode mode;
	uint32_t world_size;
	uint8_t fingerprint[PL_FINGERPRINT_BYTES];
	struct pl_wire_position at;
	uint32_t n_done; /* share: bits in `done`, batch at.number + i */
	uint8_t done[128];
};

/* Bytes written (<= PL_WIRE_TOKEN_MAX). */
size_t pl_token_pack(const struct pl_token *t, uint8_t *out);

/* 0; -EBADMSG with err when it is no token, was cut, or is damaged. */
int pl_token_unpack(
	struct pl_token *t, const uint8_t *bytes, size_t n, struct pl_err *err) PL_MUST_CHECK;
