#include "ws_extension.h"

#include "text/syntax.h"

#include <stdio.h>
#include <string.h>

#define NAME "permessage-deflate"

/* The parameters of one side. */
struct params {
	bool forgets;
	bool has_bits; /* maybe without a value */
	uint8_t bits;  /* 0: not given */
};

/* An offer or a reply. */
struct both {
	struct params server, client;
};

/* Return: false unless it is a number from 8 to 15 without leading zeros. */
static bool read_bits(struct eddy_str value, uint8_t *ret_bits)
{
	uint64_t bits;

	if (eddy_str_to_u64(value, &bits) < 0 || *value.ptr == '0' || bits < 8 ||
	    bits > EDDYI_WS_WINDOW_MAX)
		return false;
	*ret_bits = (uint8_t)bits;
	return true;
}

/* Set a parameter. Return: false if it is unknown, repeated or has a wrong value. */
static bool set(struct both *both, struct eddy_str name, struct eddy_str value)
{
	bool is_client = eddy_str_starts(name, EDDY_STR("client_"));
	struct params *params = is_client ? &both->client : &both->server;

	if (!is_client && !eddy_str_starts(name, EDDY_STR("server_")))
		return false;
	name = eddy_str_skip(name, sizeof("client_") - 1);
	if (eddy_str_eq_z(name, "max_window_bits") && !params->has_bits) {
		params->has_bits = true;
		return (is_client && !value.ptr) || read_bits(value, &params->bits);
	}
	if (!eddy_str_eq_z(name, "no_context_takeover") || params->forgets || value.ptr)
		return false;
	return params->forgets = true;
}

/* Read a member of the list. Return: whether it is permessage-deflate with good parameters. */
static bool read_member(struct eddy_str member, struct both *ret_both)
{
	struct eddy_str name, value;

	*ret_both = (struct both){ 0 };
	if (!eddyi_syntax_take_token(&member, &name) || !eddy_str_eq_nocase(name, EDDY_STR(NAME)))
		return false;
	for (;;) {
		eddyi_syntax_skip_blanks(&member);
		if (!member.len)
			return true;
		if (!eddyi_syntax_take(&member, ';'))
			return false;
		eddyi_syntax_skip_blanks(&member);
		if (!eddyi_syntax_take_token(&member, &name))
			return false;
		value = (struct eddy_str){ 0 };
		eddyi_syntax_skip_blanks(&member);
		if (eddyi_syntax_take(&member, '=')) {
			eddyi_syntax_skip_blanks(&member);
			if (!eddyi_syntax_take_token(&member, &value) &&
			    !eddyi_syntax_take_quoted(&member, &value))
				return false;
		}
		if (!set(ret_both, name, value))
			return false;
	}
}

static struct eddyi_ws_side agree(const struct params *params, bool takeover)
{
	return (struct eddyi_ws_side){ takeover && !params->forgets,
				       params->bits ? params->bits : EDDYI_WS_WINDOW_MAX };
}

static void format_reply(const struct eddyi_ws_extension *agreed,
			 char reply[EDDYI_WS_EXTENSION_SIZE])
{
	char server[48] = "", client[48] = "";

	if (agreed->server.bits < EDDYI_WS_WINDOW_MAX)
		snprintf(server, sizeof(server), "; server_max_window_bits=%u",
			 agreed->server.bits);
	if (agreed->client.bits < EDDYI_WS_WINDOW_MAX)
		snprintf(client, sizeof(client), "; client_max_window_bits=%u",
			 agreed->client.bits);
	snprintf(reply, EDDYI_WS_EXTENSION_SIZE, NAME "%s%s%s%s",
		 agreed->server.keeps ? "" : "; server_no_context_takeover",
		 agreed->client.keeps ? "" : "; client_no_context_takeover", server, client);
}

bool eddyi_ws_extension_accept(struct eddy_str offers, bool takeover,
			       struct eddyi_ws_extension *ret_agreed,
			       char reply[EDDYI_WS_EXTENSION_SIZE])
{
	struct eddy_str member;
	struct both offer;

	while (eddyi_syntax_take_member(&offers, &member)) {
		if (!read_member(member, &offer) || offer.server.bits == 8)
			continue;
		ret_agreed->server = agree(&offer.server, takeover);
		ret_agreed->client = agree(&offer.client, takeover);
		format_reply(ret_agreed, reply);
		return true;
	}
	return false;
}

void eddyi_ws_extension_offer(bool takeover, char offer[EDDYI_WS_EXTENSION_SIZE])
{
	snprintf(offer, EDDYI_WS_EXTENSION_SIZE, NAME "%s; client_max_window_bits",
		 takeover ? "" : "; server_no_context_takeover; client_no_context_takeover");
}

bool eddyi_ws_extension_check(struct eddy_str reply, bool takeover,
			      struct eddyi_ws_extension *ret_agreed)
{
	struct eddy_str member, more;
	struct both both;

	/* A server must forget if it was asked to. */
	if (!eddyi_syntax_take_member(&reply, &member) || eddyi_syntax_take_member(&reply, &more) ||
	    !read_member(member, &both) || (!takeover && !both.server.forgets) ||
	    (both.client.has_bits && both.client.bits < EDDYI_WS_WINDOW_MIN))
		return false;
	ret_agreed->server = agree(&both.server, takeover);
	ret_agreed->client = agree(&both.client, takeover);
	return true;
}
