/* Fuzzes eddy/accept.h: what is chosen was not refused. */
#include <eddy/accept.h>
#include <errno.h>
#include <stdlib.h>

static bool is_weight(int q)
{
	return q >= -1 && q <= 1000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum eddy_coding order[] = { EDDY_CODING_ZSTD, EDDY_CODING_BR,
						  EDDY_CODING_GZIP, EDDY_CODING_DEFLATE };
	struct eddy_accept accept = eddy_accept_parse(eddy_str((const char *)data, size));
	enum eddy_coding coding = EDDY_CODING_COUNT;

	if (!is_weight(accept.any))
		abort();
	for (int i = 0; i < EDDY_CODING_COUNT; i++)
		if (!is_weight(accept.q[i]))
			abort();
	for (size_t count = 0; count <= 4; count++) {
		int r = eddy_accept_choose(&accept, order, count, &coding);

		if (r == -ENOENT)
			continue;
		if (r || coding >= EDDY_CODING_COUNT || accept.q[coding] == 0)
			abort();
		if (accept.q[coding] < 0 && accept.any == 0)
			abort();
	}
	return 0;
}
