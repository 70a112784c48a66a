/* coded.h: encoding of response bodies, and decoding of request bodies, by coders. */
#ifndef EDDYI_CODED_H
#define EDDYI_CODED_H

#include "exchange_state.h"

/* Send a whole response that is unsized and not a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_reply(struct eddy_req *req);

/* Send a piece of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_write(struct eddy_req *req, struct eddy_str bytes);

/* The same with a part of a file. */
int eddyi_coded_write_file(struct eddy_req *req, const struct eddy_transfer *file);

/* Send the end of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_end(struct eddy_req *req);

/* Free what the encoding of the body still holds. */
void eddyi_coded_deinit(struct eddy_req *req);

/* ---- bodies of requests ---- */

/* Free what the decoding of the body still holds. */
void eddyi_decoded_deinit(struct eddy_req *req);

/* Lower the limit of body bytes, decoded or not, to `max`. Beyond it a read gives a 413. */
void eddyi_decoded_limit(struct eddy_req *req, uint64_t max);

/* Read some of a decoded body. Suspends. Return: bytes; 0 at its end; -errno. */
ssize_t eddyi_decoded_read(struct eddy_req *req, void *buf, size_t len);

#endif
