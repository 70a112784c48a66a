#include "url.h"

#include "path.h"

#include <eddy/internal/text.h>
#include <errno.h>
#include <stdio.h>

#define PORT_HTTP 80
#define PORT_HTTPS 443

static bool is_alpha(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Bytes allowed unescaped in a path or query: pchar and '/' (RFC 3986 section 3.3). */
static bool is_path_byte(char c)
{
	return is_alpha(c) || (c >= '0' && c <= '9') || (c && strchr("-._~!$&'()*+,;=:@/", c));
}

/* Whether a text is valid as a path, or, with '?', as a query or fragment. */
static bool is_clean(struct eddy_str text, bool with_question_mark)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%') {
			if (eddyi_percent_at(text, i) < 0)
				return false;
			i += 2;
		} else if (!is_path_byte(c) && !(with_question_mark && c == '?')) {
			return false;
		}
	}
	return true;
}

/* Get the bytes before the first one of `stops`. */
static struct eddy_str until(struct eddy_str text, const char *stops)
{
	size_t len = 0;

	while (len < text.len && !(text.ptr[len] && strchr(stops, text.ptr[len])))
		len++;
	return eddy_str(text.ptr, len);
}

/* The parts of a URL or reference; .ptr is NULL for absent ones. */
struct parts {
	struct eddy_str scheme;
	struct eddy_str authority;
	struct eddy_str path;
	struct eddy_str query;
};

static bool is_scheme(struct eddy_str text)
{
	if (!text.len || !is_alpha(text.ptr[0]))
		return false;
	for (size_t i = 1; i < text.len; i++) {
		char c = text.ptr[i];

		if (!is_alpha(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.')
			return false;
	}
	return true;
}

/* RFC 3986, appendix B. */
static int take_apart(struct eddy_str text, struct parts *ret_parts)
{
	struct parts parts = { 0 };
	struct eddy_str piece = until(text, ":/?#"), rest = text;

	if (piece.len < text.len && text.ptr[piece.len] == ':') {
		if (!is_scheme(piece))
			return -EINVAL;
		parts.scheme = piece;
		rest = eddy_str_skip(rest, piece.len + 1);
	}
	if (eddy_str_starts(rest, EDDY_STR("//"))) {
		rest = eddy_str_skip(rest, 2);
		parts.authority = until(rest, "/?#");
		rest = eddy_str_skip(rest, parts.authority.len);
	}
	parts.path = until(rest, "?#");
	rest = eddy_str_skip(rest, parts.path.len);
	if (rest.len && rest.ptr[0] == '?') {
		parts.query = until(eddy_str_skip(rest, 1), "#");
		rest = eddy_str_skip(rest, parts.query.len + 1);
	}
	/* The rest is a fragment. */
	if (!is_clean(parts.path, false) || !is_clean(parts.query, true) ||
	    !is_clean(eddy_str_skip(rest, 1), true))
		return -EINVAL;
	*ret_parts = parts;
	return 0;
}

static int parse_scheme(struct eddy_str scheme, bool *ret_https)
{
	*ret_https = eddy_str_eq_nocase(scheme, EDDY_STR("https"));
	return *ret_https || eddy_str_eq_nocase(scheme, EDDY_STR("http")) ? 0 : -EPROTONOSUPPORT;
}

int eddyi_url_parse(struct eddy_str text, struct eddyi_url *ret_url)
{
	struct eddyi_url url = { 0 };
	struct parts parts;
	int r;

	if (text.len > EDDYI_URL_MAX || take_apart(text, &parts) < 0 || !parts.scheme.ptr)
		return -EINVAL;
	r = parse_scheme(parts.scheme, &url.https);
	if (r < 0)
		return r;
	/* Rejects userinfo too: some reader could take "user@host" for another host. */
	if (!parts.authority.ptr || eddyi_host_parse(parts.authority, &url.host) < 0)
		return -EINVAL;
	url.port = url.https ? PORT_HTTPS : PORT_HTTP;
	if (url.host.has_port)
		url.port = url.host.port;
	if (!url.port)
		return -EINVAL;
	url.path = parts.path;
	url.query = parts.query;
	url.target = parts.path;
	if (parts.query.ptr)
		url.target.len += 1 + parts.query.len;
	*ret_url = url;
	return 0;
}

/* ---- references ---- */

/* Merge the path of a reference with that of the base (RFC 3986 section 5.2.3).
 * Return: .ptr NULL on allocation failure. */
static struct eddy_str merge_paths(struct eddyi_arena *arena, struct eddy_str base,
				   struct eddy_str path)
{
	size_t folder = base.len;
	struct eddy_str all = path;
	char *out;

	if (!path.len || path.ptr[0] != '/') {
		while (folder && base.ptr[folder - 1] != '/')
			folder--;
		all = folder ? eddyi_arena_printf(arena, "%.*s%.*s", (int)folder, base.ptr,
						  EDDY_FMT(path)) :
			       eddyi_arena_printf(arena, "/%.*s", EDDY_FMT(path));
	}
	out = all.ptr ? eddyi_arena_alloc(arena, all.len) : NULL;
	if (!out)
		return eddy_str(NULL, 0);
	memcpy(out, all.ptr, all.len);
	all.ptr = out;
	/* A reference that leads above the root stays there (RFC 3986 section 5.4.2). */
	eddyi_path_remove_dots(&all);
	return all;
}

static const char *scheme_of(const struct eddyi_url *url)
{
	return url->https ? "https" : "http";
}

int eddyi_url_resolve(struct eddyi_arena *arena, const struct eddyi_url *base,
		      struct eddy_str reference, struct eddyi_url *ret_url,
		      struct eddy_str *ret_text)
{
	struct eddy_str authority, path, text;
	struct parts parts;

	if (reference.len > EDDYI_URL_MAX || take_apart(reference, &parts) < 0)
		return -EINVAL;
	/* "http:path" is not supported. */
	if (parts.scheme.ptr && !parts.authority.ptr)
		return parse_scheme(parts.scheme, &(bool){ false }) < 0 ? -EPROTONOSUPPORT :
									  -EINVAL;
	authority = parts.authority.ptr ? parts.authority : eddyi_url_host_field(arena, base);
	path = parts.path;
	if (!parts.authority.ptr) {
		if (!path.len && !parts.query.ptr)
			parts.query = base->query;
		path = path.len ? merge_paths(arena, base->path, path) : base->path;
	} else if (path.len) {
		path = merge_paths(arena, base->path, path);
	}
	if (!authority.ptr || !path.ptr)
		return -ENOMEM;
	text = eddyi_arena_printf(arena, "%.*s://%.*s%.*s%s%.*s",
				  EDDY_FMT(parts.scheme.ptr ? parts.scheme :
							      eddy_str_from(scheme_of(base))),
				  EDDY_FMT(authority), EDDY_FMT(path), parts.query.ptr ? "?" : "",
				  EDDY_FMT(parts.query));
	if (!text.ptr)
		return -ENOMEM;
	*ret_text = text;
	return eddyi_url_parse(text, ret_url);
}

/* ---- formatting ---- */

static struct eddy_str lower(struct eddy_str text)
{
	char *at = (char *)text.ptr;

	for (size_t i = 0; i < text.len; i++)
		if (at[i] >= 'A' && at[i] <= 'Z')
			at[i] |= 0x20;
	return text;
}

/* Return: .ptr NULL on allocation failure. */
static struct eddy_str print_host(struct eddyi_arena *arena, const struct eddyi_url *url,
				  const char *before, bool with_port)
{
	bool v6 = url->host.kind == EDDYI_HOST_IPV6;
	char port[8] = "";

	if (with_port)
		snprintf(port, sizeof(port), ":%u", url->port);
	return lower(eddyi_arena_printf(arena, "%s%s%.*s%s%s", before, v6 ? "[" : "",
					EDDY_FMT(url->host.name), v6 ? "]" : "", port));
}

struct eddy_str eddyi_url_origin(struct eddyi_arena *arena, const struct eddyi_url *url)
{
	return print_host(arena, url, url->https ? "https://" : "http://", true);
}

struct eddy_str eddyi_url_host_field(struct eddyi_arena *arena, const struct eddyi_url *url)
{
	return print_host(arena, url, "", url->port != (url->https ? PORT_HTTPS : PORT_HTTP));
}

bool eddyi_url_is_same_origin(const struct eddyi_url *a, const struct eddyi_url *b)
{
	return a->https == b->https && a->port == b->port &&
	       eddy_str_eq_nocase(a->host.name, b->host.name);
}
