/* tests/unit/test_ops_choose.c - which texts of a list are drawn, and lists that are none. */
#include "daemon/kit/text_list.h"
#include "tests/unit/op_harness.h"

extern const struct pl_op pl_op_choose;

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static const char *const texts[] = {"a", "", "two words", "d", "the fifth"};

/* A list of the first n texts; free it. */
static void *make_list(uint32_t n, size_t *bytes)
{
	size_t sum = 0;
	void *list;

	for (uint32_t i = 0; i < n; i++)
		sum += strlen(texts[i]);
	*bytes = pl_text_list_bytes(n, sum);
	list = calloc(1, *bytes);
	cr_assert(list);
	pl_text_list_begin(list, n);
	for (uint32_t i = 0; i < n; i++)
		pl_text_list_put(list, i, texts[i], strlen(texts[i]));
	return list;
}

static void begin(struct op_harness *h, const char *count, uint32_t n)
{
	size_t bytes;
	void *list = make_list(n, &bytes);

	op_begin(h, &pl_op_choose);
	op_set(h, "count", count);
	op_field(h, "captions", PL_KIND_LIST, PL_U8, 1, SHAPE((int64_t)bytes), list);
	h->type[0].shape[0] = -1;
	cr_assert(op_load(h) == 0, "%s", h->err.text);
}

static void end(struct op_harness *h)
{
	free(h->given[0].data);
	op_end(h);
}

static int index_of(const char *text, size_t n)
{
	for (int i = 0; i < 5; i++)
		if (strlen(texts[i]) == n && memcmp(texts[i], text, n) == 0)
			return i;
	cr_assert(false, "a text that was not in the list: %.*s", (int)n, text);
	return -1;
}

Test(ops_choose, one_of_all)
{
	struct op_harness h;
	int seen[5] = {0};

	begin(&h, "1", 5);
	cr_expect(op_type(&h, 0)->kind == PL_KIND_TEXT);
	for (h.key.index = 0; h.key.index < 500; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		seen[index_of(op_value(&h, 0)->data, (size_t)op_value(&h, 0)->shape[0])]++;
	}
	for (int k = 0; k < 5; k++)
		cr_expect(seen[k] > 60 && seen[k] < 145, "text %d: %d of 500", k, seen[k]);
	end(&h);
}

/* Of three out of five each place sees every text, and no text comes twice. */
Test(ops_choose, several)
{
	struct op_harness h;
	int seen[3][5] = {{0}};

	begin(&h, "3", 5);
	cr_expect(op_type(&h, 0)->kind == PL_KIND_LIST);
	for (h.key.index = 0; h.key.index < 1000; h.key.index++) {
		const struct pl_tensor *v = op_value(&h, 0);
		unsigned met = 0;

		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		cr_assert(pl_text_list_count(v->data, (size_t)v->shape[0]) == 3);
		for (uint32_t k = 0; k < 3; k++) {
			size_t n;
			const char *text = pl_text_list_at(v->data, k, &n);
			int i = index_of(text, n);

			cr_assert(!(met >> i & 1), "text %d twice", i);
			met |= 1u << i;
			seen[k][i]++;
		}
	}
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 5; i++)
			cr_expect(seen[k][i] > 140 && seen[k][i] < 260, "text %d at %d: %d of 1000",
				i, k, seen[k][i]);
	end(&h);
}

Test(ops_choose, fewer_than_wanted)
{
	struct op_harness h;

	begin(&h, "4", 2);
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(
		pl_text_list_count(op_value(&h, 0)->data, (size_t)op_value(&h, 0)->shape[0]) == 2);
	end(&h);
	begin(&h, "4", 0);
	cr_assert(op_run(&h) == 0, "%s", h.err.text);
	cr_expect(
		pl_text_list_count(op_value(&h, 0)->data, (size_t)op_value(&h, 0)->shape[0]) == 0);
	end(&h);
}

/* Lists that belong together keep the same places. */
Test(ops_choose, one_draw_for_all_fields)
{
	struct op_harness h;
	size_t bytes;
	void *list = make_list(5, &bytes);

	begin(&h, "1", 5);
	h.type[0].kind = PL_KIND_LIST; /* as before it was loaded */
	op_field(&h, "others", PL_KIND_LIST, PL_U8, 1, SHAPE((int64_t)bytes), list);
	cr_assert(op_load(&h) == 0, "%s", h.err.text);
	for (h.key.index = 0; h.key.index < 40; h.key.index++) {
		cr_assert(op_run(&h) == 0, "%s", h.err.text);
		cr_assert(op_value(&h, 0)->shape[0] == op_value(&h, 1)->shape[0]);
	}
	free(list);
	end(&h);
}

Test(ops_choose, what_is_refused)
{
	struct op_harness h;
	static const unsigned char none[] = {9, 0, 0, 0, 1, 0, 0, 0};

	begin(&h, "1", 0);
	op_expect_error(&h, op_run(&h), "the list is empty: there is nothing to choose");
	end(&h);
	op_begin(&h, &pl_op_choose);
	op_field(&h, "captions", PL_KIND_LIST, PL_U8, 1, SHAPE(8), none);
	cr_assert(op_load(&h) == 0);
	op_expect_error(&h, op_run(&h), "the value is no list of texts");
	h.given[0].shape[0] = 0;
	op_expect_error(&h, op_run(&h), "the value is no list of texts");
	h.type[0] = pl_type_bytes(PL_KIND_TEXT);
	op_expect_error(&h, op_load(&h), "field 'captions' is text u8 [?], but choose takes lists");
	op_end(&h);
}
