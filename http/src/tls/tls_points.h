/* tls_points.h: the public keys that peers send for the key exchange. Some versions of the library compute with any:
 * those that are on no curve, or that make a secret which everybody knows, are refused here (RFC 8446 sections 4.2.8.2
 * and 7.4.2, RFC 8422 section 5.11). */
#ifndef EDDYI_TLS_POINTS_H
#define EDDYI_TLS_POINTS_H

#include <stdbool.h>
#include <stddef.h>

struct WOLFSSL_CTX;

/* Prepare the library, once. Return: false on failure. */
bool eddyi_tls_points_init(void);

/* Use the groups P-256, X25519, P-384 and P-521, and no others, and check the points of peers on the curves P-256, P-384 and P-521: the
 * handshake fails if one is bad. The accelerator answers everything else that wolfSSL asks a device for. Return: false on allocation failure. */
bool eddyi_tls_points_limit(struct WOLFSSL_CTX *context);

/* Whether an unencrypted message holds an X25519 key of low order that the library accepts. No other field is these
 * 32 bytes by chance. */
bool eddyi_tls_points_has_weak(const unsigned char *message, size_t len);

/* Whether such a key is the reason why a handshake failed, by the library's error. */
bool eddyi_tls_points_is_fault(int error);

#endif
