/* Test requests to an app in memory: a client's call is the stream of the request. */
#include "app/app.h"
#include "client/client.h"
#include "exchange/exchange.h"
#include "exchange/peer.h"
#include "http1/framed.h"
#include "http1/reply_head.h"
#include "http1/request_head.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/debug.h>
#include <eddy/internal/transfer.h>
#include <eddy/log.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>

struct test {
	struct eddy_app *app;
	const char *line;
	const struct eddy_client_request *request;
	struct eddy_response **ret_response;
};

/* The two ends of a request: the client's, in the task that tests, and the app's.
 *
 * Invariant: `given` is set if the app can read without waiting: a piece, the end of the body, or
 * an error. `taken` is set by the app's first read. After that, it is set if the app has read all
 * of the last piece. */
struct ends {
	struct eddyi_stream stream;
	struct eddyi_service service;
	struct eddyi_call *call;
	struct eddy_app *app;
	struct eddyi_end *end; /* NULL: not yet determined */
	struct eddyi_request_head head;
	struct eddyi_body body;
	struct eddyi_clocks clocks;
	struct eddy_timeout timeout; /* of a read that waits */
	struct eddy_req *req;
	struct eddy_str piece; /* of the request's body; not yet read */
	bool all_given;        /* no piece follows */
	struct eddy_event given, taken;
	struct eddy_scope *giving; /* of the client, while it gives pieces; else NULL */
	uint64_t sent;
	size_t size;    /* of the response's `whole` */
	bool has_ended; /* the response */
	bool is_over;   /* the app does nothing more */
	int error;      /* of the client */
};

static struct ends *ends_of(const struct eddy_req *req)
{
	return eddy_of(req->stream, struct ends, stream);
}

/* ---- the body of the request ---- */

static void expire(struct eddy_timeout *timeout)
{
	eddyi_exchange_expire(eddy_of(timeout, struct ends, timeout)->req);
}

/* Read some of what the client gives, in memory or by .pull. */
static ssize_t read_given(struct ends *ends, void *buf, size_t len)
{
	int r;

	if (!ends->piece.len)
		eddy_event_set(&ends->taken);
	eddy_timeout_arm(&ends->timeout, &ends->clocks.body);
	r = eddy_event_wait(&ends->given);
	eddy_timeout_disarm(&ends->timeout);
	if (r < 0 || ends->error)
		return r < 0 ? r : -ECONNRESET;
	if (len > ends->piece.len)
		len = ends->piece.len;
	if (len)
		memcpy(buf, ends->piece.ptr, len);
	ends->piece = eddy_str_skip(ends->piece, len);
	if (!ends->piece.len && !ends->all_given) {
		eddy_event_clear(&ends->given);
		eddy_event_set(&ends->taken);
	}
	return (ssize_t)len;
}

static ssize_t read_file(struct ends *ends, void *buf, size_t len)
{
	const struct eddy_client_file *file = ends->call->request->file;
	int r;

	if (len > file->len - ends->body.took)
		len = (size_t)(file->len - ends->body.took);
	r = eddyi_transfer_read(file->fd, buf, len, file->offset + ends->body.took);
	if (r == 0 || r == -ECANCELED)
		return r == 0 ? (ssize_t)len : r;
	ends->error = r == -ENODATA ?
			      eddyi_client_fail_short(ends->call) :
			      eddyi_client_fail(ends->call->client, r,
						"can't get the request body: %s", strerror(-r));
	return -ECONNRESET;
}

static ssize_t read_some(struct eddy_req *req, void *buf, size_t len)
{
	struct ends *ends = ends_of(req);
	struct eddyi_body *body = &ends->body;
	uint64_t left = req->head.length - body->took;
	ssize_t r;

	if (body->error)
		return body->error;
	if (body->ended || !len)
		return 0;
	if (req->head.length != EDDY_LENGTH_UNKNOWN && left > body->max - body->took)
		return eddyi_body_fail(body, -EFBIG);
	r = ends->call->request->file ? read_file(ends, buf, len) : read_given(ends, buf, len);
	if (r < 0)
		return eddyi_body_fail(body, (int)r);
	body->took += (uint64_t)r;
	body->ended = r == 0 || body->took == req->head.length;
	return body->took > body->max ? eddyi_body_fail(body, -EFBIG) : r;
}

static int file_in(struct eddy_req *req, struct eddy_transfer *file, uint64_t max)
{
	(void)req;
	(void)file;
	(void)max;
	return -EAGAIN;
}

static size_t arrived(const struct eddy_req *req)
{
	return ends_of(req)->piece.len;
}

/* ---- the response ---- */

/* Whether a connection would be kept after the response: as eddyi_framed_can_drain() has it. */
static bool may_keep(const struct ends *ends)
{
	const struct eddy_req *req = ends->req;
	const struct eddyi_body *body = &ends->body;

	if (req->refused || req->head.method == EDDYI_METHOD_CONNECT || !ends->head.keep_alive ||
	    body->error)
		return false;
	if (body->ended)
		return true;
	if (ends->head.expect_continue && !body->took)
		return false;
	return ends->head.framing == EDDYI_BODY_CHUNKED ||
	       req->head.length - body->took <= EDDYI_DRAIN_MAX;
}

static void send_head(struct eddy_req *req, uint64_t length)
{
	struct ends *ends = ends_of(req);
	struct eddyi_reply reply;
	struct eddy_str head;
	size_t used;
	int r = -ENOMEM;

	eddyi_reply_begin(&reply, req, length, may_keep(ends));
	head = eddyi_reply_head(&reply, req, &ends->clocks, 0);
	eddyi_client_begin_head(ends->call);
	if (head.ptr)
		r = eddyi_client_feed_head(ends->call, head, &used);
	if (r < 0)
		ends->error = r;
	else
		ends->sent += head.len;
}

/* Make room for `more` bytes of the body, and a NUL. Return: 0; -EPIPE, as of a client that has
 * closed the connection, if the client takes no more. */
static int make_room(struct ends *ends, uint64_t more)
{
	struct eddy_response *response = ends->call->response;
	uint64_t need = response->whole_len + more + 1;
	char *whole;

	if (!ends->error && need - 1 > response->body_max)
		ends->error = eddyi_response_fail_too_large(response);
	if (ends->error)
		return -EPIPE;
	if (need <= ends->size)
		return 0;
	need = need < 2 * ends->size ? 2 * ends->size : need;
	whole = realloc(response->whole, need);
	if (!whole) {
		ends->error = -ENOMEM;
		return -EPIPE;
	}
	response->whole = whole;
	ends->size = need;
	return 0;
}

/* Count bytes that have been added to the body. */
static void have_sent(struct ends *ends, size_t len, bool last)
{
	struct eddy_response *response = ends->call->response;

	response->whole_len += len;
	response->whole[response->whole_len] = 0;
	ends->sent += len;
	ends->has_ended = last;
}

static int send_bytes(struct eddy_req *req, struct eddy_str bytes, bool last)
{
	struct ends *ends = ends_of(req);
	struct eddy_response *response = ends->call->response;
	int r = make_room(ends, bytes.len);

	if (r < 0)
		return r;
	if (bytes.len)
		memcpy(response->whole + response->whole_len, bytes.ptr, bytes.len);
	have_sent(ends, bytes.len, last);
	return 0;
}

static int file_out(struct eddy_req *req, struct eddy_transfer *file, bool last)
{
	struct ends *ends = ends_of(req);
	struct eddy_response *response = ends->call->response;
	int r = send_bytes(req, file->head, false);

	if (r == 0)
		r = make_room(ends, file->len);
	if (r == 0)
		r = eddyi_transfer_read(file->file, response->whole + response->whole_len,
					(size_t)file->len, file->offset);
	if (r == 0)
		have_sent(ends, (size_t)file->len, last);
	return r;
}

/* A response in memory has no interim ones. */
static int interim(struct eddy_req *req, int status, const struct eddy_header *fields)
{
	(void)req;
	(void)status;
	(void)fields;
	return 0;
}

static void cut(struct eddy_req *req)
{
	ends_of(req)->has_ended = false;
}

/* As a unix socket without a name. */
static const struct eddyi_end *end_of(const struct eddy_req *req)
{
	const struct eddy_sockaddr addr = { .addr.any.sa_family = AF_UNIX,
					    .len = sizeof(sa_family_t) };
	struct ends *ends = ends_of(req);

	if (!ends->end)
		ends->end = eddyi_end_new(&addr, &req->app->trust);
	return ends->end;
}

static const struct eddyi_stream_verbs verbs = {
	.read = read_some,
	.file_in = file_in,
	.interim = interim,
	.send_head = send_head,
	.send = send_bytes,
	.file_out = file_out,
	.cut = cut,
	.arrived = arrived,
	.end = end_of,
};

/* ---- both ends ---- */

/* Task: the app's end. */
static int serve(void *arg)
{
	struct ends *ends = arg;

	eddyi_opened_begin();
	eddyi_exchange(ends->req, &ends->body);
	eddyi_req_free(ends->req);
	/* Files of the response are closed by now. */
	eddyi_opened_end();
	ends->is_over = true;
	if (ends->giving)
		eddy_scope_cancel(ends->giving);
	return 0;
}

/* Give a piece, and wait until it is read. After the response, the client still checks that the
 * last piece read was the end of the body. */
static int give(void *arg, struct eddy_str piece)
{
	struct ends *ends = arg;

	ends->piece = piece;
	ends->all_given = !piece.len;
	eddy_event_clear(&ends->taken);
	eddy_event_set(&ends->given);
	if (piece.len)
		eddy_event_wait(&ends->taken);
	return ends->piece.len ? -ECANCELED : 0;
}

/* The client's end: give a pulled body, until the app has responded. */
static void give_pulled(struct ends *ends)
{
	struct eddy_scope scope;
	int r = 0;

	eddy_scope_begin(&scope, NULL);
	ends->giving = &scope;
	if (ends->call->request->expect_continue)
		r = eddy_event_wait(&ends->taken);
	if (r == 0)
		r = eddyi_client_pull(ends->call, give, ends);
	ends->giving = NULL;
	eddy_scope_end(&scope);
	ends->piece = EDDY_STR("");
	if (r < 0 && !ends->error && !(ends->is_over && r == -ECANCELED))
		ends->error = r;
	eddy_event_set(&ends->given);
}

/* Begin the request with the client's head. Return: 0, -ENOMEM. */
static int begin(struct ends *ends)
{
	struct eddy_str head = eddyi_client_make_head(ends->call);
	size_t used;
	int status;

	if (!head.ptr)
		return -ENOMEM;
	ends->req = eddyi_req_new(ends->app, &ends->stream, sizeof(*ends->req));
	if (!ends->req)
		return -ENOMEM;
	eddyi_request_head_init(&ends->head, &ends->req->head, &ends->app->head_limits);
	status = eddyi_request_head_feed(&ends->head, head.ptr, head.len, &used);
	ends->req->refused = status >= 400 ? status : 0;
	ends->body.ended = ends->head.framing == EDDYI_BODY_NONE || !ends->req->head.length;
	ends->piece = ends->call->request->body;
	ends->all_given = !ends->call->request->pull;
	if (ends->all_given)
		eddy_event_set(&ends->given);
	return 0;
}

static int exchange(struct ends *ends)
{
	struct eddy_scope scope;
	int r = begin(ends);

	if (r < 0)
		return r;
	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn(&scope, "request", serve, ends);
	if (r < 0)
		eddyi_req_free(ends->req);
	else if (!ends->all_given)
		give_pulled(ends);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	if (eddy_is_cancelled())
		return -ECANCELED;
	if (r < 0 || ends->error)
		return r < 0 ? r : ends->error;
	if (ends->has_ended)
		return 0;
	return eddyi_client_fail_gone(ends->call, -ECONNRESET,
				      ends->call->response->head.status != 0);
}

static int exchange_in_memory(struct eddyi_call *call)
{
	struct test *test = call->client->exchange_data;
	struct ends ends = {
		.stream = {
			.verbs = &verbs,
			.service = &ends.service,
			.sent = &ends.sent,
			.bound = test->app->addresses[0].text,
			.number = -1,
		},
		.call = call,
		.app = test->app,
		.body.max = UINT64_MAX,
		.timeout.expire = expire,
	};
	int r;

	eddyi_service_init(&ends.service);
	eddyi_clocks_init(&ends.clocks, &test->app->options, 0);
	eddy_event_init(&ends.given);
	eddy_event_init(&ends.taken);
	r = exchange(&ends);
	eddyi_clocks_deinit(&ends.clocks);
	eddyi_service_deinit(&ends.service);
	free(ends.end);
	return r;
}

/* Parse the line into method and URL. Return: 0, -EINVAL, -ENOMEM. */
static int take_line(struct test *test, struct eddyi_arena *arena, const char **ret_method,
		     const char **ret_url)
{
	struct eddy_str rest = eddy_str_from(test->line), method, url;

	if (!eddy_str_split(&rest, ' ', &method) || !rest.len)
		return -EINVAL;
	url = eddyi_arena_printf(arena, "%s%.*s", rest.ptr[0] == '/' ? "http://localhost" : "",
				 EDDY_FMT(rest));
	method = eddyi_arena_dup(arena, method);
	if (!url.ptr || !method.ptr)
		return -ENOMEM;
	*ret_method = method.ptr;
	*ret_url = url.ptr;
	return 0;
}

static int ask(struct test *test, struct eddy_client *client)
{
	struct eddy_client_request request = { 0 };
	struct eddyi_arena arena = { 0 };
	struct eddy_response *response;
	const char *url;
	int r;

	if (test->request)
		request = *test->request;
	if (!request.body_max)
		request.body_max = UINT64_MAX;
	r = take_line(test, &arena, &request.method, &url);
	if (r == 0)
		r = eddy_client_send(client, url, &request, &response);
	eddyi_arena_deinit(&arena);
	if (r < 0)
		return r;
	/* The response outlives the client. */
	response->client = NULL;
	*test->ret_response = response;
	return 0;
}

static int test_in_memory(struct test *test)
{
	struct eddy_client *client = eddy_client_new(&(struct eddy_client_options){
		/* The client waits for the app. */
		.timeout_ns = EDDY_NEVER,
	});
	int r;

	if (!client)
		return -ENOMEM;
	client->exchange = exchange_in_memory;
	client->exchange_data = test;
	r = ask(test, client);
	if (r < 0)
		eddy_debug("eddy::test", "%s: %s", test->line, eddy_client_error(client));
	eddy_client_free(client);
	return r;
}

/* Run the tasks of eddy_app_add_task() for this request as well. */
static int test_beside(struct test *test)
{
	struct eddyi_beside_keeper beside;
	struct eddy_scope scope;
	int r;

	eddyi_beside_init(&beside, test->app);
	eddy_scope_begin(&scope, NULL);
	r = eddyi_beside_begin(&beside, &scope);
	if (r == 0)
		r = test_in_memory(test);
	eddyi_beside_end(&beside);
	eddy_scope_end(&scope);
	return r;
}

static int run_test(void *arg)
{
	struct test *test = arg;
	struct eddy_app *app = test->app;
	int r;

	eddyi_app_stand_in(app);
	r = eddyi_app_prepare(app, false);
	eddyi_app_stand_back(app);
	if (r < 0)
		return r;
	return test_beside(test);
}

int eddy_app_test(struct eddy_app *app, const char *line, const struct eddy_client_request *request,
		  struct eddy_response **ret_response)
{
	struct test test = {
		.app = app,
		.line = line,
		.request = request,
		.ret_response = ret_response,
	};

	return eddy_loop_self() ? run_test(&test) : eddy_run(NULL, run_test, &test);
}
