/* tls_chain.h: checks the strength of certificates, and name constraints; the library does the
 * rest. */
#ifndef EDDYI_TLS_CHAIN_H
#define EDDYI_TLS_CHAIN_H

struct WOLFSSL_X509_STORE_CTX;

/* Reject a chain with a signature by MD5 or SHA-1, or an RSA key of less than 2048 bits. A trust
 * anchor's signature by itself proves nothing and may be of any kind. Also reject a chain under an
 * authority with name constraints, which no version of the library applies in full. A
 * VerifyCallback: the error is VERIFY_CERT_ERROR then. */
int eddyi_tls_chain_verify(int ok, struct WOLFSSL_X509_STORE_CTX *store);

#endif
