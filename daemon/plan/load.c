/* daemon/plan/load.c - a sealed memfd back to a plan, every offset checked. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/plan/sealed.h"

static int refuse(struct pl_err *err, const char *why)
{
	return pl_err_set(err, -EINVAL, "this is no sealed plan: %s", why);
}

/* Seals and size; *bytes is the size. 0 or -errno. */
static int check_fd(int fd, uint64_t *bytes, struct pl_err *err)
{
	const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || (seals & wanted) != wanted)
		return refuse(err, "it isn't sealed");
	if (fstat(fd, &st) < 0)
		return pl_err_set(err, -errno, "can't look at the plan: %s", strerror(errno));
	*bytes = (uint64_t)st.st_size;
	if (*bytes < sizeof(struct pl_plan_card) + sizeof(struct pl_sealed_head) ||
		*bytes > 4 * PL_SEALED_MAX)
		return refuse(err, "its size is wrong");
	return 0;
}

static bool is_terminated(const char *text, size_t n)
{
	return memchr(text, '\0', n) != NULL;
}

static bool is_card_sane(const struct pl_plan_card *card)
{
	if (card->n_allow > PL_PARAM_LIST_MAX || card->n_steps > PL_STEPS_MAX)
		return false;
	for (uint32_t i = 0; i < card->n_allow; i++)
		if (!is_terminated(card->allow[i], sizeof(card->allow[i])))
			return false;
	for (uint32_t i = 0; i < card->n_steps; i++)
		if (!is_terminated(card->step_name[i], sizeof(card->step_name[i])))
			return false;
	return is_terminated(card->name, sizeof(card->name)) &&
	       is_terminated(card->file, sizeof(card->file)) &&
	       is_terminated(card->source_kind, sizeof(card->source_kind));
}

int pl_plan_card_read(struct pl_plan_card *card, int fd, struct pl_err *err)
{
	uint64_t bytes = 0;
	int rc = check_fd(fd, &bytes, err);
	ssize_t got;

	if (rc < 0)
		return rc;
	got = pread(fd, card, sizeof(*card), 0);
	if (got < 0)
		return pl_err_set(err, -errno, "can't read the plan: %s", strerror(errno));
	if (got != sizeof(*card) || memcmp(card->magic, PL_SEALED_MAGIC, sizeof(card->magic)) != 0)
		return refuse(err, "its first bytes are others");
	if (card->bytes != bytes || !is_card_sane(card))
		return refuse(err, "its card is damaged");
	return 0;
}

/* The memfd, mapped, and what is being made of it. */
struct loader {
	const char *data;
	uint64_t bytes;
	const struct pl_sealed_head *head;
	const struct pl_sealed_node *node;
	const uint32_t *item;
	const uint32_t *start;
	const struct pl_sealed_field *field;
	const char *chars;
	struct pl_plan_box *box;
};

static void loader_finish(struct loader *l)
{
	if (l->data)
		munmap((void *)(uintptr_t)l->data, l->bytes);
	if (l->box)
		pl_plan_destroy(&l->box->plan);
}

static bool is_inside(const struct loader *l, uint64_t offset, uint64_t n, uint64_t size)
{
	return offset <= l->bytes && n <= (l->bytes - offset) / size &&
	       offset % (size < 8 ? size : 8) == 0;
}

static bool loader_check(struct loader *l)
{
	const struct pl_sealed_head *h = l->head;

	if (h->version != PL_SEALED_VERSION || h->n_nodes == 0 || h->n_texts > PL_TEXTS_MAX ||
		h->n_fields > PL_FIELDS_MAX)
		return false;
	if (!is_inside(l, h->nodes_offset, h->n_nodes, sizeof(struct pl_sealed_node)) ||
		!is_inside(l, h->items_offset, h->n_items, sizeof(uint32_t)) ||
		!is_inside(l, h->fields_offset, h->n_fields, sizeof(struct pl_sealed_field)) ||
		!is_inside(l, h->text_offset, (uint64_t)h->n_texts + 2, sizeof(uint32_t)) ||
		!is_inside(l, h->chars_offset, h->n_chars, 1))
		return false;
	l->node = (const void *)(l->data + h->nodes_offset);
	l->item = (const void *)(l->data + h->items_offset);
	l->start = (const void *)(l->data + h->text_offset);
	l->field = (const void *)(l->data + h->fields_offset);
	l->chars = l->data + h->chars_offset;
	return h->n_chars > 0 && l->chars[h->n_chars - 1] == '\0';
}

/* A text of the plan, copied; NULL when its start is no start, or memory is out. */
static char *load_text(const struct loader *l, uint32_t start)
{
	return start < l->head->n_chars
		       ? pl_pool_text(&l->box->pool, l->chars + start, strlen(l->chars + start))
		       : NULL;
}

/* The node's own part; children are filled in by load_children. NULL: damaged. */
static struct pl_node *load_node(const struct loader *l, uint32_t number)
{
	const struct pl_sealed_node *sealed = &l->node[number];
	struct pl_place at = {sealed->file, sealed->line, sealed->column};
	uint64_t n_items = (uint64_t)sealed->n * (sealed->kind == PL_NODE_MAP ? 2 : 1);
	struct pl_node *node;

	if (sealed->kind < PL_NODE_TEXT || sealed->kind > PL_NODE_MAP || sealed->file < -1 ||
		sealed->line < 0 || sealed->column < 0)
		return NULL;
	if (sealed->kind == PL_NODE_TEXT ? sealed->n != 0
					 : sealed->first > l->head->n_items ||
						   n_items > l->head->n_items - sealed->first)
		return NULL;
	node = pl_node_branch(&l->box->pool, (enum pl_node_kind)sealed->kind, at, (int)sealed->n);
	if (!node)
		return NULL;
	node->is_quoted = sealed->is_quoted;
	if (sealed->kind == PL_NODE_TEXT)
		node->text = load_text(l, sealed->text);
	return node->text ? node : NULL;
}

static bool load_children(const struct loader *l, struct pl_node **nodes, uint32_t number)
{
	const struct pl_sealed_node *sealed = &l->node[number];
	bool is_map = sealed->kind == PL_NODE_MAP;

	for (uint32_t i = 0; i < sealed->n * (is_map ? 2 : 1); i++) {
		uint32_t child = l->item[sealed->first + i];
		bool is_key = is_map && i % 2 == 0;

		if (child <= number || child >= l->head->n_nodes)
			return false;
		if (is_key && nodes[child]->kind != PL_NODE_TEXT)
			return false;
		if (is_key)
			nodes[number]->key[i / 2] = nodes[child];
		else
			nodes[number]->item[is_map ? i / 2 : i] = nodes[child];
	}
	return true;
}

static bool load_tree(struct loader *l)
{
	uint32_t n = l->head->n_nodes;
	struct pl_node **nodes = pl_pool_array(&l->box->pool, n, sizeof(struct pl_node *));

	for (uint32_t i = 0; nodes && i < n; i++) {
		nodes[i] = load_node(l, i);
		if (!nodes[i])
			return false;
	}
	for (uint32_t i = 0; nodes && i < n; i++)
		if (!load_children(l, nodes, i))
			return false;
	l->box->root = nodes ? nodes[0] : NULL;
	return nodes && nodes[0]->kind == PL_NODE_MAP;
}

static bool load_texts(struct loader *l)
{
	struct pl_plan *plan = &l->box->plan;

	plan->file = load_text(l, l->start[0]);
	plan->dir = load_text(l, l->start[1]);
	for (uint32_t i = 0; i < l->head->n_texts; i++) {
		plan->text_name[i] = load_text(l, l->start[i + 2]);
		if (!plan->text_name[i])
			return false;
	}
	plan->n_texts = (int)l->head->n_texts;
	return plan->file && plan->dir;
}

static bool is_type_sane(const struct pl_type *type)
{
	if (type->kind < PL_KIND_TENSOR || type->kind >= PL_KIND_END || type->rank < 0 ||
		type->rank > PL_RANK_MAX || pl_dtype_size(type->dtype) == 0)
		return false;
	for (int i = 0; i < type->rank; i++)
		if (type->shape[i] < -1)
			return false;
	return true;
}

/* The source's fields into `out` [PL_FIELDS_MAX]. */
static bool load_fields(const struct loader *l, struct pl_source_field *out)
{
	for (uint64_t i = 0; i < l->head->n_fields; i++) {
		out[i].name = load_text(l, l->field[i].name);
		out[i].type = l->field[i].type;
		out[i].is_known = l->field[i].is_known;
		if (!out[i].name || !is_type_sane(&out[i].type))
			return false;
	}
	return true;
}

/* The stages again, on the resolved tree. A fault here means that another build wrote the plan. */
static int rebuild(struct loader *l, struct pl_err *err)
{
	struct pl_source_field fields[PL_FIELDS_MAX] = {0};
	struct pl_resolved resolved = {
		.memory = l->head->memory,
		.n_workers = l->head->n_workers,
		.n_fields = (int)l->head->n_fields,
		.fields = fields,
	};
	struct pl_diag *diag = pl_diag_create();
	int rc = 0;

	if (!diag)
		return pl_err_set(err, -ENOMEM, "out of memory");
	if (resolved.memory <= 0 || resolved.n_workers <= 0 || !load_fields(l, fields)) {
		rc = refuse(err, "its numbers are damaged");
	} else if (!pl_plan_build(l->box, diag, &resolved)) {
		char *text = pl_diag_render(diag);

		rc = refuse(err, text && text[0] ? text : "out of memory");
		free(text);
	}
	pl_diag_destroy(diag);
	return rc;
}

static int load_into(struct loader *l, int fd, struct pl_err *err)
{
	PL_AUTO_FREE struct pl_plan_card *card = malloc(sizeof(*card));
	int rc =
		card ? pl_plan_card_read(card, fd, err) : pl_err_set(err, -ENOMEM, "out of memory");
	void *data;

	if (rc < 0)
		return rc;
	l->bytes = card->bytes;
	data = mmap(NULL, l->bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return pl_err_set(err, -errno, "can't map the plan: %s", strerror(errno));
	l->data = data;
	l->head = (const void *)(l->data + sizeof(*card));
	l->box = calloc(1, sizeof(*l->box));
	if (!l->box)
		return pl_err_set(err, -ENOMEM, "out of memory");
	if (!loader_check(l) || !load_tree(l) || !load_texts(l))
		return refuse(err, "its tree is damaged");
	return rebuild(l, err);
}

struct pl_plan *pl_plan_load(int fd, struct pl_err *err)
{
	PL_CLEANUP(loader_finish) struct loader l = {0};
	struct pl_plan_box *box;

	if (load_into(&l, fd, err) < 0)
		return NULL;
	box = l.box;
	l.box = NULL;
	return &box->plan;
}
