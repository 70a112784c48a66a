/* Tests of http/src/ws/ws_extension.h. */
#include "ws/ws_extension.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(ws_extension, offers_are_accepted)
{
	static const struct {
		const char *offers;
		bool takeover;
		const char *reply; /* behind the name; NULL: none */
	} cases[] = {
		{ "permessage-deflate", true, "" },
		{ "Permessage-Deflate", false,
		  "; server_no_context_takeover; client_no_context_takeover" },
		{ "permessage-deflate; client_max_window_bits", true, "" },
		{ "permessage-deflate; client_max_window_bits=9; server_max_window_bits=10", true,
		  "; server_max_window_bits=10; client_max_window_bits=9" },
		{ "permessage-deflate ; server_max_window_bits = \"9\"", true,
		  "; server_max_window_bits=9" },
		{ "permessage-deflate; server_no_context_takeover", true,
		  "; server_no_context_takeover" },
		{ "x-other, permessage-deflate; server_max_window_bits=8, permessage-deflate; "
		  "server_max_window_bits=15",
		  true, "" },
		{ "permessage-deflate; server_max_window_bits=8", true, NULL },
		{ "permessage-deflate; server_max_window_bits=16", true, NULL },
		{ "permessage-deflate; server_max_window_bits=09", true, NULL },
		{ "permessage-deflate; server_max_window_bits", true, NULL },
		{ "permessage-deflate; client_max_window_bits=7", true, NULL },
		{ "permessage-deflate; client_max_window_bits; client_max_window_bits", true,
		  NULL },
		{ "permessage-deflate; server_no_context_takeover=1", true, NULL },
		{ "permessage-deflate; unknown", true, NULL },
		{ "permessage-deflate;", true, NULL },
		{ "permessage-deflate x", true, NULL },
		{ "x-webkit-deflate-frame", true, NULL },
		{ "", true, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char reply[EDDYI_WS_EXTENSION_SIZE], want[EDDYI_WS_EXTENSION_SIZE];
		struct eddyi_ws_extension agreed;
		bool accepted = eddyi_ws_extension_accept(eddy_str_from(cases[i].offers),
							  cases[i].takeover, &agreed, reply);

		cr_assert_eq(accepted, cases[i].reply != NULL, "%s", cases[i].offers);
		if (!accepted)
			continue;
		snprintf(want, sizeof(want), "permessage-deflate%s", cases[i].reply);
		cr_expect_str_eq(reply, want, "%s: %s", cases[i].offers, reply);
	}
}

Test(ws_extension, replies_are_checked)
{
	static const struct {
		const char *reply;
		bool takeover;
		bool good;
	} cases[] = {
		{ "permessage-deflate", true, true },
		{ "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9", true,
		  true },
		{ "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
		  false, true },
		{ "permessage-deflate", false, false },
		{ "permessage-deflate; server_max_window_bits=10", true, true },
		{ "permessage-deflate; client_max_window_bits", true, false },
		{ "permessage-deflate; client_max_window_bits=8", true, false },
		{ "permessage-deflate, permessage-deflate", true, false },
		{ "x-other", true, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_ws_extension agreed;

		cr_expect_eq(eddyi_ws_extension_check(eddy_str_from(cases[i].reply),
						      cases[i].takeover, &agreed),
			     cases[i].good, "%s", cases[i].reply);
	}
}

Test(ws_extension, an_offer_is_accepted_by_a_server)
{
	char offer[EDDYI_WS_EXTENSION_SIZE], reply[EDDYI_WS_EXTENSION_SIZE];
	struct eddyi_ws_extension server, client;

	eddyi_ws_extension_offer(true, offer);
	cr_expect_str_eq(offer, "permessage-deflate; client_max_window_bits");
	cr_assert(eddyi_ws_extension_accept(eddy_str_from(offer), false, &server, reply));
	cr_assert(eddyi_ws_extension_check(eddy_str_from(reply), true, &client));
	cr_expect_not(client.server.keeps);
	cr_expect_not(client.client.keeps);
	cr_assert(
		eddyi_ws_extension_check(EDDY_STR("permessage-deflate; server_max_window_bits=10; "
						  "client_max_window_bits=11"),
					 true, &client));
	cr_expect(client.server.keeps);
	cr_expect_eq(client.server.bits, 10);
	cr_expect_eq(client.client.bits, 11);
	eddyi_ws_extension_offer(false, offer);
	cr_expect_str_eq(offer, "permessage-deflate; server_no_context_takeover; "
				"client_no_context_takeover; client_max_window_bits");
}
