/* Tests of http/src/ws/ws_extension.h. */
#include "ws/ws_extension.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct eddyi_ws_extension lean = { { false, 15 }, { false, 15 } };
static const struct eddyi_ws_extension full = { { true, 15 }, { true, 15 } };
static const struct eddyi_ws_extension small = { { true, 10 }, { true, 11 } };

Test(ws_extension, offers_are_accepted)
{
	static const struct {
		const char *offers;
		const struct eddyi_ws_extension *wanted;
		const char *reply; /* behind the name; NULL: none */
	} cases[] = {
		{ "permessage-deflate", &full, "" },
		{ "Permessage-Deflate", &lean,
		  "; server_no_context_takeover; client_no_context_takeover" },
		{ "permessage-deflate; client_max_window_bits", &small,
		  "; server_max_window_bits=10; client_max_window_bits=11" },
		{ "permessage-deflate", &small, "; server_max_window_bits=10" },
		{ "permessage-deflate; client_max_window_bits=9", &small,
		  "; server_max_window_bits=10; client_max_window_bits=9" },
		{ "permessage-deflate ; server_max_window_bits = \"9\"", &small,
		  "; server_max_window_bits=9" },
		{ "permessage-deflate; server_no_context_takeover", &full,
		  "; server_no_context_takeover" },
		{ "x-other, permessage-deflate; server_max_window_bits=8, permessage-deflate; "
		  "server_max_window_bits=15",
		  &full, "" },
		{ "permessage-deflate; server_max_window_bits=8", &full, NULL },
		{ "permessage-deflate; server_max_window_bits=16", &full, NULL },
		{ "permessage-deflate; server_max_window_bits=09", &full, NULL },
		{ "permessage-deflate; server_max_window_bits", &full, NULL },
		{ "permessage-deflate; client_max_window_bits=7", &full, NULL },
		{ "permessage-deflate; client_max_window_bits; client_max_window_bits", &full,
		  NULL },
		{ "permessage-deflate; server_no_context_takeover=1", &full, NULL },
		{ "permessage-deflate; unknown", &full, NULL },
		{ "permessage-deflate;", &full, NULL },
		{ "permessage-deflate x", &full, NULL },
		{ "x-webkit-deflate-frame", &full, NULL },
		{ "", &full, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char reply[EDDYI_WS_EXTENSION_SIZE], want[EDDYI_WS_EXTENSION_SIZE];
		struct eddyi_ws_extension agreed;
		bool accepted = eddyi_ws_extension_accept(eddy_str_from(cases[i].offers),
							  cases[i].wanted, &agreed, reply);

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
		const struct eddyi_ws_extension *wanted;
		bool good;
	} cases[] = {
		{ "permessage-deflate", &full, true },
		{ "permessage-deflate; server_max_window_bits=9; client_max_window_bits=9", &full,
		  true },
		{ "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
		  &lean, true },
		{ "permessage-deflate", &lean, false },
		{ "permessage-deflate", &small, false },
		{ "permessage-deflate; server_max_window_bits=10", &small, true },
		{ "permessage-deflate; client_max_window_bits", &full, false },
		{ "permessage-deflate; client_max_window_bits=8", &full, false },
		{ "permessage-deflate, permessage-deflate", &full, false },
		{ "x-other", &full, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_ws_extension agreed;

		cr_expect_eq(eddyi_ws_extension_check(eddy_str_from(cases[i].reply),
						      cases[i].wanted, &agreed),
			     cases[i].good, "%s", cases[i].reply);
	}
}

Test(ws_extension, an_offer_is_accepted_by_a_server)
{
	char offer[EDDYI_WS_EXTENSION_SIZE], reply[EDDYI_WS_EXTENSION_SIZE];
	struct eddyi_ws_extension server, client;

	eddyi_ws_extension_offer(&small, offer);
	cr_expect_str_eq(offer, "permessage-deflate; server_max_window_bits=10; "
				"client_max_window_bits=11");
	cr_assert(eddyi_ws_extension_accept(eddy_str_from(offer), &lean, &server, reply));
	cr_assert(eddyi_ws_extension_check(eddy_str_from(reply), &small, &client));
	cr_expect_not(client.server.keeps);
	cr_expect_not(client.client.keeps);
	cr_expect_eq(client.server.bits, 10);
	cr_expect_eq(client.client.bits, 11);
	eddyi_ws_extension_offer(&full, offer);
	cr_expect_str_eq(offer, "permessage-deflate; client_max_window_bits");
}
