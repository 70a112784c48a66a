/* The unencrypted messages of a handshake, of a client or a server, in records. The first byte says which. */
#include "tls/flight.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A ClientHello as far as its suites. */
static const unsigned char ours[] = { 22, 3, 1,        0, 46, 1,    0, 0,    42,
				      3,  3, [43] = 0, 0, 4,  0x13, 1, 0xc0, 0x2b };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_flight flight = { 0 };
	bool allowed = true, is_1_3;
	size_t len;

	if (!size)
		return 0;
	is_1_3 = data[0] & 2;
	if (data[0] & 1 && eddyi_flight_offer(&flight, ours, sizeof(ours)) < 0)
		abort();
	data++;
	size--;
	for (; size >= 5; data += len, size -= len) {
		unsigned char *record;
		bool now;

		len = 5 + ((size_t)data[3] << 8 | data[4]);
		if (len > size)
			len = size;
		/* From memory that ends where the record does. */
		record = malloc(len);
		memcpy(record, data, len);
		now = eddyi_flight_allows(&flight, record, len, is_1_3);
		free(record);
		if (now && !allowed)
			abort();
		allowed = now;
	}
	eddyi_flight_deinit(&flight);
	return 0;
}
