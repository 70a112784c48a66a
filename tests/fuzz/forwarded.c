/* Fuzzes http/src/message/forwarded.h and http/src/text/network.h: the first line is Forwarded, the others are
 * X-Forwarded-For, -Proto and -Host. */
#include "message/forwarded.h"

#include "text/host.h"

#include <stdlib.h>

static void check(const struct eddyi_forwarded *forwarded)
{
	struct eddyi_host host;
	struct eddy_sockaddr addr;

	if (forwarded->client.kind == EDDYI_HOP_IP)
		eddyi_ip_to_sockaddr(&forwarded->client.ip, forwarded->client.port, &addr);
	if (forwarded->proto.len && !eddy_str_eq_z(forwarded->proto, "http") &&
	    !eddy_str_eq_z(forwarded->proto, "https"))
		abort();
	if (forwarded->host.len && eddyi_host_parse(forwarded->host, &host) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str rest = eddy_str((const char *)data, size), lines[4] = { { NULL, 0 } };
	struct eddyi_forwarded rfc7239, x;
	struct eddyi_arena arena = { 0 };
	struct eddyi_trust trust = { 0 };
	struct eddyi_network network;

	for (int i = 0; i < 4 && eddy_str_split(&rest, '\n', &lines[i]); i++)
		;
	eddyi_trust_add(&trust, &arena, EDDY_STR("10.0.0.0/8"));
	if (eddyi_network_parse(lines[1], &network) == 0 &&
	    (network.bits > 128 || !eddyi_network_has(&network, &network.ip)))
		abort();
	if (eddyi_forwarded_parse(&arena, lines[0], &trust, &rfc7239) < 0)
		abort();
	eddyi_forwarded_parse_x(lines[1], lines[2], lines[3], &trust, &x);
	check(&rfc7239);
	check(&x);
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
	return 0;
}
