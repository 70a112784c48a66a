/* tls_chain.h: how strong the certificates are that a peer presents, and names that authorities may not certify. The
 * library verifies all else. */
#ifndef EDDYI_TLS_CHAIN_H
#define EDDYI_TLS_CHAIN_H

struct WOLFSSL_X509_STORE_CTX;

/* Refuse a chain with a signature by MD5 or SHA-1, or an RSA key of less than 2048 bits. The signature of a trust anchor by
 * itself proves nothing, and may be of any kind. No version of the library applies name constraints in full: refuse a chain
 * under an authority that has any. A VerifyCallback: the error is VERIFY_CERT_ERROR then. */
int eddyi_tls_chain_verify(int ok, struct WOLFSSL_X509_STORE_CTX *store);

#endif
