/* daemon/sources/mix_pattern.h - who is next: a period of turns in given proportions. */
#pragma once

#include "proto/err.h"

/* Turns in a period at most; weights that need more are rounded to this many. */
#define PL_MIX_PERIOD_MAX 65536u

/*
 * Turns by part out of weights: the smallest whole numbers in their proportion when these sum up to
 * at most PL_MIX_PERIOD_MAX (weights count to six digits behind the point), else that many dealt
 * out by largest remainder, at least one each. Returns their sum. n is 1 to 64, weights are above
 * 0.
 */
uint32_t pl_mix_counts(const double *weight, int n, uint32_t *count);

/*
 * A period in which, up to every turn, each part has had its share rounded down or up, never
 * anything else (the quota rule; earliest deadline first among those that may, R. Tijdeman, "The
 * chairman assignment problem", 1980). part[period] in the order of turns.
 */
void pl_mix_pattern(const uint32_t *count, int n, uint32_t period, uint16_t *part);
