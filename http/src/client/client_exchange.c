#include "client.h"
#include "http1/chunked.h"
#include "text/syntax.h"

#include <eddy/internal/http.h>
#include <eddy/loop.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- observers ---- */

/* Invariant: filled from the front, and never changed. */
static const struct eddy_client_observer *_Atomic observers[EDDYI_CLIENT_OBSERVERS_MAX];

int eddy_client_observe(const struct eddy_client_observer *observer)
{
	for (size_t i = 0; i < EDDYI_CLIENT_OBSERVERS_MAX; i++) {
		const struct eddy_client_observer *other = NULL;

		if (atomic_compare_exchange_strong(&observers[i], &other, observer) ||
		    other == observer)
			return 0;
	}
	return -ENOSPC;
}

/* Whether the program has given the request a field of this name. */
static bool has_field(const struct eddyi_call *call, const char *name)
{
	const struct eddy_header *header = call->request->headers;

	for (; header && header->name; header++)
		if (eddy_str_eq_nocase(eddy_str_from(header->name), eddy_str_from(name)))
			return true;
	return false;
}

/* An observer's fields belong together, so one of the program's excludes them all. */
static bool has_any(const struct eddyi_call *call, const struct eddy_header *header)
{
	for (; header && header->name; header++)
		if (has_field(call, header->name))
			return true;
	return false;
}

/* On allocation failure this observer is not called, also not at the end. */
static void begin(struct eddyi_call *call, const struct eddy_client_observer *observer,
		  const struct eddy_client_hop *hop)
{
	struct eddyi_client_watch *watch = &call->watches[call->watch_count];
	size_t size = observer->state_size ? observer->state_size : 1;
	void *state = eddyi_arena_alloc(&call->response->arena, size);

	if (!state)
		return;
	memset(state, 0, size);
	*watch = (struct eddyi_client_watch){ observer, state, NULL };
	watch->fields = observer->begin(state, hop);
	if (has_any(call, watch->fields))
		watch->fields = NULL;
	call->watch_count++;
}

void eddyi_client_observe_begin(struct eddyi_call *call)
{
	const struct eddy_response *response = call->response;
	const struct eddy_client_hop hop = {
		.method = call->method,
		.url = response->url_text,
		.host = response->url.host.name,
		.port = response->url.port,
		.redirects = call->redirects,
	};

	call->watch_count = 0;
	for (size_t i = 0; i < EDDYI_CLIENT_OBSERVERS_MAX; i++) {
		const struct eddy_client_observer *observer = atomic_load(&observers[i]);

		if (!observer)
			return;
		begin(call, observer, &hop);
	}
}

void eddyi_client_observe_end(struct eddyi_call *call, int result)
{
	while (call->watch_count) {
		const struct eddyi_client_watch *watch = &call->watches[--call->watch_count];

		watch->observer->end(watch->state, result);
	}
}

/* ---- the head of a request ---- */

/* Size of what eddyi_client_make_head() adds to the given texts. */
#define OWN_FIELDS_MAX 256

/* Fields for the destination and framing, which the program can't set. */
static const char *const own_fields[] = {
	"host", "content-length", "transfer-encoding", "connection",       "expect", "upgrade",
	"te",   "trailer",        "keep-alive",        "proxy-connection", NULL,
};

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (eddy_str_eq_nocase(eddy_str_from(name), eddy_str_from(*names)))
			return true;
	return false;
}

bool eddyi_client_may_set(const char *name)
{
	return eddyi_syntax_is_token(eddy_str_from(name)) && !is_one_of(name, own_fields);
}

/* Whether a field of the program is still sent after the redirects so far. */
static bool is_sent(const struct eddyi_call *call, const char *name)
{
	static const char *const secrets[] = { "authorization", "cookie", "proxy-authorization",
					       NULL };
	static const char *const of_body[] = { "content-type",     "content-encoding",
					       "content-language", "content-location",
					       "content-range",    "last-modified",
					       "digest",           "content-digest",
					       "repr-digest",      NULL };

	return !(call->foreign && is_one_of(name, secrets)) &&
	       !(call->without_body && is_one_of(name, of_body)) &&
	       !(call->hooks && call->hooks->continues &&
		 (strncasecmp(name, "content-", 8) == 0 || strncasecmp(name, "if-", 3) == 0));
}

static size_t fields_size(const struct eddy_header *header)
{
	size_t size = 0;

	for (; header && header->name; header++)
		size += strlen(header->name) + strlen(header->value) + 4;
	return size;
}

static size_t head_size(const struct eddyi_call *call, struct eddy_str host)
{
	size_t size = OWN_FIELDS_MAX + strlen(call->method) + call->response->url.target.len +
		      host.len + strlen(call->client->options.user_agent);

	for (unsigned i = 0; i < call->watch_count; i++)
		size += fields_size(call->watches[i].fields);
	if (call->hooks)
		size += fields_size(call->hooks->headers);
	return size + fields_size(call->request->headers);
}

static char *put(char *at, struct eddy_str text)
{
	return mempcpy(at, text.ptr, text.len);
}

static char *put_field(char *at, const char *name, const char *value)
{
	return stpcpy(stpcpy(stpcpy(stpcpy(at, name), ": "), value), "\r\n");
}

static char *put_fields(char *at, const struct eddy_header *header)
{
	for (; header && header->name; header++)
		at = put_field(at, header->name, header->value);
	return at;
}

static char *put_framing(char *at, const struct eddyi_call *call)
{
	const struct eddy_client_request *request = call->request;
	uint64_t length = request->file ? request->file->len :
			  request->pull ? request->pull_len :
					  request->body.len;
	char digits[24];

	if (call->without_body)
		return at;
	if (request->pull && !length)
		return put_field(at, "transfer-encoding", "chunked");
	/* Methods that define a body announce an empty one (RFC 9110 section 8.6). */
	if (!length && !request->file && strcmp(call->method, "POST") != 0 &&
	    strcmp(call->method, "PUT") != 0 && strcmp(call->method, "PATCH") != 0)
		return at;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)length);
	return put_field(at, "content-length", digits);
}

struct eddy_str eddyi_client_make_head(const struct eddyi_call *call)
{
	struct eddy_response *response = call->response;
	struct eddy_str host = eddyi_url_host_field(&response->arena, &response->url);
	const struct eddy_header *header = call->request->headers;
	char *head, *at;

	if (!host.ptr)
		return eddy_str(NULL, 0);
	at = head = eddyi_arena_alloc(&response->arena, head_size(call, host));
	if (!head)
		return eddy_str(NULL, 0);
	at = stpcpy(stpcpy(at, call->method), " ");
	at = stpcpy(at, response->url.path.len ? "" : "/");
	at = stpcpy(put(at, response->url.target), " HTTP/1.1\r\n");
	at = put_field(at, "host", host.ptr);
	if (!has_field(call, "user-agent"))
		at = put_field(at, "user-agent", call->client->options.user_agent);
	if (!has_field(call, "accept"))
		at = put_field(at, "accept", "*/*");
	if (!has_field(call, "accept-encoding"))
		at = put_field(at, "accept-encoding", "identity");
	for (; header && header->name; header++)
		if (is_sent(call, header->name))
			at = put_field(at, header->name, header->value);
	if (call->hooks)
		at = put_fields(at, call->hooks->headers);
	for (unsigned i = 0; i < call->watch_count; i++)
		at = put_fields(at, call->watches[i].fields);
	at = put_framing(at, call);
	if (call->request->expect_continue && !call->without_body)
		at = put_field(at, "expect", "100-continue");
	at = stpcpy(at, "\r\n");
	return eddy_str(head, (size_t)(at - head));
}

/* A body up to this size is sent together with the head. */
#define AT_ONCE_MAX ((size_t)(64 * EDDY_KIB))
#define PULL_SIZE ((size_t)(32 * EDDY_KIB))
#define CONTINUE_NS EDDY_SECOND
/* Limit of 1xx responses before the final one. */
#define INTERIM_MAX 16
/* The same for each second of a call that takes them. */
#define INTERIM_RATE_MAX 10

/* ---- request body ---- */

static struct iovec piece(struct eddy_str bytes)
{
	return (struct iovec){ (void *)bytes.ptr, bytes.len };
}

int eddyi_client_fail_short(const struct eddyi_call *call)
{
	return eddyi_client_fail(call->client, -EINVAL,
				 "the file is shorter than the announced length of the body");
}

static int send_file(struct eddyi_call *call, struct eddyi_wire *wire, struct eddy_str head)
{
	const struct eddy_client_file *file = call->request->file;
	struct eddy_transfer transfer = {
		.file = file->fd,
		.offset = file->offset,
		.len = file->len,
		.head = head,
	};
	int r;

	if (call->hooks)
		call->hooks->moving = &transfer.moved;
	r = eddyi_wire_send_file(wire, &transfer);
	if (call->hooks) {
		call->hooks->moving = NULL;
		call->hooks->moved += transfer.moved;
	}
	return r == -ENODATA ? eddyi_client_fail_short(call) : r;
}

/* Get the next piece of a pulled body after `so_far` bytes. Return: bytes, 0, -errno. */
static ssize_t pull(struct eddyi_call *call, char *buf, uint64_t so_far)
{
	const struct eddy_client_request *request = call->request;
	ssize_t r;

	call->pulled = true;
	r = request->pull(request->pull_data, buf, PULL_SIZE);
	if (r < 0)
		return r == -ECANCELED ? r :
					 eddyi_client_fail(call->client, (int)r,
							   "can't get the request body: %s",
							   strerror((int)-r));
	if ((size_t)r > PULL_SIZE ||
	    (request->pull_len &&
	     (r ? (uint64_t)r > request->pull_len - so_far : so_far < request->pull_len)))
		return eddyi_client_fail(call->client, -EINVAL,
					 "the length of the body differs from the announced one");
	return r;
}

int eddyi_client_pull(struct eddyi_call *call, eddyi_client_give_fn *give, void *arg)
{
	char *buf = malloc(PULL_SIZE);
	uint64_t so_far = 0;
	ssize_t n = 0;
	int r = 0;

	if (!buf)
		return -ENOMEM;
	do {
		n = pull(call, buf, so_far);
		if (n > 0 || (n == 0 && !call->request->pull_len))
			r = give(arg, eddy_str(buf, (size_t)n));
		so_far += n > 0 ? (uint64_t)n : 0;
	} while (r == 0 && n > 0);
	free(buf);
	return n < 0 ? (int)n : r;
}

struct sending {
	struct eddyi_call *call;
	struct eddyi_wire *wire;
	struct eddy_str head; /* sent with the first piece */
};

static int send_piece(void *arg, struct eddy_str data)
{
	struct sending *sending = arg;
	struct iovec pieces[4] = { piece(sending->head) };
	size_t count = 1;
	char line[EDDYI_CHUNK_LINE_SIZE];

	sending->head = EDDY_STR("");
	if (sending->call->request->pull_len) {
		pieces[count++] = piece(data);
	} else if (data.len) {
		pieces[count++] = piece(eddy_str(line, eddyi_chunked_line(data.len, line)));
		pieces[count++] = piece(data);
		pieces[count++] = piece(EDDY_STR("\r\n"));
	} else {
		pieces[count++] = piece(EDDY_STR("0\r\n\r\n"));
	}
	return eddyi_wire_sendv(sending->wire, pieces, count);
}

static int send_body(struct eddyi_call *call, struct eddyi_wire *wire, struct eddy_str head)
{
	struct eddy_str bytes = call->request->body;

	if (!call->without_body && call->request->file)
		return send_file(call, wire, head);
	if (!call->without_body && call->request->pull)
		return eddyi_client_pull(call, send_piece, &(struct sending){ call, wire, head });
	if (call->without_body || !bytes.len)
		return eddyi_wire_send(wire, head.ptr, head.len);
	return eddyi_wire_sendv(wire, (struct iovec[]){ piece(head), piece(bytes) }, 2);
}

/* ---- response ---- */

void eddyi_client_begin_head(struct eddyi_call *call)
{
	struct eddy_response *response = call->response;
	struct eddyi_arena *arena = call->hooks ? &response->head_arena : &response->arena;

	/* Many interim heads take the memory of one. */
	if (call->hooks)
		eddyi_arena_deinit(arena);
	eddyi_response_head_init(&response->head, arena, call->client->options.head_max,
				 call->client->options.header_count_max);
}

int eddyi_client_feed_head(struct eddyi_call *call, struct eddy_str bytes, size_t *ret_used)
{
	struct eddyi_response_head *head = &call->response->head;
	bool no_body = strcmp(call->method, "HEAD") == 0;
	int r = eddyi_response_head_feed(head, bytes.ptr, bytes.len, no_body, ret_used);

	if ((r == -EBADMSG || r == -EMSGSIZE) && head->problem)
		return eddyi_client_fail(call->client, r, "the response is malformed: %s",
					 head->problem);
	return r;
}

/* Read a head by `fill`. Bytes read before a cancellation are kept. Return: 1, -errno. */
static int read_head(struct eddyi_call *call, struct eddyi_wire *wire,
		     ssize_t (*fill)(struct eddyi_wire *wire))
{
	int r = 0;

	while (r == 0) {
		struct eddy_str here = eddyi_wire_pending(wire);
		size_t used;

		if (here.len) {
			call->conn->answered = true;
			r = eddyi_client_feed_head(call, here, &used);
			eddyi_wire_consume(wire, used);
		} else {
			ssize_t filled = fill(wire);

			r = filled < 0 ? (int)filled : 0;
		}
	}
	return r;
}

static bool is_answered(const struct eddyi_call *call)
{
	int status = call->response->head.status;

	return status >= 200 || (status == 101 && call->hooks && call->hooks->upgrades);
}

static unsigned interim_max(const struct eddyi_call *call)
{
	uint64_t past_ns = call->hooks ? eddy_now() - call->began_ns : 0;

	return INTERIM_MAX + (unsigned)(past_ns * INTERIM_RATE_MAX / EDDY_SECOND);
}

/* Pass on a 1xx head, or skip it. Return: 0; -EBADMSG; the error of the hook. */
static int pass_interim(struct eddyi_call *call)
{
	int r = 0;

	if (call->response->head.status == 101)
		return eddyi_client_fail(
			call->client, -EBADMSG,
			"the server switched to a protocol that was not requested");
	if (++call->interims > interim_max(call))
		return eddyi_client_fail(call->client, -EBADMSG,
					 "the server sent too many interim (1xx) responses");
	if (call->hooks && call->hooks->interim)
		r = call->hooks->interim(call->hooks->data, call->response);
	eddyi_client_begin_head(call);
	return r;
}

/* Read heads up to the final one. Return: 0, -errno. */
static int read_response(struct eddyi_call *call, struct eddyi_wire *wire,
			 ssize_t (*fill)(struct eddyi_wire *wire))
{
	int r = 0;

	while (r == 0 && !is_answered(call)) {
		r = read_head(call, wire, fill);
		if (r > 0)
			r = is_answered(call) ? 0 : pass_interim(call);
	}
	return r;
}

/* ---- sending and watching ---- */

struct watch {
	struct eddyi_call *call;
	struct eddyi_wire *wire;
	struct eddy_scope *sending;
	int result; /* -ECANCELED: none yet */
};

static int watch(void *arg)
{
	struct watch *watch = arg;

	watch->result = read_response(watch->call, watch->wire, eddyi_wire_fill_unguarded);
	if (watch->result != -ECANCELED)
		eddy_scope_cancel(watch->sending);
	return 0;
}

/* Send a body unless the server responds before the end and does not need the rest.
 * Return: 0; 1 if it has responded; -errno. */
static int send_watched(struct eddyi_call *call, struct eddyi_wire *wire, struct eddy_str head)
{
	struct eddy_scope scope;
	struct watch answer = { call, wire, &scope, -ECANCELED };
	int r;

	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn(&scope, "client", watch, &answer);
	if (r == 0)
		r = send_body(call, wire, head);
	eddy_scope_end(&scope);
	if (answer.result < 0 && answer.result != -ECANCELED)
		return answer.result;
	return r == -ECANCELED && answer.result == 0 ? 1 : r;
}

/* Wait shortly for a 100 Continue or the response: some servers wait for the body.
 * Return: 0 to send the body; 1 if the response has arrived; -errno. */
static int await_continue(struct eddyi_call *call, struct eddyi_wire *wire)
{
	struct eddy_scope scope;
	int r, ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = CONTINUE_NS });
	r = read_head(call, wire, eddyi_wire_fill);
	ended = eddy_scope_end(&scope);
	if (r == -ECANCELED && ended == -ETIMEDOUT && !eddy_is_cancelled())
		return 0;
	if (r < 0)
		return r;
	return is_answered(call) ? 1 : pass_interim(call);
}

static bool is_at_once(const struct eddyi_call *call)
{
	return call->without_body || (!call->request->file && !call->request->pull &&
				      call->request->body.len <= AT_ONCE_MAX);
}

/* ---- exchange ---- */

/* Return: 0; 1 if the response arrived before the whole request was sent; -errno. */
static int send_request(struct eddyi_call *call, struct eddyi_wire *wire)
{
	struct eddy_str head = eddyi_client_make_head(call);
	int r;

	if (!head.ptr)
		return -ENOMEM;
	if (call->request->expect_continue && !call->without_body) {
		r = eddyi_wire_send(wire, head.ptr, head.len);
		if (r == 0)
			r = await_continue(call, wire);
		if (r)
			return r;
		head = EDDY_STR("");
	}
	if (is_at_once(call))
		return send_body(call, wire, head);
	return send_watched(call, wire, head);
}

static bool is_gone(int error)
{
	return error == -EPIPE || error == -ECONNRESET;
}

int eddyi_client_fail_gone(const struct eddyi_call *call, int error, bool answered)
{
	return eddyi_client_fail(call->client, error, "the server closed the connection %s",
				 answered ? "before the end of its response" :
					    "without a response");
}

int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn)
{
	struct eddyi_wire *wire = &conn->wire;
	int r;

	call->conn = conn;
	call->interims = 0;
	eddyi_client_begin_head(call);
	r = send_request(call, wire);
	if (r < 0 && !is_gone(r))
		return r;
	conn->spoiled = r != 0;
	/* A server that has closed the connection may have said why before. */
	if (!is_answered(call)) {
		int read = read_response(call, wire, eddyi_wire_fill);

		if (r < 0 && is_gone(read))
			read = r;
		if (is_gone(read))
			return eddyi_client_fail_gone(call, read, conn->answered);
		if (read < 0)
			return read;
	}
	eddyi_response_begin(call->response, conn);
	return 0;
}
