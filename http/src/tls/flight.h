/* flight.h: checks the unencrypted messages of a peer's handshake before the session reads them.
 *
 * wolfSSL accepts messages that RFC 5246 and RFC 8446 forbid, in some versions with serious
 * vulnerabilities (SECURITY.md lists them). Each check here holds for every honest peer, so it does
 * not depend on the version. */
#ifndef EDDYI_FLIGHT_H
#define EDDYI_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Invariants:
 * 1. `len` bytes of a message of `size` bytes have arrived, both including its head, which is in
 *    `head`. Between messages `len` is 0; `size` is 0 until the head is complete.
 * 2. `message` is the message without its head; NULL between messages, and unless `keeps`.
 * 3. `suites` is NULL for the flight of a client. */
struct eddyi_flight {
	unsigned char *message;
	unsigned char *suites; /* offered to the server, two bytes each */
	uint32_t len;
	uint32_t size;
	uint16_t suites_len;
	uint8_t last; /* type of the last message; 0: none */
	bool keeps;
	bool is_over;  /* all further messages are encrypted */
	uint8_t alert; /* the alert that rejects the peer; 0: none */
	unsigned char head[4];
};

void eddyi_flight_deinit(struct eddyi_flight *flight);

/* Store what our ClientHello, `record`, offers to a server. Return: 0, -EBADMSG, -ENOMEM. */
int eddyi_flight_offer(struct eddyi_flight *flight, const unsigned char *record, size_t len);

/* Whether the session may read the peer's next record, which is complete. `is_1_3`: the session's
 * version after the previous records. Once false it stays so, and `alert` is set. */
bool eddyi_flight_allows(struct eddyi_flight *flight, const unsigned char *record, size_t len,
			 bool is_1_3);

/* Whether the random of a ServerHello marks a HelloRetryRequest (RFC 8446 section 4.1.3). */
bool eddyi_flight_is_retry(const unsigned char random[32]);

/* Whether the last unencrypted message was a CertificateVerify. */
bool eddyi_flight_has_verify(const struct eddyi_flight *flight);

#endif
