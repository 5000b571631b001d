/* daemon/plan/yaml.c - YAML text to nodes, strictly. */
#include <errno.h>
#include <yaml.h>

#include "daemon/plan/bytes.h"
#include "daemon/plan/node.h"
#include "daemon/plan/words.h"

/*
 * libyaml's own documents would accept duplicate keys, empty input and aliases. Here one walker
 * over its events builds the tree and refuses them. Faults of syntax end the walk; the others are
 * told, and leave a PL_NODE_BAD behind.
 */
#define YAML_SCALAR_MAX ((size_t)64 << 10)

struct walker {
	yaml_parser_t parser;
	yaml_event_t event;
	bool has_event;
	struct pl_pool *pool;
	struct pl_diag *diag;
	int file;
	bool is_broken; /* the walk ends */
};

static struct pl_place place_of(const struct walker *w, yaml_mark_t mark)
{
	return (struct pl_place){
		.file = w->file,
		.line = (int)mark.line + 1,
		.column = (int)mark.column + 1,
	};
}

static void tell_problem(struct walker *w)
{
	const yaml_parser_t *p = &w->parser;
	struct pl_yaml_problem problem = {
		.problem = p->problem ? p->problem : "malformed YAML",
		.context = p->context ? p->context : "",
		.problem_at = place_of(w, p->problem_mark),
	};

	if (p->context && (p->context_mark.line || p->context_mark.column || p->context_mark.index))
		problem.context_at = place_of(w, p->context_mark);
	else if (p->context)
		problem.context_at = (struct pl_place){.file = w->file, .line = 1, .column = 1};
	if (p->error == YAML_MEMORY_ERROR)
		pl_diag_error(w->diag, (struct pl_place){.file = w->file}, "out of memory");
	else
		pl_yaml_tell(w->diag, &problem);
}

/* The next event is in w->event. False when the walk is over: a fault was told. */
static bool walker_next(struct walker *w)
{
	if (w->has_event)
		yaml_event_delete(&w->event);
	w->has_event = false;
	if (w->is_broken)
		return false;
	if (!yaml_parser_parse(&w->parser, &w->event)) {
		tell_problem(w);
		w->is_broken = true;
		return false;
	}
	w->has_event = true;
	return true;
}

static struct pl_node *out_of_memory(struct walker *w)
{
	pl_diag_error(w->diag, (struct pl_place){.file = w->file}, "out of memory");
	w->is_broken = true;
	return NULL;
}

static struct pl_node *bad_node(struct walker *w, struct pl_place at)
{
	struct pl_node *node = pl_node_branch(w->pool, PL_NODE_BAD, at, 0);

	return node ? node : out_of_memory(w);
}

static void refuse_extras(struct walker *w, const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct pl_place at = place_of(w, w->event.start_mark);

	if (anchor)
		pl_diag_error(w->diag, at,
			"anchors and aliases are not part of this language; use define and use");
	if (tag)
		pl_diag_error(w->diag, at, "tags ('%s') are not part of this language",
			(const char *)tag);
}

static struct pl_node *walk_scalar(struct walker *w)
{
	struct pl_place at = place_of(w, w->event.start_mark);
	const char *text = (const char *)w->event.data.scalar.value;
	size_t n = w->event.data.scalar.length;
	struct pl_node *node;

	refuse_extras(w, w->event.data.scalar.anchor, w->event.data.scalar.tag);
	if (n > YAML_SCALAR_MAX) {
		pl_diag_error(w->diag, at, "a value of %zu bytes: at most %zu are allowed", n,
			YAML_SCALAR_MAX);
		return bad_node(w, at);
	}
	if (memchr(text, '\0', n)) {
		pl_diag_error(w->diag, at, "a NUL character in a value");
		return bad_node(w, at);
	}
	node = pl_node_text(w->pool, at, text, n);
	if (!node)
		return out_of_memory(w);
	node->is_quoted = w->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return node;
}

/* Items found so far; the tree gets an exact copy at the end. */
struct growing {
	struct pl_node **key;
	struct pl_node **item;
	int n;
	int room;
};

static void growing_finish(struct growing *g)
{
	free(g->key);
	free(g->item);
}

static bool growing_add(struct growing *g, struct pl_node *key, struct pl_node *item)
{
	if (g->n == g->room) {
		int room = g->room ? g->room * 2 : 16;
		struct pl_node **keys = reallocarray(g->key, (size_t)room, sizeof(*keys));
		struct pl_node **items;

		if (!keys)
			return false;
		g->key = keys;
		items = reallocarray(g->item, (size_t)room, sizeof(*items));
		if (!items)
			return false;
		g->item = items;
		g->room = room;
	}
	g->key[g->n] = key;
	g->item[g->n++] = item;
	return true;
}

static struct pl_node *growing_node(
	struct walker *w, const struct growing *g, enum pl_node_kind kind, struct pl_place at)
{
	struct pl_node *node = pl_node_branch(w->pool, kind, at, g->n);

	if (!node)
		return out_of_memory(w);
	for (int i = 0; i < g->n; i++) {
		node->item[i] = g->item[i];
		if (kind == PL_NODE_MAP)
			node->key[i] = g->key[i];
	}
	return node;
}

static struct pl_node *walk_node(struct walker *w, int depth);

static bool is_null(const struct pl_node *node)
{
	static const char *const spelling[] = {"", "~", "null", "Null", "NULL"};

	if (node->kind != PL_NODE_TEXT || node->is_quoted)
		return false;
	for (size_t i = 0; i < PL_ARRAY_LEN(spelling); i++)
		if (strcmp(node->text, spelling[i]) == 0)
			return true;
	return false;
}

/* `is_step`: the map is an item of a list, so its key is most likely the name of a step. */
static void refuse_null(
	struct walker *w, const struct pl_node *key, struct pl_node *value, bool is_step)
{
	const char *name = key->text;

	if (!is_null(value))
		return;
	value->kind = PL_NODE_BAD;
	if (value->text[0])
		pl_diag_error(w->diag, key->at,
			"'%s' has no value: %s means nothing; leave the key out for its default, "
			"or put "
			"the text in quotes",
			name, value->text);
	else if (strcmp(name, "workers") == 0)
		pl_diag_error(w->diag, key->at,
			"'workers' has no value: list the steps, or write 'workers: none' for a "
			"sequential pipeline");
	else if (is_step)
		pl_diag_error(w->diag, key->at,
			"'%s' has no value: write '- %s' without ':' for a step with its defaults",
			name, name);
	else
		pl_diag_error(w->diag, key->at, "'%s' has no value: give one, or leave the key out",
			name);
}

/* The key that w->event begins, or NULL when it is none (told, and its value still follows). */
static struct pl_node *walk_key(struct walker *w, int depth)
{
	struct pl_place at = place_of(w, w->event.start_mark);
	struct pl_node *key = walk_node(w, depth);

	if (!key || key->kind == PL_NODE_BAD)
		return NULL;
	if (key->kind != PL_NODE_TEXT) {
		pl_diag_error(w->diag, at, "a key must be a name, not %s", pl_node_kind_name(key));
		return NULL;
	}
	if (strcmp(key->text, "<<") == 0 && !key->is_quoted) {
		pl_diag_error(w->diag, at,
			"merge keys ('<<') are not part of this language; use define and use");
		return NULL;
	}
	if (!key->is_quoted && key->text[0] == '\0') {
		pl_diag_error(w->diag, at, "a ':' without a name before it");
		return NULL;
	}
	return key;
}

static bool is_duplicate(struct walker *w, const struct growing *g, const struct pl_node *key)
{
	for (int i = 0; i < g->n; i++) {
		if (strcmp(g->key[i]->text, key->text) != 0)
			continue;
		pl_diag_error(w->diag, key->at, "duplicate key '%s'", key->text);
		pl_diag_note(w->diag, g->key[i]->at, "it was given here first");
		return true;
	}
	return false;
}

static struct pl_node *walk_map(struct walker *w, int depth, bool is_step)
{
	PL_CLEANUP(growing_finish) struct growing g = {0};
	struct pl_place at = place_of(w, w->event.start_mark);

	refuse_extras(w, w->event.data.mapping_start.anchor, w->event.data.mapping_start.tag);
	while (walker_next(w) && w->event.type != YAML_MAPPING_END_EVENT) {
		struct pl_node *key = walk_key(w, depth);
		struct pl_node *value = walker_next(w) ? walk_node(w, depth) : NULL;

		if (!value)
			return NULL;
		if (!key || is_duplicate(w, &g, key))
			continue;
		refuse_null(w, key, value, is_step);
		if (!growing_add(&g, key, value))
			return out_of_memory(w);
	}
	return w->is_broken ? NULL : growing_node(w, &g, PL_NODE_MAP, at);
}

static struct pl_node *walk_list(struct walker *w, int depth)
{
	PL_CLEANUP(growing_finish) struct growing g = {0};
	struct pl_place at = place_of(w, w->event.start_mark);

	refuse_extras(w, w->event.data.sequence_start.anchor, w->event.data.sequence_start.tag);
	while (walker_next(w) && w->event.type != YAML_SEQUENCE_END_EVENT) {
		bool is_map = w->event.type == YAML_MAPPING_START_EVENT;
		struct pl_node *item = is_map && depth < PL_NODE_DEPTH_MAX
					       ? walk_map(w, depth + 1, true)
					       : walk_node(w, depth);

		if (!item)
			return NULL;
		if (is_null(item)) {
			pl_diag_error(w->diag, item->at, "an item of this list has no value");
			item->kind = PL_NODE_BAD;
		}
		if (!growing_add(&g, NULL, item))
			return out_of_memory(w);
	}
	return w->is_broken ? NULL : growing_node(w, &g, PL_NODE_LIST, at);
}

/* The node that w->event begins. NULL: the walk is over. */
static struct pl_node *walk_node(struct walker *w, int depth)
{
	struct pl_place at = place_of(w, w->event.start_mark);

	switch (w->event.type) {
	case YAML_SCALAR_EVENT:
		return walk_scalar(w);
	case YAML_ALIAS_EVENT:
		pl_diag_error(w->diag, at,
			"'*%s' is an alias: anchors and aliases are not part of this language; use "
			"define "
			"and use, or put the value in quotes",
			(const char *)w->event.data.alias.anchor);
		return bad_node(w, at);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		break;
	default:
		pl_diag_error(w->diag, at, "malformed YAML");
		w->is_broken = true;
		return NULL;
	}
	if (depth >= PL_NODE_DEPTH_MAX) {
		pl_diag_error(
			w->diag, at, "more than %d levels of lists and maps", PL_NODE_DEPTH_MAX);
		w->is_broken = true;
		return NULL;
	}
	return w->event.type == YAML_MAPPING_START_EVENT ? walk_map(w, depth + 1, false)
							 : walk_list(w, depth + 1);
}

/* Stands at the first event of the document's content; false when there is none. */
static bool enter_document(struct walker *w)
{
	struct pl_place top = {.file = w->file, .line = 1, .column = 1};

	if (!walker_next(w) || !walker_next(w))
		return false;
	if (w->event.type == YAML_STREAM_END_EVENT) {
		pl_diag_error(w->diag, top,
			"the file is empty: a pipeline needs at least 'source:' and 'workers:'");
		return false;
	}
	if (w->event.data.document_start.version_directive ||
		w->event.data.document_start.tag_directives.start !=
			w->event.data.document_start.tag_directives.end) {
		pl_diag_error(w->diag, place_of(w, w->event.start_mark),
			"YAML directives (lines that start with '%%') are not part of this "
			"language");
		return false;
	}
	return walker_next(w);
}

/* Reads on to the end of the stream: there must be no second document. */
static void leave_document(struct walker *w)
{
	while (walker_next(w) && w->event.type != YAML_STREAM_END_EVENT) {
		if (w->event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		pl_diag_error(w->diag, place_of(w, w->event.start_mark),
			"a second document ('---'): a file holds one pipeline");
		return;
	}
}

static struct pl_node *walk_document(struct walker *w)
{
	struct pl_node *root;

	if (!enter_document(w))
		return NULL;
	root = walk_node(w, 0);
	if (!root)
		return NULL;
	if (is_null(root)) {
		pl_diag_error(w->diag, root->at,
			"the file is empty: a pipeline needs at least 'source:' and 'workers:'");
		return NULL;
	}
	leave_document(w);
	return root;
}

struct pl_node *pl_yaml_parse(
	struct pl_pool *pool, struct pl_diag *diag, int file, const char *text, size_t n)
{
	struct walker w = {.pool = pool, .diag = diag, .file = file};
	struct pl_node *root;

	if (!pl_bytes_check(diag, file, text, n))
		return NULL;
	if (!yaml_parser_initialize(&w.parser)) {
		pl_diag_error(diag, (struct pl_place){.file = file}, "out of memory");
		return NULL;
	}
	yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, n);
	root = walk_document(&w);
	if (w.has_event)
		yaml_event_delete(&w.event);
	yaml_parser_delete(&w.parser);
	return root;
}

struct pl_node *pl_yaml_read(struct pl_pool *pool, struct pl_diag *diag, const char *path,
	const char *name, int *open_errno)
{
	PL_AUTO_FREE char *text = NULL;
	size_t n = 0;
	int rc = pl_bytes_read(path, &text, &n);
	int file;

	*open_errno = -rc;
	if (rc < 0)
		return NULL;
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) ==
			      0) /* a byte order mark, as Windows editors leave it, says nothing */
		memmove(text, text + 3, n -= 3);
	file = pl_diag_add_text(diag, name, text, n);
	if (file < 0) {
		pl_diag_error(diag, (struct pl_place){0}, "%s: too many included files", name);
		return NULL;
	}
	return pl_yaml_parse(pool, diag, file, text, n);
}
