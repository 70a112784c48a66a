/* Fuzzes http/src/text/host.h and http/src/message/target.h. */
#include "message/target.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str text = eddy_str((const char *)data, size);
	struct eddyi_target target;
	struct eddyi_host host;

	if (eddyi_host_parse(text, &host) == 0) {
		if (!host.name.len || host.name.len > size)
			abort();
		eddyi_host_is_local_or_ip(&host);
		for (size_t i = 0; i < size; i++)
			if (data[i] <= 0x20 || data[i] >= 0x7f || strchr("@/\\?#,%", data[i]))
				abort();
	}
	for (int method = 0; method <= EDDYI_METHOD_COUNT; method++) {
		if (eddyi_target_parse(text, method, &target) < 0)
			continue;
		if (target.path.len && target.path.ptr[0] != '/' &&
		    target.form != EDDYI_TARGET_ASTERISK)
			abort();
		if (target.authority.ptr && !target.host.name.len)
			abort();
	}
	return 0;
}
