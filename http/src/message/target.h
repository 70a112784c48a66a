/* target.h: parses a request-target in its four forms (RFC 9112 section 3.2).
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

#include "method.h"
#include "text/host.h"

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
