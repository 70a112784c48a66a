/* method.h: the request methods that a route can have (RFC 9110 section 9, RFC 5789).
 *
 * Sets of methods are bit masks: `EDDYI_METHOD_BIT(EDDYI_METHOD_GET)`. */
#ifndef EDDYI_METHOD_H
#define EDDYI_METHOD_H

#include <eddy/str.h>

enum eddyi_method {
	EDDYI_METHOD_GET,
	EDDYI_METHOD_HEAD,
	EDDYI_METHOD_POST,
	EDDYI_METHOD_PUT,
	EDDYI_METHOD_DELETE,
	EDDYI_METHOD_CONNECT,
	EDDYI_METHOD_OPTIONS,
	EDDYI_METHOD_TRACE,
	EDDYI_METHOD_PATCH,
	EDDYI_METHOD_COUNT,                      /* methods of routes */
	EDDYI_METHOD_OTHER = EDDYI_METHOD_COUNT, /* known to the parser, but to no route: 405 */
};

#define EDDYI_METHOD_BIT(method) (1u << (method))

/* Size of the longest text of a set, with its NUL. */
#define EDDYI_METHOD_SET_SIZE 64

/* Find a method by name, case-sensitively. Return: EDDYI_METHOD_OTHER for other names. */
enum eddyi_method eddyi_method_from(struct eddy_str name);

/* Format a set as the value of an allow field: "GET, HEAD". Return: `buffer` as a string. */
struct eddy_str eddyi_method_format_set(unsigned methods, char buffer[EDDYI_METHOD_SET_SIZE]);

#endif
