/* eddy/accept.h: the content codings that a client takes (RFC 9110 section 12.5.3).
 *
 *     static const enum eddy_coding ours[] = { EDDY_CODING_ZSTD, EDDY_CODING_GZIP };
 *     struct eddy_accept accept = eddy_req_accept(req);
 *     enum eddy_coding coding;
 *
 *     if (eddy_accept_choose(&accept, ours, 2, &coding) < 0)
 *             return 406;
 *
 * Whoever answers by it says so: `vary: accept-encoding`.
 */
#ifndef EDDY_ACCEPT_H
#define EDDY_ACCEPT_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_req;

enum eddy_coding {
	EDDY_CODING_IDENTITY, /* none at all */
	EDDY_CODING_ZSTD,
	EDDY_CODING_BR,
	EDDY_CODING_GZIP,
	EDDY_CODING_DEFLATE,
	EDDY_CODING_COUNT,
};

/* What a client said; all -1 and false when it said nothing. */
struct eddy_accept {
	int16_t q[EDDY_CODING_COUNT]; /* thousandths, 0 refuses; -1: not named */
	int16_t any;                  /* that of `*` */
	bool wants_other; /* a coding that has no name here was named, and not refused */
};

/* The name as it stands in content-encoding. */
EDDY_API const char *eddy_coding_name(enum eddy_coding coding);

/* Read the value of Accept-Encoding, several lines joined by commas. Names are compared without regard
 * to case, `x-gzip` is gzip; a member that is malformed is skipped, and of two of one name the lower
 * weight counts. */
EDDY_API struct eddy_accept eddy_accept_parse(struct eddy_str value);

/* Read the request's. */
EDDY_API struct eddy_accept eddy_req_accept(struct eddy_req *req);

/* Choose among `count` codings and identity, which is always there and not listed: the highest weight;
 * of equal ones the first of `order`, and any rather than identity. Whoever names no coding of `order`
 * and neither `*` nor identity gets identity, unless it named others and wants one of those.
 * Return: 0; -ENOENT when nothing is acceptable (406). */
EDDY_API int eddy_accept_choose(const struct eddy_accept *accept, const enum eddy_coding *order,
				size_t count, enum eddy_coding *ret_coding);

EDDY_END_DECLS

#endif
