/* daemon/plan/words.c - libyaml's problems told in plain words. */
#include "daemon/plan/words.h"

#include "daemon/plan/bytes.h"

/*
 * libyaml names the rule of its grammar that failed, at the place where it noticed. People need the
 * mistake and its place, so each problem that people make has a function here that looks at the
 * text around it.
 */

struct words_look {
	struct pl_diag *diag;
	const struct pl_yaml_problem *p;
	const char *line; /* of the problem */
	size_t n;
	size_t at; /* byte of the problem in the line */
};

static char char_at(const struct words_look *l)
{
	return l->at < l->n ? l->line[l->at] : '\0';
}

/* The last character before the problem that is no blank, on its line; '\0' when there is none. */
static char char_before(const struct words_look *l)
{
	size_t i = l->at < l->n ? l->at : l->n;

	while (i > 0 && (l->line[i - 1] == ' ' || l->line[i - 1] == '\t'))
		i--;
	return i > 0 ? l->line[i - 1] : '\0';
}

static bool has_colon(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == ':' && (i + 1 == n || text[i + 1] == ' ' || text[i + 1] == '\t'))
			return true;
	return false;
}

/* The nearest line above that isn't empty or a comment; line 0 when there is none. */
static struct pl_place line_above(const struct words_look *l, size_t *n, const char **text)
{
	struct pl_place at = l->p->problem_at;

	for (at.line--; at.line > 0; at.line--) {
		const char *line = pl_diag_line(l->diag, at, n);
		size_t i = 0;

		while (i < *n && (line[i] == ' ' || line[i] == '\t'))
			i++;
		if (i == *n || line[i] == '#')
			continue;
		at.column = (int)i + 1;
		*text = line;
		return at;
	}
	return at;
}

static void tell_mapping_value(const struct words_look *l)
{
	const char *above = NULL;
	size_t n = 0;
	struct pl_place at = line_above(l, &n, &above);

	if (has_colon(l->line, l->at)) {
		pl_diag_error(l->diag, l->p->problem_at,
			"a second ': ' on one line: put the value in quotes if the colon belongs "
			"to it, "
			"else start a new line");
		return;
	}
	if (at.line > 0 && !has_colon(above, n)) {
		pl_diag_error(l->diag, at, "expected ':' after this name");
		pl_diag_note(l->diag, l->p->problem_at, "so this ':' has no place");
		return;
	}
	pl_diag_error(l->diag, l->p->problem_at,
		"a ':' can't stand here: the line above already has a value, or this line is "
		"indented too far");
}

static void tell_no_colon(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->context_at.line ? l->p->context_at : l->p->problem_at,
		"expected ':' and a value after this name");
}

static void tell_cannot_start(const struct words_look *l)
{
	char c = char_at(l);

	if (c == '\t')
		pl_diag_error(l->diag, l->p->problem_at,
			"a tab is used for indentation: YAML allows spaces only");
	else
		pl_diag_error(l->diag, l->p->problem_at,
			"'%c' is reserved at the start of a value: put the value in quotes", c);
}

static void tell_bad_name(const struct words_look *l)
{
	struct pl_place at = l->p->context_at.line ? l->p->context_at : l->p->problem_at;

	pl_diag_error(l->diag, at,
		"a value that starts with '%s' is read as %s: put it in quotes (anchors and "
		"aliases "
		"are not part of this language; use define and use)",
		strstr(l->p->context, "anchor") ? "&" : "*",
		strstr(l->p->context, "anchor") ? "an anchor" : "an alias");
}

static void tell_whole_value(const struct words_look *l, char close)
{
	pl_diag_forget_line(l->diag, l->p->problem_at);
	pl_diag_error(l->diag, l->p->problem_at,
		"a value that starts with '%c' is a %s and ends at its '%c': put the whole value "
		"in quotes",
		close == '}' ? '{' : '[', close == '}' ? "map" : "list", close);
}

/* The problem's place is behind the '*' or '&'. */
static void tell_alias_name(const struct words_look *l)
{
	char before = l->at >= 2 && l->at <= l->n ? l->line[l->at - 2] : '\0';

	if (before == ']' || before == '}') {
		tell_whole_value(l, before);
		return;
	}
	tell_bad_name(l);
}

static void tell_tag(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->context_at.line ? l->p->context_at : l->p->problem_at,
		"a value that starts with '!' is read as a tag: put it in quotes (tags are not "
		"part of "
		"this language)");
}

static void tell_flow(const struct words_look *l)
{
	bool is_list = strchr(l->p->problem, ']') != NULL;
	char c = char_at(l);

	if (c == '{' || c == '[' || char_before(l) == '}' || char_before(l) == ']')
		pl_diag_error(l->diag, l->p->problem_at,
			"a value with '{', '}', '[' or ']' inside a %s must be in quotes",
			is_list ? "[list]" : "{map}");
	else
		pl_diag_error(
			l->diag, l->p->problem_at, "expected ',' or '%s'", is_list ? "]" : "}");
	if (l->p->context_at.line)
		pl_diag_note(
			l->diag, l->p->context_at, "the %s began here", is_list ? "list" : "map");
}

static void tell_no_key(const struct words_look *l)
{
	char before = char_before(l);

	if (before == '}' || before == ']')
		tell_whole_value(l, before);
	else if (char_at(l) == '-')
		pl_diag_error(l->diag, l->p->problem_at,
			"this '-' doesn't line up with the items of a list above it");
	else if (before == '"' || before == '\'')
		pl_diag_error(l->diag, l->p->problem_at,
			"the value ended with its quote: nothing may follow it on the line");
	else
		pl_diag_error(l->diag, l->p->problem_at,
			"expected a 'name:' with the indentation of the names above it");
	if (l->p->context_at.line && l->p->context_at.line != l->p->problem_at.line)
		pl_diag_note(l->diag, l->p->context_at, "the map began here");
}

static void tell_no_dash(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->problem_at, "expected '- ' with the indentation of the list");
	if (l->p->context_at.line)
		pl_diag_note(l->diag, l->p->context_at, "the list began here");
}

static void tell_dash_here(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->problem_at,
		"a list item can't start here: begin it on a line of its own, or write the list as "
		"[a, b]");
}

static void tell_open_quote(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->context_at.line ? l->p->context_at : l->p->problem_at,
		"the quote that opens here is never closed");
}

static void tell_escape(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->problem_at,
		"unknown escape after '\\' in \"double quotes\": write '\\\\', or use 'single "
		"quotes'");
}

static void tell_directive(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->problem_at,
		"a line that starts with '%%' is a YAML directive: they are not part of this "
		"language");
}

static void tell_document_start(const struct words_look *l)
{
	pl_diag_error(l->diag, l->p->problem_at,
		"text after the end of the pipeline: is the line before indented too far, or "
		"a '-' or ':' missing?");
}

static const struct {
	const char *problem;
	void (*tell)(const struct words_look *l);
} words[] = {
	{"mapping values are not allowed", tell_mapping_value},
	{"could not find expected ':'", tell_no_colon},
	{"found character that cannot start any token", tell_cannot_start},
	{"did not find expected alphabetic or numeric character", tell_alias_name},
	{"did not find expected ',' or", tell_flow},
	{"did not find expected key", tell_no_key},
	{"did not find expected '-' indicator", tell_no_dash},
	{"block sequence entries are not allowed", tell_dash_here},
	{"found unexpected end of stream", tell_open_quote},
	{"found unexpected document indicator", tell_open_quote},
	{"found unknown escape character", tell_escape},
	{"did not find expected <document start>", tell_document_start},
	{"did not find expected tag", tell_tag},
	{"did not find expected '!'", tell_tag},
	{"found undefined tag handle", tell_tag},
	{"did not find expected whitespace or line break", tell_tag},
	{"directive", tell_directive},
};

void pl_yaml_tell(struct pl_diag *diag, const struct pl_yaml_problem *problem)
{
	struct words_look look = {.diag = diag, .p = problem};

	look.line = pl_diag_line(diag, problem->problem_at, &look.n);
	look.at = pl_bytes_of_column(look.line, look.n, problem->problem_at.column);
	for (size_t i = 0; i < PL_ARRAY_LEN(words); i++) {
		if (strstr(problem->problem, words[i].problem)) {
			words[i].tell(&look);
			return;
		}
	}
	if (strstr(problem->context, "directive")) {
		tell_directive(&look);
		return;
	}
	pl_diag_error(diag, problem->problem_at, "%s%s%s", problem->context,
		problem->context[0] ? ", " : "", problem->problem);
	if (problem->context_at.line)
		pl_diag_note(diag, problem->context_at, "it began here");
}
