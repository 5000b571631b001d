/* tests/bench/consume.c - a trainer that does nothing: takes batches, touches a byte of every page,
 * gives them back. */
/* usage: consume PIPELINE SECONDS        prints first_s= samples_per_s= batches_per_s= bytes_per_s=
 *        consume memcpy                  prints bytes_per_s= of copying 1 MiB blocks from a 256 MiB
 * region to a 16 MiB ring */
#include "client/pipeloader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE      4096
#define BLOCK     (1 << 20)
#define N_SOURCE  256
#define N_RING    16
#define WARM_UP_S 0.5

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int measure_memcpy(void)
{
	char *source = malloc((size_t)N_SOURCE * BLOCK), *ring = malloc((size_t)N_RING * BLOCK);
	double best = 0;

	if (!source || !ring)
		return 1;
	memset(source, 1, (size_t)N_SOURCE * BLOCK);
	memset(ring, 2, (size_t)N_RING * BLOCK);
	for (int round = 0; round < 5; round++) {
		double began = now(), rate;

		for (int i = 0; i < N_SOURCE; i++)
			memcpy(ring + (size_t)(i % N_RING) * BLOCK, source + (size_t)i * BLOCK,
				BLOCK);
		rate = (double)N_SOURCE * BLOCK / (now() - began);
		best = rate > best ? rate : best;
	}
	printf("bytes_per_s=%.4g check=%d\n", best, ring[BLOCK]);
	free(source);
	free(ring);
	return 0;
}

/* A sum of one byte a page, so that every page is really there. */
static unsigned touch(const struct pl_batch *batch, size_t n_fields, double *bytes)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n_fields; i++) {
		const struct pl_tensor *t = pl_batch_tensor_at(batch, i);
		int64_t n = pl_tensor_bytes(t);

		for (int64_t at = 0; at < n; at += PAGE)
			sum += ((const unsigned char *)t->data)[at];
		*bytes += (double)n;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct pl_error error = {0};
	double opened = now(), first = 0, began = 0, bytes = 0, samples = 0, batches = 0, seconds;
	const struct pl_batch *batch;
	struct pl_client *client;
	unsigned sum = 0;
	int r;

	if (argc == 2 && strcmp(argv[1], "memcpy") == 0)
		return measure_memcpy();
	if (argc != 3) {
		fprintf(stderr, "usage: consume PIPELINE SECONDS | consume memcpy\n");
		return 64;
	}
	seconds = atof(argv[2]);
	client = pl_client_open(argv[1], NULL, &error);
	while (client && (r = pl_client_next(client, 30000, &batch, &error)) == 0) {
		double t = now();

		first = first > 0 ? first : t - opened;
		if (began == 0 && t - opened - first >= WARM_UP_S) {
			began = t;
			bytes = samples = batches = 0;
		}
		sum += touch(batch, pl_client_n_fields(client), &bytes);
		samples += (double)pl_batch_size(batch);
		batches++;
		pl_batch_release(batch);
		if (began > 0 && t - began >= seconds)
			break;
	}
	if (error.code) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	seconds = now() - (began > 0 ? began : opened + first);
	printf("first_s=%.4f samples_per_s=%.0f batches_per_s=%.0f bytes_per_s=%.4g check=%u\n",
		first, samples / seconds, batches / seconds, bytes / seconds, sum);
	pl_client_close(client);
	return 0;
}
