#include "wolfssl.h"

#include "tls.h"

#include "tls_points.h"
#include "tls_setup.h"

#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/offload.h>
#include <eddy/tls.h>
#include <errno.h>
#include <stdlib.h>

#define RECORD_MAX ((size_t)(16 * EDDY_KIB))
/* A record can be decrypted only when it has arrived completely. At first and after a pause TCP
 * sends ten segments without hearing from the peer (RFC 6928): each gets its own record. */
#define RECORD_OF_SEGMENT ((size_t)1300)
#define EARLY_MAX (10 * RECORD_OF_SEGMENT)
#define PAUSE_NS EDDY_SECOND
/* A normal handshake takes three steps; with client certificates, up to ten. */
#define STEPS_MAX 32
#define SHAKEN_MAX ((uint32_t)(128 * EDDY_KIB))
/* Once a turn of the loop has taken this long, handshake steps go to the offload pool. */
#define TURN_MAX_NS EDDY_MS
#define RECORD_HEAD 5
#define TLS_1_2 0x0303
#define TYPE_HANDSHAKE 22
#define TYPE_DATA 23
#define TAG_LEN 16
#define MESSAGE_HEAD 4
#define MESSAGE_SERVER_HELLO 2
#define AES256_GCM_SHA384 0x1302
/* Offsets in a record that begins with a ServerHello. */
#define SERVER_HELLO_RANDOM (RECORD_HEAD + MESSAGE_HEAD + 2)
#define SERVER_HELLO_ID (SERVER_HELLO_RANDOM + 32)

/* Whether the library sends a ChangeCipherSpec in TLS 1.3. */
#ifdef WOLFSSL_TLS13_MIDDLEBOX_COMPAT
#define SENDS_CHANGE true
#else
#define SENDS_CHANGE false
#endif

/* ---- the session ---- */

/* Whether a record of application data is too short. In TLS 1.3 it contains at least a content type
 * and a tag (RFC 8446 section 5.2). In TLS 1.2 it may be empty, but only after the handshake.
 * wolfSSL before 5.6.6 reads outside its buffer if the plaintext is empty (CVE-2024-0901). */
static bool is_too_short(const struct eddyi_tls *tls, struct eddyi_tls_record record)
{
	return record.len && record.bytes[0] == TYPE_DATA && record.len <= RECORD_HEAD + TAG_LEN &&
	       (tls->state < EDDYI_TLS_OPEN || wolfSSL_version(tls->session) == TLS1_3_VERSION);
}

/* Make a record that the session rejects with an alert: an unencrypted message of unknown type. */
static void replace_record(struct eddyi_tls_record record)
{
	record.bytes[0] = TYPE_HANDSHAKE;
	memset(record.bytes + RECORD_HEAD, 0xff, record.len - RECORD_HEAD);
}

/* Only before anything is encrypted. */
static void put_alert(struct eddyi_tls *tls, int code)
{
	char alert[] = { 21, 3, 3, 0, 2, alert_fatal, (char)code };

	eddyi_tls_buffers_put(&tls->buffers, alert, sizeof(alert));
}

/* Decide whether the session may read a record. It must not see a rejected unencrypted record,
 * whose bytes could complete a message. For later ones it must send the alert itself, encrypted. */
static bool admit(struct eddyi_tls *tls, struct eddyi_tls_record record, bool is_1_3)
{
	if (tls->refuses)
		return false;
	if (!eddyi_flight_allows(&tls->flight, record.bytes, record.len, is_1_3)) {
		put_alert(tls, tls->flight.alert);
		tls->refuses = true;
		return false;
	}
	if (is_too_short(tls, record)) {
		replace_record(record);
		tls->refuses = true;
	}
	return true;
}

/* Early data is encrypted with unknown keys and is skipped (RFC 8446 section 4.2.10): after a
 * HelloRetryRequest until another hello, else until a record as long as a Finished. */
static bool is_early_data(const struct eddyi_tls *tls, struct eddyi_tls_record record)
{
	return tls->skips && record.len && record.bytes[0] == TYPE_DATA &&
	       record.len != tls->finished_len;
}

/* The limit is that of the whole handshake. */
static void skip_early_data(struct eddyi_tls *tls)
{
	while (tls->shaken <= SHAKEN_MAX &&
	       is_early_data(tls, eddyi_tls_buffers_next_record(&tls->buffers)))
		eddyi_tls_buffers_drop_record(&tls->buffers);
}

/* Set the version of a record to TLS 1.2, since in TLS 1.3 it must be ignored (RFC 8446 section
 * 5.1), which the library does not. The version of an encrypted record is authenticated. */
static void ignore_version(struct eddyi_tls_record record)
{
	if (record.len < RECORD_HEAD || record.bytes[0] == TYPE_DATA)
		return;
	record.bytes[1] = TLS_1_2 >> 8;
	record.bytes[2] = TLS_1_2 & 0xff;
}

static int pull(struct WOLFSSL *session, char *buf, int len, void *arg)
{
	struct eddyi_tls *tls = arg;
	bool is_1_3 = wolfSSL_version(session) == TLS1_3_VERSION;
	struct eddyi_tls_record record;
	size_t taken;

	skip_early_data(tls);
	record = eddyi_tls_buffers_begin_record(&tls->buffers);
	if (record.len && (record.bytes[0] == TYPE_HANDSHAKE || record.bytes[0] == TYPE_DATA))
		tls->skips = false;
	if (record.len && !admit(tls, record, is_1_3))
		return WOLFSSL_CBIO_ERR_GENERAL;
	if (is_1_3)
		ignore_version(record);
	taken = eddyi_tls_buffers_take(&tls->buffers, buf, (size_t)len);
	return taken ? (int)taken : WOLFSSL_CBIO_ERR_WANT_READ;
}

/* Find the place of a ChangeCipherSpec in a server's first bytes: after a ServerHello or
 * HelloRetryRequest of TLS 1.3 that echoes a session id (RFC 8446 section D.4).
 * Return: 0 if there is none. */
static size_t find_change(struct WOLFSSL *session, const char *bytes, size_t len)
{
	const unsigned char *record = (const unsigned char *)bytes;
	size_t end;

	if (SENDS_CHANGE || len <= SERVER_HELLO_ID || record[0] != TYPE_HANDSHAKE ||
	    record[RECORD_HEAD] != MESSAGE_SERVER_HELLO || !record[SERVER_HELLO_ID] ||
	    wolfSSL_version(session) != TLS1_3_VERSION)
		return 0;
	end = RECORD_HEAD + ((size_t)record[3] << 8 | record[4]);
	return end <= len ? end : 0;
}

/* Whether a server's first bytes are a HelloRetryRequest. */
static bool is_retry(const char *bytes, size_t len)
{
	const unsigned char *record = (const unsigned char *)bytes;

	return len > SERVER_HELLO_ID && record[0] == TYPE_HANDSHAKE &&
	       record[RECORD_HEAD] == MESSAGE_SERVER_HELLO &&
	       eddyi_flight_is_retry(record + SERVER_HELLO_RANDOM);
}

/* In TLS 1.2 early data is an error. A client's certificate has an unknown size. */
static void expect_early_data(struct eddyi_tls *tls, bool retries)
{
	bool sha384 = wolfSSL_get_current_cipher_suite(tls->session) == AES256_GCM_SHA384;
	size_t hash_len = sha384 ? 48 : 32;

	tls->skips = wolfSSL_version(tls->session) == TLS1_3_VERSION &&
		     (retries || eddyi_tls_setup_options(tls->setup)->client_certs ==
					 EDDY_TLS_CLIENT_CERTS_NONE);
	if (!retries)
		tls->finished_len = (uint8_t)(RECORD_HEAD + MESSAGE_HEAD + hash_len + 1 + TAG_LEN);
}

static int push(struct WOLFSSL *session, char *buf, int len, void *arg)
{
	static const char change_cipher_spec[] = { 20, 3, 3, 0, 1, 1 };
	struct eddyi_tls *tls = arg;
	size_t at = tls->answered ? 0 : find_change(session, buf, (size_t)len);
	ssize_t r;

	/* A client's first message. */
	if (!tls->setup && !tls->flight.suites &&
	    eddyi_flight_offer(&tls->flight, (const unsigned char *)buf, (size_t)len) < 0)
		return WOLFSSL_CBIO_ERR_GENERAL;
	/* The kernel counts the records now. */
	if (tls->kernel_sends)
		return WOLFSSL_CBIO_ERR_GENERAL;
	/* The first bytes sent: there is room for both, and the session repeats the rest. */
	r = eddyi_tls_buffers_put(&tls->buffers, buf, at ? at : (size_t)len);
	if (r >= 0 && at)
		eddyi_tls_buffers_put(&tls->buffers, change_cipher_spec,
				      sizeof(change_cipher_spec));
	if (r < 0)
		return WOLFSSL_CBIO_ERR_GENERAL;
	if (!tls->answered && tls->hello.early_data)
		expect_early_data(tls, is_retry(buf, (size_t)len));
	tls->answered = true;
	return r ? (int)r : WOLFSSL_CBIO_ERR_WANT_WRITE;
}

struct eddyi_tls *eddyi_tls_new(struct eddyi_tls_setup *setup)
{
	struct eddyi_tls *tls = calloc(1, sizeof(*tls));

	if (tls)
		tls->setup = setup;
	return tls;
}

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
	struct eddyi_tls *tls = arg;

	wolfSSL_free(tls->session);
	eddyi_accelerator_forget(&tls->schedules);
}

void eddyi_tls_free(struct eddyi_tls *tls)
{
	if (!tls)
		return;
	if (tls->session)
		eddy_on_loop_stack(free_session, tls);
	eddyi_flight_deinit(&tls->flight);
	eddyi_tls_buffers_deinit(&tls->buffers);
	free(tls);
}

void eddyi_tls_cut(struct eddyi_tls *tls)
{
	tls->state = EDDYI_TLS_BROKEN;
}

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

/* ---- received bytes ---- */

void eddyi_tls_received(struct eddyi_tls *tls, size_t len)
{
	eddyi_tls_buffers_received(&tls->buffers, len);
	if (tls->state < EDDYI_TLS_OPEN)
		tls->shaken += (uint32_t)len;
	skip_early_data(tls);
}

int eddyi_tls_feed(struct eddyi_tls *tls, const char *bytes, size_t len)
{
	char *room;
	ssize_t r = eddyi_tls_buffers_room(&tls->buffers, &room);

	if (r < 0)
		return (int)r;
	if ((size_t)r < len)
		return -ENOMEM;
	memcpy(room, bytes, len);
	eddyi_tls_received(tls, len);
	return 0;
}

/* ---- the handshake ---- */

bool eddyi_tls_is_due(const struct eddyi_tls *tls)
{
	struct eddy_str bytes = eddyi_tls_buffers_in(&tls->buffers);
	struct eddyi_hello hello;

	if (tls->state == EDDYI_TLS_GREETING && !eddyi_tls_buffers_is_full(&tls->buffers))
		return eddyi_hello_parse(bytes, &hello) != -EAGAIN;
	return eddyi_tls_buffers_is_full(&tls->buffers) ||
	       eddyi_tls_buffers_has_record(&tls->buffers);
}

static void explain_failure(int error)
{
	char text[WOLFSSL_MAX_ERROR_SZ];

	if (eddy_log_is_enabled(EDDY_LOG_DEBUG, "eddy::tls"))
		eddy_debug("eddy::tls", "a handshake failed: %s",
			   wolfSSL_ERR_error_string((unsigned long)error, text));
}

/* Put an alert if the library sends none, before anything is encrypted: for a failed key exchange,
 * and in TLS 1.2 for a missing certificate. A peer's alert gets no response. */
static void say_failure(struct eddyi_tls *tls, int error)
{
	WOLFSSL_ALERT_HISTORY history = { 0 };

	wolfSSL_get_alert_history(tls->session, &history);
	if (tls->buffers.out || tls->refuses || history.last_rx.level == alert_fatal)
		return;
	if (eddyi_tls_points_is_fault(error))
		put_alert(tls, illegal_parameter);
	else if (wolfSSL_version(tls->session) == TLS1_2_VERSION &&
		 !wolfSSL_session_reused(tls->session))
		put_alert(tls, handshake_failure);
}

/* Return: false on allocation failure. */
static bool begin_session(struct eddyi_tls *tls)
{
	struct WOLFSSL *session = eddyi_tls_setup_session(tls->setup, &tls->hello);

	if (session)
		attach(tls, session);
	return session != NULL;
}

/* Whether a client's certificate was not checked: TLS 1.2 allows one after ChangeCipherSpec. */
static bool has_unchecked_certificate(struct eddyi_tls *tls)
{
	WOLFSSL_X509 *x509;

	if (!tls->setup || wolfSSL_version(tls->session) != TLS1_2_VERSION ||
	    wolfSSL_session_reused(tls->session) || eddyi_flight_has_verify(&tls->flight))
		return false;
	x509 = wolfSSL_get_peer_certificate(tls->session);
	wolfSSL_X509_free(x509);
	return x509 != NULL;
}

/* Runs on a thread of the offload pool, or on the loop's stack. */
static int step(void *arg)
{
	struct eddyi_tls *tls = arg;
	int r, error;

	if (!tls->session && !begin_session(tls))
		return -ENOMEM;
	wolfSSL_ERR_clear_error();
	r = wolfSSL_negotiate(tls->session);
	if (r == WOLFSSL_SUCCESS) {
		eddyi_tls_buffers_trim(&tls->buffers);
		if (has_unchecked_certificate(tls))
			return -EBADMSG;
		tls->state = EDDYI_TLS_OPEN;
		return 0;
	}
	eddyi_tls_buffers_trim(&tls->buffers);
	error = wolfSSL_get_error(tls->session, r);
	r = result_of(tls, r);
	if (r == -EAGAIN || r == -ENOBUFS)
		return r;
	explain_failure(error);
	say_failure(tls, error);
	/* 0: a close_notify within the handshake. */
	return r ? r : -EBADMSG;
}

/* Reject bytes that are no acceptable hello, by HTTP or by an alert. Return: `error`. */
static int refuse(struct eddyi_tls *tls, int error, int alert)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n"
				   "content-type: text/plain; charset=utf-8\r\n"
				   "content-length: 35\r\n"
				   "connection: close\r\n"
				   "\r\n"
				   "This port speaks HTTPS: use https:\n";
	struct eddy_str bytes = eddyi_tls_buffers_in(&tls->buffers);

	if (error == -EPROTO && bytes.ptr[0] >= 'A' && bytes.ptr[0] <= 'Z')
		eddyi_tls_buffers_put(&tls->buffers, http, sizeof(http) - 1);
	else
		put_alert(tls, alert);
	tls->state = EDDYI_TLS_BROKEN;
	return error;
}

struct step_call {
	struct eddyi_tls *tls;
	int result;
};

static void step_here(void *arg)
{
	struct step_call *call = arg;

	call->result = step(call->tls);
}

/* Run a quick step on the loop, which is cheaper, until this turn has taken a while. */
static int take_step(struct eddyi_tls *tls)
{
	struct step_call call = { .tls = tls };
	uint64_t since_ns = eddy_loop_now();

	if (!tls->setup || !eddyi_tls_setup_is_quick(tls->setup) || tls->hello.has_slow_group ||
	    eddy_now() - since_ns > TURN_MAX_NS)
		return eddy_offload_short(step, tls);
	eddy_on_loop_stack(step_here, &call);
	return call.result;
}

int eddyi_tls_shake(struct eddyi_tls *tls)
{
	int r;

	if (tls->state == EDDYI_TLS_GREETING) {
		r = eddyi_hello_parse(eddyi_tls_buffers_in(&tls->buffers), &tls->hello);
		if (r < 0)
			return refuse(tls, r == -EAGAIN ? -EBADMSG : r, decode_error);
		if (!tls->hello.fits)
			return refuse(tls, -EBADMSG, handshake_failure);
		tls->state = EDDYI_TLS_SHAKING;
	}
	do {
		if (tls->steps++ == STEPS_MAX || tls->shaken > SHAKEN_MAX)
			r = -EBADMSG;
		else
			r = take_step(tls);
	} while (r == -EAGAIN && eddyi_tls_is_due(tls));
	if (r < 0 && r != -EAGAIN && r != -ENOBUFS)
		tls->state = EDDYI_TLS_BROKEN;
	return r;
}

/* ---- data ---- */

/* Get the alert that the session would have sent. */
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

	wolfSSL_ERR_clear_error();
	eddyi_accelerator_enter(&tls->schedules);
	r = wolfSSL_read(tls->session, call->buf, (int)call->len);
	eddyi_accelerator_enter(NULL);
	eddyi_tls_buffers_trim(&tls->buffers);
	call->result = r > 0 ? r : result_of(tls, r);
	if (call->result >= 0 || call->result == -EAGAIN)
		return;
	/* -ENOBUFS: the client requests more than it reads. End it as well. */
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

bool eddyi_tls_chose_http2(const struct eddyi_tls *tls)
{
	unsigned short len = 0;
	char *name;

	return wolfSSL_ALPN_GetProtocol(tls->session, &name, &len) == WOLFSSL_SUCCESS &&
	       eddy_str_eq_z(eddy_str(name, len), "h2");
}

bool eddyi_tls_has_part(const struct eddyi_tls *tls)
{
	return eddyi_tls_buffers_in(&tls->buffers).len > 0;
}

bool eddyi_tls_has_ended(struct eddyi_tls *tls)
{
	return tls->session && wolfSSL_get_shutdown(tls->session) & WOLFSSL_RECEIVED_SHUTDOWN;
}

static void write_records(struct call *call)
{
	struct eddyi_tls *tls = call->tls;
	uint64_t now = eddy_now();
	size_t done = 0;

	if (now - tls->written_ns > PAUSE_NS)
		tls->early = 0;
	tls->written_ns = now;
	while (done < call->len && eddyi_tls_buffers_has_room(&tls->buffers)) {
		size_t most = tls->early < EARLY_MAX ? RECORD_OF_SEGMENT : RECORD_MAX;
		size_t len = call->len - done < most ? call->len - done : most;
		int r = wolfSSL_write(tls->session, (char *)call->buf + done, (int)len);

		if (r <= 0) {
			r = result_of(tls, r);
			tls->state = EDDYI_TLS_BROKEN;
			call->result = r == -ENOMEM ? r : -EIO;
			return;
		}
		done += (size_t)r;
		if (tls->early < EARLY_MAX)
			tls->early += (uint16_t)r;
	}
	call->result = (ssize_t)done;
}

static void write_here(void *arg)
{
	struct call *call = arg;

	wolfSSL_ERR_clear_error();
	eddyi_accelerator_enter(&call->tls->schedules);
	write_records(call);
	eddyi_accelerator_enter(NULL);
}

ssize_t eddyi_tls_write(struct eddyi_tls *tls, const void *buf, size_t len)
{
	struct call call = { .tls = tls, .buf = (void *)buf, .len = len };

	if (tls->state != EDDYI_TLS_OPEN)
		return -EIO;
	if (len && eddyi_tls_buffers_has_room(&tls->buffers))
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
