#include "wolfssl.h"

#include "tls_credential.h"

#include "accelerated.h"
#include "hello.h"
#include "ktls.h"
#include "tls_chain.h"
#include "tls_points.h"

#include <wolfssl/openssl/ec.h>
#include <wolfssl/openssl/evp.h>
#include <wolfssl/openssl/pem.h>

#include <ctype.h>
#include <eddy/file.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- files of certificates and keys in memory ---- */

struct pem {
	const char *path;
	unsigned char *bytes; /* NULL if nothing was read */
	size_t len;
};

#define FILE_MAX (1 << 20)

/* Wipe and free the bytes; also after pem_init() has failed. */
static void pem_deinit(struct pem *pem)
{
	if (pem->bytes)
		explicit_bzero(pem->bytes, pem->len);
	free(pem->bytes);
}

static const char *reason_of(int error)
{
	if (error == -EACCES)
		return "Permission denied; the user that runs the server must be able to read it";
	if (error == -EISDIR)
		return "it is not a file";
	if (error == -EFBIG)
		return "it is larger than 1 MiB";
	return strerror(-error);
}

/* Read a regular file of at most 1 MiB. `path` is borrowed; `what` names its content for log
 * records. Blocks. Return: 0; -EINVAL after an ERROR log record. */
static int pem_init(struct pem *pem, const char *path, const char *what)
{
	char *bytes;
	ssize_t r = eddy_file_load(path, FILE_MAX, &bytes);

	*pem = (struct pem){ .path = path };
	if (r < 0) {
		eddy_error("eddy::tls", "can't read the %s \"%s\": %s", what, path,
			   reason_of((int)r));
		return -EINVAL;
	}
	pem->bytes = (unsigned char *)bytes;
	pem->len = (size_t)r;
	return 0;
}

static bool pem_has(const struct pem *pem, const char *text)
{
	return memmem(pem->bytes, pem->len, text, strlen(text)) != NULL;
}

/* ---- credentials ---- */

/* Limit of the authorities' names sent to clients. */
#define NAMES_MAX ((size_t)(8 * EDDY_KIB))
#define RSA_QUICK_MAX 256 /* bytes */

/* Forward secret, authenticated suites, which all clients of the last ten years support. */
#define CHACHA_13 "TLS13-CHACHA20-POLY1305-SHA256:"
#define CHACHA_12 "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GCM_13 "TLS13-AES128-GCM-SHA256:TLS13-AES256-GCM-SHA384:"
#define GCM_12                                                                                     \
	"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"                               \
	"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"

#define CIPHERS_CHACHA CHACHA_13 GCM_13 CHACHA_12 ":" GCM_12
#define CIPHERS_GCM GCM_13 CHACHA_13 GCM_12 ":" CHACHA_12

/* ---- names ---- */

static bool add_name(struct eddyi_tls_credential *credential, const char *name)
{
	size_t len = strlen(name) + 1;
	char *names = realloc(credential->names, credential->names_len + len);

	if (!names)
		return false;
	for (size_t i = 0; i < len; i++)
		names[credential->names_len + i] = (char)tolower((unsigned char)name[i]);
	credential->names = names;
	credential->names_len += len;
	return true;
}

/* Add the alternative names, or the common name if there are none (RFC 6125 section 6.4.4). */
static bool add_names(struct eddyi_tls_credential *credential, WOLFSSL_X509 *x509)
{
	const char *name;
	bool any = false;

	while ((name = wolfSSL_X509_get_next_altname(x509))) {
		if (!add_name(credential, name))
			return false;
		any = true;
	}
	name = any ? NULL : wolfSSL_X509_get_subjectCN(x509);
	return !name || add_name(credential, name);
}

bool eddyi_tls_credential_fits(const struct eddyi_tls_credential *credential, struct eddy_str host)
{
	const char *name = credential->names;

	for (size_t at = 0; at < credential->names_len; at += strlen(name + at) + 1)
		if (eddyi_hello_name_fits(eddy_str_from(name + at), host))
			return true;
	return false;
}

/* ---- kinds of keys ---- */

static unsigned kind_of_curve(WOLFSSL_EVP_PKEY *key)
{
	WOLFSSL_EC_KEY *ec = wolfSSL_EVP_PKEY_get1_EC_KEY(key);
	int curve = ec ? wolfSSL_EC_GROUP_get_curve_name(wolfSSL_EC_KEY_get0_group(ec)) : 0;

	wolfSSL_EC_KEY_free(ec);
	return curve == NID_X9_62_prime256v1 ? EDDYI_KEY_P256 :
	       curve == NID_secp384r1        ? EDDYI_KEY_P384 :
	       curve == NID_secp521r1        ? EDDYI_KEY_P521 :
					       ~0u;
}

static unsigned kind_of(WOLFSSL_X509 *x509)
{
	WOLFSSL_EVP_PKEY *key = wolfSSL_X509_get_pubkey(x509);
	int type = key ? wolfSSL_EVP_PKEY_base_id(key) : 0;
	unsigned kind = type == EVP_PKEY_RSA ? EDDYI_KEY_RSA :
			type == EVP_PKEY_EC  ? kind_of_curve(key) :
					       ~0u;

	wolfSSL_EVP_PKEY_free(key);
	return kind;
}

/* Longer RSA keys and other curves take milliseconds with libcrypto too. */
static bool is_quick(WOLFSSL_X509 *x509, unsigned kind)
{
	WOLFSSL_EVP_PKEY *key = wolfSSL_X509_get_pubkey(x509);
	int len = key ? wolfSSL_EVP_PKEY_size(key) : 0;

	wolfSSL_EVP_PKEY_free(key);
	return eddyi_accelerator_name() &&
	       (kind == EDDYI_KEY_P256 || (kind == EDDYI_KEY_RSA && len <= RSA_QUICK_MAX));
}

/* ---- contexts ---- */

static int load_cert(struct eddyi_tls_credential *credential, const struct pem *pem)
{
	WOLFSSL_X509 *x509 = wolfSSL_X509_load_certificate_buffer(pem->bytes, (int)pem->len,
								  WOLFSSL_FILETYPE_PEM);
	unsigned len = sizeof(credential->fingerprint);
	bool named, digested;

	if (!x509 || wolfSSL_CTX_use_certificate_chain_buffer(credential->context, pem->bytes,
							      (long)pem->len) != WOLFSSL_SUCCESS) {
		eddy_error(
			"eddy::tls",
			"\"%s\" has no usable certificate: it must begin with the server's, in PEM "
			"(-----BEGIN CERTIFICATE-----)",
			pem->path);
		wolfSSL_X509_free(x509);
		return -EINVAL;
	}
	if (wolfSSL_X509_cmp_current_time(wolfSSL_X509_get_notAfter(x509)) < 0)
		eddy_warn("eddy::tls", "the certificate in \"%s\" has expired", pem->path);
	named = add_names(credential, x509);
	credential->key = kind_of(x509);
	credential->is_quick = is_quick(x509, credential->key);
	digested = wolfSSL_X509_digest(x509, wolfSSL_EVP_sha256(), credential->fingerprint, &len) ==
		   WOLFSSL_SUCCESS;
	wolfSSL_X509_free(x509);
	if (!named || !digested)
		eddy_error("eddy::tls", "can't read the certificate \"%s\": out of memory",
			   pem->path);
	return named && digested ? 0 : -EINVAL;
}

/* Whether the public key verifies a signature of the private one. The library's own check accepts
 * any two keys of one curve. */
static bool sign_and_verify(WOLFSSL_EVP_PKEY *private, WOLFSSL_EVP_PKEY *public)
{
	static const char text[] = "eddy";
	const WOLFSSL_EVP_MD *sha256 = wolfSSL_EVP_sha256();
	WOLFSSL_EVP_MD_CTX *signer = wolfSSL_EVP_MD_CTX_new();
	WOLFSSL_EVP_MD_CTX *verifier = wolfSSL_EVP_MD_CTX_new();
	unsigned char signature[1024];
	size_t len = sizeof(signature);
	bool ok;

	ok = signer && verifier &&
	     wolfSSL_EVP_DigestSignInit(signer, NULL, sha256, NULL, private) == 1 &&
	     wolfSSL_EVP_DigestSignUpdate(signer, text, sizeof(text)) == 1 &&
	     wolfSSL_EVP_DigestSignFinal(signer, signature, &len) == 1 &&
	     wolfSSL_EVP_DigestVerifyInit(verifier, NULL, sha256, NULL, public) == 1 &&
	     wolfSSL_EVP_DigestVerifyUpdate(verifier, text, sizeof(text)) == 1 &&
	     wolfSSL_EVP_DigestVerifyFinal(verifier, signature, len) == 1;
	wolfSSL_EVP_MD_CTX_free(verifier);
	wolfSSL_EVP_MD_CTX_free(signer);
	return ok;
}

static bool is_pair(struct eddyi_tls_credential *credential, const struct pem *cert,
		    const struct pem *key)
{
	WOLFSSL_X509 *x509 = wolfSSL_X509_load_certificate_buffer(cert->bytes, (int)cert->len,
								  WOLFSSL_FILETYPE_PEM);
	WOLFSSL_BIO *bio = wolfSSL_BIO_new_mem_buf(key->bytes, (int)key->len);
	WOLFSSL_EVP_PKEY *private = wolfSSL_PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	WOLFSSL_EVP_PKEY *public = wolfSSL_X509_get_pubkey(x509);
	bool ok = wolfSSL_CTX_check_private_key(credential->context) == WOLFSSL_SUCCESS;

	/* Ed25519 has none of these, and the library's check suffices. */
	if (ok && private && public)
		ok = sign_and_verify(private, public);
	wolfSSL_EVP_PKEY_free(public);
	wolfSSL_EVP_PKEY_free(private);
	wolfSSL_BIO_free(bio);
	wolfSSL_X509_free(x509);
	return ok;
}

static int load_key(struct eddyi_tls_credential *credential, const struct pem *pem,
		    const struct pem *cert)
{
	if (pem_has(pem, "ENCRYPTED")) {
		eddy_error(
			"eddy::tls",
			"the key in \"%s\" is encrypted, which is not supported: decrypt it with "
			"\"openssl pkey -in FILE -out PLAIN\"",
			pem->path);
		return -EINVAL;
	}
	if (!pem_has(pem, "PRIVATE KEY-----") ||
	    wolfSSL_CTX_use_PrivateKey_buffer(credential->context, pem->bytes, (long)pem->len,
					      WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS) {
		eddy_error("eddy::tls",
			   "\"%s\" has no usable private key in PEM (-----BEGIN PRIVATE KEY-----)",
			   pem->path);
		return -EINVAL;
	}
	if (!is_pair(credential, cert, pem)) {
		eddy_error(
			"eddy::tls",
			"the key in \"%s\" does not match the certificate in \"%s\": use the key "
			"that the certificate was requested with",
			pem->path, cert->path);
		return -EINVAL;
	}
	return 0;
}

/* Add the names of the authorities in a file. Return: false on allocation failure. */
static bool collect_names(const struct pem *pem, WOLF_STACK_OF(WOLFSSL_X509_NAME) * names,
			  size_t *ret_size)
{
	WOLFSSL_BIO *bio = wolfSSL_BIO_new_mem_buf(pem->bytes, (int)pem->len);
	WOLFSSL_X509 *x509;
	size_t size = 0;
	bool ok = bio;

	while (ok && (x509 = wolfSSL_PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
		WOLFSSL_X509_NAME *name =
			wolfSSL_X509_NAME_dup(wolfSSL_X509_get_subject_name(x509));

		wolfSSL_X509_free(x509);
		/* Newer versions return the number of names. */
		ok = name && wolfSSL_sk_X509_NAME_push(names, name) > 0;
		if (ok)
			size += 2 + (size_t)wolfSSL_i2d_X509_NAME(name, NULL);
		else
			wolfSSL_X509_NAME_free(name);
	}
	wolfSSL_BIO_free(bio);
	*ret_size = size;
	return ok;
}

/* Tell clients with several certificates which authorities are trusted. The library does so only in
 * TLS 1.2, and fails if the names exceed a record. Return: false on allocation failure. */
static bool announce_client_ca(struct eddyi_tls_credential *credential, const struct pem *pem)
{
	WOLF_STACK_OF(WOLFSSL_X509_NAME) *names = wolfSSL_sk_X509_NAME_new(NULL);
	size_t size = 0;
	bool ok = names && collect_names(pem, names, &size);

	if (ok && size && size <= NAMES_MAX)
		wolfSSL_CTX_set_client_CA_list(credential->context, names);
	else
		wolfSSL_sk_X509_NAME_pop_free(names, NULL);
	return ok;
}

static int load_client_ca(struct eddyi_tls_credential *credential, const char *path)
{
	struct pem pem;
	int r = pem_init(&pem, path, "client CA");

	if (r < 0)
		return r;
	if (wolfSSL_CTX_load_verify_buffer(credential->context, pem.bytes, (long)pem.len,
					   WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS) {
		eddy_error("eddy::tls", "\"%s\" has no usable CA certificate", path);
		r = -EINVAL;
	} else if (!announce_client_ca(credential, &pem)) {
		eddy_error("eddy::tls", "can't read the client CA \"%s\": out of memory", path);
		r = -EINVAL;
	}
	pem_deinit(&pem);
	return r;
}

/* A resumed session presents no certificate, so there are no tickets if one is requested. */
static int ask_clients(struct eddyi_tls_credential *credential,
		       const struct eddy_tls_options *options)
{
	WOLFSSL_CTX *context = credential->context;
	int mode = WOLFSSL_VERIFY_PEER;

	if (options->client_certs == EDDY_TLS_CLIENT_CERTS_NONE) {
		wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_NONE, NULL);
		return 0;
	}
	if (options->client_certs == EDDY_TLS_CLIENT_CERTS_REQUIRED)
		mode |= WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	wolfSSL_CTX_set_verify(context, mode, eddyi_tls_chain_verify);
	wolfSSL_CTX_NoTicketTLSv12(context);
	wolfSSL_CTX_no_ticket_TLSv13(context);
	return load_client_ca(credential, options->client_ca);
}

const char *eddyi_tls_ciphers(bool ktls)
{
	return ktls || eddyi_accelerator_name() ? CIPHERS_GCM : CIPHERS_CHACHA;
}

const char *eddyi_tls_ciphers_chacha(void)
{
	return CIPHERS_CHACHA;
}

static WOLFSSL_CTX *new_context(const struct eddy_tls_options *options)
{
	WOLFSSL_CTX *context = wolfSSL_CTX_new(wolfSSLv23_server_method());
	int version = options->min_version == EDDY_TLS_1_3 ? WOLFSSL_TLSV1_3 : WOLFSSL_TLSV1_2;
	bool ktls = !options->no_ktls && eddyi_ktls_is_there();

	if (!context)
		return NULL;
	/* The library frees its SRP data with the first reference released, even if it is in use.
	 * Release one here, before the context is shared. */
	wolfSSL_CTX_up_ref(context);
	wolfSSL_CTX_free(context);
	/* The cache would be shared by all apps of the process. Tickets don't need it. */
	wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_OFF);
	if (wolfSSL_CTX_SetMinVersion(context, version) == WOLFSSL_SUCCESS &&
	    eddyi_tls_points_limit(context) &&
	    wolfSSL_CTX_set_cipher_list(context, eddyi_tls_ciphers(ktls)) == WOLFSSL_SUCCESS)
		return context;
	wolfSSL_CTX_free(context);
	return NULL;
}

int eddyi_tls_credential_init(struct eddyi_tls_credential *credential,
			      const struct eddy_tls_options *options, const char *cert,
			      const char *key)
{
	struct pem cert_pem, key_pem;
	int r;

	*credential = (struct eddyi_tls_credential){ .context = new_context(options) };
	if (!credential->context) {
		eddy_error("eddy::tls", "can't set TLS up: out of memory");
		return -EINVAL;
	}
	r = pem_init(&cert_pem, cert, "certificate");
	if (r == 0)
		r = load_cert(credential, &cert_pem);
	/* Check both files, so that one start shows the problems of both. */
	if (pem_init(&key_pem, key ? key : cert, "private key") < 0 ||
	    (r == 0 && load_key(credential, &key_pem, &cert_pem) < 0))
		r = -EINVAL;
	pem_deinit(&key_pem);
	pem_deinit(&cert_pem);
	if (ask_clients(credential, options) < 0)
		r = -EINVAL;
	wolfSSL_ERR_clear_error();
	if (r < 0)
		eddyi_tls_credential_deinit(credential);
	return r;
}

void eddyi_tls_credential_deinit(struct eddyi_tls_credential *credential)
{
	wolfSSL_CTX_free(credential->context);
	free(credential->names);
	/* Including its private key. */
	eddyi_accelerator_forget_keys();
}
