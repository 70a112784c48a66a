/* reply_head.h: the head of a response, as it is sent, and what it decides of the rest. */
#ifndef EDDYI_REPLY_HEAD_H
#define EDDYI_REPLY_HEAD_H

#include "exchange_state.h"

/* Whether the response can have a body: not that to a HEAD, nor 204 and 304. */
bool eddyi_reply_has_body(const struct eddy_req *req);

/* The handler of a HEAD alone that sets no body has not said how long that of a GET would be: nor does the
 * head (RFC 9110 section 8.6). */
bool eddyi_reply_is_length_unsaid(const struct eddy_req *req);

/* Make the head, with room for `extra` bytes behind it; `length` is that of the body unless it is unsized.
 * Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_reply_head(struct eddy_req *req, uint64_t length, size_t extra);

/* Whether the next request is here already, so that its answer comes at once or not for a while; the wire
 * sees to the second. */
bool eddyi_reply_is_followed(const struct eddy_req *req);

/* An answer of up to this many bytes leaves in one piece with its head. */
#define EDDYI_REPLY_COPY_MAX ((size_t)(32 * EDDY_KIB))

#endif
