/* ws_accept.h: the proof of a server that it speaks WebSocket (RFC 6455 section 4.2.2). */
#ifndef EDDYI_WS_ACCEPT_H
#define EDDYI_WS_ACCEPT_H

#include <eddy/str.h>

#define EDDYI_WS_KEY_LEN 24    /* of 16 bytes in base64 */
#define EDDYI_WS_ACCEPT_LEN 28 /* of a SHA-1 in base64 */

/* Whether a value of sec-websocket-key is well-formed. */
bool eddyi_ws_is_key(struct eddy_str key);

/* Compute the value of sec-websocket-accept for a key, which is well-formed. */
void eddyi_ws_accept(struct eddy_str key, char accept[EDDYI_WS_ACCEPT_LEN + 1]);

#endif
