/* cond.h: evaluates conditional requests (RFC 9110 section 13) for an existing representation.
 *
 * The five fields are those of the request; .ptr NULL is an absent field, and lines of a field are
 * joined by commas (RFC 9110 section 5.3). A malformed list of entity tags names no tag: If-Match
 * fails and If-None-Match holds. A malformed date, or one sent twice and thus joined, counts as
 * absent (sections 13.1.3 and 13.1.4). An If-Range with several values matches nothing (section
 * 13.1.5). */
#ifndef EDDYI_COND_H
#define EDDYI_COND_H

#include "head.h"

#include <sys/stat.h>
#include <time.h>

struct eddyi_cond_fields {
	struct eddy_str if_match;
	struct eddy_str if_unmodified_since;
	struct eddy_str if_none_match;
	struct eddy_str if_modified_since;
	struct eddy_str if_range;
};

struct eddyi_cond_state {
	struct eddy_str etag; /* with quotes, and W/ if it is weak; empty: none */
	bool has_modified;
	time_t modified;
	time_t now; /* the server's time */
};

enum eddyi_cond_result {
	EDDYI_COND_PROCEED,
	EDDYI_COND_NOT_MODIFIED, /* 304 */
	EDDYI_COND_FAILED,       /* 412 */
};

/* Evaluate the preconditions except If-Range, in the order of RFC 9110 section 13.2.2. */
enum eddyi_cond_result eddyi_cond_evaluate(const struct eddyi_cond_fields *fields,
					   const struct eddyi_cond_state *state,
					   enum eddyi_method method);

/* Whether If-Range allows the Range field; true without If-Range. A tag must be equal by strong
 * comparison. A date must equal the last modification, which must be at least a second old, so that
 * the representation can't have changed twice under one date (section 8.8.2.2). */
bool eddyi_cond_range_allowed(const struct eddyi_cond_fields *fields,
			      const struct eddyi_cond_state *state);

/* ---- entity tags and modification times of files (RFC 9110 section 8.8) ---- */

/* Inode, mtime in nanoseconds, and size, in hexadecimal, quoted. */
#define EDDYI_ETAG_SIZE (4 * 17 + 4)

struct eddyi_validator {
	struct eddyi_cond_state state; /* its etag points to `etag` */
	char etag[EDDYI_ETAG_SIZE];
};

void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st);

struct eddyi_cond_fields eddyi_validator_conditions(struct eddyi_head *head);

#endif
