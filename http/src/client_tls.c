/* The client's end of TLS: whom it trusts, and whether it is they who answer. */
#include "wolfssl.h"

#include <wolfssl/error-ssl.h>
#include <wolfssl/openssl/x509v3.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include "client.h"

#include "hello.h"
#include "tls_credential.h"
#include "tls_setup.h"
#include "tls_wire.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Sessions that are kept, one for an origin: the library takes 37 KiB for each. */
#define SESSIONS_MAX 8

/* What a server has given for the next time: a ticket, or a number. */
struct memory {
	struct eddy_node node;
	WOLFSSL_SESSION *session;
	size_t len;
	char origin[];
};

/* Invariant: what is in `memories` came from servers that were the origin's, by certificates that this context
 * has verified. Each is used once (RFC 8446 appendix C.4). */
struct eddyi_client_trust {
	struct eddy_mutex mutex;   /* one reads the files */
	WOLFSSL_CTX *context;      /* NULL until they have been read */
	struct eddy_node memories; /* the oldest first */
	unsigned memory_count;
};

/* Where distributions keep what they trust. */
static const char *const system_files[] = {
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
};

/* ---- whom it trusts ---- */

static void free_memory(void *arg)
{
	struct memory *memory = arg;

	wolfSSL_SESSION_free(memory->session);
	free(memory);
}

static void forget(struct eddyi_client_trust *trust, struct memory *memory)
{
	eddy_list_remove(&memory->node);
	trust->memory_count--;
	eddy_on_loop_stack(free_memory, memory);
}

static void free_context(void *arg)
{
	wolfSSL_CTX_free(arg);
}

void eddyi_client_trust_free(struct eddyi_client_trust *trust)
{
	if (!trust)
		return;
	while (!eddy_list_is_empty(&trust->memories))
		forget(trust, eddy_of(trust->memories.next, struct memory, node));
	if (trust->context)
		eddy_on_loop_stack(free_context, trust->context);
	free(trust);
}

struct loading {
	const struct eddy_client_options *options;
	WOLFSSL_CTX *context;
};

static bool load_file(WOLFSSL_CTX *context, const char *path)
{
	return wolfSSL_CTX_load_verify_locations(context, path, NULL) == WOLFSSL_SUCCESS;
}

/* Without any nobody is trusted, which is said of the first who is asked. */
static void load_system(WOLFSSL_CTX *context)
{
	for (size_t i = 0; i < sizeof(system_files) / sizeof(*system_files); i++)
		if (access(system_files[i], R_OK) == 0 && load_file(context, system_files[i]))
			return;
}

/* Runs on a thread of the pool. Return: 0, -EINVAL when `ca_file` is unusable, -ENOMEM. */
static int load(void *arg)
{
	struct loading *loading = arg;
	const struct eddy_client_options *options = loading->options;
	WOLFSSL_CTX *context;
	int r = 0;

	eddyi_tls_init();
	context = wolfSSL_CTX_new(wolfSSLv23_client_method());
	if (!context)
		return -ENOMEM;
	/* The library's own would be one for all clients of the process; without any it resumes nothing. */
	wolfSSL_CTX_set_session_cache_mode(context, WOLFSSL_SESS_CACHE_NO_INTERNAL);
	wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_PEER, NULL);
	wolfSSL_CTX_SetIORecv(context, eddyi_tls_pull);
	wolfSSL_CTX_SetIOSend(context, eddyi_tls_push);
	if (wolfSSL_CTX_SetMinVersion(context, WOLFSSL_TLSV1_2) != WOLFSSL_SUCCESS ||
	    wolfSSL_CTX_set_cipher_list(context, eddyi_tls_ciphers(false)) != WOLFSSL_SUCCESS)
		r = -ENOMEM;
	if (r == 0 && options->ca_file && !load_file(context, options->ca_file))
		r = -EINVAL;
	if (r == 0 && !options->ca_file_only)
		load_system(context);
	wolfSSL_ERR_clear_error();
	if (r < 0)
		wolfSSL_CTX_free(context);
	else
		loading->context = context;
	return r;
}

static int prepare(struct eddy_client *client)
{
	struct loading loading = { .options = &client->options };
	struct eddyi_client_trust *trust = client->trust;
	int r;

	if (!trust) {
		trust = client->trust = calloc(1, sizeof(*trust));
		if (!trust)
			return -ENOMEM;
		eddy_mutex_init(&trust->mutex);
		eddy_list_init(&trust->memories);
	}
	if (trust->context)
		return 0;
	r = eddy_mutex_lock(&trust->mutex);
	if (r < 0)
		return r;
	if (!trust->context) {
		r = eddy_offload(load, &loading);
		trust->context = loading.context;
	}
	eddy_mutex_unlock(&trust->mutex);
	if (r == -EINVAL)
		return eddyi_client_fail(client, r, "\"%s\" holds no usable certificates",
					 client->options.ca_file);
	return r;
}

/* ---- who answers ---- */

static struct eddy_str lower(struct eddy_str text, char buf[256])
{
	if (text.len > 255)
		return eddy_str("", 0);
	for (size_t i = 0; i < text.len; i++)
		buf[i] = (char)tolower((unsigned char)text.ptr[i]);
	return eddy_str(buf, text.len);
}

/* In lower case and without the root at its end, as certificates and SNI have it. */
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

/* The alternative names alone count (RFC 9525 section 6.3). */
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

static struct memory *find_memory(struct eddyi_client_trust *trust, struct eddy_str origin)
{
	struct eddy_node *node;

	for (node = trust->memories.next; node != &trust->memories; node = node->next) {
		struct memory *memory = eddy_of(node, struct memory, node);

		if (eddy_str_eq(eddy_str(memory->origin, memory->len), origin))
			return memory;
	}
	return NULL;
}

struct remembering {
	struct eddyi_client_conn *conn;
	struct memory *memory;
};

static void take_session(void *arg)
{
	struct remembering *remembering = arg;
	struct eddyi_client_conn *conn = remembering->conn;
	WOLFSSL_SESSION *session = wolfSSL_get1_session(conn->wire.tls->session);
	struct memory *memory = NULL;

	if (session && wolfSSL_SESSION_is_resumable(session))
		memory = malloc(sizeof(*memory) + conn->origin.len);
	if (!memory) {
		wolfSSL_SESSION_free(session);
		return;
	}
	memory->session = session;
	memory->len = conn->origin.len;
	memcpy(memory->origin, conn->origin.ptr, conn->origin.len);
	remembering->memory = memory;
}

void eddyi_client_conn_remember(struct eddyi_client_conn *conn)
{
	struct eddyi_client_trust *trust = conn->client->trust;
	struct remembering remembering = { .conn = conn };
	struct memory *old;

	if (!conn->is_theirs || conn->wire.tls->state != EDDYI_TLS_OPEN)
		return;
	eddy_on_loop_stack(take_session, &remembering);
	if (!remembering.memory)
		return;
	old = find_memory(trust, conn->origin);
	if (!old && trust->memory_count == SESSIONS_MAX)
		old = eddy_of(trust->memories.next, struct memory, node);
	if (old)
		forget(trust, old);
	eddy_list_append(&trust->memories, &remembering.memory->node);
	trust->memory_count++;
}

struct session {
	struct eddy_client *client;
	struct memory *memory; /* NULL: there is nothing to resume */
	const struct eddyi_host *host;
	struct eddyi_tls *tls;
	bool is_theirs;
};

static void begin(void *arg)
{
	static char http[] = "http/1.1";
	struct session *begun = arg;
	WOLFSSL *session = wolfSSL_new(begun->client->trust->context);
	char buf[256];
	struct eddy_str name = name_of(begun->host, buf);
	bool ok = session != NULL;

	if (ok && begun->host->kind == EDDYI_HOST_NAME)
		ok = wolfSSL_UseSNI(session, WOLFSSL_SNI_HOST_NAME, name.ptr,
				    (unsigned short)name.len) == WOLFSSL_SUCCESS;
	if (ok)
		ok = wolfSSL_UseALPN(session, http, sizeof(http) - 1,
				     WOLFSSL_ALPN_CONTINUE_ON_MISMATCH) == WOLFSSL_SUCCESS;
	/* One that can't be resumed any more makes no difference. */
	if (ok && begun->memory)
		wolfSSL_set_session(session, begun->memory->session);
	begun->tls = ok ? eddyi_tls_new_client(session) : NULL;
	if (!begun->tls)
		wolfSSL_free(session);
}

static void look(void *arg)
{
	struct session *looked = arg;
	WOLFSSL_X509 *x509 = wolfSSL_get_peer_certificate(looked->tls->session);

	/* In a session that is resumed nobody shows a certificate again. */
	looked->is_theirs = wolfSSL_session_reused(looked->tls->session) ||
			    (x509 && is_for(x509, looked->host));
	wolfSSL_X509_free(x509);
	wolfSSL_ERR_clear_error();
}

/* Whether it was the certificate that a handshake has failed of. */
static bool is_of_trust(int error)
{
	return (error <= ASN_PARSE_E && error >= ASN_NO_PEM_HEADER) ||
	       (error <= ASN_CRL_CONFIRM_E && error >= ASN_CRL_NO_SIGNER_E) ||
	       error == ASN_NO_SIGNER_E || error == ASN_SELF_SIGNED_E ||
	       error == ASN_PATHLEN_SIZE_E || error == ASN_PATHLEN_INV_E ||
	       error == ASN_NAME_INVALID_E || error == NO_PEER_CERT || error == VERIFY_CERT_ERROR ||
	       error == DOMAIN_NAME_MISMATCH;
}

/* Whether it was signed by nobody who is trusted: what else is wrong with it no further authority would mend. */
static bool is_of_stranger(int error)
{
	return error == ASN_NO_SIGNER_E || error == ASN_SELF_SIGNED_E;
}

static int explain(struct eddyi_client_conn *conn, int r)
{
	char text[WOLFSSL_MAX_ERROR_SZ];
	int error = wolfSSL_get_error(conn->wire.tls->session, -1);

	if (r == -ECONNRESET)
		return eddyi_client_fail(
			conn->client, r,
			"the server has ended the connection within the handshake");
	if (r != -EBADMSG)
		return r;
	if (is_of_trust(error))
		return eddyi_client_fail(conn->client,
					 is_of_stranger(error) ? -ENOKEY : -EKEYREJECTED,
					 "the certificate is not to be trusted: %s",
					 wolfSSL_ERR_error_string((unsigned long)error, text));
	return eddyi_client_fail(conn->client, r, "the TLS handshake has failed: %s",
				 wolfSSL_ERR_error_string((unsigned long)error, text));
}

int eddyi_client_conn_secure(struct eddyi_client_conn *conn)
{
	const struct eddyi_host *host = &conn->response->url.host;
	struct session session = { .client = conn->client, .host = host };
	int r = prepare(conn->client);

	if (r < 0)
		return r;
	session.memory = find_memory(conn->client->trust, conn->origin);
	eddy_on_loop_stack(begin, &session);
	if (session.memory)
		forget(conn->client->trust, session.memory);
	if (!session.tls)
		return -ENOMEM;
	conn->wire.tls = session.tls;
	eddyi_wire_guard(&conn->wire, &conn->wire.clocks->body);
	r = eddyi_tls_wire_connect(&conn->wire);
	eddyi_wire_unguard(&conn->wire);
	if (r < 0)
		return explain(conn, r);
	eddy_on_loop_stack(look, &session);
	if (!session.is_theirs)
		return eddyi_client_fail(conn->client, -EKEYREJECTED,
					 "the certificate is not for %.*s", EDDY_FMT(host->name));
	conn->is_theirs = true;
	return 0;
}
