/* daemon/ops/resample_axis.c - the filters, and the weights of one axis. */
#include <errno.h>
#include <math.h>

#include "daemon/ops/resample_kernels.h"

const char *const pl_filter_names[] = {
	"nearest",
	"box",
	"bilinear",
	"hamming",
	"bicubic",
	"lanczos",
	NULL,
};

static double box(double x)
{
	return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x)
{
	x = fabs(x);
	return x < 1.0 ? 1.0 - x : 0.0;
}

static double hamming(double x)
{
	x = fabs(x);
	if (x == 0.0)
		return 1.0;
	if (x >= 1.0)
		return 0.0;
	x *= M_PI;
	return sin(x) / x * (0.54f + 0.46f * cos(x));
}

/* Keys' cubic with a = -0.5. */
static double bicubic(double x)
{
	const double a = -0.5;

	x = fabs(x);
	if (x < 1.0)
		return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
	if (x < 2.0)
		return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
	return 0.0;
}

static double sinc(double x)
{
	if (x == 0.0)
		return 1.0;
	x *= M_PI;
	return sin(x) / x;
}

static double lanczos(double x)
{
	return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

struct filter {
	double (*at)(double x);
	double support; /* it is zero beyond -support..support */
};

static const struct filter filters[] = {
	[PL_FILTER_BOX] = {box, 0.5},
	[PL_FILTER_BILINEAR] = {bilinear, 1.0},
	[PL_FILTER_HAMMING] = {hamming, 1.0},
	[PL_FILTER_BICUBIC] = {bicubic, 2.0},
	[PL_FILTER_LANCZOS] = {lanczos, 3.0},
};

struct axis_scale {
	const struct filter *filter;
	double scale;   /* input pixels an output pixel */
	double stretch; /* of the filter: scale when shrinking with antialias, else 1 */
	double support; /* in input pixels */
};

/* Fills k[0..count) so that the sum is 1. The order of operations is Pillow's, for equal rounding.
 */
static void weights_of(
	const struct axis_scale *s, double center, int32_t first, int32_t count, double *k)
{
	double step = 1.0 / s->stretch;
	double sum = 0.0;

	for (int32_t i = 0; i < count; i++) {
		k[i] = s->filter->at((i + first - center + 0.5) * step);
		sum += k[i];
	}
	for (int32_t i = 0; i < count && sum != 0.0; i++)
		k[i] /= sum;
}

static void store_fixed(struct pl_axis *a, int64_t i, const double *k)
{
	int16_t *high = a->high + i * a->taps;
	int16_t *low = a->low + i * a->taps;

	for (int64_t t = 0; t < a->taps; t++) {
		double scaled = t < a->count[i] ? k[t] * (1 << PL_WEIGHT_BITS) : 0.0;
		int32_t v = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);

		high[t] = (int16_t)(v >> PL_WEIGHT_LOW_BITS);
		low[t] = (int16_t)(v & ((1 << PL_WEIGHT_LOW_BITS) - 1));
	}
}

static void store_float(struct pl_axis *a, int64_t i, const double *k)
{
	float *weight = a->weight + i * a->taps;

	for (int64_t t = 0; t < a->taps; t++)
		weight[t] = t < a->count[i] ? (float)k[t] : 0.0f;
}

static int axis_alloc(struct pl_run *r, struct pl_axis *a, bool is_fixed)
{
	size_t n = (size_t)a->n_out;
	size_t n_weights;

	if (!pl_size_mul(n, (size_t)a->taps, &n_weights) || n_weights > SIZE_MAX / 8)
		return pl_err_set(r->err, -EMSGSIZE, "too many filter weights");
	a->first = pl_run_scratch(r, n * sizeof(*a->first));
	a->count = pl_run_scratch(r, n * sizeof(*a->count));
	if (!a->first || !a->count)
		return pl_run_failed(r);
	if (is_fixed) {
		a->high = pl_run_scratch(r, n_weights * sizeof(*a->high));
		a->low = pl_run_scratch(r, n_weights * sizeof(*a->low));
		return a->high && a->low ? 0 : pl_run_failed(r);
	}
	a->weight = pl_run_scratch(r, n_weights * sizeof(*a->weight));
	return a->weight ? 0 : pl_run_failed(r);
}

static void axis_fill(struct pl_axis *a, int64_t n_in, const struct axis_scale *s, double *k)
{
	for (int64_t i = 0; i < a->n_out; i++) {
		double center = ((double)i + 0.5) * s->scale;
		int64_t first = (int64_t)(center - s->support + 0.5);
		int64_t last = (int64_t)(center + s->support + 0.5);

		first = first < 0 ? 0 : first;
		last = last > n_in ? n_in : last;
		a->first[i] = (int32_t)first;
		a->count[i] = (int32_t)(last - first);
		weights_of(s, center, a->first[i], a->count[i], k);
		if (a->weight)
			store_float(a, i, k);
		else
			store_fixed(a, i, k);
	}
}

int pl_axis_init(struct pl_run *r, struct pl_axis *a, int64_t n_in, int64_t n_out,
	const struct pl_resample *job)
{
	struct axis_scale s = {
		.filter = &filters[job->filter], .scale = (double)n_in / (double)n_out};
	double *k;
	int rc;

	s.stretch = job->is_antialiased && s.scale > 1.0 ? s.scale : 1.0;
	s.support = s.filter->support * s.stretch;
	*a = (struct pl_axis){.n_out = n_out};
	a->taps = (int64_t)pl_align_up((uint64_t)ceil(s.support) * 2 + 1, 4);
	rc = axis_alloc(r, a, job->dtype == PL_U8);
	if (rc < 0)
		return rc;
	k = pl_run_scratch(r, (size_t)a->taps * sizeof(*k));
	if (!k)
		return pl_run_failed(r);
	axis_fill(a, n_in, &s, k);
	return 0;
}
