/* hello.h: the first message of a TLS client, as far as it decides how to go on (RFC 8446 section
 * 4.1.2). It is read before there is a session, so that a client that has not said hello costs none. */
#ifndef EDDYI_HELLO_H
#define EDDYI_HELLO_H

#include <eddy/str.h>

/* A longer message is refused; with post-quantum keys they reach 2 KiB. */
#define EDDYI_HELLO_MAX ((size_t)(16 * EDDY_KIB))

/* Kinds of keys that a certificate may have, as bits. */
enum eddyi_hello_key {
	EDDYI_KEY_RSA = 1 << 0,
	EDDYI_KEY_P256 = 1 << 1,
	EDDYI_KEY_P384 = 1 << 2,
	EDDYI_KEY_P521 = 1 << 3,
};

struct eddyi_hello {
	unsigned keys; /* whose signatures the client can verify */
	bool fits; /* it offers a cipher suite and a group that we have, unless it is older than TLS 1.2 */
	bool prefers_chacha; /* to AES-GCM: it offers a suite of ChaCha20 first */
	bool has_slow_group; /* P-384 or P-521 may become the key exchange */
	bool only_psk;       /* resumes sessions without an exchange of keys (psk_ke) alone */
	bool early_data;     /* data follows that was encrypted for a session before */
	char server_name[256]; /* in lower case; empty when none was sent, or one that is no host name */
};

/* Read the hello at the front of what a client has sent.
 * Return: 0; -EAGAIN when more bytes are needed; -EPROTO when this is no TLS; -EBADMSG. */
int eddyi_hello_parse(struct eddy_str bytes, struct eddyi_hello *ret_hello);

/* Read a hello without the head of its message. Return: false if it is malformed. */
bool eddyi_hello_read(const unsigned char *body, size_t len, struct eddyi_hello *ret_hello);

/* Whether a name of a certificate, which may begin with "*.", is for a host (RFC 6125 section 6.4). Both
 * are in lower case. */
bool eddyi_hello_name_fits(struct eddy_str pattern, struct eddy_str host);

#endif
