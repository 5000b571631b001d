/* tests/fuzz/replay.c - runs a fuzz target on the inputs of a packed corpus: what was once found
 * stays mended. */
/* usage: replay_TARGET CORPUS      prints "N passed, 0 failed"; a finding ends the process */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	FILE *corpus = argc == 2 ? fopen(argv[1], "rb") : NULL;
	uint32_t length;
	int n = 0;

	if (!corpus) {
		fprintf(stderr, "usage: replay CORPUS\n");
		return 64;
	}
	while (fread(&length, sizeof(length), 1, corpus) == 1) {
		uint8_t *input = malloc(length ? length : 1);

		if (!input || fread(input, 1, length, corpus) != length) {
			fprintf(stderr, "the corpus is cut after %d inputs\n", n);
			return 1;
		}
		LLVMFuzzerTestOneInput(input, length);
		free(input);
		n++;
	}
	fclose(corpus);
	printf("%d passed, 0 failed\n", n);
	return n == 0;
}
