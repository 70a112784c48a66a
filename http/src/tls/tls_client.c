#include "wolfssl.h"

#include <eddy/internal/outside.h>
#include <wolfssl/error-ssl.h>
#include <wolfssl/openssl/x509v3.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include "tls_client.h"

#include "accelerated.h"
#include "hello.h"
#include "tls.h"
#include "tls_chain.h"
#include "tls_credential.h"
#include "tls_points.h"
#include "tls_setup.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* The distributions' files of trusted authorities. */
static const char *const system_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

/* ---- trust ---- */

static bool load_file(WOLFSSL_CTX *context, const char *path)
{
	return wolfSSL_CTX_load_verify_locations(context, path, NULL) == WOLFSSL_SUCCESS;
}

/* Without a file nothing is trusted, which the first connection reports. */
static void load_system(WOLFSSL_CTX *context)
{
	for (size_t i = 0; i < sizeof(system_files) / sizeof(*system_files); i++)
		if (eddyi_access_now(system_files[i], R_OK) == 0 &&
		    load_file(context, system_files[i]))
			return;
}

static int set_up(WOLFSSL_CTX *context, const struct eddyi_tls_client_options *options)
{
	const char *ciphers = options->ciphers ? options->ciphers : eddyi_tls_ciphers(false);

	/* The library's own cache would be shared by all clients, and with none it resumes
	 * nothing. */
	wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_NO_INTERNAL);
	if (options->trusts_all)
		wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_NONE, NULL);
	else
		wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_PEER, eddyi_tls_chain_verify);
	if (wolfSSL_CTX_SetMinVersion(context, WOLFSSL_TLSV1_2) != WOLFSSL_SUCCESS ||
	    !eddyi_tls_points_limit(context))
		return -ENOMEM;
	if (wolfSSL_CTX_set_cipher_list(context, ciphers) != WOLFSSL_SUCCESS)
		return options->ciphers ? -EPROTONOSUPPORT : -ENOMEM;
	if (options->trusts_all)
		return 0;
	if (options->ca_file && !load_file(context, options->ca_file))
		return -EINVAL;
	if (!options->ca_file_only)
		load_system(context);
	return 0;
}

int eddyi_tls_client_open(const struct eddyi_tls_client_options *options,
			  struct WOLFSSL_CTX **ret_context)
{
	WOLFSSL_CTX *context;
	int r;

	context = eddyi_tls_init() ? wolfSSL_CTX_new(wolfSSLv23_client_method()) : NULL;
	if (!context)
		return -ENOMEM;
	r = set_up(context, options);
	wolfSSL_ERR_clear_error();
	if (r < 0)
		wolfSSL_CTX_free(context);
	else
		*ret_context = context;
	return r;
}

static void free_context(void *arg)
{
	wolfSSL_CTX_free(arg);
}

void eddyi_tls_client_close(struct WOLFSSL_CTX *context)
{
	if (context)
		eddy_on_loop_stack(free_context, context);
}

/* ---- verification of the host ---- */

static struct eddy_str lower(struct eddy_str text, char buf[256])
{
	if (text.len > 255)
		return EDDY_STR("");
	for (size_t i = 0; i < text.len; i++)
		buf[i] = (char)tolower((unsigned char)text.ptr[i]);
	return eddy_str(buf, text.len);
}

/* In lower case and without a final dot, as in certificates and SNI. */
static struct eddy_str name_of(const struct eddyi_host *host, char buf[256])
{
	struct eddy_str name = lower(host->name, buf);

	if (name.len && name.ptr[name.len - 1] == '.')
		name.len--;
	return name;
}

static bool is_name(WOLFSSL_ASN1_STRING *pattern, const struct eddyi_host *host)
{
	char buf[256], pattern_buf[256];
	struct eddy_str text = eddy_str((const char *)wolfSSL_ASN1_STRING_get0_data(pattern),
					(size_t)wolfSSL_ASN1_STRING_length(pattern));

	return eddyi_hello_name_fits(lower(text, pattern_buf), name_of(host, buf));
}

static bool is_address(WOLFSSL_ASN1_STRING *bytes, const struct eddyi_host *host)
{
	bool v6 = host->kind == EDDYI_HOST_IPV6;
	unsigned char address[16];
	char text[256];

	lower(host->name, text);
	text[host->name.len] = 0;
	return wolfSSL_ASN1_STRING_length(bytes) == (v6 ? 16 : 4) &&
	       inet_pton(v6 ? AF_INET6 : AF_INET, text, address) == 1 &&
	       memcmp(wolfSSL_ASN1_STRING_get0_data(bytes), address, v6 ? 16 : 4) == 0;
}

/* Only alternative names count (RFC 9525 section 6.3). */
static bool is_for(WOLFSSL_X509 *x509, const struct eddyi_host *host)
{
	WOLFSSL_GENERAL_NAMES *names =
		wolfSSL_X509_get_ext_d2i(x509, NID_subject_alt_name, NULL, NULL);
	bool found = false;

	for (int i = 0; !found && i < wolfSSL_sk_GENERAL_NAME_num(names); i++) {
		WOLFSSL_GENERAL_NAME *name = wolfSSL_sk_GENERAL_NAME_value(names, i);

		if (name->type == GEN_DNS && host->kind == EDDYI_HOST_NAME)
			found = is_name(name->d.dNSName, host);
		else if (name->type == GEN_IPADD && host->kind != EDDYI_HOST_NAME)
			found = is_address(name->d.iPAddress, host);
	}
	wolfSSL_sk_GENERAL_NAME_pop_free(names, NULL);
	return found;
}

/* ---- sessions ---- */

struct session {
	WOLFSSL_CTX *context;
	WOLFSSL_SESSION *resumed;
	const struct eddyi_host *host;
	struct eddyi_tls *tls;
	bool is_theirs;
};

static void begin(void *arg)
{
	static char http[] = "http/1.1";
	struct session *begun = arg;
	WOLFSSL *session = wolfSSL_new(begun->context);
	char buf[256];
	struct eddy_str name = name_of(begun->host, buf);
	bool ok = session != NULL;

	if (ok && begun->host->kind == EDDYI_HOST_NAME)
		ok = wolfSSL_UseSNI(session, WOLFSSL_SNI_HOST_NAME, name.ptr,
				    (unsigned short)name.len) == WOLFSSL_SUCCESS;
	if (ok)
		ok = wolfSSL_UseALPN(session, http, sizeof(http) - 1,
				     WOLFSSL_ALPN_CONTINUE_ON_MISMATCH) == WOLFSSL_SUCCESS;
	/* It does not matter if it can't be resumed any more. */
	if (ok && begun->resumed)
		wolfSSL_set_session(session, begun->resumed);
	begun->tls = ok ? eddyi_tls_new_client(session) : NULL;
	if (!begun->tls)
		wolfSSL_free(session);
}

struct eddyi_tls *eddyi_tls_client_begin(struct WOLFSSL_CTX *context, const struct eddyi_host *host,
					 struct WOLFSSL_SESSION *resumed)
{
	struct session session = { .context = context, .resumed = resumed, .host = host };

	eddy_on_loop_stack(begin, &session);
	return session.tls;
}

static void look(void *arg)
{
	struct session *looked = arg;
	WOLFSSL_X509 *x509 = wolfSSL_get_peer_certificate(looked->tls->session);

	/* A resumed session presents no certificate. */
	looked->is_theirs = wolfSSL_session_reused(looked->tls->session) ||
			    (x509 && is_for(x509, looked->host));
	wolfSSL_X509_free(x509);
	wolfSSL_ERR_clear_error();
}

bool eddyi_tls_client_is_theirs(struct eddyi_tls *tls, const struct eddyi_host *host)
{
	struct session session = { .tls = tls, .host = host };

	eddy_on_loop_stack(look, &session);
	return session.is_theirs;
}

/* ---- reasons for failure ---- */

/* Whether a handshake failed because of the certificate. */
static bool is_of_trust(int error)
{
	return (error <= ASN_PARSE_E && error >= ASN_NO_PEM_HEADER) ||
	       (error <= ASN_CRL_CONFIRM_E && error >= ASN_CRL_NO_SIGNER_E) ||
	       error == ASN_NO_SIGNER_E || error == ASN_SELF_SIGNED_E ||
	       error == ASN_PATHLEN_SIZE_E || error == ASN_PATHLEN_INV_E ||
	       error == ASN_NAME_INVALID_E || error == NO_PEER_CERT || error == VERIFY_CERT_ERROR ||
	       error == DOMAIN_NAME_MISMATCH || error == EXTKEYUSE_AUTH_E ||
	       error == KEYUSE_SIGNATURE_E || error == KEYUSE_ENCIPHER_E ||
	       error == RSA_KEY_SIZE_E || error == ECC_KEY_SIZE_E || error == HASH_TYPE_E;
}

/* Whether no trusted authority has signed the certificate, so that another authority would help. */
static bool is_of_stranger(int error)
{
	return error == ASN_NO_SIGNER_E || error == ASN_SELF_SIGNED_E;
}

/* Name an alert as RFC 8446 section 6 does; the library's own list lacks some. */
static const char *alert_name(int code)
{
	static const struct {
		int code;
		const char *name;
	} alerts[] = {
		{ 10, "unexpected_message" },
		{ 20, "bad_record_mac" },
		{ 22, "record_overflow" },
		{ 40, "handshake_failure" },
		{ 42, "bad_certificate" },
		{ 43, "unsupported_certificate" },
		{ 44, "certificate_revoked" },
		{ 45, "certificate_expired" },
		{ 46, "certificate_unknown" },
		{ 47, "illegal_parameter" },
		{ 48, "unknown_ca" },
		{ 49, "access_denied" },
		{ 50, "decode_error" },
		{ 51, "decrypt_error" },
		{ 70, "protocol_version" },
		{ 71, "insufficient_security" },
		{ 80, "internal_error" },
		{ 90, "user_canceled" },
		{ 109, "missing_extension" },
		{ 110, "unsupported_extension" },
		{ 112, "unrecognized_name" },
		{ 116, "certificate_required" },
		{ 120, "no_application_protocol" },
	};

	for (size_t i = 0; i < sizeof(alerts) / sizeof(*alerts); i++)
		if (alerts[i].code == code)
			return alerts[i].name;
	return "unknown";
}

static const char *fault_name(int error, char text[WOLFSSL_MAX_ERROR_SZ])
{
	switch (error) {
	case ASN_NO_SIGNER_E:
		return "it is not signed by a trusted authority";
	case ASN_SELF_SIGNED_E:
		return "it is self-signed and not trusted";
	case ASN_AFTER_DATE_E:
		return "it has expired";
	case ASN_BEFORE_DATE_E:
		return "it is not valid yet";
	case EXTKEYUSE_AUTH_E:
		return "it is not a server certificate";
	case VERIFY_CERT_ERROR:
	/* From a wolfSSL without MD5. */
	case HASH_TYPE_E:
		return "it or an issuer's certificate is signed with MD5 or SHA-1, has an RSA key "
		       "of less than 2048 bits, or has name constraints, which wolfSSL does not "
		       "enforce";
	default:
		return wolfSSL_ERR_error_string((unsigned long)error, text);
	}
}

int eddyi_tls_client_explain(struct eddyi_tls *tls, char *ret_text, size_t size)
{
	WOLFSSL_ALERT_HISTORY history = { 0 };
	char text[WOLFSSL_MAX_ERROR_SZ];
	int error = wolfSSL_get_error(tls->session, -1);
	bool of_trust = is_of_trust(error);

	wolfSSL_get_alert_history(tls->session, &history);
	if (error == FATAL_ERROR && history.last_rx.level == alert_fatal) {
		snprintf(ret_text, size, "the server rejected the TLS handshake with the alert %s",
			 alert_name(history.last_rx.code));
		return -EBADMSG;
	}
	snprintf(ret_text, size, "%s: %s",
		 of_trust ? "the certificate is not trusted" : "the TLS handshake failed",
		 fault_name(error, text));
	return is_of_stranger(error) ? -ENOKEY : of_trust ? -EKEYREJECTED : -EBADMSG;
}
