#include "tls/wolfssl.h"

#include "secure.h"

#include "conn.h"
#include "result.h"
#include "tls/tls.h"
#include "tls/tls_client.h"

#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/offload.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Types of records: what begins otherwise is no TLS (RFC 8446 section 5.1). */
#define RECORD_FIRST 20
#define RECORD_LAST 24

/* Invariants:
 * 1. `why` is of the connection that has failed last, and is taken into the tally before another one fails: nothing
 *    suspends in between.
 */
struct secure {
	struct eddyi_tls_client_options options;
	struct WOLFSSL_CTX *context;
	char protocol[96]; /* of the first session of all */
	bool differs;      /* another target speaks another one */
	char why[400];
};

bool secure_is_there(void)
{
	return true;
}

static int open_context(void *arg)
{
	struct secure *secure = arg;

	return eddyi_tls_client_open(&secure->options, &secure->context);
}

static void say_unusable(const struct options *options, int r, char error[OPTIONS_ERROR_SIZE])
{
	if (r == -EINVAL)
		snprintf(error, OPTIONS_ERROR_SIZE,
			 "--ca %.300s: it has no certificates that can be read", options->ca);
	else if (r == -EPROTONOSUPPORT)
		snprintf(error, OPTIONS_ERROR_SIZE,
			 "--ciphers %.200s: wolfSSL knows none of them; names are such as "
			 "TLS13-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256",
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

/* Certificates, and what is asked for in a handshake, name hosts more narrowly than one may connect to them. */
static bool are_hosts(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	for (size_t i = 0; i < options->url_count; i++) {
		const struct url *url = &options->urls[i];
		struct eddyi_host host;

		if (!url->https || eddyi_host_parse(eddy_str_from(url->host), &host) == 0)
			continue;
		snprintf(error, OPTIONS_ERROR_SIZE, "%.200s: no certificate can be for its host",
			 url->name);
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
	secure->options = (struct eddyi_tls_client_options){
		.ca_file = options->ca,
		.ca_file_only = options->ca != NULL,
		.trusts_all = options->insecure,
		.ciphers = options->ciphers,
	};
	r = eddy_offload(open_context, secure);
	if (r < 0) {
		say_unusable(options, r, error);
		free(secure);
		return r;
	}
	*ret_secure = secure;
	return 0;
}

void secure_close(struct secure *secure)
{
	if (!secure)
		return;
	eddyi_tls_client_close(secure->context);
	free(secure);
}

static void remark(struct result *result, const char *text)
{
	for (size_t i = 0; i < result->remark_count; i++)
		if (strcmp(result->remarks[i], text) == 0)
			return;
	result_add_remark(result, text);
}

void secure_remark(const struct plan *plan, struct result *result)
{
	char text[300];

	if (!*plan->protocol)
		return;
	snprintf(text, sizeof(text), "%s speaks %s", plan->url->name, plan->protocol);
	remark(result, text);
	remark(result,
	       "of https:// the client decrypts all that comes, which takes it about as long as the "
	       "server took to encrypt it; each connection shakes hands in full, before what is "
	       "measured unless the server ends it");
	if (plan->secure->differs)
		remark(result,
		       "the targets speak different suites of TLS, of which one may cost much more than "
		       "the other: --ciphers has them speak one");
}

/* ---- what goes wrong ---- */

static int cut_off(struct conn *conn)
{
	conn->wrong =
		eddyi_tls_has_part(conn->tls) ?
			"the connection ended in a record of TLS" :
			"the connection ended without TLS's close_notify: something may be missing";
	return eddyi_tls_has_part(conn->tls) ? -EBADMSG : -ECONNABORTED;
}

static int broken(struct conn *conn)
{
	char *why = conn->plan->secure->why;
	char text[200];
	int r = eddyi_tls_client_explain(conn->tls, text, sizeof(text));

	snprintf(
		why, sizeof(conn->plan->secure->why), "%s%s", text,
		r == -ENOKEY ?
			"; --ca FILE names who has signed it, and --insecure measures all the same" :
		r == -EKEYREJECTED ? "; --insecure measures all the same" :
				     "");
	conn->wrong = why;
	return -EBADMSG;
}

/* ---- receiving ---- */

/* Receive encrypted bytes. Return: 0; -errno. */
static int receive(struct conn *conn, int flags)
{
	char *room;
	ssize_t r = eddyi_tls_buffers_room(&conn->tls->buffers, &room);

	if (r < 0)
		return (int)r;
	if (flags & MSG_DONTWAIT) {
		r = recv(conn->fd, room, (size_t)r, flags);
		r = r < 0 ? -errno : r;
	} else {
		r = eddy_recv(conn->fd, room, (size_t)r, flags);
	}
	conn->moved++;
	eddyi_tls_received(conn->tls, r > 0 ? (size_t)r : 0);
	if (r == 0)
		return cut_off(conn);
	return r < 0 ? (int)r : 0;
}

ssize_t secure_receive(struct conn *conn, void *buf, size_t len)
{
	ssize_t r;

	while ((r = eddyi_tls_read(conn->tls, buf, len)) == -EAGAIN) {
		r = receive(conn, 0);
		if (r < 0)
			return r;
	}
	/* What the protocol had to answer goes along with the next request, or now. */
	secure_flush(conn);
	if (r == -EBADMSG)
		return broken(conn);
	return r ? r : -ENODATA;
}

bool secure_take_early(struct conn *conn)
{
	if (conn->at == conn->end)
		conn->at = conn->end = 0;
	while (conn->end < conn->size) {
		ssize_t r =
			eddyi_tls_read(conn->tls, conn->buffer + conn->end, conn->size - conn->end);

		if (r > 0) {
			conn->end += (size_t)r;
			conn->received_ns = eddy_now();
			continue;
		}
		if (r != -EAGAIN)
			return true;
		r = receive(conn, MSG_DONTWAIT);
		if (r < 0)
			return r != -EAGAIN;
	}
	return false;
}

/* ---- sending ---- */

ssize_t secure_seal(struct conn *conn, const void *bytes, size_t len)
{
	return eddyi_tls_write(conn->tls, bytes, len);
}

int secure_flush(struct conn *conn)
{
	struct eddy_str unsent;

	while ((unsent = eddyi_tls_buffers_unsent(&conn->tls->buffers)).len) {
		ssize_t sent = send(conn->fd, unsent.ptr, unsent.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0)
			return -errno;
		conn->moved++;
		eddyi_tls_buffers_sent(&conn->tls->buffers, (size_t)sent);
	}
	return 0;
}

/* ---- the handshake ---- */

static struct eddyi_host host_of(const struct plan *plan)
{
	struct eddyi_host host = { 0 };

	/* As it was when the URL was read. */
	eddyi_host_parse(eddy_str_from(plan->url->host), &host);
	return host;
}

/* Send all that is encrypted, also an alert. */
static int send_all(struct conn *conn)
{
	struct eddy_str unsent;

	while ((unsent = eddyi_tls_buffers_unsent(&conn->tls->buffers)).len) {
		ssize_t sent = eddy_send(conn->fd, unsent.ptr, unsent.len, 0);

		if (sent < 0)
			return (int)sent;
		conn->moved++;
		eddyi_tls_buffers_sent(&conn->tls->buffers, (size_t)sent);
	}
	return 0;
}

/* Whether what has come begins like a record. */
static bool is_tls(const struct conn *conn)
{
	struct eddy_str here = eddyi_tls_buffers_in(&conn->tls->buffers);

	return !here.len || (here.ptr[0] >= RECORD_FIRST && here.ptr[0] <= RECORD_LAST);
}

static int receive_step(struct conn *conn)
{
	do {
		int r = receive(conn, 0);

		if (r < 0)
			return r;
		if (!is_tls(conn)) {
			conn->wrong =
				"it does not speak TLS there: http:// is meant, or another port";
			return -EBADMSG;
		}
	} while (!eddyi_tls_is_due(conn->tls));
	return 0;
}

static int shake(struct conn *conn)
{
	int r, sent;

	for (;;) {
		r = eddyi_tls_shake(conn->tls);
		sent = send_all(conn);
		if (r == -EBADMSG || r == -EPROTO)
			return broken(conn);
		if (sent < 0)
			return sent;
		if (r == -EAGAIN)
			r = receive_step(conn);
		else if (r != -ENOBUFS)
			return r;
		if (r < 0 && r != -ENOBUFS)
			return r;
	}
}

static void note_protocol(struct conn *conn)
{
	struct secure *secure = conn->plan->secure;
	char *protocol = conn->plan->protocol;

	snprintf(protocol, sizeof(conn->plan->protocol), "%s, %s",
		 wolfSSL_get_version(conn->tls->session), wolfSSL_get_cipher(conn->tls->session));
	if (!*secure->protocol)
		memcpy(secure->protocol, protocol, sizeof(secure->protocol));
	secure->differs |= strcmp(secure->protocol, protocol) != 0;
}

int secure_begin(struct conn *conn)
{
	struct secure *secure = conn->plan->secure;
	struct eddyi_host host = host_of(conn->plan);
	int r;

	conn->tls = eddyi_tls_client_begin(secure->context, &host, NULL);
	r = conn->tls ? shake(conn) : -ENOMEM;
	if (r < 0) {
		if (r == -ECONNABORTED)
			conn->wrong = "the connection ended within the TLS handshake";
		else if (!conn->wrong)
			conn->wrong = "the TLS handshake has failed";
		return r;
	}
	if (!secure->options.trusts_all && !eddyi_tls_client_is_theirs(conn->tls, &host)) {
		snprintf(secure->why, sizeof(secure->why),
			 "the certificate is not for %.*s; --insecure measures all the same",
			 EDDY_FMT(host.name));
		conn->wrong = secure->why;
		return -EBADMSG;
	}
	if (!*conn->plan->protocol)
		note_protocol(conn);
	return 0;
}

void secure_end(struct conn *conn)
{
	if (!conn->tls)
		return;
	eddyi_tls_end(conn->tls);
	secure_flush(conn);
	eddyi_tls_free(conn->tls);
	conn->tls = NULL;
}
