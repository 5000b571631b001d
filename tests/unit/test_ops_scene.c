/* tests/unit/test_ops_scene.c - an image, its mask, its boxes and its points go through chains of
 * geometry steps together, and agree at the end. */
#include <math.h>

#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_random_crop;
extern const struct pl_op pl_op_center_crop;
extern const struct pl_op pl_op_random_flip;
extern const struct pl_op pl_op_random_resized_crop;
extern const struct pl_op pl_op_resize;
extern const struct pl_op pl_op_pad;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

enum { IMAGE, MASK, BOXES, POINTS, N_FIELDS };

#define HEIGHT 48
#define WIDTH  72

/* A grid of 4 rows and 6 columns; cells are 12 pixels wide and high, and painted without their rim.
 */
#define N_CELLS 24

static const char *const names[N_FIELDS] = {"image", "mask", "boxes", "points"};
static const enum pl_kind kinds[N_FIELDS] = {
	PL_KIND_IMAGE, PL_KIND_MASK, PL_KIND_BOXES, PL_KIND_POINTS};

struct scene {
	struct pl_tensor field[N_FIELDS]; /* contiguous, owned */
	uint64_t index;
};

static struct pl_tensor tensor(enum pl_dtype dtype, int rank, const int64_t *shape)
{
	struct pl_tensor t;

	cr_assert(pl_tensor_init(&t, NULL, dtype, rank, shape) == 0);
	t.data = calloc(1, (size_t)pl_tensor_bytes(&t) + 1);
	return t;
}

static void paint(struct scene *s, int cell)
{
	int top = cell / 6 * 12 + 2;
	int left = cell % 6 * 12 + 3;
	float *box = (float *)s->field[BOXES].data + 4 * (ptrdiff_t)cell;
	float *point = (float *)s->field[POINTS].data + 2 * (ptrdiff_t)cell;
	const float edges[4] = {(float)left, (float)top, (float)(left + 6), (float)(top + 8)};

	for (int y = top; y < top + 8; y++) {
		for (int x = left; x < left + 6; x++) {
			((unsigned char *)s->field[MASK].data)[y * WIDTH + x] =
				(unsigned char)(cell + 1);
			((unsigned char *)s->field[IMAGE].data)[(y * WIDTH + x) * 2] =
				(unsigned char)(cell + 1);
		}
	}
	memcpy(box, edges, sizeof(edges));
	point[0] = (float)left + 3.5f;
	point[1] = (float)top + 4.5f;
}

static void draw_grid(struct scene *s, uint64_t index)
{
	s->index = index;
	s->field[IMAGE] = tensor(PL_U8, 3, SHAPE(HEIGHT, WIDTH, 2));
	s->field[MASK] = tensor(PL_U8, 2, SHAPE(HEIGHT, WIDTH));
	s->field[BOXES] = tensor(PL_F32, 2, SHAPE(N_CELLS, 4));
	s->field[POINTS] = tensor(PL_F32, 2, SHAPE(N_CELLS, 2));
	for (int cell = 0; cell < N_CELLS; cell++)
		paint(s, cell);
}

static void forget(struct scene *s)
{
	for (int i = 0; i < N_FIELDS; i++)
		free(s->field[i].data);
}

/* `settings` are pairs of key and value, NULL at the end. */
static void apply(struct scene *s, const struct pl_op *op, const char *const *settings)
{
	struct op_harness h;

	op_begin(&h, op);
	for (; *settings; settings += 2)
		op_set(&h, settings[0], settings[1]);
	for (int i = 0; i < N_FIELDS; i++)
		op_field(&h, names[i], kinds[i], s->field[i].dtype, s->field[i].rank,
			s->field[i].shape, s->field[i].data);
	h.key.index = s->index;
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s: %s", op->name, h.err.text);
	for (int i = 0; i < N_FIELDS; i++) {
		const struct pl_tensor *value = op_value(&h, i);
		struct pl_tensor copy = tensor(value->dtype, value->rank, value->shape);

		cr_assert(pl_tensor_copy(&copy, value) == 0);
		free(s->field[i].data);
		s->field[i] = copy;
	}
	op_end(&h);
}

#define APPLY(s, op, ...) apply(s, &pl_op_##op, (const char *const[]){__VA_ARGS__, NULL})

static int mask_at(const struct scene *s, int64_t y, int64_t x)
{
	const struct pl_tensor *m = &s->field[MASK];

	return ((const unsigned char *)m->data)[y * m->shape[1] + x];
}

/* Where the cell is seen in the mask: edges, or all 0 when it isn't. */
static void seen(const struct scene *s, int cell, double edges[4])
{
	const struct pl_tensor *m = &s->field[MASK];
	int64_t left = m->shape[1], top = m->shape[0], right = 0, bottom = 0;

	for (int64_t y = 0; y < m->shape[0]; y++) {
		for (int64_t x = 0; x < m->shape[1]; x++) {
			if (mask_at(s, y, x) != cell + 1)
				continue;
			left = x < left ? x : left;
			top = y < top ? y : top;
			right = x + 1 > right ? x + 1 : right;
			bottom = y + 1 > bottom ? y + 1 : bottom;
		}
	}
	edges[0] = (double)left;
	edges[1] = (double)top;
	edges[2] = (double)right;
	edges[3] = (double)bottom;
	if (right == 0)
		memset(edges, 0, 4 * sizeof(*edges));
}

static void check_image(const struct scene *s, bool is_nearest)
{
	const struct pl_tensor *image = &s->field[IMAGE];

	cr_assert(image->shape[0] == s->field[MASK].shape[0]);
	cr_assert(image->shape[1] == s->field[MASK].shape[1]);
	for (int64_t i = 0; is_nearest && i < pl_tensor_count(&s->field[MASK]); i++) {
		int there = ((const unsigned char *)s->field[MASK].data)[i];
		int pixel = ((const unsigned char *)image->data)[2 * i];

		cr_assert(pixel == (there == 255 ? 0 : there), "pixel %d: %d and %d", (int)i, pixel,
			there);
	}
}

/* Boxes are where the mask shows their cells, within `tolerance` pixels; points lie in them.
 * Returns how many cells are seen. */
static int check(const struct scene *s, double tolerance, bool is_nearest)
{
	int n = 0;

	check_image(s, is_nearest);
	for (int cell = 0; cell < N_CELLS; cell++) {
		const float *box = (const float *)s->field[BOXES].data + 4 * (ptrdiff_t)cell;
		const float *point = (const float *)s->field[POINTS].data + 2 * (ptrdiff_t)cell;
		double width = (double)(box[2] - box[0]);
		double height = (double)(box[3] - box[1]);
		double edges[4];

		seen(s, cell, edges);
		if (edges[2] == 0) {
			cr_expect(width <= tolerance || height <= tolerance, "cell %d", cell);
			continue;
		}
		n++;
		for (int k = 0; k < 4; k++)
			cr_expect(fabs((double)box[k] - edges[k]) <= tolerance,
				"cell %d edge %d: %g, seen at %g", cell, k, (double)box[k],
				edges[k]);
		if (tolerance == 0 && point[0] > box[0] && point[0] < box[2] && point[1] > box[1] &&
			point[1] < box[3])
			cr_expect(mask_at(s, (int64_t)point[1], (int64_t)point[0]) == cell + 1,
				"point of cell %d", cell);
	}
	return n;
}

Test(ops_scene, flips_and_crops)
{
	for (uint64_t index = 0; index < 60; index++) {
		struct scene s;

		draw_grid(&s, index);
		cr_assert(check(&s, 0, true) == N_CELLS);
		APPLY(&s, random_flip, "axis", "horizontal");
		cr_assert(check(&s, 0, true) == N_CELLS);
		APPLY(&s, random_crop, "size", "[31, 40]");
		cr_assert(check(&s, 0, true) >= 6);
		APPLY(&s, random_flip, "axis", "vertical");
		check(&s, 0, true);
		APPLY(&s, center_crop, "size", "20");
		check(&s, 0, true);
		APPLY(&s, pad, "size", "[33, 47]");
		check(&s, 0, true);
		forget(&s);
	}
}

Test(ops_scene, padding_crops_and_whole_factors)
{
	for (uint64_t index = 0; index < 40; index++) {
		struct scene s;

		draw_grid(&s, index);
		APPLY(&s, resize, "size", "[96, 216]", "filter", "nearest");
		cr_assert(check(&s, 0, true) == N_CELLS);
		APPLY(&s, random_crop, "size", "[130, 90]", "pad_if_needed", "true");
		check(&s, 0, true);
		APPLY(&s, random_flip, "axis", "horizontal");
		check(&s, 0, true);
		APPLY(&s, resize, "size", "[260, 180]", "filter", "nearest");
		check(&s, 0, true);
		forget(&s);
	}
}

/* A list of short sides, a limit of the long one, drawn windows: sizes no longer divide, so a
 * pixel's edge may be rounded either way. */
Test(ops_scene, any_factor)
{
	for (uint64_t index = 0; index < 40; index++) {
		struct scene s;
		int64_t longer;

		draw_grid(&s, index);
		APPLY(&s, resize, "short", "[31, 50, 77, 90]", "max_long", "120");
		longer = s.field[MASK].shape[1];
		cr_assert(longer <= 120 && s.field[MASK].shape[0] >= 31);
		cr_assert(check(&s, 1, false) == N_CELLS);
		APPLY(&s, random_flip, "axis", "vertical");
		check(&s, 1, false);
		APPLY(&s, random_resized_crop, "size", "[64, 48]", "scale", "[0.3, 1]");
		check(&s, 4, false);
		forget(&s);
	}
}
