/* tests/fuzz/fuzz_wire.c - any bytes as a datagram: what unpacks must pack to the same. */
#include "proto/frame.h"
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pl_wire first;
static struct pl_wire second;
static uint8_t once[PL_FRAME_MAX];
static uint8_t twice[PL_FRAME_MAX];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pl_token token;
	int n;

	if (pl_token_unpack(&token, data, size, NULL) == 0 && pl_token_pack(&token, once) != size)
		abort();
	if (pl_wire_unpack(&first, data, size))
		return 0;
	n = pl_wire_pack(&first, once);
	if (n < 0)
		return 0; /* an unpacked message may grow past the limit when its defaults are
			     written out */
	if (n > 0 && pl_wire_unpack(&second, once, (size_t)n))
		abort();
	if (pl_wire_pack(&second, twice) != n || memcmp(once, twice, (size_t)n) != 0)
		abort();
	return 0;
}
