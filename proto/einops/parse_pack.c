/* proto/einops/parse_pack.c - the pattern of pack and unpack. */
#include "proto/einops/room.h"

/* White space as Python's str.split knows it. */
static bool is_white(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
	       c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

/* The next word at or after *at; false at the end. */
static bool next_word(const struct fault *f, uint32_t *at, struct span *word)
{
	uint32_t c = 0;
	uint32_t i = *at;
	size_t n;

	word->n = 0;
	for (; i < f->n_text; i += n ? (uint32_t)n : 1) {
		n = pl_utf8_decode(f->text + i, f->n_text - i, &c);
		if (n && is_white(c)) {
			if (word->n)
				break;
			continue;
		}
		if (word->n == 0)
			word->at = i;
		word->n = i + (n ? (uint32_t)n : 1) - word->at;
	}
	*at = i;
	return word->n > 0;
}

static bool is_same(const struct fault *f, struct span a, struct span b)
{
	return a.n == b.n && memcmp(f->text + a.at, f->text + b.at, a.n) == 0;
}

static bool is_star(const struct fault *f, struct span word)
{
	return word.n == 1 && f->text[word.at] == '*';
}

static int check_words(const struct span *words, uint32_t n, const struct fault *f)
{
	char word[48];
	uint32_t stars = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (is_same(f, words[i], words[k]))
				return pl_fault(f, PL_EINOPS_E_DUP, words[i],
					"'%s' is twice in the pattern; once each, and one star",
					pl_fault_word(word, f->text, words[i]));
	for (uint32_t i = 0; i < n; i++)
		stars += is_star(f, words[i]);
	if (!stars)
		return pl_fault(f, PL_EINOPS_E_PACK_STAR, (struct span){(uint32_t)f->n_text, 1},
			"no '*'; it stands for the axes that are packed, as in 'b * c'");
	for (uint32_t i = 0; i < n; i++)
		if (!is_star(f, words[i]) && !pl_is_name(f->text + words[i].at, words[i].n))
			return pl_fault(f, PL_EINOPS_E_IDENT, words[i],
				"'%s' is no axis name: a letter first, then letters, digits and "
				"'_', no '_' at either end",
				pl_fault_word(word, f->text, words[i]));
	return 0;
}

int pl_parse_pack(struct pl_einops_pattern *p, const struct fault *f)
{
	struct span words[PL_EINOPS_AXES_MAX];
	uint32_t n = 0;
	uint32_t at = 0;
	int r;

	while (n < PL_EINOPS_AXES_MAX && next_word(f, &at, &words[n]))
		n++;
	if (n == PL_EINOPS_AXES_MAX)
		return pl_fault(f, PL_EINOPS_E_LIMIT, words[n - 1], "more than %d words",
			PL_EINOPS_AXES_MAX - 1);
	r = check_words(words, n, f);
	if (r)
		return r;
	while (!is_star(f, words[p->n_before]))
		p->n_before++;
	p->star = words[p->n_before];
	p->n_after = n - p->n_before - 1;
	return 0;
}
