/* Fuzzes http/src/message/proxy_header.h.
 *
 * The first two bytes are the length of the longest header that is taken. What is said of a beginning of the rest
 * holds for more of it, and bytes behind a header change nothing. */
#include "message/proxy_header.h"

#include <errno.h>
#include <stdlib.h>

/* The bytes stand alone, so that nobody reads behind them unseen. */
static ssize_t parse(const uint8_t *bytes, size_t len, size_t max, struct eddyi_proxied *proxied)
{
	char *exact = malloc(len);
	ssize_t r =
		eddyi_proxy_header_parse(eddy_str(memcpy(exact, bytes, len), len), max, proxied);

	free(exact);
	if (r > (ssize_t)len || (r < 0 && r != -EBADMSG && r != -EMSGSIZE))
		abort();
	return r;
}

static void check(const struct eddyi_proxied *proxied)
{
	if (proxied->kind > EDDYI_PROXIED_UNIX || proxied->tls > EDDYI_PROXIED_TLS_YES)
		abort();
	/* What was not looked at says nothing. */
	if (proxied->kind < EDDYI_PROXIED_IP && proxied->tls != EDDYI_PROXIED_TLS_UNSAID)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_proxied whole = { .kind = EDDYI_PROXIED_UNKNOWN }, part;
	size_t max, len;
	ssize_t r;

	if (size < 3)
		return 0;
	max = (size_t)data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	r = parse(data, size, max, &whole);
	if (r > 0)
		check(&whole);
	if (r > 0 && data[0] == '\r' && (size_t)r > max)
		abort();
	for (len = 1; len < size && len < 300; len++) {
		ssize_t of_part = parse(data, len, max, &part);

		/* It is whole once its last byte is here, and wrong for good. */
		if (r > 0 && of_part != ((ssize_t)len < r ? 0 : r))
			abort();
		if (of_part < 0 ? r != of_part : of_part > 0 && r != of_part)
			abort();
	}
	return 0;
}
