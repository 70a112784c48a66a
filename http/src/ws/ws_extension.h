/* ws_extension.h: agreement on permessage-deflate (RFC 7692 section 7). */
#ifndef EDDYI_WS_EXTENSION_H
#define EDDYI_WS_EXTENSION_H

#include <eddy/str.h>

/* zlib can't deflate with a window of 2^8 bytes. */
#define EDDYI_WS_WINDOW_MIN 9
#define EDDYI_WS_WINDOW_MAX 15

/* The messages that one side sends. */
struct eddyi_ws_side {
	bool keeps;   /* a message may refer to those before (context takeover) */
	uint8_t bits; /* of the window */
};

struct eddyi_ws_extension {
	struct eddyi_ws_side server, client;
};

#define EDDYI_WS_EXTENSION_SIZE 160

/* Accept an offer of a client, given the value of its field. `takeover`: both sides may have it.
 * `reply` becomes the value of the response's field. Return: false if there is no offer that it can
 * accept. */
bool eddyi_ws_extension_accept(struct eddy_str offers, bool takeover,
			       struct eddyi_ws_extension *ret_agreed,
			       char reply[EDDYI_WS_EXTENSION_SIZE]);

/* Format a client's offer. */
void eddyi_ws_extension_offer(bool takeover, char offer[EDDYI_WS_EXTENSION_SIZE]);

/* Check what the server has agreed to, given the same `takeover` as the offer.
 * Return: false if that was not offered. */
bool eddyi_ws_extension_check(struct eddy_str reply, bool takeover,
			      struct eddyi_ws_extension *ret_agreed);

#endif
