/* reply_chunk.h: bodies whose length nobody knows when the head is sent. */
#ifndef EDDYI_REPLY_CHUNK_H
#define EDDYI_REPLY_CHUNK_H

#include "exchange_state.h"

/* The body is sent in chunks, or up to the end of the connection: before the head is sent. */
void eddyi_reply_unsize(struct eddy_req *req);

/* Send some of an unsized body, the head in front of the first; `last` for the end of it. Nothing but the head
 * to who gets no body. Suspends. Return: 0, -errno. */
int eddyi_reply_chunk(struct eddy_req *req, struct eddy_str bytes, bool last);

#endif
