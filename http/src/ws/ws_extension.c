#include "ws_extension.h"

#include "text/syntax.h"

#include <stdio.h>
#include <string.h>

#define NAME "permessage-deflate"

/* The parameters of an offer or a reply. */
struct params {
	bool server_forgets, client_forgets;
	bool has_client_bits;
	uint8_t server_bits, client_bits; /* 0: not given */
};

/* Return: false unless it is a number from 8 to 15 without leading zeros. */
static bool read_bits(struct eddy_str value, uint8_t *ret_bits)
{
	if (value.len == 1 && (value.ptr[0] == '8' || value.ptr[0] == '9'))
		*ret_bits = (uint8_t)(value.ptr[0] - '0');
	else if (value.len == 2 && value.ptr[0] == '1' && value.ptr[1] >= '0' &&
		 value.ptr[1] <= '5')
		*ret_bits = (uint8_t)(10 + value.ptr[1] - '0');
	else
		return false;
	return true;
}

/* Set a parameter. Return: false if it is unknown, repeated or has a wrong value. */
static bool set(struct params *params, struct eddy_str name, struct eddy_str value)
{
	bool *flag = NULL;

	if (eddy_str_eq_z(name, "server_max_window_bits"))
		return !params->server_bits && read_bits(value, &params->server_bits);
	if (eddy_str_eq_z(name, "client_max_window_bits") && !params->has_client_bits) {
		params->has_client_bits = true;
		return !value.ptr || read_bits(value, &params->client_bits);
	}
	if (eddy_str_eq_z(name, "server_no_context_takeover"))
		flag = &params->server_forgets;
	else if (eddy_str_eq_z(name, "client_no_context_takeover"))
		flag = &params->client_forgets;
	if (!flag || *flag || value.ptr)
		return false;
	return *flag = true;
}

/* Read a member of the list. Return: whether it is permessage-deflate with good parameters. */
static bool read_member(struct eddy_str member, struct params *ret_params)
{
	struct eddy_str name, value;

	*ret_params = (struct params){ 0 };
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
		if (!set(ret_params, name, value))
			return false;
	}
}

static uint8_t least(uint8_t one, uint8_t other)
{
	return one < other ? one : other;
}

static void format(const struct eddyi_ws_extension *extension, bool offers_bits,
		   char text[EDDYI_WS_EXTENSION_SIZE])
{
	char server[48] = "", client[48] = "";

	if (extension->server.bits < EDDYI_WS_WINDOW_MAX)
		snprintf(server, sizeof(server), "; server_max_window_bits=%u",
			 extension->server.bits);
	if (extension->client.bits < EDDYI_WS_WINDOW_MAX)
		snprintf(client, sizeof(client), "; client_max_window_bits=%u",
			 extension->client.bits);
	else if (offers_bits)
		strcpy(client, "; client_max_window_bits");
	snprintf(text, EDDYI_WS_EXTENSION_SIZE, NAME "%s%s%s%s",
		 extension->server.keeps ? "" : "; server_no_context_takeover",
		 extension->client.keeps ? "" : "; client_no_context_takeover", server, client);
}

bool eddyi_ws_extension_accept(struct eddy_str offers, const struct eddyi_ws_extension *wanted,
			       struct eddyi_ws_extension *ret_agreed,
			       char reply[EDDYI_WS_EXTENSION_SIZE])
{
	struct eddyi_ws_extension agreed;
	struct eddy_str member;
	struct params offer;

	while (eddyi_syntax_take_member(&offers, &member)) {
		if (!read_member(member, &offer) || offer.server_bits == 8)
			continue;
		agreed = *wanted;
		agreed.server.keeps &= !offer.server_forgets;
		agreed.client.keeps &= !offer.client_forgets;
		if (offer.server_bits)
			agreed.server.bits = least(agreed.server.bits, offer.server_bits);
		/* Only a client that says so can be told to use a smaller window. */
		if (!offer.has_client_bits)
			agreed.client.bits = EDDYI_WS_WINDOW_MAX;
		else if (offer.client_bits)
			agreed.client.bits = least(agreed.client.bits, offer.client_bits);
		*ret_agreed = agreed;
		format(&agreed, false, reply);
		return true;
	}
	return false;
}

void eddyi_ws_extension_offer(const struct eddyi_ws_extension *wanted,
			      char offer[EDDYI_WS_EXTENSION_SIZE])
{
	format(wanted, true, offer);
}

bool eddyi_ws_extension_check(struct eddy_str reply, const struct eddyi_ws_extension *wanted,
			      struct eddyi_ws_extension *ret_agreed)
{
	struct eddyi_ws_extension agreed = *wanted;
	struct eddy_str member, more;
	struct params params;

	if (!eddyi_syntax_take_member(&reply, &member) || eddyi_syntax_take_member(&reply, &more) ||
	    !read_member(member, &params) ||
	    (params.has_client_bits && params.client_bits < EDDYI_WS_WINDOW_MIN))
		return false;
	/* A server must do as it was asked. */
	if ((!wanted->server.keeps && !params.server_forgets) ||
	    (params.server_bits ? params.server_bits : EDDYI_WS_WINDOW_MAX) > wanted->server.bits)
		return false;
	agreed.server.keeps = !params.server_forgets;
	agreed.client.keeps &= !params.client_forgets;
	if (params.server_bits)
		agreed.server.bits = params.server_bits;
	if (params.client_bits)
		agreed.client.bits = least(agreed.client.bits, params.client_bits);
	*ret_agreed = agreed;
	return true;
}
