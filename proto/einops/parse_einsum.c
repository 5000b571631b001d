/* proto/einops/parse_einsum.c - the pattern of einsum. */
#include "proto/einops/room.h"

#define NAMES_MAX 52 /* what the original can name */

static int check_dim(const struct pl_einops_pattern *p, const struct dim *d, const struct fault *f)
{
	if (d->n == 0)
		return pl_fault(f, PL_EINOPS_E_EINSUM_UNIT, d->span,
			"a unit axis; einsum has names only, drop it by a rearrange before");
	if (d->n > 1)
		return pl_fault(f, PL_EINOPS_E_EINSUM_COMPOSITE, d->span,
			"a group of several axes; split it by a rearrange before");
	if (dim_axis(p, d, 0)->kind == AXIS_NUMBER)
		return pl_fault(
			f, PL_EINOPS_E_EINSUM_ANON, d->span, "a number; einsum has names only");
	if (dim_axis(p, d, 0)->kind == AXIS_ELLIPSIS && d->is_group)
		return pl_fault(f, PL_EINOPS_E_EINSUM_COMPOSITE, d->span,
			"'...' in parentheses; it stands alone in einsum");
	return 0;
}

static int check_side(
	const struct pl_einops_pattern *p, const struct side *side, const struct fault *f)
{
	char word[48];
	int r;

	for (uint32_t i = 0; i < side->n; i++) {
		const struct dim *d = side_dim(p, side, i);
		const struct axis *a;

		r = check_dim(p, d, f);
		if (r)
			return r;
		a = dim_axis(p, d, 0);
		if (a->kind == AXIS_NAME && !a->is_left)
			return pl_fault(f, PL_EINOPS_E_EINSUM_RIGHT, d->span,
				"'%s' is on no left side; einsum makes no axes",
				pl_fault_word(word, f->text, a->span));
	}
	return 0;
}

static int check_names(const struct pl_einops_pattern *p, const struct fault *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_axes; i++)
		if (p->axes[i].kind == AXIS_NAME && ++n > NAMES_MAX)
			return pl_fault(f, PL_EINOPS_E_LIMIT, p->axes[i].span,
				"more than %d different names", NAMES_MAX);
	return 0;
}

static int read_lefts(struct pl_einops_pattern *p, uint32_t end, const struct fault *f)
{
	uint32_t first = 0;

	while (true) {
		const char *comma = memchr(f->text + first, ',', end - first);
		uint32_t at = comma ? (uint32_t)(comma - f->text) : end;
		int r = pl_side_read(
			p, (struct span){first, at - first}, SIDE_UNDERSCORE | SIDE_REPEATS, f);

		if (r || !comma)
			return r;
		first = at + 1;
	}
}

int pl_parse_einsum(struct pl_einops_pattern *p, const struct fault *f)
{
	uint32_t arrow;
	int r = pl_arrow_find(f, &arrow);

	if (!r)
		r = read_lefts(p, arrow, f);
	if (!r)
		r = pl_side_read(p, (struct span){arrow + 2, p->n_text - arrow - 2},
			SIDE_UNDERSCORE | SIDE_RIGHT, f);
	for (uint32_t i = 0; !r && i < p->n_sides; i++)
		r = check_side(p, &p->sides[i], f);
	return r ? r : check_names(p, f);
}
