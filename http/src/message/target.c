#include "target.h"

#include <errno.h>

static bool has_forbidden(struct eddy_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = text.ptr[i];

		if (c <= 0x20 || c >= 0x7f || c == '#')
			return true;
	}
	return false;
}

static bool take_prefix_nocase(struct eddy_str *text, const char *prefix)
{
	struct eddy_str want = eddy_str_from(prefix);

	if (text->len < want.len || !eddy_str_eq_nocase(eddy_str(text->ptr, want.len), want))
		return false;
	*text = eddy_str_skip(*text, want.len);
	return true;
}

static void split_query(struct eddy_str text, struct eddyi_target *target)
{
	const char *mark = memchr(text.ptr, '?', text.len);

	target->path = text;
	if (!mark)
		return;
	target->path.len = mark - text.ptr;
	target->query = eddy_str_skip(text, target->path.len + 1);
}

static int parse_authority_form(struct eddy_str text, struct eddyi_target *target)
{
	target->form = EDDYI_TARGET_AUTHORITY;
	target->authority = text;
	target->path = EDDY_STR("");
	if (eddyi_host_parse(text, &target->host) < 0 || !target->host.has_port ||
	    !target->host.port)
		return -EINVAL;
	return 0;
}

static int parse_absolute_form(struct eddy_str text, enum eddyi_method method,
			       struct eddyi_target *target)
{
	size_t len = 0;

	if (!take_prefix_nocase(&text, "https://") && !take_prefix_nocase(&text, "http://"))
		return -EINVAL;
	while (len < text.len && text.ptr[len] != '/' && text.ptr[len] != '?')
		len++;
	target->form = EDDYI_TARGET_ABSOLUTE;
	target->authority = eddy_str(text.ptr, len);
	if (eddyi_host_parse(target->authority, &target->host) < 0)
		return -EINVAL;
	split_query(eddy_str_skip(text, len), target);
	if (target->path.len)
		return 0;
	target->path = EDDY_STR("/");
	if (method == EDDYI_METHOD_OPTIONS && !target->query.ptr) {
		target->form = EDDYI_TARGET_ASTERISK;
		target->path = EDDY_STR("*");
	}
	return 0;
}

int eddyi_target_parse(struct eddy_str text, enum eddyi_method method,
		       struct eddyi_target *ret_target)
{
	struct eddyi_target target = { 0 };
	int err = 0;

	if (!text.len || has_forbidden(text))
		return -EINVAL;
	if (method == EDDYI_METHOD_CONNECT) {
		err = parse_authority_form(text, &target);
	} else if (text.ptr[0] == '/') {
		target.form = EDDYI_TARGET_ORIGIN;
		split_query(text, &target);
	} else if (eddy_str_eq_z(text, "*")) {
		target.form = EDDYI_TARGET_ASTERISK;
		target.path = text;
		err = method == EDDYI_METHOD_OPTIONS ? 0 : -EINVAL;
	} else {
		err = parse_absolute_form(text, method, &target);
	}
	/* Other servers treat '\' as '/', which would give one file two paths. */
	if (!err && target.path.len && memchr(target.path.ptr, '\\', target.path.len))
		err = -EINVAL;
	if (!err)
		*ret_target = target;
	return err;
}

/* ---- methods ---- */

#define NAME(method) [EDDYI_METHOD_##method] = { #method, sizeof(#method) - 1 }

static const struct eddy_str names[EDDYI_METHOD_COUNT] = {
	NAME(GET),     NAME(HEAD),    NAME(POST),  NAME(PUT),   NAME(DELETE),
	NAME(CONNECT), NAME(OPTIONS), NAME(TRACE), NAME(PATCH),
};

_Static_assert(sizeof("GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH") <=
		       EDDYI_METHOD_SET_SIZE,
	       "the set of all methods has room");

enum eddyi_method eddyi_method_from(struct eddy_str name)
{
	for (int i = 0; i < EDDYI_METHOD_COUNT; i++)
		if (eddy_str_eq(name, names[i]))
			return i;
	return EDDYI_METHOD_OTHER;
}

struct eddy_str eddyi_method_format_set(unsigned methods, char buffer[EDDYI_METHOD_SET_SIZE])
{
	char *at = buffer;

	for (int i = 0; i < EDDYI_METHOD_COUNT; i++) {
		if (!(methods & EDDYI_METHOD_BIT(i)))
			continue;
		if (at != buffer)
			at = stpcpy(at, ", ");
		at = mempcpy(at, names[i].ptr, names[i].len);
	}
	*at = 0;
	return eddy_str(buffer, at - buffer);
}
