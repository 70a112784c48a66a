#include "wolfssl.h"

#include "tls.h"

#include "tls_setup.h"

#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>

#define RECORD_HEAD 5
#define RECORD_TYPE_FIRST 20
#define RECORD_TYPE_LAST 24
#define RECORD_MAX ((size_t)(16 * EDDY_KIB))
/* A record in its frame; or many, for a client that asked for short ones. */
#define FRAMED_MAX ((size_t)(18 * EDDY_KIB))
/* What one receive brings at most. */
#define RECEIVE_MAX ((size_t)(8 * EDDY_KIB))
/* An honest handshake takes three steps, with certificates of the client up to ten. */
#define STEPS_MAX 32
#define SHAKEN_MAX ((uint32_t)(128 * EDDY_KIB))

/* ---- buffers ---- */

static size_t in_left(const struct eddyi_tls *tls)
{
	return tls->in ? tls->in_len - tls->in_at : 0;
}

static struct eddy_str in_bytes(const struct eddyi_tls *tls)
{
	return tls->in ? eddy_str(tls->in + tls->in_at, in_left(tls)) : eddy_str("", 0);
}

static void drop_empty_in(struct eddyi_tls *tls)
{
	if (in_left(tls))
		return;
	free(tls->in);
	tls->in = NULL;
}

ssize_t eddyi_tls_room(struct eddyi_tls *tls, char **ret_room)
{
	size_t left = in_left(tls);

	if (!tls->in) {
		tls->in = malloc(EDDYI_TLS_IN_SIZE);
		if (!tls->in)
			return -ENOMEM;
	} else if (tls->in_at) {
		memmove(tls->in, tls->in + tls->in_at, left);
	}
	tls->in_at = tls->in_whole = 0;
	tls->in_len = (uint32_t)left;
	*ret_room = tls->in + left;
	return (ssize_t)(EDDYI_TLS_IN_SIZE - left);
}

void eddyi_tls_received(struct eddyi_tls *tls, size_t len)
{
	tls->in_len += (uint32_t)len;
	if (tls->state < EDDYI_TLS_OPEN)
		tls->shaken += (uint32_t)len;
	drop_empty_in(tls);
}

int eddyi_tls_feed(struct eddyi_tls *tls, const char *bytes, size_t len)
{
	char *room;
	ssize_t r = eddyi_tls_room(tls, &room);

	if (r < 0)
		return (int)r;
	if ((size_t)r < len)
		return -ENOMEM;
	memcpy(room, bytes, len);
	eddyi_tls_received(tls, len);
	return 0;
}

/* Put as many bytes as there is room for. Return: how many; -ENOMEM. */
static ssize_t put_out(struct eddyi_tls *tls, const char *bytes, size_t len)
{
	if (!tls->out) {
		tls->out = malloc(EDDYI_TLS_OUT_SIZE);
		if (!tls->out)
			return -ENOMEM;
		tls->out_at = tls->out_len = 0;
	}
	if (len > EDDYI_TLS_OUT_SIZE - tls->out_len)
		len = EDDYI_TLS_OUT_SIZE - tls->out_len;
	memcpy(tls->out + tls->out_len, bytes, len);
	tls->out_len += (uint32_t)len;
	return (ssize_t)len;
}

struct eddy_str eddyi_tls_unsent(const struct eddyi_tls *tls)
{
	return tls->out ? eddy_str(tls->out + tls->out_at, tls->out_len - tls->out_at) :
			  eddy_str("", 0);
}

void eddyi_tls_sent(struct eddyi_tls *tls, size_t len)
{
	tls->out_at += (uint32_t)len;
	if (tls->out_at < tls->out_len)
		return;
	free(tls->out);
	tls->out = NULL;
}

/* How sessions receive and send. */
static int pull(struct WOLFSSL *session, char *buf, int len, void *arg)
{
	struct eddyi_tls *tls = arg;
	size_t here = tls->in ? tls->in_whole - tls->in_at : 0;

	(void)session;
	if (!here)
		return WOLFSSL_CBIO_ERR_WANT_READ;
	if (here > (size_t)len)
		here = (size_t)len;
	memcpy(buf, tls->in + tls->in_at, here);
	tls->in_at += (uint32_t)here;
	return (int)here;
}

static int push(struct WOLFSSL *session, char *buf, int len, void *arg)
{
	struct eddyi_tls *tls = arg;
	ssize_t r;

	(void)session;
	/* The record numbers are the kernel's now. */
	if (tls->kernel_sends)
		return WOLFSSL_CBIO_ERR_GENERAL;
	r = put_out(tls, buf, (size_t)len);
	if (r < 0)
		return WOLFSSL_CBIO_ERR_GENERAL;
	return r ? (int)r : WOLFSSL_CBIO_ERR_WANT_WRITE;
}

/* ---- the session ---- */

struct eddyi_tls *eddyi_tls_new(struct eddyi_tls_setup *setup)
{
	struct eddyi_tls *tls = calloc(1, sizeof(*tls));

	if (tls)
		tls->setup = setup;
	return tls;
}

/* The session receives from `in` and sends to `out`. */
static void attach(struct eddyi_tls *tls, struct WOLFSSL *session)
{
	tls->session = session;
	wolfSSL_SSLSetIORecv(session, pull);
	wolfSSL_SSLSetIOSend(session, push);
	wolfSSL_SetIOReadCtx(session, tls);
	wolfSSL_SetIOWriteCtx(session, tls);
}

struct eddyi_tls *eddyi_tls_new_client(struct WOLFSSL *session)
{
	struct eddyi_tls *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return NULL;
	attach(tls, session);
	tls->state = EDDYI_TLS_SHAKING;
	return tls;
}

static void free_session(void *arg)
{
	wolfSSL_free(arg);
}

void eddyi_tls_free(struct eddyi_tls *tls)
{
	if (!tls)
		return;
	if (tls->session)
		eddy_on_loop_stack(free_session, tls->session);
	free(tls->in);
	free(tls->out);
	free(tls);
}

void eddyi_tls_cut(struct eddyi_tls *tls)
{
	tls->state = EDDYI_TLS_BROKEN;
}

/* What a call of the session has come to, in our words. */
static int result_of(struct eddyi_tls *tls, int r)
{
	switch (wolfSSL_get_error(tls->session, r)) {
	case WOLFSSL_ERROR_WANT_READ:
		return -EAGAIN;
	case WOLFSSL_ERROR_WANT_WRITE:
		return -ENOBUFS;
	case WOLFSSL_ERROR_ZERO_RETURN:
		return 0;
	case MEMORY_E:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

/* ---- the handshake ---- */

/* The length of the record at the front; 0 when it is not all there. What is none is whole: nothing that
 * follows would make it one. */
static size_t whole_record(struct eddy_str bytes)
{
	const unsigned char *head = (const unsigned char *)bytes.ptr;
	size_t len;

	if (bytes.len && (head[0] < RECORD_TYPE_FIRST || head[0] > RECORD_TYPE_LAST))
		return bytes.len;
	if (bytes.len < RECORD_HEAD)
		return 0;
	len = RECORD_HEAD + ((size_t)head[3] << 8 | head[4]);
	return len <= bytes.len ? len : 0;
}

/* No record is so long that more could come. */
static bool is_too_long(struct eddy_str bytes)
{
	return bytes.len > EDDYI_TLS_IN_SIZE - RECEIVE_MAX;
}

static void find_whole_records(struct eddyi_tls *tls)
{
	struct eddy_str bytes = in_bytes(tls);
	size_t len;

	tls->in_whole = tls->in_at;
	while ((len = whole_record(bytes))) {
		bytes = eddy_str_skip(bytes, len);
		tls->in_whole += (uint32_t)len;
	}
	/* What it is, the session may say. */
	if (is_too_long(bytes))
		tls->in_whole = tls->in_len;
}

bool eddyi_tls_is_due(const struct eddyi_tls *tls)
{
	struct eddy_str bytes = in_bytes(tls);
	struct eddyi_hello hello;

	if (is_too_long(bytes))
		return true;
	if (tls->state == EDDYI_TLS_GREETING)
		return eddyi_hello_parse(bytes, &hello) != -EAGAIN;
	return whole_record(bytes) > 0;
}

static void explain_failure(struct eddyi_tls *tls)
{
	char text[WOLFSSL_MAX_ERROR_SZ];
	int error = wolfSSL_get_error(tls->session, -1);

	if (eddy_log_is_enabled(EDDY_LOG_DEBUG, "eddy::tls"))
		eddy_debug("eddy::tls", "a handshake failed: %s",
			   wolfSSL_ERR_error_string((unsigned long)error, text));
}

/* The library ends some handshakes without an alert, such as those of 1.2 that lack a certificate; there
 * nothing is encrypted yet. */
static void say_failure(struct eddyi_tls *tls)
{
	static const char handshake_failure[] = { 21, 3, 3, 0, 2, 2, 40 };

	if (!tls->out && wolfSSL_version(tls->session) == TLS1_2_VERSION &&
	    !wolfSSL_session_reused(tls->session))
		put_out(tls, handshake_failure, sizeof(handshake_failure));
}

/* Return: false when memory is out. */
static bool begin_session(struct eddyi_tls *tls)
{
	struct WOLFSSL *session = eddyi_tls_setup_session(tls->setup, &tls->hello);

	if (session)
		attach(tls, session);
	return session != NULL;
}

/* Runs on a thread of the pool. */
static int step(void *arg)
{
	struct eddyi_tls *tls = arg;
	int r;

	if (!tls->session && !begin_session(tls))
		return -ENOMEM;
	find_whole_records(tls);
	wolfSSL_ERR_clear_error();
	r = wolfSSL_negotiate(tls->session);
	if (r == WOLFSSL_SUCCESS) {
		tls->state = EDDYI_TLS_OPEN;
		drop_empty_in(tls);
		return 0;
	}
	drop_empty_in(tls);
	r = result_of(tls, r);
	if (r == -EAGAIN || r == -ENOBUFS)
		return r;
	explain_failure(tls);
	say_failure(tls);
	/* 0: a goodbye in the middle of it. */
	return r ? r : -EBADMSG;
}

/* Answer what is no hello in the words of who sent it. Return: `error`. */
static int refuse(struct eddyi_tls *tls, int error)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n"
				   "content-type: text/plain; charset=utf-8\r\n"
				   "content-length: 35\r\n"
				   "connection: close\r\n"
				   "\r\n"
				   "This port speaks HTTPS: use https:\n";
	static const char decode_error[] = { 21, 3, 3, 0, 2, 2, 50 };
	struct eddy_str bytes = in_bytes(tls);

	if (error == -EPROTO && bytes.ptr[0] >= 'A' && bytes.ptr[0] <= 'Z')
		put_out(tls, http, sizeof(http) - 1);
	else
		put_out(tls, decode_error, sizeof(decode_error));
	tls->state = EDDYI_TLS_BROKEN;
	return error;
}

int eddyi_tls_shake(struct eddyi_tls *tls)
{
	int r;

	if (tls->state == EDDYI_TLS_GREETING) {
		r = eddyi_hello_parse(in_bytes(tls), &tls->hello);
		if (r < 0)
			return refuse(tls, r == -EAGAIN ? -EBADMSG : r);
		tls->state = EDDYI_TLS_SHAKING;
	}
	do {
		if (tls->steps++ == STEPS_MAX || tls->shaken > SHAKEN_MAX)
			r = -EBADMSG;
		else
			r = eddy_offload(step, tls);
	} while (r == -EAGAIN && eddyi_tls_is_due(tls));
	if (r < 0 && r != -EAGAIN && r != -ENOBUFS)
		tls->state = EDDYI_TLS_BROKEN;
	return r;
}

/* ---- data ---- */

/* What the session would have said of its failure. */
static uint8_t unsaid_alert(struct WOLFSSL *session)
{
	WOLFSSL_ALERT_HISTORY history = { 0 };

	if (wolfSSL_get_alert_history(session, &history) != WOLFSSL_SUCCESS ||
	    history.last_tx.level != alert_fatal)
		return 0;
	return (uint8_t)history.last_tx.code;
}

struct call {
	struct eddyi_tls *tls;
	void *buf;
	size_t len;
	ssize_t result;
};

static void read_here(void *arg)
{
	struct call *call = arg;
	struct eddyi_tls *tls = call->tls;
	int r;

	find_whole_records(tls);
	wolfSSL_ERR_clear_error();
	r = wolfSSL_read(tls->session, call->buf, (int)call->len);
	drop_empty_in(tls);
	call->result = r > 0 ? r : result_of(tls, r);
	if (call->result >= 0 || call->result == -EAGAIN)
		return;
	/* A client that asks for more than it reads fills `out`: it ends as well. */
	tls->state = EDDYI_TLS_BROKEN;
	if (tls->kernel_sends)
		tls->alert = unsaid_alert(tls->session);
	if (call->result == -ENOBUFS)
		call->result = -EBADMSG;
}

ssize_t eddyi_tls_read(struct eddyi_tls *tls, void *buf, size_t len)
{
	struct call call = { .tls = tls, .buf = buf, .len = len };

	if (tls->state != EDDYI_TLS_OPEN)
		return -EBADMSG;
	eddy_on_loop_stack(read_here, &call);
	return call.result;
}

bool eddyi_tls_has_part(const struct eddyi_tls *tls)
{
	return in_left(tls) > 0;
}

bool eddyi_tls_has_ended(struct eddyi_tls *tls)
{
	return tls->session && wolfSSL_get_shutdown(tls->session) & WOLFSSL_RECEIVED_SHUTDOWN;
}

static bool has_room(const struct eddyi_tls *tls)
{
	return !tls->out || EDDYI_TLS_OUT_SIZE - tls->out_len >= FRAMED_MAX;
}

static void write_here(void *arg)
{
	struct call *call = arg;
	struct eddyi_tls *tls = call->tls;
	size_t done = 0;

	wolfSSL_ERR_clear_error();
	while (done < call->len && has_room(tls)) {
		size_t len = call->len - done < RECORD_MAX ? call->len - done : RECORD_MAX;
		int r = wolfSSL_write(tls->session, (char *)call->buf + done, (int)len);

		if (r <= 0) {
			r = result_of(tls, r);
			tls->state = EDDYI_TLS_BROKEN;
			call->result = r == -ENOMEM ? r : -EIO;
			return;
		}
		done += (size_t)r;
	}
	call->result = (ssize_t)done;
}

ssize_t eddyi_tls_write(struct eddyi_tls *tls, const void *buf, size_t len)
{
	struct call call = { .tls = tls, .buf = (void *)buf, .len = len };

	if (tls->state != EDDYI_TLS_OPEN)
		return -EIO;
	if (len && has_room(tls))
		eddy_on_loop_stack(write_here, &call);
	return call.result;
}

static void end_here(void *arg)
{
	struct eddyi_tls *tls = arg;

	wolfSSL_ERR_clear_error();
	wolfSSL_shutdown(tls->session);
}

void eddyi_tls_end(struct eddyi_tls *tls)
{
	if (tls->state != EDDYI_TLS_OPEN)
		return;
	if (!tls->kernel_sends)
		eddy_on_loop_stack(end_here, tls);
	tls->state = EDDYI_TLS_BROKEN;
}
