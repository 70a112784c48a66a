#include "wolfssl.h"

#include "tls_chain.h"

#include <wolfssl/openssl/evp.h>
#include <wolfssl/openssl/x509.h>
#include <wolfssl/wolfcrypt/asn_public.h>

#include <stdbool.h>

/* Otherwise the library calls back only for chains that it rejects itself. */
#ifndef WOLFSSL_ALWAYS_VERIFY_CB
#error "this wolfSSL does not call the verify callback for valid chains: build it with -DWOLFSSL_ALWAYS_VERIFY_CB"
#endif

#define RSA_BITS_MIN 2048
/* Exceeds any valid chain. */
#define CHAIN_MAX 32

/* Whether the hash of an RSASSA-PSS signature is SHA-2 or SHA-3. It is SHA-1 unless the parameters,
 * after the signed part, begin with another (RFC 4055 section 3.1). */
static bool is_strong_pss(WOLFSSL_X509 *x509)
{
	/* 2.16.840.1.101.3.4.2, within a sequence of known lengths. */
	static const unsigned char sha2[] = { 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02 };
	static const size_t tag_at = 15, hash_at = 21;
	int signed_len, len;
	const unsigned char *der = wolfSSL_X509_get_der(x509, &len);
	const unsigned char *algorithm = wolfSSL_X509_get_tbs(x509, &signed_len);

	if (!der || !algorithm)
		return false;
	algorithm += signed_len;
	return (size_t)(der + len - algorithm) >= hash_at + sizeof(sha2) &&
	       algorithm[tag_at] == 0xa0 && memcmp(algorithm + hash_at, sha2, sizeof(sha2)) == 0;
}

static bool is_strong_signature(WOLFSSL_X509 *x509)
{
	switch (wolfSSL_X509_get_signature_type(x509)) {
	case CTC_MD2wRSA:
	case CTC_MD5wRSA:
	case CTC_SHAwRSA:
	case CTC_SHAwECDSA:
	case CTC_SHAwDSA:
		return false;
	case CTC_RSASSAPSS:
		return is_strong_pss(x509);
	default:
		return true;
	}
}

static bool is_strong(const WOLFSSL_BUFFER_INFO *der)
{
	WOLFSSL_X509 *x509 = wolfSSL_X509_load_certificate_buffer(der->buffer, (int)der->length,
								  WOLFSSL_FILETYPE_ASN1);
	/* NULL for kinds of keys that don't matter here. */
	WOLFSSL_EVP_PKEY *key = wolfSSL_X509_get_pubkey(x509);
	bool strong = x509;

	if (key && wolfSSL_EVP_PKEY_base_id(key) == EVP_PKEY_RSA)
		strong = wolfSSL_EVP_PKEY_bits(key) >= RSA_BITS_MIN;
	if (strong && !is_strong_signature(x509))
		strong = key && wolfSSL_X509_verify(x509, key) == WOLFSSL_SUCCESS;
	wolfSSL_EVP_PKEY_free(key);
	wolfSSL_X509_free(x509);
	return strong;
}

/* ---- name constraints ---- */

static bool constrains_names(WOLFSSL_X509 *x509)
{
	/* The object identifier of the extension (RFC 5280 section 4.2.1.10), unique in a
	 * certificate. */
	static const unsigned char oid[] = { 0x06, 0x03, 0x55, 0x1d, 0x1e };
	int len = 0;
	const unsigned char *der = wolfSSL_X509_get_der(x509, &len);

	return !der || memmem(der, (size_t)len, oid, sizeof(oid));
}

/* Whether a certificate without a known issuer is a trust anchor. All others of a verified chain
 * have one, but the library looks for none if subject and issuer have the same name, as in a
 * self-signed root. */
static bool is_anchor(WOLFSSL_X509 *x509)
{
	WOLFSSL_EVP_PKEY *key;
	bool verified;

	if (!x509)
		return false;
	if (wolfSSL_X509_NAME_cmp(wolfSSL_X509_get_subject_name(x509),
				  wolfSSL_X509_get_issuer_name(x509)) != 0)
		return true;
	key = wolfSSL_X509_get_pubkey(x509);
	verified = key && wolfSSL_X509_verify(x509, key) == WOLFSSL_SUCCESS;
	wolfSSL_EVP_PKEY_free(key);
	return verified;
}

/* Check a certificate, which is freed, its issuer, and so on. The library knows all of them, also
 * those of the peer's chain, which it has verified.
 * Return: whether one has constraints, or that is unknown. */
static bool is_under_constraints(WOLFSSL_X509 *x509, WOLFSSL_X509_STORE_CTX *trust)
{
	bool constrained = !x509, ended = false;

	for (int i = 0; !constrained && !ended && i < CHAIN_MAX; i++) {
		WOLFSSL_X509 *issuer = NULL;

		ended = wolfSSL_X509_STORE_CTX_get1_issuer(&issuer, trust, x509) != WOLFSSL_SUCCESS;
		constrained = constrains_names(x509) || (ended && !is_anchor(x509));
		wolfSSL_X509_free(x509);
		x509 = ended ? NULL : issuer;
	}
	wolfSSL_X509_free(x509);
	return constrained || !ended;
}

/* wolfSSL before 5.9.2 does not apply name constraints to addresses, URIs and wildcards
 * (CVE-2026-7532, CVE-2026-5263, CVE-2026-10592), and matches "badexample.com" with "example.com".
 * 5.9.2 loses those of an authority with the name of its issuer or of a root. So authorities with
 * constraints are not trusted. Issuers are found by name, which several may share, so each
 * certificate of the chain is checked. */
static bool has_constraints(struct WOLFSSL_X509_STORE_CTX *store)
{
	WOLFSSL_X509_STORE_CTX *trust = wolfSSL_X509_STORE_CTX_new();
	bool constrained = !trust || wolfSSL_X509_STORE_CTX_init(trust, store->store, NULL, NULL) !=
					     WOLFSSL_SUCCESS;

	for (int i = 0; i < store->totalCerts && !constrained; i++)
		constrained = is_under_constraints(
			wolfSSL_X509_load_certificate_buffer(store->certs[i].buffer,
							     (int)store->certs[i].length,
							     WOLFSSL_FILETYPE_ASN1),
			trust);
	wolfSSL_X509_STORE_CTX_free(trust);
	return constrained;
}

int eddyi_tls_chain_verify(int ok, struct WOLFSSL_X509_STORE_CTX *store)
{
	/* The peer's own certificate comes last. */
	if (!ok || store->error_depth)
		return ok;
	for (int i = 0; i < store->totalCerts; i++)
		if (!is_strong(&store->certs[i]))
			return 0;
	return !has_constraints(store);
}
