/* status.h: response statuses (RFC 9110 section 15): their phrases, and the mapping from errors. */
#ifndef EDDYI_STATUS_H
#define EDDYI_STATUS_H

#include <stdbool.h>

/* For logs and metrics: the client disconnected before the response, as in nginx. */
#define EDDYI_STATUS_CLIENT_LEFT 499

/* Get the reason phrase of a status; "Unknown" for one that is not registered. */
const char *eddyi_status_phrase(int status);

/* Get the default detail of an error status. */
const char *eddyi_status_detail(int status);

/* Map a handler's -errno to a status. */
int eddyi_status_of(int error);

static inline bool eddyi_status_has_body(int status)
{
	return status >= 200 && status != 204 && status != 304;
}

#endif
