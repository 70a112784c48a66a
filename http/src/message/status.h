/* status.h: the statuses of responses (RFC 9110 section 15): what they are called, and which one an error stands for. */
#ifndef EDDYI_STATUS_H
#define EDDYI_STATUS_H

#include <stdbool.h>

/* For logs and metrics: of a request that was cancelled because its client has left. nginx counts it so. */
#define EDDYI_STATUS_CLIENT_LEFT 499

/* The reason phrase of a status; "Unknown" for one that nobody registered. */
const char *eddyi_status_phrase(int status);

/* What an error's status says to the caller where nobody has more to say. */
const char *eddyi_status_detail(int status);

/* The status that a handler's -errno stands for. */
int eddyi_status_of(int error);

/* Whether a response of this status can have a body. */
static inline bool eddyi_status_has_body(int status)
{
	return status != 204 && status != 304;
}

#endif
