/* http2.h where this is built without libnghttp2: nobody asks for it, since options_check() has refused --http2. */
#include "http2.h"

#include <errno.h>

bool http2_is_there(void)
{
	return false;
}

int http2_ask(struct conn *conn, uint64_t started_ns)
{
	(void)conn, (void)started_ns;
	return -ENOTSUP;
}

int http2_begin(struct conn *conn)
{
	(void)conn;
	return -ENOTSUP;
}

int http2_exchange(struct conn *conn, unsigned *ret_left)
{
	(void)conn, (void)ret_left;
	return -ENOTSUP;
}

void http2_end(struct conn *conn)
{
	(void)conn;
}

void http2_free(struct conn *conn)
{
	(void)conn;
}
