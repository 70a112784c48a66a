#include "secure.h"

#include "conn.h"
#include "result.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/net.h>
#include <eddy/offload.h>
#include <eddy/task.h>

#define HOST_SIZE 256
/* Encrypted bytes that wait for room in the socket. */
#define UNSENT_MAX ((size_t)(64 * EDDY_KIB))
/* What one read(2) brings at most: several records. */
#define READ_MAX (128 * EDDY_KIB)
/* Reads in a row while others wait. */
#define TURNS 16
#define NO_HTTP2 "the server does not speak HTTP/2: it does not agree to h2 by ALPN"

/* What --resume has of a target. */
struct resumption {
	SSL_SESSION *session; /* the last one that it gave; NULL before the first */
	uint64_t handshakes, resumed;
};

/* Invariants:
 * 1. `why` is of the connection that has failed last, and is taken into the tally before another one fails: nothing
 *    suspends in between.
 */
struct secure {
	const struct options *options;
	SSL_CTX *context;
	struct resumption *resumptions; /* by the number of their URL */
	char protocol[96];              /* of the first session of all */
	bool differs;                   /* another target speaks another one */
	unsigned turns;
	char why[400];
};

bool secure_is_there(void)
{
	return true;
}

/* ---- what all connections have in common ---- */

/* Those of TLS 1.3 have a list of their own. A version of which nothing is named is not spoken. */
static bool set_ciphers(SSL_CTX *context, const char *ciphers)
{
	char *copy = strdup(ciphers), *save, *name;
	char *new_ones = calloc(1, strlen(ciphers) + 2), *old_ones = calloc(1, strlen(ciphers) + 2);
	bool is_good = copy && new_ones && old_ones;

	for (name = is_good ? strtok_r(copy, ":", &save) : NULL; name;
	     name = strtok_r(NULL, ":", &save)) {
		char *list = strncmp(name, "TLS_", 4) == 0 ? new_ones : old_ones;

		strcat(strcat(list, *list ? ":" : ""), name);
	}
	if (is_good && *new_ones)
		is_good = SSL_CTX_set_ciphersuites(context, new_ones);
	else
		SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	if (is_good && *old_ones)
		is_good = SSL_CTX_set_cipher_list(context, old_ones);
	else
		SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	is_good = is_good && (*new_ones || *old_ones);
	free(copy);
	free(new_ones);
	free(old_ones);
	return is_good;
}

static struct resumption *resumption_of(const struct conn *conn)
{
	const struct secure *secure = conn->plan->secure;

	return &secure->resumptions[conn->plan->url - secure->options->urls];
}

/* The server has given a session: the next connection resumes it. Return: 1, it is taken over. */
static int keep_session(SSL *tls, SSL_SESSION *session)
{
	struct resumption *resumption = resumption_of(SSL_get_app_data(tls));

	SSL_SESSION_free(resumption->session);
	resumption->session = session;
	return 1;
}

/* On the pool: it reads files. */
static int open_context(void *arg)
{
	struct secure *secure = arg;
	const struct options *options = secure->options;
	SSL_CTX *context = secure->context = SSL_CTX_new(TLS_client_method());

	if (!context)
		return -ENOMEM;
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	if (options->http2)
		SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\x02h2", 3);
	else
		SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\x08http/1.1", 9);
	SSL_CTX_set_session_cache_mode(
		context, options->resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL :
					   SSL_SESS_CACHE_OFF);
	SSL_CTX_sess_set_new_cb(context, keep_session);
	SSL_CTX_set_mode(context,
			 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(context, 1);
	SSL_CTX_set_default_read_buffer_len(context, READ_MAX);
	SSL_CTX_set_verify(context, options->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (options->ca ? !SSL_CTX_load_verify_file(context, options->ca) :
			  !SSL_CTX_set_default_verify_paths(context))
		return -EINVAL;
	if (options->ciphers && !set_ciphers(context, options->ciphers))
		return -EPROTONOSUPPORT;
	return 0;
}

static void say_unusable(const struct options *options, int r, char error[OPTIONS_ERROR_SIZE])
{
	if (r == -EINVAL && access(options->ca, R_OK) < 0)
		snprintf(error, OPTIONS_ERROR_SIZE, "--ca %.300s: %s", options->ca,
			 strerror(errno));
	else if (r == -EINVAL)
		snprintf(error, OPTIONS_ERROR_SIZE, "--ca %.300s: it has no readable certificates",
			 options->ca);
	else if (r == -EPROTONOSUPPORT)
		snprintf(error, OPTIONS_ERROR_SIZE,
			 "--ciphers %.200s: OpenSSL does not know all of them; names are such as "
			 "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256",
			 options->ciphers);
	else
		snprintf(error, OPTIONS_ERROR_SIZE, "TLS can't be set up: %s", strerror(-r));
}

static bool has_https(const struct options *options)
{
	for (size_t i = 0; i < options->url_count; i++)
		if (options->urls[i].https)
			return true;
	return false;
}

/* The host without its port. */
static void name_host(const struct url *url, char name[HOST_SIZE])
{
	struct eddy_address address;

	/* As it was when the URL was read. */
	eddy_address_parse(url->dial, &address);
	snprintf(name, HOST_SIZE, "%.*s", EDDY_FMT(address.host));
}

static bool is_address(const char *host)
{
	unsigned char address[16];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* Certificates, and what is asked for in a handshake, name hosts more narrowly than one may connect to them. */
static bool are_hosts(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

	for (size_t i = 0; i < options->url_count; i++) {
		const struct url *url = &options->urls[i];
		char name[HOST_SIZE];

		name_host(url, name);
		if (!url->https || is_address(name) || strspn(name, letters) == strlen(name))
			continue;
		snprintf(error, OPTIONS_ERROR_SIZE,
			 "%.200s: no certificate is possible for its host", url->name);
		return false;
	}
	return true;
}

int secure_open(const struct options *options, struct secure **ret_secure,
		char error[OPTIONS_ERROR_SIZE])
{
	struct secure *secure;
	int r;

	*ret_secure = NULL;
	if (!has_https(options))
		return 0;
	if (!are_hosts(options, error))
		return -EINVAL;
	secure = calloc(1, sizeof(*secure));
	if (!secure)
		return -ENOMEM;
	secure->options = options;
	secure->resumptions = calloc(options->url_count, sizeof(*secure->resumptions));
	r = secure->resumptions ? eddy_offload(open_context, secure) : -ENOMEM;
	if (r < 0) {
		say_unusable(options, r, error);
		secure_close(secure);
		return r;
	}
	*ret_secure = secure;
	return 0;
}

void secure_close(struct secure *secure)
{
	if (!secure)
		return;
	for (size_t i = 0; secure->resumptions && i < secure->options->url_count; i++)
		SSL_SESSION_free(secure->resumptions[i].session);
	free(secure->resumptions);
	SSL_CTX_free(secure->context);
	free(secure);
}

static void remark(struct result *result, const char *text)
{
	for (size_t i = 0; i < result->remark_count; i++)
		if (strcmp(result->remarks[i], text) == 0)
			return;
	result_add_remark(result, text);
}

static void remark_resumed(const struct plan *plan, struct result *result)
{
	const struct resumption *resumption =
		&plan->secure->resumptions[plan->url - plan->options->urls];
	char text[300];

	if (resumption->resumed)
		snprintf(text, sizeof(text), "%s resumed %.0f %% of its sessions", plan->url->name,
			 100.0 * (double)resumption->resumed / (double)resumption->handshakes);
	else
		snprintf(text, sizeof(text),
			 "%s resumed no session: despite --resume each handshake was a full one",
			 plan->url->name);
	remark(result, text);
}

void secure_remark(const struct plan *plan, struct result *result)
{
	char text[300];

	if (!*plan->protocol)
		return;
	snprintf(text, sizeof(text), "%s speaks %s", plan->url->name, plan->protocol);
	remark(result, text);
	remark(result,
	       "with https:// the client decrypts all responses by OpenSSL; handshakes are not "
	       "part of the measurement unless the server closes each connection");
	if (plan->options->resume)
		remark_resumed(plan, result);
	if (plan->secure->differs)
		remark(result,
		       "the targets use different TLS cipher suites, whose costs can differ a lot: "
		       "select one with --ciphers");
}

/* ---- what goes wrong ---- */

static const char *advice_on(long trouble, bool has_ca)
{
	switch (trouble) {
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
		return has_ca ?
			       "it is self-signed, and is not in the file of --ca" :
			       "it is self-signed; name the certificate itself with --ca FILE, or skip "
			       "the check with --insecure";
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		return has_ca ?
			       "its authority is not in the file of --ca" :
			       "it is not signed by a trusted authority; name the authority with --ca "
			       "FILE, or skip the check with --insecure";
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return "it has expired; --insecure skips the check";
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return NULL;
	default:
		return X509_verify_cert_error_string(trouble);
	}
}

static int broken(struct conn *conn)
{
	struct secure *secure = conn->plan->secure;
	unsigned long error = ERR_get_error();
	long trouble = SSL_get_verify_result(conn->tls);
	const char *advice = advice_on(trouble, secure->options->ca != NULL);
	char name[HOST_SIZE];

	name_host(conn->plan->url, name);
	if (secure->options->insecure || trouble == X509_V_OK)
		snprintf(secure->why, sizeof(secure->why), "TLS failed: %s%s",
			 error ? ERR_reason_error_string(error) : strerror(EBADMSG),
			 SSL_CTX_get_max_proto_version(secure->context) == TLS1_2_VERSION ?
				 "; --ciphers names no suite of TLS 1.3, so it is not offered" :
			 SSL_CTX_get_min_proto_version(secure->context) == TLS1_3_VERSION ?
				 "; --ciphers names no suite of TLS 1.2, so it is not offered" :
				 "");
	else if (advice)
		snprintf(secure->why, sizeof(secure->why), "the certificate is not trusted: %s",
			 advice);
	else
		snprintf(secure->why, sizeof(secure->why),
			 "the certificate is not for %.255s; --insecure skips the check", name);
	if (ERR_GET_REASON(error) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
		conn->wrong = NO_HTTP2;
	else if (ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER)
		conn->wrong =
			"the server does not speak TLS on this port: use http://, or another port";
	else
		conn->wrong = secure->why;
	return -EBADMSG;
}

/* What a call has come to that did nothing. Return: -EAGAIN; -ENODATA, -ECONNABORTED, -EBADMSG, -errno. */
static int judge(struct conn *conn, int r)
{
	int error = errno, sort = SSL_get_error(conn->tls, r);

	if (sort == SSL_ERROR_WANT_READ || sort == SSL_ERROR_WANT_WRITE)
		return -EAGAIN;
	if (sort == SSL_ERROR_ZERO_RETURN)
		return -ENODATA;
	if (sort == SSL_ERROR_SYSCALL && error)
		return -error;
	if (sort != SSL_ERROR_SYSCALL &&
	    ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return broken(conn);
	conn->wrong = "the connection was closed without a TLS close_notify: the response may be "
		      "truncated";
	return -ECONNABORTED;
}

/* ---- calls of the library, which go deep ---- */

struct call {
	SSL *tls;
	int (*fn)(SSL *tls);
	void *in;
	const void *out;
	int len;
	int result;
	int error;
};

static void call_here(void *arg)
{
	struct call *call = arg;

	ERR_clear_error();
	errno = 0;
	call->result = call->fn  ? call->fn(call->tls) :
		       call->out ? SSL_write(call->tls, call->out, call->len) :
				   SSL_read(call->tls, call->in, call->len);
	call->error = errno;
}

static int run(struct call call)
{
	eddy_on_loop_stack(call_here, &call);
	errno = call.error;
	return call.result;
}

/* ---- receiving ---- */

/* Wait until something comes. */
static int await(struct conn *conn)
{
	int r = eddy_poll(conn->fd, POLLIN);

	conn->moved++;
	return r < 0 ? r : 0;
}

/* Return: bytes; -EAGAIN; as secure_receive(). */
static ssize_t read_now(struct conn *conn, void *buf, size_t len)
{
	int r = run((struct call){ .tls = conn->tls, .in = buf, .len = (int)len });

	if (r <= 0)
		return judge(conn, r);
	conn->moved++;
	return r;
}

ssize_t secure_receive(struct conn *conn, void *buf, size_t len)
{
	ssize_t r;

	/* Nothing else here suspends where bytes come as quickly as they are decrypted. */
	if (++conn->plan->secure->turns % TURNS == 0 && (r = eddy_yield()) < 0)
		return r;
	while ((r = read_now(conn, buf, len)) == -EAGAIN) {
		/* What the protocol had to answer. */
		secure_flush(conn);
		r = await(conn);
		if (r < 0)
			return r;
	}
	return r;
}

bool secure_take_early(struct conn *conn)
{
	ssize_t r = 0;

	if (conn->at == conn->end)
		conn->at = conn->end = 0;
	while (conn->end < conn->size &&
	       (r = read_now(conn, conn->buffer + conn->end, conn->size - conn->end)) > 0) {
		conn->end += (size_t)r;
		conn->received_ns = eddy_now();
	}
	return r < 0 && r != -EAGAIN;
}

/* ---- sending ---- */

ssize_t secure_seal(struct conn *conn, const void *bytes, size_t len)
{
	size_t unsent = (size_t)BIO_pending(SSL_get_wbio(conn->tls));
	int r;

	if (unsent >= UNSENT_MAX)
		return 0;
	r = run((struct call){ .tls = conn->tls, .out = bytes, .len = (int)len });
	if (r > 0)
		return r;
	r = judge(conn, r);
	return r == -EAGAIN ? 0 : r;
}

int secure_flush(struct conn *conn)
{
	BIO *out = SSL_get_wbio(conn->tls);
	char *bytes;
	long len;

	while ((len = BIO_get_mem_data(out, &bytes)) > 0) {
		ssize_t sent = send(conn->fd, bytes, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
		char gone[4096];

		if (sent < 0)
			return -errno;
		conn->moved++;
		if (sent == len) {
			BIO_reset(out);
			return 0;
		}
		while (sent > 0)
			sent -= BIO_read(out, gone,
					 sent < (long)sizeof(gone) ? (int)sent : (int)sizeof(gone));
	}
	return 0;
}

/* ---- the handshake ---- */

static int flush_all(struct conn *conn)
{
	int r;

	while ((r = secure_flush(conn)) == -EAGAIN) {
		r = eddy_poll(conn->fd, POLLOUT);
		if (r < 0)
			return r;
	}
	return r;
}

static int shake(struct conn *conn)
{
	int r;

	do {
		int sent;

		r = run((struct call){ .tls = conn->tls, .fn = SSL_do_handshake });
		r = r == 1 ? 0 : judge(conn, r);
		/* Also the alert of one that has failed. */
		sent = flush_all(conn);
		if (r == -EAGAIN)
			r = sent < 0 ? sent : await(conn) < 0 ? -ECANCELED : -EAGAIN;
	} while (r == -EAGAIN);
	return r;
}

static void note_protocol(struct conn *conn)
{
	struct secure *secure = conn->plan->secure;
	char *protocol = conn->plan->protocol;

	snprintf(protocol, sizeof(conn->plan->protocol), "%s, %s", SSL_get_version(conn->tls),
		 SSL_get_cipher_name(conn->tls));
	if (!*secure->protocol)
		memcpy(secure->protocol, protocol, sizeof(secure->protocol));
	secure->differs |= strcmp(secure->protocol, protocol) != 0;
}

/* Name the host, and want its certificate to. Return: 0, -ENOMEM. */
static int prepare(struct conn *conn)
{
	char host[HOST_SIZE];
	BIO *in = BIO_new_socket(conn->fd, BIO_NOCLOSE), *out = BIO_new(BIO_s_mem());

	name_host(conn->plan->url, host);
	conn->tls = SSL_new(conn->plan->secure->context);
	if (!conn->tls || !in || !out) {
		BIO_free(in);
		BIO_free(out);
		return -ENOMEM;
	}
	BIO_set_mem_eof_return(out, -1);
	SSL_set_bio(conn->tls, in, out);
	SSL_set_app_data(conn->tls, conn);
	if (resumption_of(conn)->session)
		SSL_set_session(conn->tls, resumption_of(conn)->session);
	SSL_set_connect_state(conn->tls);
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(conn->tls), host) ? 0 : -ENOMEM;
	SSL_set_hostflags(conn->tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(conn->tls, host) && SSL_set_tlsext_host_name(conn->tls, host) ?
		       0 :
		       -ENOMEM;
}

/* Servers refuse the handshake, or choose nothing. */
static bool speaks_http2(const struct conn *conn)
{
	const unsigned char *name;
	unsigned len;

	SSL_get0_alpn_selected(conn->tls, &name, &len);
	return len == 2 && memcmp(name, "h2", 2) == 0;
}

int secure_begin(struct conn *conn)
{
	int r = fcntl(conn->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : prepare(conn);

	if (r == 0)
		r = shake(conn);
	if (r == 0 && conn->plan->options->http2 && !speaks_http2(conn)) {
		conn->wrong = NO_HTTP2;
		r = -EBADMSG;
	}
	if (r == -ECONNABORTED || r == -ENODATA || r == -ECONNRESET)
		conn->wrong = "the server closed the connection during the TLS handshake";
	else if (r < 0 && !conn->wrong)
		conn->wrong = "the TLS handshake failed";
	if (r < 0)
		return r;
	if (!*conn->plan->protocol)
		note_protocol(conn);
	resumption_of(conn)->handshakes++;
	resumption_of(conn)->resumed += (unsigned)SSL_session_reused(conn->tls);
	return 0;
}

void secure_end(struct conn *conn)
{
	if (!conn->tls)
		return;
	if (SSL_is_init_finished(conn->tls))
		run((struct call){ .tls = conn->tls, .fn = SSL_shutdown });
	secure_flush(conn);
	SSL_free(conn->tls);
	conn->tls = NULL;
}
