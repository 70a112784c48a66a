/* reply_chunk.h: response bodies of unknown length. */
#ifndef EDDYI_REPLY_CHUNK_H
#define EDDYI_REPLY_CHUNK_H

#include "exchange_state.h"

/* Send the body in chunks, or until the connection ends. Call it before the head is sent. */
void eddyi_reply_unsize(struct eddy_req *req);

/* Send a piece of an unsized body, with the head before the first; `last` ends the body. A response
 * without a body is only a head. Suspends. Return: 0, -errno. */
int eddyi_reply_chunk(struct eddy_req *req, struct eddy_str bytes, bool last);

#endif
