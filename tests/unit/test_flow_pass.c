/* tests/unit/test_flow_pass.c - steps in one pass leave the same bytes, shapes and strides as
 * apart. */
#include "tests/unit/plan_harness.h"

#include "daemon/flow/steps.h"

/*
 * A property: random runs of cast, normalize and rearrange on random values of every dtype, shape
 * and layout, into a row or not; one plan fuses, one doesn't.
 */
#define N_CASES   (getenv("PL_LONG") ? 20000 : 600)
#define N_DTYPES  (PL_DTYPE_END - 1)
#define BYTES_MAX ((size_t)1 << 18)

TestSuite(flow_pass, .init = enter_new_folder, .timeout = 100);

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* What a case's text is made from: where each axis of the value is by now. */
struct text {
	char steps[2000];
	size_t n;
	int order[3];
	int channels;
};

static void PL_PRINTF(2, 3) add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->steps + t->n, sizeof(t->steps) - t->n, format, args);
	va_end(args);
	cr_assert_lt(t->n, sizeof(t->steps));
}

static void add_rearrange(struct text *t)
{
	static const int orders[6][3] = {
		{0, 1, 2}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}};
	const int *o = orders[below(6)];
	int before[3];

	memcpy(before, t->order, sizeof(before));
	for (int i = 0; i < 3; i++)
		t->order[i] = before[o[i]];
	add(t, "  - rearrange: {field: image, pattern: \"a b c -> %c %c %c\"}\n", 'a' + o[0],
		'a' + o[1], 'a' + o[2]);
}

static void add_normalize(struct text *t)
{
	bool is_last = t->order[2] == 2;

	if (!is_last || below(3) == 0) {
		add(t, "  - normalize: {field: image, scale: %s}\n", below(2) ? "1/255" : "3e38");
		return;
	}
	add(t, "  - normalize: {field: image, mean: [0.5");
	for (int c = 1; c < t->channels; c++)
		add(t, ", 0.%d", c);
	add(t, "], std: 0.%u}\n", 1 + below(9));
}

static void add_steps(struct text *t)
{
	static const char *const types[] = {
		"u8", "f16", "bf16", "f32", "f64", "i8", "u64", "i32", "bool"};
	unsigned n = 2 + below(4);

	for (unsigned i = 0; i < n; i++) {
		unsigned kind = below(3);

		if (kind == 0)
			add(t, "  - cast: {field: image, dtype: %s}\n",
				types[below(PL_ARRAY_LEN(types))]);
		else if (kind == 1)
			add_normalize(t);
		else
			add_rearrange(t);
	}
}

/* A value [h, w, channels] in one of the layouts that earlier steps leave, somewhere among the
 * bytes. */
static struct pl_tensor make_value(char *bytes, int channels)
{
	char *data = bytes + 8 * below(BYTES_MAX / 16);
	static const unsigned sizes[] = {1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 40};
	int64_t shape[3] = {sizes[below(11)], sizes[below(11)], channels};
	enum pl_dtype dtype = below(2) ? PL_U8 : (enum pl_dtype)(1 + below(N_DTYPES));
	struct pl_tensor t;
	int64_t row;

	cr_assert_eq(pl_tensor_init(&t, data, dtype, 3, shape), 0);
	row = t.stride[0];
	switch (below(6)) {
	case 0: /* cut out of a wider picture */
		t.stride[0] = row + 3 * t.stride[1];
		break;
	case 1: /* upside down */
		t.data = data + row * (shape[0] - 1);
		t.stride[0] = -row;
		break;
	case 2: /* mirrored */
		t.data = data + t.stride[1] * (shape[1] - 1);
		t.stride[1] = -t.stride[1];
		break;
	case 3: /* planes */
		t.stride[1] = (int64_t)pl_dtype_size(dtype);
		t.stride[0] = t.stride[1] * shape[1];
		t.stride[2] = t.stride[0] * shape[0];
		break;
	default:
		break;
	}
	return t;
}

struct outcome {
	struct pl_plan *plan;
	struct pl_steps steps;
	struct pl_step_list list; /* without decode_image */
	struct pl_scratch scratch;
	struct pl_sample sample;
	struct pl_tensor value;
	char *row;
	int rc;
};

static int n_passes(const struct pl_step_list *list)
{
	int n = 0;

	for (int i = 0; i < list->n; i++)
		n += list->step[i].pass.at == 1;
	return n;
}

/* Type and shape of the row are those that the steps without a row gave. */
static void run(struct outcome *o, const struct pl_tensor *value, const struct pl_tensor *row)
{
	struct pl_err err = {0};
	const struct pl_step *failed;
	int field = field_named(o->plan, "image");

	for (int i = 0; i < o->list.n; i++)
		o->list.step[i].writes_row[0] = row && i == o->list.n - 1;
	pl_scratch_reset(&o->scratch);
	o->sample.value[field] = *value;
	o->sample.row[field] = (struct pl_tensor){0};
	free(o->row);
	o->row = NULL;
	if (row) {
		o->row = malloc((size_t)pl_tensor_bytes(row) + 1);
		cr_assert_eq(pl_tensor_init(&o->sample.row[field], o->row, row->dtype, row->rank,
				     row->shape),
			0);
	}
	o->rc = pl_steps_run(&o->steps, &o->list, &o->sample, &failed, &err);
	cr_assert_eq(o->rc, 0, "%s", err.text);
	o->value = o->sample.value[field];
}

static void begin(struct outcome *o, const char *fuse, const struct text *t)
{
	char text[3000];
	struct pl_err err = {0};

	snprintf(text, sizeof(text),
		"fuse: %s\nsource: {files: photos}\nworkers:\n  - decode_image: {channels: %s}\n%s",
		fuse,
		t->channels == 1   ? "grey"
		: t->channels == 3 ? "rgb"
				   : "rgba",
		t->steps);
	memset(o, 0, sizeof(*o));
	o->plan = good_plan(text);
	o->list =
		(struct pl_step_list){.n = o->plan->worker.n - 1, .step = o->plan->worker.step + 1};
	o->steps.plan = o->plan;
	pl_scratch_init(&o->scratch, (size_t)1 << 30);
	o->sample.scratch = &o->scratch;
	cr_assert_eq(pl_steps_prepare(&o->steps, &o->list, &err), 0, "%s", err.text);
}

static void end(struct outcome *o)
{
	pl_steps_finish(&o->steps);
	pl_scratch_finish(&o->scratch);
	pl_plan_destroy(o->plan);
	free(o->row);
}

static void expect_equal(const struct outcome *a, const struct outcome *b, const struct text *t)
{
	size_t bytes = (size_t)pl_tensor_bytes(&a->value);
	struct pl_tensor flat[2];

	cr_assert_eq(a->value.dtype, b->value.dtype, "%s", t->steps);
	cr_assert_eq(a->value.rank, b->value.rank, "%s", t->steps);
	cr_assert_arr_eq(a->value.shape, b->value.shape, 3 * sizeof(int64_t), "%s", t->steps);
	for (int d = 0; d < 3; d++) /* no step is taken along a length of 1 */
		cr_assert(a->value.shape[d] <= 1 || a->value.stride[d] == b->value.stride[d],
			"other strides: %s", t->steps);
	cr_assert_eq((char *)a->value.data == a->row, (char *)b->value.data == b->row);
	for (int i = 0; i < 2; i++) {
		const struct pl_tensor *v = i ? &b->value : &a->value;

		cr_assert_eq(
			pl_tensor_init(&flat[i], malloc(bytes + 1), v->dtype, v->rank, v->shape),
			0);
		cr_assert_eq(pl_tensor_copy(&flat[i], v), 0);
	}
	cr_assert(memcmp(flat[0].data, flat[1].data, bytes) == 0, "other bytes: %s\n%s", t->steps,
		pl_dtype_name(a->value.dtype));
	free(flat[0].data);
	free(flat[1].data);
}

Test(flow_pass, gives_what_the_steps_give_apart)
{
	static const int channels[] = {1, 3, 4};
	char *bytes = malloc(BYTES_MAX);
	int n_fused = 0;

	for (size_t i = 0; i < BYTES_MAX; i++)
		bytes[i] = (char)below(256);
	for (int i = 0; i < N_CASES; i++) {
		struct text t = {.order = {0, 1, 2}, .channels = channels[below(3)]};
		struct pl_tensor value = make_value(bytes, t.channels);
		struct outcome *one = malloc(sizeof(*one));
		struct outcome *apart = malloc(sizeof(*apart));

		add_steps(&t);
		begin(one, "on", &t);
		begin(apart, "off", &t);
		cr_assert_eq(n_passes(&apart->list), 0);
		n_fused += n_passes(&one->list);
		run(one, &value, NULL);
		run(apart, &value, NULL);
		expect_equal(one, apart, &t);
		value = make_value(bytes, t.channels);
		run(apart, &value, NULL);
		{
			struct pl_tensor row = apart->value;

			run(one, &value, &row);
			run(apart, &value, &row);
		}
		expect_equal(one, apart, &t);
		end(one);
		end(apart);
		free(one);
		free(apart);
	}
	cr_assert_gt(n_fused, N_CASES / 4, "%d of %d", n_fused, N_CASES);
	free(bytes);
}

/* The pass of the usual case is made, and straight into the row. */
Test(flow_pass, is_made_and_writes_the_row)
{
	struct text t = {.channels = 3};
	unsigned char pixels[2 * 5 * 3];
	float row[30];
	struct outcome *o = malloc(sizeof(*o));
	struct pl_run r;
	int field;

	add(&t, "  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n");
	begin(o, "on", &t);
	field = field_named(o->plan, "image");
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)(i * 9);
	cr_assert_eq(pl_tensor_init(
			     &o->sample.value[field], pixels, PL_U8, 3, (const int64_t[]){2, 5, 3}),
		0);
	cr_assert_eq(
		pl_tensor_init(&o->sample.row[field], row, PL_F32, 3, (const int64_t[]){3, 2, 5}),
		0);
	r = (struct pl_run){.sample = &o->sample,
		.in = o->list.step[0].in,
		.out = o->list.step[1].out,
		.n = 1,
		.writes_row = (const bool[]){true}};
	cr_assert_eq(pl_pass_run(&r, o->steps.pass[o->list.step[0].id]), 0);
	cr_expect_eq(o->sample.value[field].data, (void *)row);
	cr_expect_eq(row[0], 0 * (float)(1 / 255.0 / 0.229) + (float)(-0.485 / 0.229));
	cr_expect_eq(
		row[29], (float)pixels[29] * (float)(1 / 255.0 / 0.225) + (float)(-0.406 / 0.225));
	end(o);
	free(o);
}

/* Another number of channels than there are means: the step says so, as if it had run alone. */
Test(flow_pass, a_bad_sample_has_the_error_of_its_step)
{
	static const char *const fuse[] = {"on", "off"};
	char texts[2][sizeof(((struct pl_err *)0)->text)];
	struct text t = {.channels = 3};

	add(&t, "  - cast: f32\n  - normalize: imagenet\n  - rearrange: \"h w c -> c h w\"\n");
	for (int i = 0; i < 2; i++) {
		struct outcome *o = malloc(sizeof(*o));
		unsigned char pixels[8] = {0};
		struct pl_err err = {0};
		const struct pl_step *failed = NULL;

		begin(o, fuse[i], &t);
		cr_assert_eq(pl_tensor_init(&o->sample.value[field_named(o->plan, "image")], pixels,
				     PL_U8, 3, (const int64_t[]){2, 2, 2}),
			0);
		cr_expect_lt(pl_steps_run(&o->steps, &o->list, &o->sample, &failed, &err), 0);
		cr_expect_str_eq(failed->op->name, "normalize");
		strcpy(texts[i], err.text);
		end(o);
		free(o);
	}
	cr_expect_str_eq(texts[0], texts[1]);
}
