/* reply_head.h: the head of a response. */
#ifndef EDDYI_REPLY_HEAD_H
#define EDDYI_REPLY_HEAD_H

#include "exchange_state.h"

/* Whether the response can have a body: not to a HEAD, nor with 204 or 304. */
bool eddyi_reply_has_body(const struct eddy_req *req);

/* Whether the head has no length: a handler for HEAD alone that sets no body does not know that of
 * a GET (RFC 9110 section 8.6). */
bool eddyi_reply_is_length_unsaid(const struct eddy_req *req);

/* Make the head, with room for `extra` bytes after it; `length` is the body's, ignored if it is
 * unsized. Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_reply_head(struct eddy_req *req, uint64_t length, size_t extra);

/* Whether the next request has already arrived, so that responses may be sent together. */
bool eddyi_reply_is_followed(const struct eddy_req *req);

/* Limit of a response that is copied after its head, to be sent in one piece. */
#define EDDYI_REPLY_COPY_MAX ((size_t)(32 * EDDY_KIB))

#endif
