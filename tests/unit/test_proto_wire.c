/* tests/unit/test_proto_wire.c - every message there and back, and what is no message. */
#include "proto/wire.h"
#include "proto/frame.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

static uint8_t bytes[PL_FRAME_MAX];
static struct pl_wire in;
static struct pl_wire out;

/* Packs `in` and unpacks it into `out`; returns the length. */
static size_t there_and_back(void)
{
	int n = pl_wire_pack(&in, bytes);

	cr_assert_geq(n, 0, "pack of kind %d: %d", in.kind, n);
	memset(&out, 0xa5, sizeof(out));
	cr_assert_eq(pl_wire_unpack(&out, bytes, (size_t)n), 0);
	cr_assert_eq(out.kind, in.kind);
	return (size_t)n;
}

static void start(enum pl_wire_kind kind)
{
	memset(&in, 0, sizeof(in));
	in.kind = kind;
}

static void fill_view(struct pl_wire_view *v, int rank)
{
	struct pl_tensor t;
	int64_t shape[PL_RANK_MAX];

	for (int d = 0; d < rank; d++)
		shape[d] = d % 3;
	cr_assert_eq(pl_tensor_init(&t, NULL, PL_F32, rank, shape), 0);
	v->dtype = PL_F32;
	v->rank = rank;
	v->offset = UINT64_MAX - 5;
	memcpy(v->shape, t.shape, sizeof(v->shape[0]) * (size_t)rank);
	memcpy(v->stride, t.stride, sizeof(v->stride[0]) * (size_t)rank);
}

Test(wire, open)
{
	struct pl_wire_open *o = &in.open;

	start(PL_WIRE_OPEN);
	o->version = 1;
	strcpy(o->pipeline, "/home/j/train \xc3\xa4.yaml");
	o->mode = PL_SPLIT;
	strcpy(o->group, "g");
	o->rank = 3;
	o->world_size = 8;
	o->members = 2;
	memcpy(o->token, "a\0b", 3);
	o->token_bytes = 3;
	o->wants_trace = true;
	o->epoch = -1;
	strcpy(o->client_name, "me");
	there_and_back();
	cr_assert_str_eq(out.open.pipeline, o->pipeline);
	cr_assert_str_eq(out.open.group, "g");
	cr_assert_str_eq(out.open.client_name, "me");
	cr_assert_eq(out.open.version, 1);
	cr_assert_eq(out.open.mode, PL_SPLIT);
	cr_assert_eq(out.open.rank, 3);
	cr_assert_eq(out.open.world_size, 8);
	cr_assert_eq(out.open.members, 2);
	cr_assert_eq(out.open.token_bytes, 3);
	cr_assert_eq(memcmp(out.open.token, "a\0b", 3), 0);
	cr_assert(out.open.wants_trace);
	cr_assert_eq(out.open.epoch, -1);
}

Test(wire, missing_fields_are_zero)
{
	start(PL_WIRE_OPEN);
	there_and_back();
	cr_assert_str_eq(out.open.pipeline, "");
	cr_assert_eq(out.open.token_bytes, 0);
	cr_assert_eq(out.open.epoch, 0);
	cr_assert_not(out.open.wants_trace);
}

Test(wire, next_with_releases)
{
	start(PL_WIRE_NEXT);
	in.next.credits = 16;
	in.next.n_releases = PL_WIRE_RELEASES_MAX;
	for (uint32_t i = 0; i < PL_WIRE_RELEASES_MAX; i++)
		in.next.release[i] =
			(struct pl_wire_release){i, UINT32_MAX - i, UINT64_MAX - i, i * 7};
	there_and_back();
	cr_assert_eq(out.next.credits, 16);
	cr_assert_eq(out.next.n_releases, PL_WIRE_RELEASES_MAX);
	cr_assert_eq(memcmp(out.next.release, in.next.release, sizeof(in.next.release)), 0);
	in.next.n_releases = PL_WIRE_RELEASES_MAX + 1;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
	in.next.n_releases = -1;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
}

Test(wire, release)
{
	start(PL_WIRE_RELEASE);
	in.release = (struct pl_wire_release){1, 2, 3, 4};
	there_and_back();
	cr_assert_eq(memcmp(&out.release, &in.release, sizeof(in.release)), 0);
}

Test(wire, describe_and_described)
{
	static char name[] = "n01440764/\xff x.JPEG";
	static char empty[] = "";
	static char files[] = "files";

	start(PL_WIRE_DESCRIBE);
	in.describe.n = 256;
	for (int i = 0; i < 256; i++)
		in.describe.index[i] = UINT64_MAX - (uint64_t)i;
	there_and_back();
	cr_assert_eq(out.describe.n, 256);
	cr_assert_eq(memcmp(out.describe.index, in.describe.index, sizeof(in.describe.index)), 0);

	start(PL_WIRE_DESCRIBED);
	in.described.n = 256;
	for (int i = 0; i < 256; i++) {
		in.described.name[i] = name;
		in.described.source[i] = empty;
	}
	in.described.source[255] = files;
	there_and_back();
	cr_assert_eq(out.described.n, 256);
	cr_assert_str_eq(out.described.name[255], "n01440764/\xff x.JPEG");
	cr_assert_str_eq(out.described.source[254], "");
	cr_assert_str_eq(out.described.source[255], "files");
}

Test(wire, described_that_is_too_long_is_not_sent)
{
	static char name[400];

	memset(name, 'n', sizeof(name) - 1);
	start(PL_WIRE_DESCRIBED);
	in.described.n = 256;
	for (int i = 0; i < 256; i++)
		in.described.name[i] = in.described.source[i] = name;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EMSGSIZE);
	in.described.name[3] = NULL;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
}

Test(wire, ask_and_answer)
{
	start(PL_WIRE_ASK);
	in.ask.version = 1;
	strcpy(in.ask.what, "status");
	strcpy(in.ask.pipeline, "train");
	strcpy(in.ask.format, "json");
	there_and_back();
	cr_assert_str_eq(out.ask.what, "status");
	cr_assert_str_eq(out.ask.pipeline, "train");
	cr_assert_str_eq(out.ask.format, "json");

	start(PL_WIRE_ANSWER);
	in.answer.code = -2;
	in.answer.exit_status = 69;
	in.answer.is_more = true;
	in.answer.n = sizeof(in.answer.text);
	memset(in.answer.text, 'x', sizeof(in.answer.text));
	there_and_back();
	cr_assert_eq(out.answer.code, -2);
	cr_assert_eq(out.answer.exit_status, 69);
	cr_assert(out.answer.is_more);
	cr_assert_eq(out.answer.n, sizeof(in.answer.text));
	cr_assert_eq(memcmp(out.answer.text, in.answer.text, in.answer.n), 0);
	in.answer.n++;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
}

Test(wire, messages_without_fields_and_with_one_text)
{
	static const enum pl_wire_kind empty[] = {PL_WIRE_WHY, PL_WIRE_CLOSE, PL_WIRE_CLOSED};
	static const enum pl_wire_kind texts[] = {PL_WIRE_TRACE, PL_WIRE_BECAUSE, PL_WIRE_END};

	for (size_t i = 0; i < PL_ARRAY_LEN(empty); i++) {
		start(empty[i]);
		there_and_back();
	}
	for (size_t i = 0; i < PL_ARRAY_LEN(texts); i++) {
		start(texts[i]);
		strcpy(in.text, "Worker 3 4711");
		there_and_back();
		cr_assert_str_eq(out.text, "Worker 3 4711");
		memset(in.text, 'x', sizeof(in.text));
		cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
	}
}

Test(wire, error)
{
	start(PL_WIRE_ERROR);
	in.error.code = -5;
	in.error.exit_status = 78;
	memset(in.error.text, 'e', sizeof(in.error.text) - 1);
	there_and_back();
	cr_assert_eq(out.error.code, -5);
	cr_assert_eq(out.error.exit_status, 78);
	cr_assert_str_eq(out.error.text, in.error.text);
}

Test(wire, welcome)
{
	struct pl_wire_welcome *w = &in.welcome;

	start(PL_WIRE_WELCOME);
	w->version = 1;
	w->arena_bytes = UINT64_MAX;
	w->birth = 7;
	w->n_fields = PL_WIRE_FIELDS_MAX;
	for (int i = 0; i < PL_WIRE_FIELDS_MAX; i++) {
		struct pl_wire_field *f = &w->field[i];

		snprintf(f->name, sizeof(f->name), "field_%d", i);
		f->kind = (uint32_t)i;
		f->dtype = 1 + (uint32_t)i % (PL_DTYPE_END - 1);
		f->rank = i % (PL_RANK_MAX + 1);
		for (int d = 0; d < f->rank; d++)
			f->shape[d] = d % 2 ? -1 : (int64_t)1 << (3 * d);
		f->form = (uint32_t)i % 3;
	}
	w->classes_offset = 10;
	w->classes_bytes = 11;
	w->n_classes = 12;
	w->batch_size = 13;
	w->epochs = -1;
	w->token_bytes = PL_WIRE_TOKEN_MAX;
	memset(w->fingerprint, 9, sizeof(w->fingerprint));
	w->prefetch = 4;
	strcpy(w->pipeline, "photos");
	w->records = 1000000;
	w->batches_per_epoch = -1;
	w->daemon_pid = 1;
	w->dispatcher_pid = 2;
	w->generations_offset = 64;
	w->n_slots = 5;
	there_and_back();
	for (int i = 0; i < PL_WIRE_FIELDS_MAX; i++) {
		const struct pl_wire_field *a = &w->field[i];
		const struct pl_wire_field *b = &out.welcome.field[i];

		cr_assert_str_eq(a->name, b->name);
		cr_assert(a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
			  a->form == b->form);
		cr_assert_eq(memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)a->rank), 0);
	}
	cr_assert_eq(out.welcome.arena_bytes, UINT64_MAX);
	cr_assert_eq(out.welcome.birth, 7);
	cr_assert_eq(out.welcome.epochs, -1);
	cr_assert_eq(out.welcome.token_bytes, PL_WIRE_TOKEN_MAX);
	cr_assert_eq(memcmp(out.welcome.fingerprint, w->fingerprint, 24), 0);
	cr_assert_str_eq(out.welcome.pipeline, "photos");
	cr_assert_eq(out.welcome.batches_per_epoch, -1);
	cr_assert_eq(out.welcome.generations_offset, 64);
	cr_assert_eq(out.welcome.n_slots, 5);
	w->field[2].dtype = PL_DTYPE_END;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
}

Test(wire, batch)
{
	struct pl_wire_batch *b = &in.batch;

	start(PL_WIRE_BATCH);
	b->epoch = 1;
	b->number = 2;
	b->slot = 3;
	b->generation = 4;
	b->size = 5;
	b->after = (struct pl_wire_position){1, 3, 320, 6, 7};
	b->index_offset = 8;
	b->is_last = true;
	b->is_repeated = true;
	b->skipped = 9;
	b->bad = 10;
	b->n_views = PL_WIRE_FIELDS_MAX;
	for (int i = 0; i < b->n_views; i++)
		fill_view(&b->view[i], i % (PL_RANK_MAX + 1));
	b->view[5].stride[0] = -4;
	b->view[6].offsets_offset = 77;
	there_and_back();
	cr_assert_eq(out.batch.n_views, b->n_views);
	for (int i = 0; i < b->n_views; i++) {
		const struct pl_wire_view *v = &out.batch.view[i];
		size_t n = sizeof(int64_t) * (size_t)v->rank;

		cr_assert(v->rank == b->view[i].rank && v->dtype == PL_F32 &&
			  v->offset == UINT64_MAX - 5 &&
			  v->offsets_offset == b->view[i].offsets_offset);
		cr_assert_eq(memcmp(v->shape, b->view[i].shape, n), 0);
		cr_assert_eq(memcmp(v->stride, b->view[i].stride, n), 0, "view %d", i);
	}
	cr_assert_eq(memcmp(&out.batch.after, &b->after, sizeof(b->after)), 0);
	cr_assert(out.batch.is_last && out.batch.is_repeated);
	cr_assert_eq(out.batch.skipped, 9);
	cr_assert_eq(out.batch.bad, 10);
	b->view[0].shape[0] = 1;
	b->view[0].rank = PL_RANK_MAX + 1;
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
}

Test(wire, a_kind_that_is_none_is_refused)
{
	start((enum pl_wire_kind)99);
	cr_assert_eq(pl_wire_pack(&in, bytes), -EINVAL);
	/* field 100, length-delimited, empty: a kind of the future */
	cr_assert_eq(pl_wire_unpack(&out, "\xa2\x06\x00", 3), -EPROTO);
	cr_assert_eq(pl_wire_unpack(&out, "", 0), -EBADMSG);
}

/* The same length, another content: what stands for `from` is replaced in the packed bytes. */
static void replace(size_t n, const char *from, const char *to)
{
	uint8_t *at = memmem(bytes, n, from, strlen(from));

	cr_assert_not_null(at);
	memcpy(at, to, strlen(from));
}

Test(wire, a_nul_inside_a_text_is_refused)
{
	size_t n;

	start(PL_WIRE_TRACE);
	strcpy(in.text, "harmless");
	n = there_and_back();
	replace(n, "harmless", "harm\0ess");
	cr_assert_eq(pl_wire_unpack(&out, bytes, n), -EBADMSG);
	replace(n, "harm", "\0arm");
	cr_assert_eq(pl_wire_unpack(&out, bytes, n), -EBADMSG);
}

Test(wire, too_long_lists_and_texts_are_refused)
{
	/* Open { group: 256 bytes }: longer than its array. */
	uint8_t group[3 + 3 + 256] = {0x0a, 0x83, 0x02, 0x22, 0x80, 0x02};
	/* Batch { views: 65 empty ones }; its dtype 0 is refused as well, so this one is about not
	 * crashing. */
	uint8_t views[4 + 2 * 65] = {0x8a, 0x02, 0x82, 0x01};

	memset(group + 6, 'g', 256);
	cr_assert_eq(pl_wire_unpack(&out, group, sizeof(group)), -EBADMSG);
	group[4] = 0xff;
	group[5] = 0x01;
	group[1] = 0x82;
	cr_assert_eq(pl_wire_unpack(&out, group, sizeof(group) - 1), 0);
	cr_assert_eq(strlen(out.open.group), 255);
	for (size_t i = 4; i < sizeof(views); i += 2)
		views[i] = 0x32;
	cr_assert_neq(pl_wire_unpack(&out, views, sizeof(views)), 0);
	cr_assert_eq(pl_wire_unpack(&out, bytes, PL_FRAME_MAX + 1), -EBADMSG);
}

Test(wire, a_datagram_of_empty_submessages_costs_little)
{
	size_t n = 0;

	/* Next { releases: tens of thousands of empty ones } */
	bytes[n++] = 0x12;
	bytes[n++] = 0xf0;
	bytes[n++] = 0xff;
	bytes[n++] = 0x03;
	for (size_t i = 0; i < 0xfff0 / 2; i++) {
		bytes[n++] = 0x12;
		bytes[n++] = 0;
	}
	cr_assert_eq(pl_wire_unpack(&out, bytes, n), -EBADMSG);
}

Test(wire, cut_and_changed_bytes_never_crash)
{
	static uint8_t good[PL_FRAME_MAX];
	unsigned random = 1;
	int n;

	start(PL_WIRE_BATCH);
	in.batch.n_views = 3;
	for (int i = 0; i < 3; i++)
		fill_view(&in.batch.view[i], i + 1);
	n = pl_wire_pack(&in, good);
	cr_assert_gt(n, 0);
	for (int cut = 0; cut < n; cut++)
		(void)!pl_wire_unpack(&out, good, (size_t)cut);
	for (int i = 0; i < 200000; i++) {
		memcpy(bytes, good, (size_t)n);
		for (int k = 0; k < 3; k++) {
			random = random * 1664525u + 1013904223u;
			bytes[(random >> 8) % (unsigned)n] = (uint8_t)(random >> 24);
		}
		(void)!pl_wire_unpack(&out, bytes, (size_t)n);
	}
}
