/* rules.h: judges the line and the fields of a request, whatever version of HTTP it came by.
 *
 * Ambiguous messages, in which two readers could find different ends or hosts, are rejected:
 *
 *   - Transfer-Encoding is "chunked", once and alone, and only in HTTP/1.1.
 *   - Content-Length occurs at most once, without leading zeros; in HTTP/1 with at most one space
 *     before it and no blank after it, as clients write it.
 *   - Host occurs at most once, and exactly once in HTTP/1.1; Content-Type at most once.
 *   - In HTTP/2, :authority or Host gives the host. If both are present, they name the same one.
 *   - The only expectation is 100-continue; WebSocket (RFC 6455 section 4.2.1) has version 13. */
#ifndef EDDYI_RULES_H
#define EDDYI_RULES_H

#include "head.h"

/* A request line, or the pseudo-header fields of HTTP/2. Dot segments of the target are removed in
 * place. */
struct eddyi_line {
	struct eddy_str method;    /* the name of a method known to llhttp */
	struct eddy_str target;    /* request-target; HTTP/2: :path, and for CONNECT :authority */
	struct eddy_str authority; /* HTTP/2: :authority; .ptr NULL: none */
};

/* Results that a head has no member for. */
struct eddyi_ruling {
	bool has_length; /* a content-length is present, maybe 0 */
	bool chunked;    /* the body ends with its last chunk */
	bool keep_alive;
	bool expect_continue;
};

/* Judge a request whose version and fields are in `head`: set its method, target, host and length.
 * Without a content-length, the length of HTTP/2 is EDDY_LENGTH_UNKNOWN. In HTTP/1, values are
 * surrounded by the bytes of their lines.
 * Return: 200; the status that rejects it, and `head->problem` says why. */
int eddyi_rules_judge(struct eddyi_head *head, const struct eddyi_line *line,
		      struct eddyi_ruling *ret_ruling);

#endif
