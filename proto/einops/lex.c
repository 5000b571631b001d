/* proto/einops/lex.c - one side of a pattern: characters to words, words to axes and dimensions. */
#include "proto/einops/room.h"

/* What the scan of one side carries along. */
struct scan {
	struct pl_einops_pattern *p;
	const struct fault *f;
	struct side *side;
	struct dim *group; /* the open parenthesis, or NULL */
	struct span word;  /* n == 0: none begun */
	unsigned int flags;
	bool is_right;
};

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static enum pl_char_kind ascii_kind(unsigned char c)
{
	if (is_digit(c))
		return PL_CHAR_CONTINUE;
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return PL_CHAR_START;
	return c == '_' ? PL_CHAR_CONTINUE : PL_CHAR_FOREIGN;
}

/* Kind of the character at text, and its bytes in *n (1 for bytes that are no UTF-8). */
static enum pl_char_kind char_kind(const char *text, size_t n_left, size_t *n)
{
	uint32_t c;

	*n = 1;
	if ((unsigned char)*text < 0x80)
		return ascii_kind((unsigned char)*text);
	*n = pl_utf8_decode(text, n_left, &c);
	if (*n == 0) {
		*n = 1;
		return PL_CHAR_FOREIGN;
	}
	return pl_char_kind(c);
}

bool pl_is_name(const char *text, size_t n)
{
	size_t length;

	if (n == 0 || text[0] == '_' || text[n - 1] == '_')
		return false;
	for (size_t i = 0; i < n; i += length) {
		enum pl_char_kind kind = char_kind(text + i, n - i, &length);

		if (kind != PL_CHAR_START && (kind != PL_CHAR_CONTINUE || i == 0))
			return false;
	}
	return true;
}

/* No dot, or three together and no other. */
static int check_dots(const struct scan *s, struct span at)
{
	const char *text = s->f->text + at.at;
	const char *dot = at.n ? memchr(text, '.', at.n) : NULL;
	size_t first;
	size_t run = 0;

	if (!dot)
		return 0;
	first = (size_t)(dot - text);
	while (first + run < at.n && text[first + run] == '.')
		run++;
	if (run != 3)
		return pl_fault(s->f, PL_EINOPS_E_DOTS,
			(struct span){at.at + (uint32_t)first, (uint32_t)run},
			"%zu dot%s together; the ellipsis is exactly three: '...'", run,
			run > 1 ? "s" : "");
	dot = memchr(text + first + 3, '.', at.n - first - 3);
	if (dot)
		return pl_fault(s->f, PL_EINOPS_E_DOTS,
			(struct span){(uint32_t)(dot - s->f->text), 1},
			"a second dot or '...'; a side has at most one ellipsis");
	return 0;
}

static bool is_ellipsis(const struct scan *s, struct span w)
{
	return w.n == 3 && memcmp(s->f->text + w.at, "...", 3) == 0;
}

/* The axis of that name, or of the ellipsis; NULL if it is new. */
static struct axis *find_axis(const struct scan *s, struct span w)
{
	const char *text = s->f->text;

	for (uint32_t i = 0; i < s->p->n_axes; i++) {
		struct axis *a = &s->p->axes[i];

		if (a->kind != AXIS_NUMBER && a->span.n == w.n &&
			memcmp(text + a->span.at, text + w.at, w.n) == 0)
			return a;
	}
	return NULL;
}

static struct axis *add_axis(const struct scan *s, enum axis_kind kind)
{
	struct pl_einops_pattern *p = s->p;
	struct axis *a;

	if (p->n_axes == PL_EINOPS_AXES_MAX)
		return NULL;
	a = &p->axes[p->n_axes++];
	*a = (struct axis){.kind = kind, .span = s->word, .length = PL_UNKNOWN};
	if (kind == AXIS_NAME) {
		a->name = p->n_names;
		memcpy(p->names + p->n_names, s->f->text + s->word.at, s->word.n);
		p->names[p->n_names + s->word.n] = '\0';
		p->n_names += s->word.n + 1;
	}
	return a;
}

/* The word becomes an item of the open group, or a dimension of its own; NULL axis: a unit. */
static void add_item(struct scan *s, struct axis *a)
{
	struct pl_einops_pattern *p = s->p;
	struct dim *d = s->group;

	if (!d) {
		d = &p->dims[p->n_dims++];
		*d = (struct dim){.span = s->word, .first = p->n_items};
		s->side->n++;
	}
	if (!a)
		return;
	p->items[p->n_items++] = (uint8_t)(a - p->axes);
	d->n++;
	if (s->is_right)
		a->is_right = true;
	else
		a->is_left = true;
	if (a->kind == AXIS_ELLIPSIS) {
		s->side->ellipsis = (int)(d - p->dims - s->side->first);
		s->side->ellipsis_at = s->word;
	}
}

static int too_many_axes(const struct scan *s)
{
	return pl_fault(s->f, PL_EINOPS_E_LIMIT, s->word, "more than %d axes in one pattern",
		PL_EINOPS_AXES_MAX);
}

/* All digits: 1 is a unit, 0 an error, everything else an axis of that length (INT64_MAX if
 * larger). */
static int take_number(struct scan *s)
{
	const char *text = s->f->text + s->word.at;
	struct axis *a;
	int64_t value = 0;

	for (uint32_t i = 0; i < s->word.n; i++) {
		value = mul_saturated(value, 10);
		if (__builtin_add_overflow(value, text[i] - '0', &value))
			value = INT64_MAX;
	}
	if (value == 1) {
		add_item(s, NULL);
		return 0;
	}
	if (value == 0)
		return pl_fault(s->f, PL_EINOPS_E_ANON_ZERO, s->word,
			"an axis can't have the length 0; use a name for an axis that may be "
			"empty");
	a = add_axis(s, AXIS_NUMBER);
	if (!a)
		return too_many_axes(s);
	a->length = value;
	add_item(s, a);
	return 0;
}

static bool is_number(const struct scan *s)
{
	for (uint32_t i = 0; i < s->word.n; i++)
		if (!is_digit((unsigned char)s->f->text[s->word.at + i]))
			return false;
	return true;
}

static int bad_name(const struct scan *s)
{
	char word[48];

	return pl_fault(s->f, PL_EINOPS_E_IDENT, s->word,
		"'%s' is no axis name: a letter first, then letters, digits and '_', and no '_' at "
		"either end",
		pl_fault_word(word, s->f->text, s->word));
}

static int take_name(struct scan *s, struct axis *known)
{
	const char *text = s->f->text + s->word.at;
	bool is_dots = is_ellipsis(s, s->word);
	bool is_blank = s->word.n == 1 && *text == '_' && (s->flags & SIDE_UNDERSCORE);

	if (!is_dots && !is_blank && !pl_is_name(text, s->word.n))
		return bad_name(s);
	if (!known)
		known = add_axis(s, is_dots ? AXIS_ELLIPSIS : AXIS_NAME);
	if (!known)
		return too_many_axes(s);
	add_item(s, known);
	return 0;
}

/* A word has ended: what is it? */
static int end_word(struct scan *s)
{
	struct axis *known;
	char word[48];
	int r;

	if (s->word.n == 0)
		return 0;
	known = find_axis(s, s->word);
	if (known && (s->is_right ? known->is_right : known->is_left) &&
		!(s->flags & SIDE_REPEATS) &&
		!(s->word.n == 1 && s->f->text[s->word.at] == '_' && (s->flags & SIDE_UNDERSCORE)))
		return pl_fault(s->f, PL_EINOPS_E_DUP, s->word,
			"'%s' is twice on this side; give each axis its own name",
			pl_fault_word(word, s->f->text, s->word));
	r = !is_ellipsis(s, s->word) && is_number(s) ? take_number(s) : take_name(s, known);
	s->word.n = 0;
	return r;
}

static int open_group(struct scan *s, uint32_t at)
{
	struct pl_einops_pattern *p = s->p;

	if (s->group)
		return pl_fault(s->f, PL_EINOPS_E_PAREN, (struct span){at, 1},
			"'(' inside parentheses; groups do not nest, close the first one before");
	s->group = &p->dims[p->n_dims++];
	*s->group = (struct dim){.span = {at, 1}, .first = p->n_items, .is_group = true};
	s->side->n++;
	return 0;
}

static int close_group(struct scan *s, uint32_t at)
{
	if (!s->group)
		return pl_fault(s->f, PL_EINOPS_E_PAREN, (struct span){at, 1},
			"')' without '(' before it; remove it or open the group");
	s->group->span.n = at + 1 - s->group->span.at;
	s->group = NULL;
	return 0;
}

static int bad_char(const struct scan *s, uint32_t at, size_t n)
{
	struct span span = {at, (uint32_t)n};
	char word[48];

	return pl_fault(s->f, PL_EINOPS_E_CHAR, span,
		"'%s' can't be in a pattern: only names, numbers, blanks, '(', ')' and '...' can",
		pl_fault_word(word, s->f->text, span));
}

/* Handles the character at `at`; *n is its bytes. */
static int take_char(struct scan *s, uint32_t at, size_t n_left, size_t *n)
{
	const char *text = s->f->text + at;
	int r;

	*n = 1;
	if (*text == ' ' || *text == '(' || *text == ')') {
		r = end_word(s);
		if (r || *text == ' ')
			return r;
		return *text == '(' ? open_group(s, at) : close_group(s, at);
	}
	if (*text == '.')
		*n = 3;
	else if (char_kind(text, n_left, n) == PL_CHAR_FOREIGN)
		return bad_char(s, at, *n);
	if (s->word.n == 0)
		s->word.at = at;
	s->word.n += (uint32_t)*n;
	return 0;
}

int pl_side_read(
	struct pl_einops_pattern *p, struct span at, unsigned int flags, const struct fault *f)
{
	struct scan s = {.p = p, .f = f, .flags = flags & ~(unsigned int)SIDE_RIGHT};
	size_t n;
	int r;

	s.is_right = flags & SIDE_RIGHT;
	s.side = &p->sides[p->n_sides++];
	*s.side = (struct side){.span = at, .first = p->n_dims, .ellipsis = -1};
	r = check_dots(&s, at);
	for (uint32_t i = 0; !r && i < at.n; i += (uint32_t)n)
		r = take_char(&s, at.at + i, at.n - i, &n);
	if (!r && s.group)
		r = pl_fault(
			f, PL_EINOPS_E_PAREN, s.group->span, "'(' is never closed on this side");
	return r ? r : end_word(&s);
}
