/* daemon/plan/diag.c - the errors and warnings of a pipeline file, collected and told in one go. */
#include "daemon/plan/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "daemon/plan/bytes.h"

#define DIAG_TEXTS_MAX    64  /* as PL_TEXTS_MAX */
#define DIAG_MESSAGES_MAX 128 /* errors, warnings and notes together */
#define DIAG_LINE_SHOWN   96  /* characters of a source line that are shown around the caret */

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag_message {
	enum diag_level level;
	struct pl_place at;
	int order; /* of the error or warning that a note belongs to */
	char *text;
};

struct diag_text {
	char *name;
	char *text;
	size_t n;
};

struct pl_diag {
	struct diag_text text[DIAG_TEXTS_MAX];
	int n_texts;
	struct diag_message message[DIAG_MESSAGES_MAX];
	int n_messages;
	int n_errors;
	int n_warnings;
};

struct pl_diag *pl_diag_create(void)
{
	return calloc(1, sizeof(struct pl_diag));
}

void pl_diag_destroy(struct pl_diag *d)
{
	if (!d)
		return;
	for (int i = 0; i < d->n_texts; i++) {
		free(d->text[i].name);
		free(d->text[i].text);
	}
	for (int i = 0; i < d->n_messages; i++)
		free(d->message[i].text);
	free(d);
}

int pl_diag_add_text(struct pl_diag *d, const char *name, const char *text, size_t n)
{
	struct diag_text *t = &d->text[d->n_texts];

	if (d->n_texts == DIAG_TEXTS_MAX)
		return -ENOMEM;
	t->name = strdup(name);
	t->text = malloc(n + 1);
	if (!t->name || !t->text) {
		free(t->name);
		free(t->text);
		*t = (struct diag_text){0};
		return -ENOMEM;
	}
	memcpy(t->text, text, n);
	t->text[n] = '\0';
	t->n = n;
	return d->n_texts++;
}

const char *pl_diag_text_name(const struct pl_diag *d, int file)
{
	return file >= 0 && file < d->n_texts ? d->text[file].name : "";
}

const char *pl_diag_text(const struct pl_diag *d, int file, size_t *n)
{
	bool is_known = file >= 0 && file < d->n_texts;

	if (n)
		*n = is_known ? d->text[file].n : 0;
	return is_known ? d->text[file].text : "";
}

const char *pl_diag_line(const struct pl_diag *d, struct pl_place at, size_t *n)
{
	size_t left;
	const char *line = pl_diag_text(d, at.file, &left);
	const char *end = line + left;
	const char *newline;

	for (int i = 1; i < at.line && line < end; i++) {
		newline = memchr(line, '\n', (size_t)(end - line));
		line = newline ? newline + 1 : end;
	}
	newline = memchr(line, '\n', (size_t)(end - line));
	*n = (size_t)((newline ? newline : end) - line);
	if (*n > 0 && line[*n - 1] == '\r')
		*n -= 1;
	return line;
}

bool pl_diag_is_full(const struct pl_diag *d)
{
	return d->n_errors >= PL_DIAG_MAX;
}

/* A definition that is used twice would tell its faults twice. */
static bool is_told(const struct pl_diag *d, const struct diag_message *new)
{
	for (int i = 0; i < d->n_messages; i++) {
		const struct diag_message *m = &d->message[i];

		if (m->level == new->level && m->at.file == new->at.file &&
			m->at.line == new->at.line &&
			m->at.column == new->at.column &&strcmp(m->text, new->text) == 0)
			return true;
	}
	return false;
}

/* False: it was told before, or there is no room. */
static bool PL_PRINTF(4, 0) diag_add(struct pl_diag *d, enum diag_level level, struct pl_place at,
	const char *format, va_list args)
{
	struct diag_message *m = &d->message[d->n_messages];

	if (d->n_messages == DIAG_MESSAGES_MAX || vasprintf(&m->text, format, args) < 0)
		return false;
	m->level = level;
	m->at = at;
	if (is_told(d, m)) {
		free(m->text);
		return false;
	}
	m->order = d->n_messages;
	if (level == DIAG_NOTE && d->n_messages > 0)
		m->order = d->message[d->n_messages - 1].order;
	d->n_messages++;
	return true;
}

void pl_diag_error(struct pl_diag *d, struct pl_place at, const char *format, ...)
{
	va_list args;

	if (d->n_errors >= PL_DIAG_MAX) {
		d->n_errors++;
		return;
	}
	va_start(args, format);
	d->n_errors += diag_add(d, DIAG_ERROR, at, format, args);
	va_end(args);
}

void pl_diag_warning(struct pl_diag *d, struct pl_place at, const char *format, ...)
{
	va_list args;

	if (d->n_warnings >= PL_DIAG_MAX)
		return;
	va_start(args, format);
	d->n_warnings += diag_add(d, DIAG_WARNING, at, format, args);
	va_end(args);
}

void pl_diag_note(struct pl_diag *d, struct pl_place at, const char *format, ...)
{
	va_list args;

	if (d->n_errors > PL_DIAG_MAX)
		return;
	va_start(args, format);
	(void)diag_add(d, DIAG_NOTE, at, format, args);
	va_end(args);
}

void pl_diag_forget_line(struct pl_diag *d, struct pl_place at)
{
	while (d->n_messages > 0) {
		struct diag_message *last = &d->message[d->n_messages - 1];

		if (last->level != DIAG_ERROR || last->at.file != at.file ||
			last->at.line != at.line)
			return;
		free(last->text);
		d->n_messages--;
		d->n_errors--;
	}
}

int pl_diag_n_errors(const struct pl_diag *d)
{
	return d->n_errors;
}

int pl_diag_n_warnings(const struct pl_diag *d)
{
	return d->n_warnings;
}

/* The part of a source line around the caret, one column of the terminal a character. */
struct diag_window {
	size_t begin; /* bytes into the line */
	size_t end;
	size_t caret;
};

static size_t next_character(const char *line, size_t at, size_t n)
{
	at++;
	while (at < n && ((unsigned char)line[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static struct diag_window window_of(const char *line, size_t n, int column)
{
	struct diag_window w = {0, 0, 0};
	int first = column > DIAG_LINE_SHOWN - 20 ? column - (DIAG_LINE_SHOWN - 20) : 1;
	size_t at = 0;

	for (int i = 1; at < n && i < first + DIAG_LINE_SHOWN; i++) {
		if (i == first)
			w.begin = at;
		if (i == column)
			w.caret = at;
		at = next_character(line, at, n);
		if (i + 1 == column)
			w.caret = at;
	}
	w.end = at;
	return w;
}

/* Control bytes and broken UTF-8 would garble the terminal: they become '?'. A tab stays, above the
 * caret too. */
static char shown_byte(const char *line, size_t at, size_t n)
{
	bool is_inside = ((unsigned char)line[at] & 0xc0) == 0x80;

	if (line[at] == '\t' || is_inside)
		return line[at];
	return (unsigned char)line[at] >= 0x20 && pl_bytes_utf8(line + at, n - at) ? line[at] : '?';
}

static void render_line(FILE *out, const struct pl_diag *d, struct pl_place at)
{
	struct diag_window w;
	size_t n;
	const char *line = pl_diag_line(d, at, &n);
	char quoted[DIAG_LINE_SHOWN * 4 + 8] = "";
	size_t n_quoted = 0;

	if (at.line < 1 || n == 0)
		return;
	w = window_of(line, n, at.column);
	for (size_t i = w.begin; i < w.end && n_quoted + 1 < sizeof(quoted); i++)
		quoted[n_quoted++] = shown_byte(line, i, n);
	quoted[n_quoted] = '\0';
	fprintf(out, "%5d | %s%s%s\n      | %s", at.line, w.begin ? "..." : "", quoted,
		w.end < n ? "..." : "", w.begin ? "   " : "");
	for (size_t i = w.begin; i < w.caret; i = next_character(line, i, n))
		fputc(line[i] == '\t' ? '\t' : ' ', out);
	fputs("^\n", out);
}

static void render_message(FILE *out, const struct pl_diag *d, const struct diag_message *m)
{
	static const char *const level_name[] = {"error", "warning", "note"};

	if (m->at.line > 0)
		fprintf(out, "%s:%d:%d: ", pl_diag_text_name(d, m->at.file), m->at.line,
			m->at.column);
	else if (pl_diag_text_name(d, m->at.file)[0])
		fprintf(out, "%s: ", pl_diag_text_name(d, m->at.file));
	fprintf(out, "%s: %s\n", level_name[m->level], m->text);
	render_line(out, d, m->at);
}

/* Errors before warnings, then by place; a note stays behind what it belongs to. */
static int message_compare(const void *left, const void *right, void *diag)
{
	const struct pl_diag *d = diag;
	const struct diag_message *a = left;
	const struct diag_message *b = right;
	const struct diag_message *head_a = &d->message[a->order];
	const struct diag_message *head_b = &d->message[b->order];
	const int difference[] = {
		(int)head_a->level - (int)head_b->level,
		head_a->at.file - head_b->at.file,
		head_a->at.line - head_b->at.line,
		head_a->at.column - head_b->at.column,
		a->order - b->order,
		(int)a->level - (int)b->level,
	};

	for (size_t i = 0; i < PL_ARRAY_LEN(difference); i++)
		if (difference[i])
			return difference[i];
	return 0;
}

char *pl_diag_render(const struct pl_diag *d)
{
	struct diag_message *sorted = calloc(DIAG_MESSAGES_MAX, sizeof(*sorted));
	char *text = NULL;
	size_t n = 0;
	FILE *out = sorted ? open_memstream(&text, &n) : NULL;

	if (!out) {
		free(sorted);
		return NULL;
	}
	memcpy(sorted, d->message, (size_t)d->n_messages * sizeof(*sorted));
	qsort_r(sorted, (size_t)d->n_messages, sizeof(*sorted), message_compare, (void *)d);
	for (int i = 0; i < d->n_messages; i++)
		render_message(out, d, &sorted[i]);
	if (d->n_errors > PL_DIAG_MAX)
		fprintf(out, "and %d more errors\n", d->n_errors - PL_DIAG_MAX);
	free(sorted);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
