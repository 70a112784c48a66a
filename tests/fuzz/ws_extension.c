/* Fuzzes http/src/ws/ws_extension.h and ws_accept.h. A server agrees to at most what it wants, and
 * says so in its reply. */
#include "ws/ws_accept.h"
#include "ws/ws_extension.h"

#include <stdlib.h>

static bool is_side(struct eddyi_ws_side side, bool takeover)
{
	return side.bits >= 8 && side.bits <= EDDYI_WS_WINDOW_MAX && (!side.keeps || takeover);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_ws_extension agreed, again;
	char reply[EDDYI_WS_EXTENSION_SIZE];
	struct eddy_str value;
	bool takeover;

	if (!size)
		return 0;
	takeover = data[0] & 1;
	value = eddy_str((const char *)data + 1, size - 1);
	if (eddyi_ws_is_key(value) && value.len != 24)
		abort();
	eddyi_ws_extension_check(value, takeover, &agreed);
	if (!eddyi_ws_extension_accept(value, takeover, &agreed, reply))
		return 0;
	if (!is_side(agreed.server, takeover) || !is_side(agreed.client, takeover))
		abort();
	/* A client of eddy can't deflate with a window of 2^8 bytes: it refuses that. */
	if (agreed.client.bits >= EDDYI_WS_WINDOW_MIN &&
	    (!eddyi_ws_extension_check(eddy_str_from(reply), takeover, &again) ||
	     again.server.bits != agreed.server.bits || again.server.keeps != agreed.server.keeps ||
	     again.client.bits != agreed.client.bits || again.client.keeps != agreed.client.keeps))
		abort();
	return 0;
}
