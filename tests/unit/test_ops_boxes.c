/* tests/unit/test_ops_boxes.c - formats, units and links of `boxes`. */
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_boxes;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const float numbers[2][4] = {{10, 20, 30, 50}, {0, 0, 4, 8}};

static void begin(struct op_harness *h, const char *format)
{
	op_begin(h, &pl_op_boxes);
	op_set(h, "format", format);
	op_field(h, "bbox", PL_KIND_TENSOR, PL_F32, 2, SHAPE(2, 4), numbers);
	h->type[0].shape[0] = -1;
}

static void expect_box(const struct op_harness *h, int64_t row, const double *wanted)
{
	for (int64_t k = 0; k < 4; k++)
		cr_expect(op_at(h, 0, SHAPE(row, k)) == wanted[k], "[%d][%d] is %g, not %g",
			(int)row, (int)k, op_at(h, 0, SHAPE(row, k)), wanted[k]);
}

Test(ops_boxes, formats)
{
	static const struct {
		const char *format;
		double first[4];
		double second[4];
	} rows[] = {
		{"xyxy", {10, 20, 30, 50}, {0, 0, 4, 8}},
		{"xywh", {10, 20, 40, 70}, {0, 0, 4, 8}},
		{"cxcywh", {-5, -5, 25, 45}, {-2, -4, 2, 4}},
		{"yxyx", {20, 10, 50, 30}, {0, 0, 8, 4}},
	};

	for (size_t k = 0; k < PL_ARRAY_LEN(rows); k++) {
		struct op_harness h;

		begin(&h, rows[k].format);
		cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
		cr_expect(op_type(&h, 0)->kind == PL_KIND_BOXES && op_type(&h, 0)->shape[0] == -1);
		expect_box(&h, 0, rows[k].first);
		expect_box(&h, 1, rows[k].second);
		op_end(&h);
	}
}

Test(ops_boxes, other_dtypes_and_none)
{
	static const int64_t integers[1][4] = {{1, 2, 3, 4}};
	struct op_harness h;

	op_begin(&h, &pl_op_boxes);
	op_set(&h, "format", "xywh");
	op_field(&h, "bbox", PL_KIND_TENSOR, PL_I64, 2, SHAPE(1, 4), integers);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->dtype == PL_F32);
	expect_box(&h, 0, (const double[]){1, 2, 4, 6});
	cr_assert(pl_tensor_init(&h.given[0], NULL, PL_I64, 2, SHAPE(0, 4)) == 0);
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_value(&h, 0)->shape[0] == 0 && op_value(&h, 0)->shape[1] == 4);
	op_end(&h);
}

/* YOLO: shares of a picture of 80 x 40. */
Test(ops_boxes, relative_units)
{
	static const float shares[1][4] = {{0.5f, 0.5f, 0.25f, 0.5f}};
	struct op_harness h;

	op_begin(&h, &pl_op_boxes);
	op_set(&h, "format", "cxcywh");
	op_set(&h, "units", "relative");
	op_field(&h, "bbox", PL_KIND_TENSOR, PL_F32, 2, SHAPE(1, 4), shares);
	op_field(&h, "image", PL_KIND_IMAGE, PL_U8, 3, SHAPE(40, 80, 3), calloc(80 * 3, 40));
	op_also(&h);
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	expect_box(&h, 0, (const double[]){30, 10, 50, 30});
	free(h.given[1].data);
	op_end(&h);
}

Test(ops_boxes, links)
{
	static const int64_t classes[3] = {5, 6, 7};
	struct op_harness h;

	begin(&h, "xyxy");
	op_field(&h, "category", PL_KIND_TENSOR, PL_I64, 1, SHAPE(2), classes);
	op_also(&h);
	((struct pl_param_texts *)(void *)((char *)h.params + pl_op_boxes.params[2].offset))->v[0] =
		"category";
	cr_assert(op_load(&h) == 0 && op_run(&h) == 0, "%s", h.err.text);
	cr_expect(op_type(&h, 0)->link != 0 && op_type(&h, 0)->link == op_type(&h, 1)->link);
	cr_expect(op_at(&h, 1, SHAPE(1)) == 6, "it stays as it is");
	h.given[1].shape[0] = 3;
	op_expect_error(&h, op_run(&h), "field 'category' has 3 rows, but there are 2 boxes");
	h.type[0].shape[0] = 2;
	h.type[1].shape[0] = 3;
	op_expect_error(&h, op_load(&h), "with: field 'category' is tensor i64 [3] and has no row");
	h.type[1] = pl_type_scalar(PL_I64);
	op_expect_error(&h, op_load(&h), "has no row for each box");
	op_end(&h);
}

Test(ops_boxes, fields_that_are_refused)
{
	struct op_harness h;

	begin(&h, "xyxy");
	h.type[0].shape[1] = 5;
	op_expect_error(
		&h, op_load(&h), "field 'bbox' is tensor f32 [?, 5], but boxes are numbers");
	op_end(&h);
}
