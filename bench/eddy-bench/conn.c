#include "conn.h"

#include "http2.h"
#include "receive.h"
#include "secure.h"
#include "upload.h"

#include <eddy/io.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <eddy/task.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A head of a response, and small bodies behind it; of pipelined ones as many as are there. */
#define BUFFER 16384
#define BUFFER_DEEP 65536
/* Of HTTP/2 bodies as well. */
#define BUFFER_HTTP2 262144

int conn_init(struct conn *conn, struct plan *plan, struct tally *tally, unsigned number)
{
	bool deep = plan->depth > 1 || plan->verify;

	*conn = (struct conn){
		.plan = plan,
		.tally = tally,
		.number = number,
		.fd = -1,
		.size = plan->options->http2 ? BUFFER_HTTP2 :
			deep                 ? BUFFER_DEEP :
					       BUFFER,
	};
	conn->buffer = malloc(conn->size);
	if (plan->verify)
		conn->digest = digest_new();
	if (!conn->buffer || (plan->verify && !conn->digest)) {
		conn_deinit(conn);
		return -ENOMEM;
	}
	return 0;
}

uint64_t conn_retransmits(const struct conn *conn)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (conn->fd < 0 || getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return conn->retransmits;
	return conn->retransmits + info.tcpi_total_retrans;
}

static void close_conn(struct conn *conn)
{
	if (conn->fd < 0)
		return;
	conn->retransmits = conn_retransmits(conn);
	http2_end(conn);
	secure_end(conn);
	close(conn->fd);
	conn->fd = -1;
}

void conn_deinit(struct conn *conn)
{
	close_conn(conn);
	http2_free(conn);
	digest_free(conn->digest);
	free(conn->buffer);
	free(conn->request);
	*conn = (struct conn){ .fd = -1 };
}

void conn_give_up(struct conn *conn, const char *why)
{
	conn->gave_up = why;
	if (conn->fd >= 0)
		shutdown(conn->fd, SHUT_RDWR);
}

static int connect_within(int fd, const struct eddy_sockaddr *address, uint64_t timeout_ns)
{
	struct eddy_scope scope;
	int r, why;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = timeout_ns });
	r = eddy_connect(fd, &address->addr.any, address->len);
	why = eddy_scope_end(&scope);
	return r == -ECANCELED ? why : r;
}

static int open_conn(struct conn *conn)
{
	const struct plan *plan = conn->plan;
	int fd = socket(plan->address.addr.any.sa_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, r;

	if (fd < 0) {
		r = -errno;
		conn->wrong = "can't open a socket";
		return r;
	}
	/* Who does not read is to take little: the size is said when the connection is made. */
	if (plan->options->stall == STALL_GET)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int));
	r = connect_within(fd, &plan->address, plan->options->timeout_ns);
	if (r < 0) {
		close(fd);
		conn->wrong = "can't connect";
		return r;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	conn->fd = fd;
	conn->at = conn->end = 0;
	conn->gave_up = NULL;
	if (conn->connected_before)
		conn->tally->reconnects++;
	conn->connected_before = true;
	r = plan->secure ? secure_begin(conn) : 0;
	if (r == 0 && conn->http2)
		r = http2_begin(conn);
	if (r < 0)
		close_conn(conn);
	return r;
}

/* ---- requests ---- */

/* Have `count` requests in conn->request. */
static int write_requests(struct conn *conn, unsigned count)
{
	size_t len = 0;

	if (conn->request_len && !conn->plan->varies && count == conn->plan->depth)
		return 0;
	if (!conn->request) {
		conn->request_size = PLAN_REQUEST_SIZE;
		conn->request = malloc(conn->request_size);
		if (!conn->request)
			return -ENOMEM;
	}
	for (unsigned i = 0; i < count; i++) {
		size_t one;

		if (conn->request_size - len < PLAN_REQUEST_SIZE) {
			char *grown = realloc(conn->request, 2 * conn->request_size);

			if (!grown)
				return -ENOMEM;
			conn->request = grown;
			conn->request_size *= 2;
		}
		one = plan_write(conn->plan, conn->number, conn->request + len,
				 conn->request_size - len);
		if (!one) {
			conn->wrong = "the request is too long";
			return -EMSGSIZE;
		}
		len += one;
	}
	conn->request_len = len;
	return 0;
}

static int send_requests(struct conn *conn, unsigned count)
{
	int r = write_requests(conn, count);

	if (r < 0)
		return r;
	r = conn->plan->body ? upload_send(conn) : upload_send_head(conn, 0);
	/* Bodies and so on belong to one request; fewer than all is rare. */
	if (count != conn->plan->depth)
		conn->request_len = 0;
	if (r < 0 && !conn->wrong)
		conn->wrong = "can't send";
	return r;
}

/* ---- answers ---- */

static bool is_expected(const struct plan *plan, int status)
{
	if (plan->expect)
		return status == plan->expect;
	/* A redirect is not what was asked for: whoever means it says so. */
	return status < 300 || status == 304;
}

/* Hold the body against that which came first, or --digest. */
static bool is_the_same(struct conn *conn, struct digest *body)
{
	struct plan *plan = conn->plan;
	struct expected *expected = plan->per_conn ? &conn->expected : &plan->expected;
	unsigned char digest[DIGEST_SIZE];

	digest_end(body, digest);
	if (!expected->known) {
		memcpy(expected->digest, digest, sizeof(digest));
		expected->known = true;
	}
	return memcmp(expected->digest, digest, sizeof(digest)) == 0;
}

/* Whether an answer counts: it has come as a whole. */
static bool check(struct conn *conn, const struct answer *answer, char *ret_text, size_t size)
{
	const struct plan *plan = conn->plan;

	if (!is_expected(plan, answer->status)) {
		snprintf(ret_text, size, "status %d%s", answer->status,
			 answer->status / 100 == 3 ?
				 ": redirects are not followed; accept them with --expect" :
				 "");
		return false;
	}
	if (plan->size != PLAN_SIZE_NONE && answer->taken != plan->size) {
		snprintf(ret_text, size, "a body of %llu bytes instead of %llu",
			 (unsigned long long)answer->taken, (unsigned long long)plan->size);
		return false;
	}
	if (answer->digest && !is_the_same(conn, answer->digest)) {
		snprintf(ret_text, size, "the body has the wrong content");
		return false;
	}
	return true;
}

static void note_error(struct conn *conn, uint64_t count, const char *text)
{
	struct tally *tally = conn->tally;

	tally->errors += count;
	if (!*tally->error)
		snprintf(tally->error, sizeof(tally->error), "%s %.200s: %s", conn->plan->method,
			 conn->plan->path, text);
}

void conn_answered(struct conn *conn, const struct answer *answer)
{
	struct tally *tally = conn->tally;
	uint64_t now = conn->received_ns, started_ns = answer->started_ns;
	char text[200];

	if (!check(conn, answer, text, sizeof(text))) {
		note_error(conn, 1, text);
		return;
	}
	tally->requests++;
	tally->bytes += conn->plan->options->work == WORK_PUT && conn->plan->body ?
				conn->plan->body->size :
				answer->taken;
	histogram_record(&tally->first_byte,
			 answer->first_ns > started_ns ? answer->first_ns - started_ns : 0);
	histogram_record(&tally->total, now > started_ns ? now - started_ns : 0);
}

static int take_answer(struct conn *conn, uint64_t started_ns, bool *ret_keeps)
{
	struct answer answer = { .started_ns = started_ns, .digest = conn->digest };
	struct response response;
	int r;

	conn->taken = 0;
	conn->answered = false;
	r = receive_head(conn, &response, &answer.first_ns);
	if (r == 0)
		r = receive_body(conn, &response);
	if (r < 0)
		return r;
	answer.status = response.status;
	answer.taken = conn->taken;
	conn_answered(conn, &answer);
	*ret_keeps = response.keeps;
	return 0;
}

/* Ask for `due` answers on this connection, and take them.
 * Return: how many came before the connection ended, by word or deed; *ret_r says why it did, if not well. */
static unsigned take_answers(struct conn *conn, unsigned due, uint64_t started_ns, int *ret_r)
{
	bool keeps = true, whole = true;
	unsigned taken = 0;

	conn->answered = false;
	*ret_r = send_requests(conn, due);
	/* What was not sent as a whole may have been answered: 413, and closed. */
	if (*ret_r > 0 || *ret_r == -EPIPE || *ret_r == -ECONNRESET) {
		*ret_r = 0;
		whole = false;
	}
	while (*ret_r == 0 && keeps && taken < due) {
		*ret_r = take_answer(conn, started_ns, &keeps);
		taken += *ret_r == 0;
	}
	if (*ret_r < 0 || !keeps || !whole)
		close_conn(conn);
	return taken;
}

/* The same of HTTP/2, whose streams know when they were due. */
static unsigned take_streams(struct conn *conn, unsigned due, int *ret_r)
{
	unsigned left;
	int r = http2_exchange(conn, &left);

	if (r)
		close_conn(conn);
	*ret_r = r < 0 ? r : 0;
	return due - left;
}

static void say_why(const struct conn *conn, int r, char *ret_text, size_t size)
{
	if (conn->gave_up || r == -ETIMEDOUT)
		snprintf(ret_text, size, "%s",
			 conn->gave_up ? conn->gave_up : "can't connect in time");
	else if (conn->wrong &&
		 (r == -ENODATA || r == -ECONNABORTED || r == -EBADMSG || r == -EMSGSIZE))
		snprintf(ret_text, size, "%s", conn->wrong);
	else
		snprintf(ret_text, size, "%s%s%s", conn->wrong ? conn->wrong : "",
			 conn->wrong ? ": " : "", strerror(-r));
}

void conn_failed(struct conn *conn, uint64_t count, int r)
{
	char text[300];

	say_why(conn, r, text, sizeof(text));
	note_error(conn, count, text);
}

/* A connection that was kept may have been closed just then (RFC 9112 section 9.3.1): that is nobody's error. */
static bool is_stale(const struct conn *conn, bool fresh, unsigned taken, int r)
{
	return (!fresh || taken) && !conn->answered && !conn->gave_up &&
	       (r == -ENODATA || r == -ECONNABORTED || r == -ECONNRESET || r == -EPIPE);
}

int conn_exchange(struct conn *conn, uint64_t started_ns)
{
	unsigned due = conn->plan->depth;
	int r = conn->plan->options->http2 ? http2_ask(conn, started_ns) : 0;

	conn->busy = true;
	conn->moved++;
	while (due && r == 0) {
		bool fresh = conn->fd < 0;
		unsigned taken;

		conn->wrong = NULL;
		if (fresh)
			r = open_conn(conn);
		if (r < 0)
			break;
		taken = conn->http2 ? take_streams(conn, due, &r) :
				      take_answers(conn, due, started_ns, &r);
		due -= taken;
		if (is_stale(conn, fresh, taken, r))
			r = 0;
	}
	conn->busy = false;
	if (r < 0 && r != -ECANCELED)
		conn_failed(conn, due, r);
	return r;
}

int conn_begin(struct conn *conn)
{
	int r = open_conn(conn);

	if (r == 0)
		r = write_requests(conn, conn->plan->depth);
	return r < 0 ? r : upload_send_head(conn, 0);
}
