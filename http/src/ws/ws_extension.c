#include "ws_extension.h"

#include "text/syntax.h"

#include <stdio.h>
#include <string.h>

#define NAME "permessage-deflate"

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
static bool set(struct eddyi_ws_extension *extension, struct eddy_str name, struct eddy_str value,
		bool is_offer)
{
	bool is_client = eddy_str_starts(name, EDDY_STR("client_"));
	struct eddyi_ws_side *side = is_client ? &extension->client : &extension->server;

	if (!is_client && !eddy_str_starts(name, EDDY_STR("server_")))
		return false;
	name = eddy_str_skip(name, sizeof("client_") - 1);
	if (eddy_str_eq_z(name, "max_window_bits") && !side->bits) {
		side->bits = EDDYI_WS_WINDOW_MAX;
		return (is_client && is_offer && !value.ptr) || read_bits(value, &side->bits);
	}
	if (!eddy_str_eq_z(name, "no_context_takeover") || !side->keeps || value.ptr)
		return false;
	side->keeps = false;
	return true;
}

/* Read a member of the list; `bits` of a side are 0 if they are not given.
 * Return: whether it is permessage-deflate with good parameters. */
static bool read_member(struct eddy_str member, bool is_offer, struct eddyi_ws_extension *extension)
{
	struct eddy_str name, value;

	*extension = (struct eddyi_ws_extension){ { true, 0 }, { true, 0 } };
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
		if (!set(extension, name, value, is_offer))
			return false;
	}
}

static void agree(struct eddyi_ws_side *side, bool takeover)
{
	side->keeps &= takeover;
	side->bits = side->bits ? side->bits : EDDYI_WS_WINDOW_MAX;
}

/* Append the limits of a side. Return: the end of the text. */
static char *put_side(char *text, const char *name, const struct eddyi_ws_side *side)
{
	if (!side->keeps)
		text += sprintf(text, "; %s_no_context_takeover", name);
	if (side->bits < EDDYI_WS_WINDOW_MAX)
		text += sprintf(text, "; %s_max_window_bits=%u", name, side->bits);
	return text;
}

bool eddyi_ws_extension_accept(struct eddy_str offers, bool takeover,
			       struct eddyi_ws_extension *ret_agreed,
			       char reply[EDDYI_WS_EXTENSION_SIZE])
{
	struct eddy_str member;

	while (eddyi_syntax_take_member(&offers, &member)) {
		if (!read_member(member, true, ret_agreed) || ret_agreed->server.bits == 8)
			continue;
		agree(&ret_agreed->server, takeover);
		agree(&ret_agreed->client, takeover);
		reply = put_side(stpcpy(reply, NAME), "server", &ret_agreed->server);
		put_side(reply, "client", &ret_agreed->client);
		return true;
	}
	return false;
}

void eddyi_ws_extension_offer(bool takeover, char offer[EDDYI_WS_EXTENSION_SIZE])
{
	const struct eddyi_ws_side side = { takeover, EDDYI_WS_WINDOW_MAX };

	offer = put_side(stpcpy(offer, NAME), "server", &side);
	strcpy(put_side(offer, "client", &side), "; client_max_window_bits");
}

bool eddyi_ws_extension_check(struct eddy_str reply, bool takeover,
			      struct eddyi_ws_extension *ret_agreed)
{
	struct eddy_str member, more;

	/* A server must forget if it was asked to. */
	if (!eddyi_syntax_take_member(&reply, &member) || eddyi_syntax_take_member(&reply, &more) ||
	    !read_member(member, false, ret_agreed) || (!takeover && ret_agreed->server.keeps))
		return false;
	agree(&ret_agreed->server, takeover);
	agree(&ret_agreed->client, takeover);
	return ret_agreed->client.bits >= EDDYI_WS_WINDOW_MIN;
}
