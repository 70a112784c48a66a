/* Fuzzes http/src/message/digest.h. A field that is accepted means the same when it is printed and parsed again. */
#include "message/digest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str value = eddy_str((const char *)data, size);
	struct eddyi_digest_wish wish = eddyi_digest_parse_wish(value);
	struct eddyi_digests digests, again;
	char text[EDDYI_DIGEST_TEXT_SIZE];

	if (wish.count > EDDYI_DIGEST_NAMED ||
	    (wish.count == 2 && wish.algorithms[0] == wish.algorithms[1]))
		abort();
	for (unsigned i = 0; i < wish.count; i++)
		if (wish.algorithms[i] >= EDDYI_DIGEST_NAMED)
			abort();
	if (eddyi_digest_parse(value, &digests) < 0)
		return 0;
	if (digests.known >> EDDYI_DIGEST_NAMED)
		abort();
	/* An entry that asks has a number, one that announces has bytes. */
	if (digests.known && wish.count)
		abort();
	if (eddyi_digest_parse(eddyi_digest_format(&digests, ~0U, text), &again) < 0 ||
	    again.known != digests.known)
		abort();
	for (unsigned i = 0; i < EDDYI_DIGEST_NAMED; i++)
		if (digests.known & EDDYI_DIGEST_BIT(i) &&
		    memcmp(digests.bytes[i], again.bytes[i], eddyi_digest_len(i)) != 0)
			abort();
	return 0;
}
