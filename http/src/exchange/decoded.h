/* decoded.h: decoding of request bodies by a coder. */
#ifndef EDDYI_DECODED_H
#define EDDYI_DECODED_H

#include "exchange_state.h"

/* Free what the decoding of the body still holds. */
void eddyi_decoded_deinit(struct eddy_req *req);

/* Lower the limit of body bytes, decoded or not, to `max`. Beyond it a read gives a 413. */
void eddyi_decoded_limit(struct eddy_req *req, uint64_t max);

/* Read some of a decoded body. Suspends. Return: bytes; 0 at its end; -errno. */
ssize_t eddyi_decoded_read(struct eddy_req *req, void *buf, size_t len);

#endif
