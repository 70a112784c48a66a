/* hello.h: parses a client's first TLS message (RFC 8446 section 4.1.2). It is read before there is
 * a session, so that a client without a hello costs none. */
#ifndef EDDYI_HELLO_H
#define EDDYI_HELLO_H

#include <eddy/str.h>

/* Limit of the message; with post-quantum keys it reaches 2 KiB. */
#define EDDYI_HELLO_MAX ((size_t)(16 * EDDY_KIB))

/* Kinds of certificate keys, as bits. */
enum eddyi_hello_key {
	EDDYI_KEY_RSA = 1 << 0,
	EDDYI_KEY_P256 = 1 << 1,
	EDDYI_KEY_P384 = 1 << 2,
	EDDYI_KEY_P521 = 1 << 3,
};

struct eddyi_hello {
	unsigned keys; /* kinds of keys whose signatures the client can verify */
	/* It offers a known cipher suite and group, or is older than TLS 1.2. */
	bool fits;
	bool prefers_chacha;   /* over AES-GCM: it offers a ChaCha20 suite first */
	bool has_slow_group;   /* the key exchange may use P-384 or P-521 */
	bool only_psk;         /* resumes only without a key exchange (psk_ke) */
	bool early_data;       /* data encrypted for an earlier session follows */
	char server_name[256]; /* in lower case; empty if absent or not a host name */
};

/* Parse the hello at the beginning of a client's bytes.
 * Return: 0; -EAGAIN if more bytes are needed; -EPROTO if it is not TLS; -EBADMSG. */
int eddyi_hello_parse(struct eddy_str bytes, struct eddyi_hello *ret_hello);

/* Parse a hello without its message head. Return: false if it is malformed. */
bool eddyi_hello_read(const unsigned char *body, size_t len, struct eddyi_hello *ret_hello);

/* Whether a certificate's name, which may begin with "*.", matches a host (RFC 6125 section 6.4).
 * Both are in lower case. */
bool eddyi_hello_name_fits(struct eddy_str pattern, struct eddy_str host);

#endif
