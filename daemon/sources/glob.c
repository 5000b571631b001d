/* daemon/sources/glob.c - patterns of paths, matched folder by folder on the way down a tree. */
#include "daemon/sources/glob.h"

#include <errno.h>

#define SPELLINGS_MAX 1024

size_t pl_glob_fixed(const char *pattern)
{
	size_t first = strcspn(pattern, "*?[{\\");

	if (pattern[first] == '\0')
		return first;
	while (first > 0 && pattern[first - 1] != '/')
		first--;
	return first;
}

/* Length of the set at p ("[...]"), 0 when it isn't closed: then '[' stands for itself. */
static size_t set_length(const char *p)
{
	size_t n = 1;

	if (p[n] == '!' || p[n] == '^')
		n++;
	if (p[n] == ']')
		n++;
	while (p[n] && p[n] != ']')
		n++;
	return p[n] ? n + 1 : 0;
}

/* Bytes of the sign at p that stand together: an escaped sign, a set, else one. */
static size_t unit_length(const char *p)
{
	size_t n = 0;

	if (*p == '\\' && p[1])
		return 2;
	if (*p == '[')
		n = set_length(p);
	return n ? n : 1;
}

static size_t character_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = (u[0] & 0xe0) == 0xc0   ? 2
		   : (u[0] & 0xf0) == 0xe0 ? 3
		   : (u[0] & 0xf8) == 0xf0 ? 4
					   : 1;

	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 1;
	return n;
}

static bool is_in_set(const char *p, size_t n, unsigned char c)
{
	bool is_negated = p[1] == '!' || p[1] == '^';
	size_t i = 1 + is_negated;
	bool is_found = false;

	do {
		unsigned char low = (unsigned char)p[i++];
		unsigned char high = low;

		if (p[i] == '-' && i + 2 < n) {
			high = (unsigned char)p[i + 1];
			i += 2;
		}
		is_found |= low <= c && c <= high;
	} while (i + 1 < n);
	return is_found != is_negated;
}

/* Bytes of s that the unit at p (not *) takes; 0 when it doesn't match. */
static size_t take(const char *p, size_t n, const char *s)
{
	if (!*s)
		return 0;
	if (*p == '?')
		return character_length(s);
	if (*p == '[' && n > 1) {
		if (!is_in_set(p, n, (unsigned char)*s))
			return 0;
		return p[1] == '!' || p[1] == '^' ? character_length(s) : 1;
	}
	return *s == p[n - 1];
}

static bool matches(const char *p, const char *s)
{
	const char *retry_pattern = NULL;
	const char *retry_name = NULL;

	if (*s == '.' && *p != '.' && strncmp(p, "\\.", 2))
		return false;
	while (*s || *p) {
		size_t n = *p ? unit_length(p) : 0;
		size_t taken = n && *p != '*' ? take(p, n, s) : 0;

		if (*p == '*') {
			retry_pattern = ++p;
			retry_name = s;
		} else if (taken) {
			p += n;
			s += taken;
		} else if (retry_pattern && *retry_name) {
			p = retry_pattern;
			s = ++retry_name;
		} else {
			return false;
		}
	}
	return true;
}

/* First "{" of a pattern that isn't escaped or in a set, or NULL. */
static const char *find_brace(const char *p)
{
	for (; *p; p += unit_length(p))
		if (*p == '{')
			return p;
	return NULL;
}

/* End of the alternative at p: the comma or brace on its own level; NULL when there is none. */
static const char *alternative_end(const char *p)
{
	int depth = 0;

	for (; *p; p += unit_length(p)) {
		if (depth == 0 && (*p == ',' || *p == '}'))
			return p;
		depth += *p == '{';
		depth -= *p == '}';
	}
	return NULL;
}

static int add_spelling(struct pl_glob_part *part, char *text, struct pl_err *err)
{
	char **grown;

	if (!text)
		return pl_err_set(err, -ENOMEM, "out of memory");
	if (part->n == SPELLINGS_MAX) {
		free(text);
		return pl_err_set(
			err, -EINVAL, "{} spell out to more than %d patterns", SPELLINGS_MAX);
	}
	grown = reallocarray(part->spelling, (size_t)part->n + 1, sizeof(*grown));
	if (!grown) {
		free(text);
		return pl_err_set(err, -ENOMEM, "out of memory");
	}
	part->spelling = grown;
	grown[part->n++] = text;
	return 0;
}

static char *join(const char *a, size_t n_a, const char *b, size_t n_b, const char *c)
{
	size_t n_c = strlen(c) + 1;
	char *text = malloc(n_a + n_b + n_c);

	if (!text)
		return NULL;
	memcpy(text, a, n_a);
	memcpy(text + n_a, b, n_b);
	memcpy(text + n_a + n_b, c, n_c);
	return text;
}

/* Replaces spelling i, whose first brace is at `brace`, by one spelling for each alternative. */
static int spell_out(struct pl_glob_part *part, int i, struct pl_err *err)
{
	PL_AUTO_FREE char *old = part->spelling[i];
	const char *brace = find_brace(old);
	const char *from = brace + 1;
	const char *end = alternative_end(from);
	const char *close = end;
	int r = 0;

	part->spelling[i] = part->spelling[--part->n];
	while (close && *close == ',')
		close = alternative_end(close + 1);
	if (!close)
		return pl_err_set(
			err, -EINVAL, "'{' without '}' in '%s' (write \\{ for the sign)", old);
	if (end == close && strstr(from, "..") && strstr(from, "..") < close)
		return pl_err_set(err, -EINVAL,
			"'%s': a range in {} isn't understood here; write [0-9] or *", old);
	for (; !r; from = end + 1, end = alternative_end(from)) {
		r = add_spelling(part,
			join(old, (size_t)(brace - old), from, (size_t)(end - from), close + 1),
			err);
		if (end == close)
			break;
	}
	return r;
}

static int compile_part(struct pl_glob_part *part, const char *text, size_t n, struct pl_err *err)
{
	char *whole = strndup(text, n);
	int r;

	if (whole && !strcmp(whole, "**")) {
		part->is_any_depth = true;
		free(whole);
		return 0;
	}
	r = add_spelling(part, whole, err);
	if (r)
		return r;
	if (strstr(whole, "**"))
		return pl_err_set(err, -EINVAL,
			"'%s': ** must stand alone between slashes, as in **/*.jpg", whole);
	if (!strcmp(whole, ".."))
		return pl_err_set(err, -EINVAL, "'..' can't come after a wildcard");
	for (int i = 0; i < part->n && !r;) {
		if (find_brace(part->spelling[i]))
			r = spell_out(part, i, err);
		else
			i++;
	}
	return r;
}

int pl_glob_init(struct pl_glob *g, const char *pattern, struct pl_err *err)
{
	int r = 0;

	*g = (struct pl_glob){0};
	while (*pattern && !r) {
		size_t n = strcspn(pattern, "/");
		bool is_empty = n == 0 || (n == 1 && *pattern == '.');

		if (!is_empty && g->n == PL_GLOB_PARTS_MAX)
			return pl_err_set(err, -EINVAL, "the pattern has more than %d parts",
				PL_GLOB_PARTS_MAX);
		if (!is_empty)
			r = compile_part(&g->part[g->n++], pattern, n, err);
		pattern += n;
		if (!r && pattern[0] == '/' && pattern[1] == '\0')
			r = pl_err_set(err, -EINVAL,
				"the pattern ends in '/': write which files, as in */*.jpg");
		pattern += *pattern == '/';
	}
	return r;
}

void pl_glob_finish(struct pl_glob *g)
{
	if (!g)
		return;
	for (int i = 0; i < g->n; i++) {
		for (int k = 0; k < g->part[i].n; k++)
			free(g->part[i].spelling[k]);
		free(g->part[i].spelling);
	}
	*g = (struct pl_glob){0};
}

/* ** also stands for no folder at all. */
static uint64_t pass_any_depth(const struct pl_glob *g, uint64_t places)
{
	for (int i = 0; i < g->n; i++)
		if (places >> i & 1 && g->part[i].is_any_depth)
			places |= (uint64_t)2 << i;
	return places;
}

uint64_t pl_glob_start(const struct pl_glob *g)
{
	return pass_any_depth(g, 1);
}

static bool part_matches(const struct pl_glob_part *part, const char *name)
{
	for (int i = 0; i < part->n; i++)
		if (matches(part->spelling[i], name))
			return true;
	return false;
}

uint64_t pl_glob_step(const struct pl_glob *g, uint64_t places, const char *name, bool is_link)
{
	uint64_t next = 0;

	for (int i = 0; i < g->n; i++) {
		if (!(places >> i & 1))
			continue;
		if (!g->part[i].is_any_depth)
			next |= part_matches(&g->part[i], name) ? (uint64_t)2 << i : 0;
		else if (*name != '.' && !is_link)
			next |= (uint64_t)1 << i;
	}
	return pass_any_depth(g, next);
}
