/* proto/wire.c - messages between bytes and plain structs: all that sees protobuf-c. */
#include "proto/wire.h"
#include "proto/bump.h"
#include "proto/frame.h"

#include "pipeloader.pb-c.h"

#include <errno.h>

/*
 * Packing builds the protobuf-c structs in a `struct parts` on the stack, pointing into the plain
 * struct: nothing is allocated. Unpacking gives protobuf-c a bump heap whose limit also bounds what
 * a datagram of empty submessages can cost (4 MB otherwise). The heap knows each block's size,
 * which is how a NUL inside a text is found: protobuf-c asks for a text's length + 1 and then hides
 * the length.
 */
static void forget(void *data, void *pointer)
{
}

/* What a message is built of when it is packed. */
struct parts {
	Pipeloader__Message message;
	union {
		Pipeloader__Open open;
		Pipeloader__Next next;
		Pipeloader__Release release;
		Pipeloader__Describe describe;
		Pipeloader__Why why;
		Pipeloader__Close close;
		Pipeloader__Ask ask;
		Pipeloader__Welcome welcome;
		Pipeloader__Batch batch;
		Pipeloader__Trace trace;
		Pipeloader__Described described;
		Pipeloader__Because because;
		Pipeloader__Error error;
		Pipeloader__End end;
		Pipeloader__Closed closed;
		Pipeloader__Answer answer;
	};
	Pipeloader__Position after;
	union {
		Pipeloader__Release releases[PL_WIRE_RELEASES_MAX];
		Pipeloader__Field fields[PL_WIRE_FIELDS_MAX];
		Pipeloader__View views[PL_WIRE_FIELDS_MAX];
	};
	union {
		Pipeloader__Release *release_at[PL_WIRE_RELEASES_MAX];
		Pipeloader__Field *field_at[PL_WIRE_FIELDS_MAX];
		Pipeloader__View *view_at[PL_WIRE_FIELDS_MAX];
	};
};

/* How a field of a message and a member of the plain struct hang together. */
enum part_kind {
	NUMBER, /* the same 4 or 8 bytes on both sides */
	FLAG,   /* protobuf_c_boolean and bool */
	TEXT,   /* char * and an array of `room` with its NUL */
	BYTES,  /* ProtobufCBinaryData and an array of `room`, its length in a size_t at `length` */
};

struct part {
	enum part_kind kind;
	size_t wire;
	size_t plain;
	size_t room;
	size_t length;
};

#define WIRE(Message, name) offsetof(Pipeloader__##Message, name)
#define PLAIN(plain, name)  offsetof(struct pl_wire_##plain, name)
#define ROOM(plain, name)   sizeof(((struct pl_wire_##plain *)0)->name)
#define PART(kind, Message, plain, name)                                                           \
	{                                                                                          \
		kind, WIRE(Message, name), PLAIN(plain, name), ROOM(plain, name), 0                \
	}
#define PART_BYTES(Message, plain, name, n)                                                        \
	{                                                                                          \
		BYTES, WIRE(Message, name), PLAIN(plain, name), ROOM(plain, name), PLAIN(plain, n) \
	}
#define PART_ONLY_TEXT(Message, name)                                                              \
	{                                                                                          \
		TEXT, WIRE(Message, name), 0, PL_WIRE_TEXT_MAX, 0                                  \
	}

static const struct part open_parts[] = {
	PART(NUMBER, Open, open, version),
	PART(TEXT, Open, open, pipeline),
	PART(NUMBER, Open, open, mode),
	PART(TEXT, Open, open, group),
	PART(NUMBER, Open, open, rank),
	PART(NUMBER, Open, open, world_size),
	PART(NUMBER, Open, open, members),
	PART_BYTES(Open, open, token, token_bytes),
	PART(FLAG, Open, open, wants_trace),
	PART(NUMBER, Open, open, epoch),
	PART(TEXT, Open, open, client_name),
};
static const struct part next_parts[] = {PART(NUMBER, Next, next, credits)};
static const struct part release_parts[] = {
	PART(NUMBER, Release, release, slot),
	PART(NUMBER, Release, release, generation),
	PART(NUMBER, Release, release, number),
	PART(NUMBER, Release, release, epoch),
};
static const struct part ask_parts[] = {
	PART(NUMBER, Ask, ask, version),
	PART(TEXT, Ask, ask, what),
	PART(TEXT, Ask, ask, pipeline),
	PART(TEXT, Ask, ask, format),
};
static const struct part field_parts[] = {
	PART(TEXT, Field, field, name),
	PART(NUMBER, Field, field, kind),
	PART(NUMBER, Field, field, dtype),
	PART(NUMBER, Field, field, form),
};
static const struct part welcome_parts[] = {
	PART(NUMBER, Welcome, welcome, version),
	PART(NUMBER, Welcome, welcome, arena_bytes),
	PART(NUMBER, Welcome, welcome, birth),
	PART(NUMBER, Welcome, welcome, classes_offset),
	PART(NUMBER, Welcome, welcome, classes_bytes),
	PART(NUMBER, Welcome, welcome, n_classes),
	PART(NUMBER, Welcome, welcome, batch_size),
	PART(NUMBER, Welcome, welcome, epochs),
	PART_BYTES(Welcome, welcome, token, token_bytes),
	PART(NUMBER, Welcome, welcome, prefetch),
	PART(TEXT, Welcome, welcome, pipeline),
	PART(NUMBER, Welcome, welcome, records),
	PART(NUMBER, Welcome, welcome, batches_per_epoch),
	PART(NUMBER, Welcome, welcome, daemon_pid),
	PART(NUMBER, Welcome, welcome, dispatcher_pid),
	PART(NUMBER, Welcome, welcome, generations_offset),
	PART(NUMBER, Welcome, welcome, n_slots),
};
static const struct part view_parts[] = {
	PART(NUMBER, View, view, offset),
	PART(NUMBER, View, view, dtype),
	PART(NUMBER, View, view, offsets_offset),
};
static const struct part position_parts[] = {
	PART(NUMBER, Position, position, epoch),
	PART(NUMBER, Position, position, number),
	PART(NUMBER, Position, position, record),
	PART(NUMBER, Position, position, discard),
	PART(NUMBER, Position, position, bad),
};
static const struct part batch_parts[] = {
	PART(NUMBER, Batch, batch, epoch),
	PART(NUMBER, Batch, batch, number),
	PART(NUMBER, Batch, batch, slot),
	PART(NUMBER, Batch, batch, generation),
	PART(NUMBER, Batch, batch, size),
	PART(NUMBER, Batch, batch, index_offset),
	PART(FLAG, Batch, batch, is_last),
	PART(FLAG, Batch, batch, is_repeated),
	PART(NUMBER, Batch, batch, skipped),
	PART(NUMBER, Batch, batch, bad),
};
static const struct part trace_parts[] = {PART_ONLY_TEXT(Trace, text)};
static const struct part because_parts[] = {PART_ONLY_TEXT(Because, text)};
static const struct part end_parts[] = {PART_ONLY_TEXT(End, reason)};
static const struct part error_parts[] = {
	PART(NUMBER, Error, error, code),
	PART(TEXT, Error, error, text),
	PART(NUMBER, Error, error, exit_status),
};
static const struct part answer_parts[] = {
	PART(NUMBER, Answer, answer, code),
	PART_BYTES(Answer, answer, text, n),
	PART(FLAG, Answer, answer, is_more),
	PART(NUMBER, Answer, answer, exit_status),
};

/* Lets a message point into the plain struct; false when a text has no end or bytes are too many.
 */
static bool lend(void *message, const void *plain, const struct part *part, size_t n)
{
	for (; n; n--, part++) {
		char *to = (char *)message + part->wire;
		const char *from = (const char *)plain + part->plain;
		ProtobufCBinaryData bytes = {.data = (uint8_t *)(uintptr_t)from};

		switch (part->kind) {
		case NUMBER:
			memcpy(to, from, part->room);
			break;
		case FLAG:
			memcpy(to, &(protobuf_c_boolean){*(const bool *)from},
				sizeof(protobuf_c_boolean));
			break;
		case TEXT:
			if (!memchr(from, '\0', part->room))
				return false;
			memcpy(to, &from, sizeof(from));
			break;
		case BYTES:
			memcpy(&bytes.len, (const char *)plain + part->length, sizeof(size_t));
			if (bytes.len > part->room)
				return false;
			memcpy(to, &bytes, sizeof(bytes));
			break;
		}
	}
	return true;
}

/* Copies a text that protobuf-c made; false when it is too long or has a NUL inside. */
static bool take_text(char *out, size_t room, const char *text)
{
	size_t n;

	out[0] = '\0';
	if (!text || text == protobuf_c_empty_string)
		return true;
	n = strlen(text);
	if (n >= room || pl_bump_size(text) != n + 1)
		return false;
	memcpy(out, text, n + 1);
	return true;
}

/* Copies a message's fields into the plain struct; false when one does not fit. */
static bool take(void *plain, const void *message, const struct part *part, size_t n)
{
	for (; n; n--, part++) {
		char *to = (char *)plain + part->plain;
		const char *from = (const char *)message + part->wire;
		ProtobufCBinaryData bytes;
		const char *text;

		switch (part->kind) {
		case NUMBER:
			memcpy(to, from, part->room);
			break;
		case FLAG:
			*(bool *)to = *(const protobuf_c_boolean *)(const void *)from != 0;
			break;
		case TEXT:
			memcpy(&text, from, sizeof(text));
			if (!take_text(to, part->room, text))
				return false;
			break;
		case BYTES:
			memcpy(&bytes, from, sizeof(bytes));
			if (bytes.len > part->room || (bytes.len && !bytes.data))
				return false;
			if (bytes.len)
				memcpy(to, bytes.data, bytes.len);
			memcpy((char *)plain + part->length, &bytes.len, sizeof(bytes.len));
			break;
		}
	}
	return true;
}

#define LEND(message, plain, parts) lend(message, plain, parts, PL_ARRAY_LEN(parts))
#define TAKE(plain, message, parts) take(plain, message, parts, PL_ARRAY_LEN(parts))

static bool take_open(struct pl_wire *w, const Pipeloader__Message *m)
{
	return (uint32_t)w->open.mode <= PL_BROADCAST;
}

static bool lend_next(struct parts *p, const struct pl_wire *w)
{
	const struct pl_wire_next *from = &w->next;

	if (from->n_releases < 0 || from->n_releases > PL_WIRE_RELEASES_MAX)
		return false;
	p->next.n_releases = (size_t)from->n_releases;
	p->next.releases = p->release_at;
	for (int i = 0; i < from->n_releases; i++) {
		p->release_at[i] = &p->releases[i];
		pipeloader__release__init(&p->releases[i]);
		if (!LEND(&p->releases[i], &from->release[i], release_parts))
			return false;
	}
	return true;
}

static bool take_next(struct pl_wire *w, const Pipeloader__Message *m)
{
	const Pipeloader__Next *from = m->next;

	if (from->n_releases > PL_WIRE_RELEASES_MAX)
		return false;
	w->next.n_releases = (int)from->n_releases;
	for (size_t i = 0; i < from->n_releases; i++)
		if (!TAKE(&w->next.release[i], from->releases[i], release_parts))
			return false;
	return true;
}

static bool lend_describe(struct parts *p, const struct pl_wire *w)
{
	p->describe.n_index = (size_t)w->describe.n;
	p->describe.index = (uint64_t *)(uintptr_t)w->describe.index;
	return w->describe.n >= 0 && (size_t)w->describe.n <= PL_ARRAY_LEN(w->describe.index);
}

static bool take_describe(struct pl_wire *w, const Pipeloader__Message *m)
{
	size_t n = m->describe->n_index;

	if (n > PL_ARRAY_LEN(w->describe.index))
		return false;
	w->describe.n = (int)n;
	if (n)
		memcpy(w->describe.index, m->describe->index, n * sizeof(uint64_t));
	return true;
}

/* Checks what a schema says of one field. */
static bool is_field(const struct pl_wire_field *f)
{
	if (pl_dtype_size((enum pl_dtype)f->dtype) == 0 || f->form > 2 || f->rank < 0 ||
		f->rank > PL_RANK_MAX)
		return false;
	for (int d = 0; d < f->rank; d++)
		if (f->shape[d] < -1)
			return false;
	return true;
}

static bool lend_welcome(struct parts *p, const struct pl_wire *w)
{
	const struct pl_wire_welcome *from = &w->welcome;

	if (from->n_fields < 0 || from->n_fields > PL_WIRE_FIELDS_MAX)
		return false;
	p->welcome.fingerprint.len = PL_FINGERPRINT_BYTES;
	p->welcome.fingerprint.data = (uint8_t *)(uintptr_t)from->fingerprint;
	p->welcome.n_fields = (size_t)from->n_fields;
	p->welcome.fields = p->field_at;
	for (int i = 0; i < from->n_fields; i++) {
		Pipeloader__Field *to = p->field_at[i] = &p->fields[i];

		pipeloader__field__init(to);
		if (!is_field(&from->field[i]) || !LEND(to, &from->field[i], field_parts))
			return false;
		to->n_shape = (size_t)from->field[i].rank;
		to->shape = (int64_t *)(uintptr_t)from->field[i].shape;
	}
	return true;
}

static bool take_welcome(struct pl_wire *w, const Pipeloader__Message *m)
{
	const Pipeloader__Welcome *from = m->welcome;
	struct pl_wire_welcome *to = &w->welcome;

	if (from->n_fields > PL_WIRE_FIELDS_MAX ||
		(from->fingerprint.len && from->fingerprint.len != PL_FINGERPRINT_BYTES))
		return false;
	memset(to->fingerprint, 0, sizeof(to->fingerprint));
	if (from->fingerprint.len)
		memcpy(to->fingerprint, from->fingerprint.data, PL_FINGERPRINT_BYTES);
	to->n_fields = (int)from->n_fields;
	for (size_t i = 0; i < from->n_fields; i++) {
		const Pipeloader__Field *f = from->fields[i];

		if (f->n_shape > PL_RANK_MAX || !TAKE(&to->field[i], f, field_parts))
			return false;
		to->field[i].rank = (int)f->n_shape;
		if (f->n_shape)
			memcpy(to->field[i].shape, f->shape, f->n_shape * sizeof(int64_t));
		if (!is_field(&to->field[i]))
			return false;
	}
	return true;
}

/* Strides that are C-contiguous are left out: they are most of a Batch's bytes. */
static bool lend_view(Pipeloader__View *to, const struct pl_wire_view *from)
{
	size_t n = (size_t)from->rank;
	struct pl_tensor plain;

	pipeloader__view__init(to);
	if (pl_tensor_init(&plain, NULL, (enum pl_dtype)from->dtype, from->rank, from->shape) ||
		!LEND(to, from, view_parts))
		return false;
	to->n_shape = n;
	to->shape = (int64_t *)(uintptr_t)from->shape;
	if (memcmp(plain.stride, from->stride, n * sizeof(int64_t)) != 0) {
		to->n_stride = n;
		to->stride = (int64_t *)(uintptr_t)from->stride;
	}
	return true;
}

static bool take_view(struct pl_wire_view *to, const Pipeloader__View *from)
{
	struct pl_tensor plain;
	size_t n = from->n_shape;

	if (n > PL_RANK_MAX || (from->n_stride && from->n_stride != n) ||
		!TAKE(to, from, view_parts) ||
		pl_tensor_init(&plain, NULL, (enum pl_dtype)from->dtype, (int)n, from->shape))
		return false;
	to->rank = (int)n;
	if (n) {
		memcpy(to->shape, from->shape, n * sizeof(int64_t));
		memcpy(to->stride, from->n_stride ? from->stride : plain.stride,
			n * sizeof(int64_t));
	}
	return true;
}

static bool lend_batch(struct parts *p, const struct pl_wire *w)
{
	const struct pl_wire_batch *from = &w->batch;

	if (from->n_views < 0 || from->n_views > PL_WIRE_FIELDS_MAX)
		return false;
	pipeloader__position__init(&p->after);
	p->batch.after = &p->after;
	p->batch.n_views = (size_t)from->n_views;
	p->batch.views = p->view_at;
	for (int i = 0; i < from->n_views; i++) {
		p->view_at[i] = &p->views[i];
		if (!lend_view(&p->views[i], &from->view[i]))
			return false;
	}
	return LEND(&p->after, &from->after, position_parts);
}

static bool take_batch(struct pl_wire *w, const Pipeloader__Message *m)
{
	const Pipeloader__Batch *from = m->batch;
	struct pl_wire_batch *to = &w->batch;

	if (from->n_views > PL_WIRE_FIELDS_MAX)
		return false;
	to->n_views = (int)from->n_views;
	for (size_t i = 0; i < from->n_views; i++)
		if (!take_view(&to->view[i], from->views[i]))
			return false;
	memset(&to->after, 0, sizeof(to->after));
	return !from->after || TAKE(&to->after, from->after, position_parts);
}

static bool lend_described(struct parts *p, const struct pl_wire *w)
{
	const struct pl_wire_described *from = &w->described;

	if (from->n < 0 || (size_t)from->n > PL_ARRAY_LEN(from->name))
		return false;
	for (int i = 0; i < from->n; i++)
		if (!from->name[i] || !from->source[i])
			return false;
	p->described.n_name = (size_t)from->n;
	p->described.name = (char **)(uintptr_t)from->name;
	p->described.n_source = (size_t)from->n;
	p->described.source = (char **)(uintptr_t)from->source;
	return true;
}

/* Appends a text to the store at *at; NULL when it does not fit. */
static char *keep_text(struct pl_wire_described *to, size_t *at, const char *text)
{
	char *kept = to->text + *at;

	if (*at >= sizeof(to->text) || !take_text(kept, sizeof(to->text) - *at, text))
		return NULL;
	*at += strlen(kept) + 1;
	return kept;
}

static bool take_described(struct pl_wire *w, const Pipeloader__Message *m)
{
	const Pipeloader__Described *from = m->described;
	struct pl_wire_described *to = &w->described;
	size_t at = 0;

	if (from->n_name > PL_ARRAY_LEN(to->name) || from->n_source > from->n_name)
		return false;
	to->n = (int)from->n_name;
	for (size_t i = 0; i < from->n_name; i++) {
		to->name[i] = keep_text(to, &at, from->name[i]);
		to->source[i] = keep_text(to, &at, i < from->n_source ? from->source[i] : NULL);
		if (!to->name[i] || !to->source[i])
			return false;
	}
	return true;
}

/* One row per kind. `parts` are copied first, then lend or take does the lists and checks. */
struct codec {
	enum pl_wire_kind kind;
	const ProtobufCMessageDescriptor *descriptor;
	const struct part *part;
	size_t n_parts;
	bool (*lend)(struct parts *p, const struct pl_wire *w);
	bool (*take)(struct pl_wire *w, const Pipeloader__Message *m);
};

#define PARTS(parts) parts, PL_ARRAY_LEN(parts)

static const struct codec codecs[] = {
	{PL_WIRE_OPEN, &pipeloader__open__descriptor, PARTS(open_parts), NULL, take_open},
	{PL_WIRE_NEXT, &pipeloader__next__descriptor, PARTS(next_parts), lend_next, take_next},
	{PL_WIRE_RELEASE, &pipeloader__release__descriptor, PARTS(release_parts), NULL, NULL},
	{PL_WIRE_DESCRIBE, &pipeloader__describe__descriptor, NULL, 0, lend_describe,
		take_describe},
	{PL_WIRE_WHY, &pipeloader__why__descriptor, NULL, 0, NULL, NULL},
	{PL_WIRE_CLOSE, &pipeloader__close__descriptor, NULL, 0, NULL, NULL},
	{PL_WIRE_ASK, &pipeloader__ask__descriptor, PARTS(ask_parts), NULL, NULL},
	{PL_WIRE_WELCOME, &pipeloader__welcome__descriptor, PARTS(welcome_parts), lend_welcome,
		take_welcome},
	{PL_WIRE_BATCH, &pipeloader__batch__descriptor, PARTS(batch_parts), lend_batch, take_batch},
	{PL_WIRE_TRACE, &pipeloader__trace__descriptor, PARTS(trace_parts), NULL, NULL},
	{PL_WIRE_DESCRIBED, &pipeloader__described__descriptor, NULL, 0, lend_described,
		take_described},
	{PL_WIRE_BECAUSE, &pipeloader__because__descriptor, PARTS(because_parts), NULL, NULL},
	{PL_WIRE_ERROR, &pipeloader__error__descriptor, PARTS(error_parts), NULL, NULL},
	{PL_WIRE_END, &pipeloader__end__descriptor, PARTS(end_parts), NULL, NULL},
	{PL_WIRE_CLOSED, &pipeloader__closed__descriptor, NULL, 0, NULL, NULL},
	{PL_WIRE_ANSWER, &pipeloader__answer__descriptor, PARTS(answer_parts), NULL, NULL},
};

static const struct codec *find_codec(uint32_t kind)
{
	for (size_t i = 0; i < PL_ARRAY_LEN(codecs); i++)
		if (codecs[i].kind == kind)
			return &codecs[i];
	return NULL;
}

int pl_wire_pack(const struct pl_wire *w, void *out)
{
	const struct codec *codec = find_codec(w->kind);
	struct parts p;
	size_t n;

	if (!codec)
		return -EINVAL;
	pipeloader__message__init(&p.message);
	p.message.kind_case = (Pipeloader__Message__KindCase)w->kind;
	p.message.open = &p.open; /* every member of both unions begins at the same place */
	protobuf_c_message_init(codec->descriptor, &p.open);
	if (!lend(&p.open, &w->open, codec->part, codec->n_parts) ||
		(codec->lend && !codec->lend(&p, w)))
		return -EINVAL;
	n = pipeloader__message__get_packed_size(&p.message);
	if (n > PL_FRAME_MAX)
		return -EMSGSIZE;
	return (int)pipeloader__message__pack(&p.message, out);
}

static int take_message(struct pl_wire *w, const Pipeloader__Message *m)
{
	const struct codec *codec = find_codec((uint32_t)m->kind_case);

	if (!codec)
		return -EPROTO;
	if (!m->open)
		return -EBADMSG;
	w->kind = codec->kind;
	if (!take(&w->open, m->open, codec->part, codec->n_parts) ||
		(codec->take && !codec->take(w, m)))
		return -EBADMSG;
	return 0;
}

int pl_wire_unpack(struct pl_wire *w, const void *bytes, size_t n)
{
	ProtobufCAllocator allocator = {.alloc = pl_bump_alloc, .free = forget};
	Pipeloader__Message *message;
	struct pl_bump bump;
	int r = -EBADMSG;

	if (n == 0 || n > PL_FRAME_MAX)
		return -EBADMSG;
	pl_bump_init(&bump);
	allocator.allocator_data = &bump;
	message = pipeloader__message__unpack(&allocator, n, bytes);
	if (message)
		r = take_message(w, message);
	pl_bump_finish(&bump);
	return r;
}
