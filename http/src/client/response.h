/* response.h: responses, as calls make them. */
#ifndef EDDYI_RESPONSE_H
#define EDDYI_RESPONSE_H

#include "client_state.h"

/* Return: NULL when memory is out. */
struct eddy_response *eddyi_response_new(struct eddy_client *client);

/* The head is there: the body is to be read from this connection. */
void eddyi_response_begin(struct eddy_response *response, struct eddyi_client_conn *conn);

/* Read what is left of the body, when that is little, or give the connection up. Suspends. */
void eddyi_response_discard(struct eddy_response *response);

#endif
