/* target.h: the method of a request, and its target in four forms (RFC 9112 section 3.2).
 *
 *   origin      /path?query
 *   absolute    http://host/path?query or https://…: its authority replaces the Host field
 *   authority   host:port, of CONNECT and only of CONNECT
 *   asterisk    *, of OPTIONS and only of OPTIONS
 *
 * An absolute form without a path means "/", or "*" for OPTIONS without a query (RFC 9112 section
 * 3.2.4). A '#', blank, control byte, or byte over 0x7f is an error in all forms, as is a '\' in a
 * path. Other printable bytes that URIs should escape ("|", "{") are accepted, since browsers send
 * them. path.h handles escapes and dot segments. */
#ifndef EDDYI_TARGET_H
#define EDDYI_TARGET_H

#include "text/host.h"

/* ---- methods ---- */

/* The methods that a route can have (RFC 9110 section 9, RFC 5789). Sets of them are bit masks:
 * `EDDYI_METHOD_BIT(EDDYI_METHOD_GET)`. */
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

/* ---- targets ---- */

enum eddyi_target_form {
	EDDYI_TARGET_ORIGIN,
	EDDYI_TARGET_ABSOLUTE,
	EDDYI_TARGET_AUTHORITY,
	EDDYI_TARGET_ASTERISK,
};

struct eddyi_target {
	enum eddyi_target_form form; /* also ASTERISK for "OPTIONS http://host" */
	struct eddy_str path;        /* begins with '/'; "*" for ASTERISK, "" for AUTHORITY */
	struct eddy_str query;       /* after the first '?'; .ptr NULL if there is none */
	struct eddy_str authority;   /* .ptr NULL if there is none */
	struct eddyi_host host;      /* the parsed authority; valid if there is one */
};

/* Parse a request-target. The result points into it or to static text.
 * Return: 0; -EINVAL, for a 400. */
int eddyi_target_parse(struct eddy_str text, enum eddyi_method method,
		       struct eddyi_target *ret_target);

#endif
