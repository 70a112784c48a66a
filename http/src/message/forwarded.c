#include "forwarded.h"

#include "text/host.h"
#include "text/syntax.h"

#include <errno.h>

/* ---- hops ---- */

/* Parse an IP address with an optional port. X-Forwarded-For, unlike RFC 7239, has bare IPv6. */
static int parse_ip(struct eddy_str text, struct eddyi_hop *hop)
{
	struct eddyi_host host;
	const char *colon;

	if (eddyi_ip_parse(text, &hop->ip) == 0)
		return 0;
	/* A port may be obfuscated: "192.0.2.7:_x". */
	colon = !text.len ? NULL : memrchr(text.ptr, ':', text.len);
	if (colon && colon + 1 < text.ptr + text.len && colon[1] == '_')
		text.len = (size_t)(colon - text.ptr);
	if (eddyi_host_parse(text, &host) < 0 || host.kind == EDDYI_HOST_NAME)
		return -EINVAL;
	hop->port = host.port;
	return eddyi_ip_parse(host.name, &hop->ip);
}

static struct eddyi_hop parse_hop(struct eddy_str text)
{
	struct eddyi_hop hop = { .kind = EDDYI_HOP_IP };

	if (parse_ip(text, &hop) < 0)
		hop = (struct eddyi_hop){ .kind = EDDYI_HOP_UNKNOWN };
	return hop;
}

/* Consider the next hop, in the order of the request's path. The client is the last hop that is not
 * a trusted proxy, or the first if all are.
 * Return: whether this hop is the client so far. */
static bool choose(struct eddyi_hop *client, const struct eddyi_hop *hop,
		   const struct eddyi_trust *trust)
{
	if (client->kind != EDDYI_HOP_NONE && hop->kind == EDDYI_HOP_IP &&
	    eddyi_trust_has(trust, &hop->ip))
		return false;
	*client = *hop;
	return true;
}

/* ---- protocol and host ---- */

static struct eddy_str checked_proto(struct eddy_str proto)
{
	static const char *const known[] = { "http", "https" };

	for (size_t i = 0; i < 2; i++)
		if (eddy_str_eq_nocase(proto, eddy_str_from(known[i])))
			return eddy_str_from(known[i]);
	return eddy_str(NULL, 0);
}

static struct eddy_str checked_host(struct eddy_str text)
{
	struct eddyi_host host;

	return eddyi_host_parse(text, &host) == 0 ? text : eddy_str(NULL, 0);
}

/* ---- Forwarded ---- */

/* An element, added by one proxy. */
struct element {
	struct eddy_str hop, proto, host; /* .ptr is NULL if absent */
	bool is_empty;                    /* without any parameter */
};

/* Take a token, or the content of a quoted string. Return: 0, -EINVAL, -ENOMEM. */
static int take_value(struct eddyi_arena *arena, struct eddy_str *rest, struct eddy_str *ret_value)
{
	struct eddy_str inner;
	size_t len = 0;
	char *value;

	if (eddyi_syntax_take_token(rest, ret_value))
		return 0;
	if (!eddyi_syntax_take_quoted(rest, &inner))
		return -EINVAL;
	*ret_value = inner;
	if (!inner.len || !memchr(inner.ptr, '\\', inner.len))
		return 0;
	value = eddyi_arena_alloc(arena, inner.len);
	if (!value)
		return -ENOMEM;
	for (size_t i = 0; i < inner.len; i++) {
		if (inner.ptr[i] == '\\')
			i++;
		value[len++] = inner.ptr[i];
	}
	*ret_value = eddy_str(value, len);
	return 0;
}

/* Store a parameter's value. It may occur once. */
static int keep(struct element *element, struct eddy_str name, struct eddy_str value)
{
	struct eddy_str *where = NULL;

	if (eddy_str_eq_nocase(name, EDDY_STR("for")))
		where = &element->hop;
	else if (eddy_str_eq_nocase(name, EDDY_STR("proto")))
		where = &element->proto;
	else if (eddy_str_eq_nocase(name, EDDY_STR("host")))
		where = &element->host;
	if (where && where->ptr)
		return -EINVAL;
	if (where)
		*where = value;
	return 0;
}

/* Take "name=value;name=value" up to a comma or the end. Return: 0, -EINVAL, -ENOMEM. */
static int take_element(struct eddyi_arena *arena, struct eddy_str *rest,
			struct element *ret_element)
{
	*ret_element = (struct element){ .is_empty = true };
	do {
		struct eddy_str name, value;
		int r;

		eddyi_syntax_skip_blanks(rest);
		if (eddyi_syntax_take_token(rest, &name)) {
			if (!eddyi_syntax_take(rest, '='))
				return -EINVAL;
			r = take_value(arena, rest, &value);
			if (r == 0)
				r = keep(ret_element, name, value);
			if (r < 0)
				return r;
			ret_element->is_empty = false;
			eddyi_syntax_skip_blanks(rest);
		}
	} while (eddyi_syntax_take(rest, ';'));
	return rest->len && rest->ptr[0] != ',' ? -EINVAL : 0;
}

/* Without `for`, don't use an earlier element: it may be the client's own claim. */
static struct eddyi_hop hop_of(const struct element *element)
{
	if (!element->hop.ptr)
		return (struct eddyi_hop){ .kind = EDDYI_HOP_UNSAID };
	return parse_hop(element->hop);
}

int eddyi_forwarded_parse(struct eddyi_arena *arena, struct eddy_str value,
			  const struct eddyi_trust *trust, struct eddyi_forwarded *ret_forwarded)
{
	struct eddyi_forwarded forwarded = { .client.kind = EDDYI_HOP_NONE };
	struct element element;
	int r;

	do {
		struct eddyi_hop hop;

		r = take_element(arena, &value, &element);
		if (r < 0)
			break;
		hop = hop_of(&element);
		if (element.is_empty || !choose(&forwarded.client, &hop, trust))
			continue;
		forwarded.proto = checked_proto(element.proto);
		forwarded.host = checked_host(element.host);
	} while (eddyi_syntax_take(&value, ','));
	if (r == -ENOMEM)
		return r;
	/* An open quote may have hidden what a proxy added. */
	if (r < 0)
		forwarded = (struct eddyi_forwarded){ .client.kind = EDDYI_HOP_UNKNOWN };
	*ret_forwarded = forwarded;
	return 0;
}

/* ---- X-Forwarded ---- */

static struct eddy_str last_member(struct eddy_str list)
{
	struct eddy_str member, last = { NULL, 0 };

	while (eddy_str_split(&list, ',', &member))
		last = eddy_str_trim(member);
	return last;
}

void eddyi_forwarded_parse_x(struct eddy_str hops, struct eddy_str proto, struct eddy_str host,
			     const struct eddyi_trust *trust, struct eddyi_forwarded *ret_forwarded)
{
	struct eddyi_forwarded forwarded = { .client.kind = EDDYI_HOP_NONE };
	struct eddy_str member;

	while (eddy_str_split(&hops, ',', &member)) {
		struct eddyi_hop hop = parse_hop(eddy_str_trim(member));

		if (eddy_str_trim(member).len)
			choose(&forwarded.client, &hop, trust);
	}
	forwarded.proto = checked_proto(last_member(proto));
	forwarded.host = checked_host(last_member(host));
	*ret_forwarded = forwarded;
}
