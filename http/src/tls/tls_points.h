/* tls_points.h: checks the public keys of peers in a key exchange. Some versions of the library
 * compute with any key; keys that are not on their curve, or that give a known secret, are rejected
 * here (RFC 8446 sections 4.2.8.2 and 7.4.2, RFC 8422 section 5.11). */
#ifndef EDDYI_TLS_POINTS_H
#define EDDYI_TLS_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct WOLFSSL_CTX;

/* Prepare the library, once. Return: false on failure. */
bool eddyi_tls_points_init(void);

/* Allow only the groups P-256, X25519, P-384 and P-521, and check peers' points on the P curves:
 * the handshake fails if one is invalid. The accelerator handles all other requests of wolfSSL to a
 * device. Return: false on allocation failure. */
bool eddyi_tls_points_limit(struct WOLFSSL_CTX *context);

/* Whether an unencrypted message contains an X25519 key of low order that the library accepts. No
 * other field equals these 32 bytes by chance. */
bool eddyi_tls_points_has_weak(const unsigned char *message, size_t len);

/* Whether the library's error says that a handshake failed because of such a key. */
bool eddyi_tls_points_is_fault(int error);

#endif
