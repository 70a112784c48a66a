#include "method.h"

static const char *const names[EDDYI_METHOD_COUNT] = {
	[EDDYI_METHOD_GET] = "GET",         [EDDYI_METHOD_HEAD] = "HEAD",
	[EDDYI_METHOD_POST] = "POST",       [EDDYI_METHOD_PUT] = "PUT",
	[EDDYI_METHOD_DELETE] = "DELETE",   [EDDYI_METHOD_CONNECT] = "CONNECT",
	[EDDYI_METHOD_OPTIONS] = "OPTIONS", [EDDYI_METHOD_TRACE] = "TRACE",
	[EDDYI_METHOD_PATCH] = "PATCH",
};

_Static_assert(sizeof("GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH") <=
		       EDDYI_METHOD_SET_SIZE,
	       "the set of all methods has room");

enum eddyi_method eddyi_method_from(struct eddy_str name)
{
	for (int i = 0; i < EDDYI_METHOD_COUNT; i++)
		if (eddy_str_eq_z(name, names[i]))
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
		at = stpcpy(at, names[i]);
	}
	*at = 0;
	return eddy_str(buffer, at - buffer);
}
