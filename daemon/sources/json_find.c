/* daemon/sources/json_find.c - the values that paths name in one JSON text, found in one walk. */
/*
 * All paths walk together: a set of bits says which of them lead into the value in hand. Where none
 * does, pl_json_skip passes over it. Recursion is as deep as the longest path.
 */
#include "daemon/sources/json_find.h"

#include <errno.h>
#include <stdio.h>

static int refuse_path(const char *text, const char *reason, struct pl_err *err)
{
	char shown[512];

	return pl_err_set(
		err, -EINVAL, "path '%s': %s", pl_err_quote(shown, sizeof(shown), text), reason);
}

/* [12] or ["key"]; gives what follows, or NULL. */
static const char *read_bracket(const char *p, struct pl_json_step *step)
{
	const char *begin = ++p;

	if (*p == '"') {
		p = strchr(++begin, '"');
		*step = (struct pl_json_step){.key = begin, .n_key = p ? (size_t)(p - begin) : 0};
		return p && p[1] == ']' ? p + 2 : NULL;
	}
	*step = (struct pl_json_step){0};
	for (; *p >= '0' && *p <= '9' && p - begin < 18; p++)
		step->index = step->index * 10 + (uint64_t)(*p - '0');
	return p > begin && *p == ']' ? p + 1 : NULL;
}

static const char *read_key(const char *p, struct pl_json_step *step)
{
	size_t n = strcspn(p, ".[");

	*step = (struct pl_json_step){.key = p, .n_key = n};
	return n ? p + n : NULL;
}

int pl_json_path_parse(struct pl_json_path *path, const char *text, struct pl_err *err)
{
	const char *p = text;

	*path = (struct pl_json_path){0};
	if (*p != '.' && *p != '[')
		return refuse_path(text, "a path begins with '.', as .a.b[0]", err);
	while (*p) {
		struct pl_json_step *step = &path->step[path->n];

		if (path->n == PL_JSON_PATH_MAX)
			return refuse_path(text, "more than 16 steps", err);
		if (p == text && !strcmp(p, "."))
			break;
		if (*p == '.' && p[1] != '[')
			p = read_key(p + 1, step);
		else
			p = read_bracket(p + (*p == '.'), step);
		if (!p || (*p && *p != '.' && *p != '['))
			return refuse_path(text,
				"write .key, [number] or [\"key\"] one behind the other", err);
		path->n++;
	}
	return 0;
}

struct walk {
	struct pl_json *j;
	const struct pl_json_path *paths;
	struct pl_json_span *found;
	int level;
};

static int walk_value(struct walk *w, uint64_t set);

/* The paths of the set whose step here is this key (or, with key NULL, this index). */
static uint64_t choose(
	const struct walk *w, uint64_t set, const struct pl_json_span *key, uint64_t index)
{
	uint64_t chosen = 0;

	for (uint64_t rest = set; rest; rest &= rest - 1) {
		int i = __builtin_ctzll(rest);
		const struct pl_json_step *step = &w->paths[i].step[w->level];

		if (!step->key != !key)
			continue;
		if (key ? pl_json_equals(*key, step->key, step->n_key) : step->index == index)
			chosen |= (uint64_t)1 << i;
	}
	return chosen;
}

/* A member or item: an equal key before it doesn't count any more. */
static int walk_into(struct walk *w, uint64_t set)
{
	int r;

	for (uint64_t rest = set; rest; rest &= rest - 1)
		w->found[__builtin_ctzll(rest)] = (struct pl_json_span){0};
	w->level++;
	r = walk_value(w, set);
	w->level--;
	return r;
}

static int walk_object(struct walk *w, uint64_t set)
{
	struct pl_json_span key;
	bool is_first;
	int r;

	pl_json_begin(w->j, &is_first);
	while ((r = pl_json_next(w->j, '}', &is_first)) == 1) {
		if (pl_json_key(w->j, &key) || walk_into(w, choose(w, set, &key, 0)))
			return -EINVAL;
	}
	return r;
}

static int walk_array(struct walk *w, uint64_t set)
{
	bool is_first;
	int r;

	pl_json_begin(w->j, &is_first);
	for (uint64_t i = 0; (r = pl_json_next(w->j, ']', &is_first)) == 1; i++)
		if (walk_into(w, choose(w, set, NULL, i)))
			return -EINVAL;
	return r;
}

static int walk_value(struct walk *w, uint64_t set)
{
	uint64_t here = 0;
	const char *begin;
	char c = pl_json_peek(w->j);
	int r;

	for (uint64_t rest = set; rest; rest &= rest - 1)
		if (w->paths[__builtin_ctzll(rest)].n == w->level)
			here |= rest & -rest;
	begin = w->j->at;
	if (set != here && c == '{')
		r = walk_object(w, set & ~here);
	else if (set != here && c == '[')
		r = walk_array(w, set & ~here);
	else
		r = pl_json_skip(w->j, NULL);
	for (; here && !r; here &= here - 1)
		w->found[__builtin_ctzll(here)] =
			(struct pl_json_span){begin, (size_t)(w->j->at - begin)};
	return r;
}

int pl_json_find(struct pl_json *j, const struct pl_json_path *paths, uint64_t wanted,
	struct pl_json_span *found)
{
	struct walk w = {.j = j, .paths = paths, .found = found};

	for (uint64_t rest = wanted; rest; rest &= rest - 1)
		found[__builtin_ctzll(rest)] = (struct pl_json_span){0};
	return walk_value(&w, wanted) ? -EINVAL : pl_json_finish(j);
}

static size_t put(char *out, size_t at, size_t n, const char *text)
{
	if (at < n)
		snprintf(out + at, n - at, "%s", text);
	return at + strlen(text);
}

/* The path's first `steps` steps, as they are written. */
static void format_path(const struct pl_json_path *path, int steps, char *out, size_t n)
{
	size_t at = put(out, 0, n, steps ? "" : "the record");

	for (int i = 0; i < steps; i++) {
		const struct pl_json_step *s = &path->step[i];
		char step[128];
		char shown[512];

		if (s->key)
			snprintf(step, sizeof(step), ".%.*s", (int)pl_min_u64(s->n_key, 100),
				s->key);
		else
			snprintf(step, sizeof(step), "[%llu]", (unsigned long long)s->index);
		at = put(out, at, n, pl_err_quote(shown, sizeof(shown), step));
	}
}

static void list_keys(struct pl_json j, char *out, size_t n)
{
	struct pl_json_span key;
	bool is_first;
	size_t at = 0;

	out[0] = '\0';
	pl_json_begin(&j, &is_first);
	while (at < n && pl_json_next(&j, '}', &is_first) == 1) {
		char one[64];
		char shown[256];

		if (pl_json_key(&j, &key) || pl_json_skip(&j, NULL))
			return;
		snprintf(one, sizeof(one), "%.*s", (int)pl_min_u64(key.n, sizeof(one) - 1), key.at);
		at = put(out, at, n, at ? ", " : "");
		at = put(out, at, n, pl_err_quote(shown, sizeof(shown), one));
	}
}

char *pl_json_explain(
	const char *text, size_t bytes, const struct pl_json_path *path, char *out, size_t n)
{
	struct pl_json_path part = {0};
	struct pl_json_span value = {text, bytes};
	struct pl_json_span deeper;
	struct pl_json j;
	char place[256];
	char keys[300];

	while (part.n < path->n) {
		part.step[part.n] = path->step[part.n];
		part.n++;
		j = (struct pl_json){.at = text, .end = text + bytes};
		if (pl_json_find(&j, &part, 1, &deeper) || !deeper.at)
			break;
		value = deeper;
	}
	part.n -= part.n > 0;
	format_path(path, part.n, place, sizeof(place));
	j = (struct pl_json){.at = value.at, .end = value.at + value.n};
	if (!path->step[part.n].key && pl_json_peek(&j) == '[') {
		snprintf(out, n, "%s has no item [%llu]", place,
			(unsigned long long)path->step[part.n].index);
	} else if (path->step[part.n].key && pl_json_peek(&j) == '{') {
		list_keys(j, keys, sizeof(keys));
		snprintf(out, n, "no key '%.*s' in %s (keys there: %s)",
			(int)pl_min_u64(path->step[part.n].n_key, 100), path->step[part.n].key,
			place, keys[0] ? keys : "none");
	} else {
		snprintf(out, n, "%s is %s, not an %s", place, pl_json_kind(pl_json_peek(&j)),
			path->step[part.n].key ? "object" : "array");
	}
	return out;
}
