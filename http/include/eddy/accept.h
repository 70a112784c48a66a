/* eddy/accept.h: content negotiation by Accept-Encoding (RFC 9110 section 12.5.3).
 *
 *     static const enum eddy_coding ours[] = { EDDY_CODING_ZSTD, EDDY_CODING_GZIP };
 *     struct eddy_accept accept = eddy_req_accept(req);
 *     enum eddy_coding coding;
 *
 *     if (eddy_accept_choose(&accept, ours, 2, &coding) < 0)
 *             return 406;
 *
 * A response that depends on the choice must say `vary: accept-encoding`. Never suspends.
 */
#ifndef EDDY_ACCEPT_H
#define EDDY_ACCEPT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_req;

enum eddy_coding {
	EDDY_CODING_IDENTITY, /* not encoded */
	EDDY_CODING_ZSTD,
	EDDY_CODING_BR,
	EDDY_CODING_GZIP,
	EDDY_CODING_DEFLATE,
	EDDY_CODING_COUNT,
};

/* The content codings that a client accepts; all -1 and false if it sent no Accept-Encoding. */
struct eddy_accept {
	int16_t q[EDDY_CODING_COUNT]; /* weights in thousandths; 0: rejected; -1: not named */
	int16_t any;                  /* weight of `*`; -1: not named */
	bool wants_other;             /* a coding unknown here was named with a weight above 0 */
};

/* Get the name of a coding as content-encoding has it. */
EDDY_API const char *eddy_coding_name(enum eddy_coding coding);

/* Parse an Accept-Encoding value; several fields are joined by commas. Names are case-insensitive,
 * `x-gzip` is gzip. Malformed members are skipped. A repeated name has its lowest weight. */
EDDY_API struct eddy_accept eddy_accept_parse(struct eddy_str value);

/* Parse the Accept-Encoding fields of a request. */
EDDY_API struct eddy_accept eddy_req_accept(struct eddy_req *req);

/* Choose the coding of highest weight among `count` codings and identity, which is always available
 * and not listed. Of equal weights the first in `order` wins, and any coding before identity. A
 * client that names no coding of `order`, neither `*` nor identity, gets identity, unless it
 * accepts other codings.
 * Return: 0; -ENOENT if no coding is acceptable: answer 406. */
EDDY_API int eddy_accept_choose(const struct eddy_accept *accept, const enum eddy_coding *order,
				size_t count, enum eddy_coding *ret_coding);

EDDY_END_DECLS

#endif
