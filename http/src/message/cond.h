/* cond.h: conditional requests (RFC 9110 section 13), decided for a representation that exists.
 *
 * The five values are what the request said; .ptr NULL stands for an absent field, and several
 * lines of one field are joined by commas (RFC 9110 section 5.3). A list of entity tags that is
 * malformed names no tag: If-Match fails and If-None-Match holds. A date that is malformed counts
 * as absent, and so does one that was sent twice: joined, the two are no date (sections 13.1.3 and
 * 13.1.4). An If-Range of several values matches nothing (section 13.1.5).
 */
#ifndef EDDYI_COND_H
#define EDDYI_COND_H

#include "method.h"

#include <time.h>

struct eddyi_cond_fields {
	struct eddy_str if_match;
	struct eddy_str if_unmodified_since;
	struct eddy_str if_none_match;
	struct eddy_str if_modified_since;
	struct eddy_str if_range;
};

struct eddyi_cond_state {
	struct eddy_str etag; /* quotes and all, with W/ when weak; empty: there is none */
	bool has_modified;
	time_t modified;
	time_t now; /* of the server's clock */
};

enum eddyi_cond_result {
	EDDYI_COND_PROCEED,
	EDDYI_COND_NOT_MODIFIED, /* 304 */
	EDDYI_COND_FAILED,       /* 412 */
};

/* Evaluate the preconditions in the order of RFC 9110 section 13.2.2, If-Range aside. */
enum eddyi_cond_result eddyi_cond_evaluate(const struct eddyi_cond_fields *fields,
					   const struct eddyi_cond_state *state,
					   enum eddyi_method method);

/* Tell whether If-Range lets the Range field count; true when there is none. A tag must be equal by
 * strong comparison, a date equal to the last modification, which must be a second old at least:
 * only then has the representation not changed twice under one date (section 8.8.2.2). */
bool eddyi_cond_range_allowed(const struct eddyi_cond_fields *fields,
			      const struct eddyi_cond_state *state);

#endif
