/* fields.h: what the fields of a head say about its message: how the body is framed, who is asked,
 * and whether the connection stays (RFC 9110 section 7, RFC 9112 sections 6 and 9).
 *
 * Read as narrowly as clients write: where two readers of one message could come to different ends of
 * it, it is refused.
 *
 *   - Transfer-Encoding is "chunked", once, and alone; HTTP/1.0 has none.
 *   - Content-Length comes once, in the one spelling that clients use: no zeros in front, at most one
 *     space before and no blank behind it.
 *   - Host comes once, and in HTTP/1.1 at least that; Content-Type at most once.
 *   - The only expectation is 100-continue; a WebSocket handshake (RFC 6455 section 4.2.1) is of
 *     version 13 or no handshake.
 */
#ifndef EDDYI_FIELDS_H
#define EDDYI_FIELDS_H

#include "head.h"

/* Judge the fields of a head whose method, target and fields have been read, and set all that follows
 * from them. Return: 200, or the status that the head is to be refused with, `problem` saying why. */
int eddyi_fields_judge(struct eddyi_head *head);

#endif
