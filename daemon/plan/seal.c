/* daemon/plan/seal.c - a plan written to a sealed memfd. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "daemon/plan/sealed.h"

/* Bytes that grow. */
struct sink {
	char *data;
	size_t used;
	size_t room;
};

struct sealer {
	struct sink nodes;
	struct sink items;
	struct sink starts;
	struct sink fields;
	struct sink chars;
	bool is_full; /* out of memory, or too large */
};

static void sealer_finish(struct sealer *s)
{
	free(s->nodes.data);
	free(s->items.data);
	free(s->starts.data);
	free(s->fields.data);
	free(s->chars.data);
}

/* Room for n more bytes: where it begins, as an offset. */
static size_t sink_grow(struct sealer *s, struct sink *sink, size_t n)
{
	size_t at = sink->used;

	if (s->is_full || n > PL_SEALED_MAX - at) {
		s->is_full = true;
		return 0;
	}
	if (n == 0)
		return at;
	if (n > sink->room - at) {
		size_t room = pl_max_u64(sink->room * 2, pl_max_u64(at + n, 4096));
		char *data = realloc(sink->data, room);

		if (!data) {
			s->is_full = true;
			return 0;
		}
		sink->data = data;
		sink->room = room;
	}
	memset(sink->data + at, 0, n);
	sink->used += n;
	return at;
}

static uint32_t put_text(struct sealer *s, const char *text)
{
	size_t n = strlen(text) + 1;
	size_t at = sink_grow(s, &s->chars, n);

	if (!s->is_full)
		memcpy(s->chars.data + at, text, n);
	return (uint32_t)at;
}

static void put_start(struct sealer *s, const char *text)
{
	uint32_t start = put_text(s, text);
	size_t at = sink_grow(s, &s->starts, sizeof(start));

	if (!s->is_full)
		memcpy(s->starts.data + at, &start, sizeof(start));
}

static void put_field(struct sealer *s, const struct pl_source_field *field)
{
	size_t at = sink_grow(s, &s->fields, sizeof(struct pl_sealed_field));
	struct pl_sealed_field sealed;

	memset(&sealed, 0, sizeof(sealed)); /* equal plans, equal bytes: padding too */
	sealed.name = put_text(s, field->name);
	sealed.is_known = field->is_known;
	sealed.type = field->type;
	if (!s->is_full)
		memcpy(s->fields.data + at, &sealed, sizeof(sealed));
}

static uint32_t put_node(struct sealer *s, const struct pl_node *node);

static void put_child(struct sealer *s, size_t place, const struct pl_node *child)
{
	uint32_t number = put_node(s, child);

	if (!s->is_full)
		memcpy(s->items.data + place, &number, sizeof(number));
}

/* Parents before children; the number of the node. */
static uint32_t put_node(struct sealer *s, const struct pl_node *node)
{
	size_t step = node->kind == PL_NODE_MAP ? 2 * sizeof(uint32_t) : sizeof(uint32_t);
	size_t at = sink_grow(s, &s->nodes, sizeof(struct pl_sealed_node));
	size_t items = sink_grow(s, &s->items, (size_t)node->n * step);
	struct pl_sealed_node sealed = {
		.kind = node->kind,
		.is_quoted = node->is_quoted,
		.file = node->at.file,
		.line = node->at.line,
		.column = node->at.column,
		.first = (uint32_t)(items / sizeof(uint32_t)),
		.n = (uint32_t)node->n,
	};

	if (node->kind == PL_NODE_TEXT)
		sealed.text = put_text(s, node->text);
	if (!s->is_full)
		memcpy(s->nodes.data + at, &sealed, sizeof(sealed));
	for (int i = 0; i < node->n && !s->is_full; i++) {
		if (node->kind == PL_NODE_MAP) {
			put_child(s, items + (size_t)i * step, node->key[i]);
			put_child(s, items + (size_t)i * step + sizeof(uint32_t), node->item[i]);
		} else {
			put_child(s, items + (size_t)i * step, node->item[i]);
		}
	}
	return (uint32_t)(at / sizeof(sealed));
}

static void card_steps(
	struct pl_plan_card *card, const struct pl_step_list *list, enum pl_stage stage)
{
	for (int i = 0; i < list->n; i++) {
		const struct pl_step *step = &list->step[i];

		snprintf(card->step_name[step->id], sizeof(card->step_name[0]), "%s",
			step->op->name);
		card->step_stage[step->id] = (uint8_t)stage;
		for (int k = 0; k < step->n_lists; k++)
			card_steps(card, &step->list[k], stage);
	}
}

static int card_fill(struct pl_plan_card *card, const struct pl_plan *plan)
{
	memcpy(card->magic, PL_SEALED_MAGIC, sizeof(card->magic));
	if (snprintf(card->file, sizeof(card->file), "%s", plan->file) >= (int)sizeof(card->file))
		return -ENAMETOOLONG;
	snprintf(card->name, sizeof(card->name), "%s", plan->name);
	snprintf(card->source_kind, sizeof(card->source_kind), "%s", plan->source.op->name);
	card->memory = plan->memory;
	card->n_workers = plan->n_workers;
	card->idle_timeout_ns = plan->idle_timeout_ns;
	card->max_clients = plan->max_clients;
	card->nice = plan->nice;
	card->sample_timeout_ns = plan->sample_timeout_ns;
	card->starts_eagerly = plan->starts_eagerly;
	card->is_sequential = plan->is_sequential;
	card->n_allow = (uint32_t)plan->allow.n;
	for (int i = 0; i < plan->allow.n; i++)
		snprintf(card->allow[i], sizeof(card->allow[i]), "%s", plan->allow.v[i]);
	card->n_steps = (uint32_t)plan->n_steps;
	card_steps(card, &plan->pre, PL_STAGE_PRE);
	card_steps(card, &plan->worker, PL_STAGE_WORKER);
	card_steps(card, &plan->post, PL_STAGE_POST);
	return 0;
}

static struct pl_sealed_head head_of(const struct sealer *s, const struct pl_plan *plan)
{
	struct pl_sealed_head head = {
		.version = PL_SEALED_VERSION,
		.n_nodes = (uint32_t)(s->nodes.used / sizeof(struct pl_sealed_node)),
		.n_items = (uint32_t)(s->items.used / sizeof(uint32_t)),
		.n_texts = (uint32_t)plan->n_texts,
		.n_fields = s->fields.used / sizeof(struct pl_sealed_field),
		.n_chars = s->chars.used,
		.memory = plan->memory,
		.n_workers = plan->n_workers,
	};

	head.nodes_offset = pl_align_up(sizeof(struct pl_plan_card) + sizeof(head), 8);
	head.fields_offset = head.nodes_offset + s->nodes.used;
	head.items_offset = head.fields_offset + s->fields.used;
	head.text_offset = head.items_offset + s->items.used;
	head.chars_offset = head.text_offset + s->starts.used;
	return head;
}

static int write_at(int fd, const void *data, size_t n, uint64_t offset)
{
	const char *at = data;

	while (n > 0) {
		ssize_t put = pwrite(fd, at, n, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		at += put;
		n -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

static int write_all(int fd, const struct sealer *s, struct pl_plan_card *card,
	const struct pl_sealed_head *head)
{
	const struct {
		const void *data;
		size_t n;
		uint64_t offset;
	} part[] = {
		{card, sizeof(*card), 0},
		{head, sizeof(*head), sizeof(*card)},
		{s->nodes.data, s->nodes.used, head->nodes_offset},
		{s->fields.data, s->fields.used, head->fields_offset},
		{s->items.data, s->items.used, head->items_offset},
		{s->starts.data, s->starts.used, head->text_offset},
		{s->chars.data, s->chars.used, head->chars_offset},
	};

	card->bytes = head->chars_offset + head->n_chars;
	for (size_t i = 0; i < PL_ARRAY_LEN(part); i++) {
		int rc = write_at(fd, part[i].data, part[i].n, part[i].offset);

		if (rc < 0)
			return rc;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return 0;
}

int pl_plan_seal(const struct pl_plan *plan)
{
	const struct pl_plan_box *box =
		PL_CONTAINER_OF((struct pl_plan *)plan, struct pl_plan_box, plan);
	PL_CLEANUP(sealer_finish) struct sealer s = {0};
	PL_AUTO_FREE struct pl_plan_card *card = calloc(1, sizeof(*card));
	PL_AUTO_CLOSE int fd = -1;
	struct pl_sealed_head head;
	int rc;

	put_node(&s, box->root);
	put_start(&s, plan->file);
	put_start(&s, plan->dir);
	for (int i = 0; i < plan->n_texts; i++)
		put_start(&s, plan->text_name[i] ? plan->text_name[i] : "");
	for (int i = 0; i < plan->source.n_fields; i++)
		put_field(&s, &plan->source.declared[i]);
	if (s.is_full || !card)
		return -ENOMEM;
	rc = card_fill(card, plan);
	if (rc < 0)
		return rc;
	fd = memfd_create("pipeloader-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	head = head_of(&s, plan);
	rc = write_all(fd, &s, card, &head);
	return rc < 0 ? rc : pl_steal_fd(&fd);
}
