/* response.h: responses for the calls that make them. */
#ifndef EDDYI_RESPONSE_H
#define EDDYI_RESPONSE_H

#include "client_state.h"

/* Return: NULL on allocation failure. */
struct eddy_response *eddyi_response_new(struct eddy_client *client);

/* Begin to read the body from this connection, after the head. */
void eddyi_response_begin(struct eddy_response *response, struct eddyi_client_conn *conn);

/* Discard the rest of the body to keep the connection, or close it if that is long. Suspends. */
void eddyi_response_discard(struct eddy_response *response);

/* Fail a response whose body exceeds .body_max. Return: -EMSGSIZE. */
int eddyi_response_fail_too_large(struct eddy_response *response);

#endif
