/* daemon/ops/gaussian_blur.c - blurs pictures with a Gaussian of drawn width. */
#include <errno.h>
#include <math.h>

#include "daemon/ops/colour.h"
#include "daemon/ops/numbers.h"

/*
 * The weights and borders are torchvision's: exp(-x^2 / (2 sigma^2)) at whole x, divided by their
 * sum, and the picture is mirrored at its border pixels, which are not repeated; one smaller than
 * the kernel is mirrored again and again. Rows first, then columns, in f32; u8 is rounded to even
 * once, at the end. All channels are blurred alike. Every sum is taken from left to right, so that
 * every processor gives the same bits.
 */
struct gaussian_blur_params {
	struct pl_param_range sigma;
	int64_t kernel;
};

#define SIGMA_MAX   256
#define KERNEL_MAX  2049
#define KERNEL_AUTO PL_PARAM_WORD(0)
#define AT(member)  offsetof(struct gaussian_blur_params, member)

static const char *const words[] = {"auto", NULL};

static const struct pl_param params[] = {
	{.key = "sigma",
		.kind = PL_PARAM_RANGE,
		.offset = AT(sigma),
		.def = "[0.1, 2]",
		.min = 0.01,
		.max = SIGMA_MAX,
		.unit = "pixels",
		.is_obvious = true,
		.help = "the Gaussian's standard deviation, drawn from this range"},
	{.key = "kernel",
		.kind = PL_PARAM_INT,
		.offset = AT(kernel),
		.def = "auto",
		.min = 1,
		.max = KERNEL_MAX,
		.unit = "pixels",
		.choices = words,
		.help = "how many pixels are weighted in each direction, an odd number; auto: all "
			"within 4 sigma"},
	{0},
};

static int check(void *params_, struct pl_err *err)
{
	const struct gaussian_blur_params *p = params_;

	if (p->kernel == KERNEL_AUTO || p->kernel % 2 == 1)
		return 0;
	return pl_err_set(err, -EINVAL, "kernel: %d has no middle: it must be odd (%d or %d)",
		(int)p->kernel, (int)p->kernel - 1, (int)p->kernel + 1);
}

/* Weights of the pixels from -radius to radius. */
struct kernel {
	int64_t radius;
	float *weight;
};

static int make_kernel(struct pl_run *r, double sigma, int64_t size, struct kernel *k)
{
	double sum = 0;

	k->radius = size == KERNEL_AUTO ? (int64_t)ceil(4 * sigma) : size / 2;
	size = 2 * k->radius + 1;
	k->weight = pl_run_scratch(r, (size_t)size * sizeof(float));
	if (!k->weight)
		return pl_run_failed(r);
	for (int64_t i = 0; i < size; i++) {
		double x = (double)(i - k->radius) / sigma;

		k->weight[i] = (float)exp(-0.5 * x * x);
		sum += (double)k->weight[i];
	}
	for (int64_t i = 0; i < size; i++)
		k->weight[i] = (float)((double)k->weight[i] / sum);
	return 0;
}

/* The pixel that a place beyond 0..n-1 shows. */
static int64_t mirrored(int64_t at, int64_t n)
{
	int64_t period = 2 * (n - 1);

	if (period == 0)
		return 0;
	at %= period;
	at = at < 0 ? at + period : at;
	return at < n ? at : period - at;
}

/*
 * One frame on its way. `row` is a source row with its mirrored ends, `ring` the blurred rows that
 * the column pass may still need: source row y lies in ring[y % n_ring].
 */
struct blur {
	const struct pl_picture *in;
	struct kernel kernel;
	int64_t n_values; /* of a row */
	int64_t n_ring;
	float *row;
	float *ring;
	float *sum;
};

static void add_weighted(float *sum, const float *v, float weight, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		sum[i] += weight * v[i];
}

static void blur_row(const struct blur *b, const unsigned char *from, float *to)
{
	int64_t radius = b->kernel.radius;
	int64_t channels = b->in->channels;
	float *middle = b->row + radius * channels;

	pl_numbers_convert(middle, PL_F32, from, b->in->dtype, b->n_values);
	for (int64_t x = 1; x <= radius; x++) {
		int64_t after = b->in->width - 1 + x;

		memcpy(middle - x * channels, middle + mirrored(-x, b->in->width) * channels,
			(size_t)channels * sizeof(float));
		memcpy(middle + after * channels, middle + mirrored(after, b->in->width) * channels,
			(size_t)channels * sizeof(float));
	}
	memset(to, 0, (size_t)b->n_values * sizeof(float));
	for (int64_t k = 0; k <= 2 * radius; k++)
		add_weighted(to, b->row + k * channels, b->kernel.weight[k], b->n_values);
}

static void store_row(const struct blur *b, unsigned char *out)
{
	if (b->in->dtype == PL_F32) {
		memcpy(out, b->sum, (size_t)b->n_values * sizeof(float));
		return;
	}
	for (int64_t i = 0; i < b->n_values; i++) {
		float v = rintf(b->sum[i]);

		out[i] = (unsigned char)(v >= PL_COLOUR_MAX ? PL_COLOUR_MAX : v);
	}
}

static void blur_frame(const struct blur *b, const unsigned char *in, unsigned char *out)
{
	int64_t radius = b->kernel.radius;
	int64_t height = b->in->height;
	int64_t done = 0;

	for (int64_t y = 0; y < height; y++, out += b->in->width * b->in->pixel) {
		for (; done < height && done <= y + radius; done++)
			blur_row(b, in + done * b->in->row_stride,
				b->ring + done % b->n_ring * b->n_values);
		memset(b->sum, 0, (size_t)b->n_values * sizeof(float));
		for (int64_t k = -radius; k <= radius; k++) {
			int64_t at = mirrored(y + k, height);

			add_weighted(b->sum, b->ring + at % b->n_ring * b->n_values,
				b->kernel.weight[k + radius], b->n_values);
		}
		store_row(b, out);
	}
}

static int blur_field(struct pl_run *r, double sigma, int64_t size, int i)
{
	struct pl_tensor t = r->sample->value[r->in[i]];
	struct pl_picture in;
	struct blur b = {.in = &in};
	unsigned char *out;
	int rc = pl_colour_in(r, i, &in);

	if (rc == 0)
		rc = make_kernel(r, sigma, size, &b.kernel);
	if (rc < 0)
		return rc;
	b.n_values = in.width * in.channels;
	b.n_ring = in.height < 2 * b.kernel.radius + 1 ? in.height : 2 * b.kernel.radius + 1;
	out = pl_run_out(r, i, t.dtype, t.rank, t.shape);
	b.row = pl_run_scratch(
		r, (size_t)(b.n_values + 2 * b.kernel.radius * in.channels) * sizeof(float));
	b.ring = pl_run_scratch(r, (size_t)(b.n_ring * b.n_values) * sizeof(float));
	b.sum = pl_run_scratch(r, (size_t)b.n_values * sizeof(float));
	if (!out || !b.row || !b.ring || !b.sum)
		return pl_run_failed(r);
	for (int64_t f = 0; f < in.n_frames; f++)
		blur_frame(&b, in.data + f * in.frame_stride,
			out + f * in.height * in.width * in.pixel);
	return 0;
}

static int run(struct pl_run *r)
{
	const struct gaussian_blur_params *p = r->params;
	double sigma = pl_rng_range(&r->rng, p->sigma.low, p->sigma.high);

	for (int i = 0; i < r->n; i++) {
		int rc = blur_field(r, sigma, p->kernel, i);

		if (rc < 0)
			return rc;
	}
	return 0;
}

extern const struct pl_op pl_op_gaussian_blur;
const struct pl_op pl_op_gaussian_blur = {
	.abi = PL_OP_ABI,
	.size = sizeof(struct pl_op),
	.name = "gaussian_blur",
	.help = "blurs pictures with a Gaussian of drawn width",
	.class_ = "photometric",
	.version = 1,
	.stages = PL_STAGE_WORKER,
	.flags = PL_OP_RANDOM,
	.takes = PL_KINDS_COLOUR,
	.params = params,
	.params_size = sizeof(struct gaussian_blur_params),
	.check = check,
	.infer = pl_colour_infer,
	.run = run,
};
