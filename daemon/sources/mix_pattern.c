/* daemon/sources/mix_pattern.c - who is next: a period of turns in given proportions. */
#include "daemon/sources/mix_pattern.h"

#include <math.h>

#define DIGITS    1e6
#define PARTS_MAX 64

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* As whole numbers when they are that, small enough. 0: they aren't. */
static uint32_t exact_counts(const double *weight, int n, uint32_t *count)
{
	uint64_t whole[PARTS_MAX], divisor = 0, sum = 0;

	for (int i = 0; i < n; i++) {
		if (!(weight[i] < 1e9))
			return 0;
		whole[i] = (uint64_t)llround(weight[i] * DIGITS);
		if (whole[i] == 0)
			return 0;
		divisor = common_divisor(divisor, whole[i]);
	}
	for (int i = 0; i < n; i++)
		sum += whole[i] / divisor;
	if (sum > PL_MIX_PERIOD_MAX)
		return 0;
	for (int i = 0; i < n; i++)
		count[i] = (uint32_t)(whole[i] / divisor);
	return (uint32_t)sum;
}

uint32_t pl_mix_counts(const double *weight, int n, uint32_t *count)
{
	double total = 0, rest[PARTS_MAX];
	uint32_t sum = exact_counts(weight, n, count);

	if (sum)
		return sum;
	for (int i = 0; i < n; i++)
		total += weight[i];
	for (int i = 0; i < n; i++) {
		double share = weight[i] / total * (PL_MIX_PERIOD_MAX - PARTS_MAX);

		count[i] = (uint32_t)share;
		rest[i] = share - (double)count[i];
		if (count[i] == 0) {
			count[i] = 1;
			rest[i] = 0;
		}
		sum += count[i];
	}
	while (sum < PL_MIX_PERIOD_MAX - PARTS_MAX) {
		int most = 0;

		for (int i = 1; i < n; i++)
			most = rest[i] > rest[most] ? i : most;
		count[most]++;
		rest[most] = 0;
		sum++;
	}
	return sum;
}

/*
 * With c turns out of W due, a part that has had k may have turn t (from 0) when k * W < c * (t +
 * 1), and must have it by turn (k + 1) * W / c, rounded up.
 */
void pl_mix_pattern(const uint32_t *count, int n, uint32_t period, uint16_t *part)
{
	uint64_t had[PARTS_MAX] = {0};

	for (uint64_t t = 0; t < period; t++) {
		uint64_t soonest = UINT64_MAX;
		int next = 0;

		for (int i = 0; i < n; i++) {
			uint64_t c = count[i];
			uint64_t deadline = ((had[i] + 1) * period + c - 1) / c;

			if (had[i] * period < c * (t + 1) && deadline < soonest) {
				soonest = deadline;
				next = i;
			}
		}
		part[t] = (uint16_t)next;
		had[next]++;
	}
}
