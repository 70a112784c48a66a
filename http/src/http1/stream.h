/* stream.h: HTTP/1.1 as the stream of a request. */
#ifndef EDDYI_HTTP1_STREAM_H
#define EDDYI_HTTP1_STREAM_H

#include "http1.h"

/* Initialize the stream of a connection whose other members are set. */
void eddyi_http1_init(struct eddyi_conn *conn);

/* The connection's state after an exchange. */
enum eddyi_ending {
	EDDYI_ENDING_KEEP,   /* another request may be read */
	EDDYI_ENDING_LINGER, /* it ends, but the client still sends */
	EDDYI_ENDING_CLOSE,
	EDDYI_ENDING_CUT, /* it ends within the response */
};

/* Handle a request whose head is complete or rejected. Suspends. */
enum eddyi_ending eddyi_http1_exchange(struct eddyi_http1 *http1);

/* Get the other end of a connection. Return: NULL if the client has reset the connection, or on
 * allocation failure. */
const struct eddyi_end *eddyi_conn_end(struct eddyi_conn *conn);

#endif
