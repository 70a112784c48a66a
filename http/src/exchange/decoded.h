/* decoded.h: bodies on their way in through a coder. */
#ifndef EDDYI_DECODED_H
#define EDDYI_DECODED_H

#include "exchange_state.h"

/* Give back what the request's body still has. */
void eddyi_decoded_deinit(struct eddy_req *req);

/* Let no more than `max` bytes of the body come, decoded or not: past it the reader gets an error that is a
 * 413. */
void eddyi_decoded_limit(struct eddy_req *req, uint64_t max);

/* Read some of a body on its way in. Suspends. Return: bytes, 0 at its end, -errno. */
ssize_t eddyi_decoded_read(struct eddy_req *req, void *buf, size_t len);

#endif
