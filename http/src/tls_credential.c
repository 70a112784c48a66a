#include "wolfssl.h"

#include "tls_credential.h"

#include "hello.h"
#include "ktls.h"

#include <wolfssl/openssl/evp.h>
#include <wolfssl/openssl/pem.h>

#include <ctype.h>
#include <eddy/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1 << 20)

/* What every client of the last ten years can, forward secret and authenticated. */
#define CHACHA_13 "TLS13-CHACHA20-POLY1305-SHA256:"
#define CHACHA_12 "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define GCM_13 "TLS13-AES128-GCM-SHA256:TLS13-AES256-GCM-SHA384:"
#define GCM_12                                                                                     \
	"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"                               \
	"ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"

/* Without instructions for AES the library does ChaCha20 two and a half times as fast, and in constant
 * time; the kernel has them, and takes over nothing but GCM. */
#define CIPHERS CHACHA_13 GCM_13 CHACHA_12 ":" GCM_12
#define CIPHERS_KTLS GCM_13 CHACHA_13 GCM_12 ":" CHACHA_12

/* ---- files ---- */

struct pem {
	const char *path;
	unsigned char *bytes; /* NULL where nothing was read */
	size_t len;
};

static void pem_deinit(struct pem *pem)
{
	if (pem->bytes)
		explicit_bzero(pem->bytes, pem->len);
	free(pem->bytes);
}

/* Return: bytes; -EISDIR where it is no file, -EFBIG, -errno. */
static ssize_t read_file(int fd, unsigned char *buf)
{
	struct stat st;
	size_t len = 0;
	ssize_t r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	do {
		r = read(fd, buf + len, FILE_MAX + 1 - len);
		if (r > 0)
			len += (size_t)r;
	} while (r > 0 || (r < 0 && errno == EINTR));
	if (r < 0)
		return -errno;
	return len > FILE_MAX ? -EFBIG : (ssize_t)len;
}

static const char *reason_of(int error)
{
	if (error == -EACCES)
		return "Permission denied; who runs the server must be able to read it";
	if (error == -EISDIR)
		return "it is not a file";
	if (error == -EFBIG)
		return "it has more than 1 MiB";
	return strerror(-error);
}

/* `what` is what should be in it. Return: 0, -EINVAL after a record. */
static int pem_init(struct pem *pem, const char *path, const char *what)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t r = fd < 0 ? -errno : 0;

	*pem = (struct pem){ .path = path };
	if (fd >= 0) {
		pem->bytes = malloc(FILE_MAX + 1);
		pem->len = FILE_MAX + 1;
		r = pem->bytes ? read_file(fd, pem->bytes) : -ENOMEM;
		close(fd);
	}
	if (r < 0) {
		eddy_error("eddy::tls", "can't read the %s \"%s\": %s", what, path,
			   reason_of((int)r));
		pem_deinit(pem);
		pem->bytes = NULL;
		return -EINVAL;
	}
	pem->len = (size_t)r;
	return 0;
}

static bool pem_has(const struct pem *pem, const char *text)
{
	return memmem(pem->bytes, pem->len, text, strlen(text)) != NULL;
}

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

/* The alternative names; the common name counts only where there is none (RFC 6125 section 6.4.4). */
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

/* ---- contexts ---- */

static int load_cert(struct eddyi_tls_credential *credential, const struct pem *pem)
{
	WOLFSSL_X509 *x509 = wolfSSL_X509_load_certificate_buffer(pem->bytes, (int)pem->len,
								  WOLFSSL_FILETYPE_PEM);
	bool named;

	if (!x509 || wolfSSL_CTX_use_certificate_chain_buffer(credential->context, pem->bytes,
							      (long)pem->len) != WOLFSSL_SUCCESS) {
		eddy_error("eddy::tls",
			   "\"%s\" holds no usable certificate: it should begin with the server's, "
			   "in PEM (-----BEGIN CERTIFICATE-----)",
			   pem->path);
		wolfSSL_X509_free(x509);
		return -EINVAL;
	}
	if (wolfSSL_X509_cmp_current_time(wolfSSL_X509_get_notAfter(x509)) < 0)
		eddy_warn("eddy::tls", "the certificate in \"%s\" has expired", pem->path);
	named = add_names(credential, x509);
	wolfSSL_X509_free(x509);
	if (!named)
		eddy_error("eddy::tls", "can't read the certificate \"%s\": out of memory",
			   pem->path);
	return named ? 0 : -EINVAL;
}

/* Whether what one key signs the other verifies. The library's own check takes any two keys of one curve for
 * a pair. */
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

	/* Ed25519 has none of these, and its check is a good one. */
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
		eddy_error("eddy::tls",
			   "the key in \"%s\" is encrypted, and nobody could type the password: "
			   "decrypt it by \"openssl pkey -in FILE -out PLAIN\"",
			   pem->path);
		return -EINVAL;
	}
	if (!pem_has(pem, "PRIVATE KEY-----") ||
	    wolfSSL_CTX_use_PrivateKey_buffer(credential->context, pem->bytes, (long)pem->len,
					      WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS) {
		eddy_error("eddy::tls",
			   "\"%s\" holds no usable private key, in PEM (-----BEGIN PRIVATE "
			   "KEY-----)",
			   pem->path);
		return -EINVAL;
	}
	if (!is_pair(credential, cert, pem)) {
		eddy_error("eddy::tls",
			   "the key in \"%s\" is not that of the certificate in \"%s\": "
			   "give the key that its request was made with",
			   pem->path, cert->path);
		return -EINVAL;
	}
	return 0;
}

static int load_client_ca(struct eddyi_tls_credential *credential, const char *path)
{
	struct pem pem;
	int r = pem_init(&pem, path, "authorities for clients");

	if (r < 0)
		return r;
	if (wolfSSL_CTX_load_verify_buffer(credential->context, pem.bytes, (long)pem.len,
					   WOLFSSL_FILETYPE_PEM) != WOLFSSL_SUCCESS) {
		eddy_error("eddy::tls", "\"%s\" holds no usable certificate of an authority", path);
		r = -EINVAL;
	}
	pem_deinit(&pem);
	return r;
}

/* A client whose session is resumed shows no certificate: those who want one see to it each time. */
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
	wolfSSL_CTX_set_verify(context, mode, NULL);
	wolfSSL_CTX_NoTicketTLSv12(context);
	wolfSSL_CTX_no_ticket_TLSv13(context);
	return load_client_ca(credential, options->client_ca);
}

const char *eddyi_tls_ciphers(bool ktls)
{
	return ktls ? CIPHERS_KTLS : CIPHERS;
}

static WOLFSSL_CTX *new_context(const struct eddy_tls_options *options)
{
	WOLFSSL_CTX *context = wolfSSL_CTX_new(wolfSSLv23_server_method());
	int version = options->min_version == EDDY_TLS_1_3 ? WOLFSSL_TLSV1_3 : WOLFSSL_TLSV1_2;
	bool ktls = !options->no_ktls && eddyi_ktls_is_there();

	if (!context)
		return NULL;
	/* The cache would be one for all apps of the process; tickets do without. */
	wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_OFF);
	if (wolfSSL_CTX_SetMinVersion(context, version) == WOLFSSL_SUCCESS &&
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
	/* Both are looked at, so that one start shows what is wrong with either. */
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
}
