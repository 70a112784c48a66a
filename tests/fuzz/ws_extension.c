/* Fuzzes http/src/ws/ws_extension.h. A server agrees to at most what it wants, and says so in its reply. */
#include "ws/ws_extension.h"

#include <stdlib.h>

static bool is_side(struct eddyi_ws_side side, struct eddyi_ws_side most)
{
	return side.bits >= 8 && side.bits <= most.bits && (!side.keeps || most.keeps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct eddyi_ws_extension full = { { true, 15 }, { true, 15 } };
	struct eddyi_ws_extension wanted = full, agreed, again;
	char reply[EDDYI_WS_EXTENSION_SIZE];
	struct eddy_str value;

	if (!size)
		return 0;
	wanted.server.keeps = data[0] & 1;
	wanted.client.keeps = data[0] & 2;
	wanted.server.bits = (uint8_t)(9 + (data[0] >> 2) % 7);
	value = eddy_str((const char *)data + 1, size - 1);
	eddyi_ws_extension_check(value, &full, &agreed);
	if (!eddyi_ws_extension_accept(value, &wanted, &agreed, reply))
		return 0;
	if (!is_side(agreed.server, wanted.server) || !is_side(agreed.client, full.client))
		abort();
	if (!eddyi_ws_extension_check(eddy_str_from(reply), &full, &again) ||
	    again.server.bits != agreed.server.bits || again.server.keeps != agreed.server.keeps ||
	    again.client.keeps != agreed.client.keeps)
		abort();
	return 0;
}
