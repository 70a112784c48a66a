/* target.h: the request-target in its four forms (RFC 9112 section 3.2).
 *
 *   origin      /path?query
 *   absolute    http://host/path?query or https://…: its authority replaces the Host field
 *   authority   host:port, of CONNECT and only of CONNECT
 *   asterisk    *, of OPTIONS and only of OPTIONS
 *
 * An absolute form without a path means "/", or "*" for OPTIONS without a query (RFC 9112 3.2.4).
 * A '#', a blank, a control byte or a byte over 0x7f is an error in all of them, and so is '\' in a
 * path; other printable bytes that URIs should have escaped ("|", "{") are taken as they come, as
 * browsers send them.
 * Escapes and dot segments are not looked at: the functions of path.h do.
 */
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
	enum eddyi_target_form form; /* ASTERISK too for "OPTIONS http://host" */
	struct eddy_str path;        /* begins with '/'; "*" of ASTERISK, "" of AUTHORITY */
	struct eddy_str query;       /* what follows the first '?'; .ptr NULL when there is none */
	struct eddy_str authority;   /* .ptr NULL when the target has none */
	struct eddyi_host host;      /* the authority, parsed; valid when there is one */
	bool https;                  /* the scheme of an absolute form */
};

/* Classify and check a request-target; the result points into it or at static text.
 * Return: 0, -EINVAL: 400. */
int eddyi_target_parse(struct eddy_str text, enum eddyi_method method,
		       struct eddyi_target *ret_target);

#endif
