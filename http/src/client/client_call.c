/* A call from the URL to the response: checks, stale connections, redirects, retries. */
#include "client.h"
#include "client_retry.h"
#include "text/syntax.h"

#include <eddy/internal/http.h>
#include <eddy/internal/panic.h>
#include <eddy/loop.h>
#include <eddy/task.h>
#include <errno.h>
#include <stdlib.h>

/* ---- checking the request ---- */

static int check_headers(struct eddy_client *client, const struct eddy_header *header)
{
	for (; header && header->name; header++) {
		if (!eddyi_syntax_is_token(eddy_str_from(header->name)))
			return eddyi_client_fail(client, -EINVAL,
						 "a field name is not a valid token");
		if (!header->value || !eddyi_syntax_is_value(eddy_str_from(header->value)))
			return eddyi_client_fail(
				client, -EINVAL,
				"the value of the field \"%s\" is missing or contains a control "
				"character",
				header->name);
		if (!eddyi_client_may_set(header->name))
			return eddyi_client_fail(client, -EINVAL,
						 "the field \"%s\" is set by the client itself",
						 header->name);
	}
	return 0;
}

static int check_request(struct eddy_client *client, const struct eddy_client_request *request)
{
	const char *method = request->method;

	if (method && !eddyi_syntax_is_token(eddy_str_from(method)))
		return eddyi_client_fail(client, -EINVAL, "the method is not a valid token");
	if (method && strcmp(method, "CONNECT") == 0)
		return eddyi_client_fail(client, -EINVAL, "the method CONNECT is not supported");
	if (!eddyi_syntax_is_value(eddy_str_from(client->options.user_agent)))
		return eddyi_client_fail(client, -EINVAL,
					 "the option user_agent contains a control character");
	if ((request->body.len > 0) + (request->file != NULL) + (request->pull != NULL) > 1)
		return eddyi_client_fail(client, -EINVAL,
					 "more than one of .body, .file and .pull is set");
	return check_headers(client, request->headers);
}

int eddyi_client_check_url(const char *text)
{
	struct eddyi_url url;
	int r = eddyi_url_parse(eddy_str_from(text), &url);

	return r == 0 && url.https && !EDDYI_TLS ? -EPROTONOSUPPORT : r;
}

/* Check whether this client may send to the origin. eddy_dial() takes "unix:80" for a socket in the
 * file system, to which no URL may lead. */
static int check_origin(struct eddy_client *client, const struct eddyi_url *url)
{
	if (client->options.require_https && !url->https)
		return eddyi_client_fail(client, -EPERM, "only https is allowed");
	if (!client->options.connect && eddy_str_eq_nocase(url->host.name, eddy_str_from("unix")))
		return eddyi_client_fail(client, -EPERM, "the host name unix is not allowed");
	return 0;
}

static int take_url(struct eddyi_call *call, const char *text)
{
	struct eddy_response *response = call->response;
	struct eddy_str copy = eddyi_arena_dup(&response->arena, eddy_str_from(text));
	int r;

	if (!copy.ptr)
		return -ENOMEM;
	r = eddyi_url_parse(copy, &response->url);
	if (r == -EPROTONOSUPPORT)
		return eddyi_client_fail(call->client, r,
					 "the URL's scheme is neither http nor https");
	if (r < 0)
		return eddyi_client_fail(call->client, r, "the URL is malformed");
	copy.len = (size_t)(response->url.target.ptr + response->url.target.len - copy.ptr);
	response->url_text = copy;
	return check_origin(call->client, &response->url);
}

/* ---- one hop ---- */

static bool is_idempotent(const char *method)
{
	static const char *const methods[] = { "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(method, methods[i]) == 0)
			return true;
	return false;
}

static int exchange(struct eddyi_call *call, struct eddyi_client_conn *conn)
{
	int r = eddyi_client_exchange(call, conn);

	if (r < 0)
		eddyi_client_conn_close(conn);
	return r;
}

/* Send the request to the URL. Return: 0, -errno. */
static int ask(struct eddyi_call *call)
{
	struct eddy_response *response = call->response;
	struct eddy_str origin = eddyi_url_origin(&response->arena, &response->url);
	struct eddyi_client_conn *conn;
	int r;

	if (call->client->exchange)
		return call->client->exchange(call);
	if (!origin.ptr)
		return -ENOMEM;
	conn = eddyi_client_conn_take(response, origin);
	if (conn) {
		r = eddyi_client_exchange(call, conn);
		if (r == 0)
			return 0;
		/* The server may have closed the connection before it saw the request. */
		if ((r != -EPIPE && r != -ECONNRESET) || conn->answered || call->pulled ||
		    !is_idempotent(call->method)) {
			eddyi_client_conn_close(conn);
			return r;
		}
		eddyi_client_conn_close(conn);
	}
	r = eddyi_client_conn_open(response, origin, &conn);
	return r < 0 ? r : exchange(call, conn);
}

/* ---- redirects ---- */

static bool is_redirect(const struct eddy_response *response)
{
	switch (response->head.status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return eddy_response_header(response, "location").ptr != NULL;
	default:
		return false;
	}
}

static int resolve(struct eddyi_call *call, struct eddyi_url *ret_url, struct eddy_str *ret_text)
{
	struct eddy_response *response = call->response;
	int r = eddyi_url_resolve(&response->arena, &response->url,
				  eddy_response_header(response, "location"), ret_url, ret_text);

	if (r == -EPROTONOSUPPORT)
		return eddyi_client_fail(
			call->client, -EPERM,
			"the redirect leads to a URL that is neither http nor https");
	if (r == -EINVAL)
		return eddyi_client_fail(call->client, -EBADMSG, "the redirect's URL is malformed");
	if (r < 0)
		return r;
	/* Remove the fragment. */
	ret_text->len = (size_t)(ret_url->target.ptr + ret_url->target.len - ret_text->ptr);
	return 0;
}

static int check_redirect(struct eddyi_call *call, const struct eddyi_url *url,
			  struct eddy_str text)
{
	struct eddy_client *client = call->client;
	const struct eddy_client_options *options = &client->options;
	struct eddy_response *response = call->response;
	int r = check_origin(client, url);

	if (r < 0)
		return r;
	if (response->url.https && !url->https)
		return eddyi_client_fail(client, -EPERM, "the redirect leads from https to http");
	if (options->connect && !eddyi_url_is_same_origin(&response->url, url))
		return eddyi_client_fail(client, -EPERM, "the redirect leads to another origin");
	r = options->redirect ?
		    options->redirect(options->redirect_data, response->url_text, text) :
		    0;
	if (r < 0)
		return eddyi_client_fail(
			client, r, "the redirect to %.*s was rejected by the redirect function",
			EDDY_FMT(text));
	return 0;
}

/* Set the method after a redirect of this status (RFC 9110 section 15.4). */
static int change_method(struct eddyi_call *call, int status)
{
	bool is_head = strcmp(call->method, "HEAD") == 0;

	if ((status == 303 && !is_head) ||
	    ((status == 301 || status == 302) && strcmp(call->method, "POST") == 0)) {
		call->method = "GET";
		call->without_body = true;
	}
	if (call->request->pull && !call->without_body)
		return eddyi_client_fail(
			call->client, -EPERM,
			"the redirect requires the body again, which .pull can't repeat");
	return 0;
}

static int follow(struct eddyi_call *call)
{
	struct eddy_response *response = call->response;
	struct eddyi_url url;
	struct eddy_str text;
	int r;

	if (call->redirects++ == call->client->options.redirects_max)
		return eddyi_client_fail(call->client, -ELOOP, "there are more than %u redirects",
					 call->client->options.redirects_max);
	r = resolve(call, &url, &text);
	if (r == 0)
		r = check_redirect(call, &url, text);
	if (r == 0)
		r = change_method(call, response->head.status);
	if (r < 0)
		return r;
	call->foreign |= !eddyi_url_is_same_origin(&response->url, &url);
	eddyi_response_discard(response);
	response->url = url;
	response->url_text = text;
	return 0;
}

/* ---- calls ---- */

static ssize_t run_call(void *arg)
{
	struct eddyi_call *call = arg;
	int r;

	for (;;) {
		eddyi_client_observe_begin(call);
		r = ask(call);
		eddyi_client_observe_end(call, r < 0 ? r : call->response->head.status);
		if (r < 0 || !call->client->options.redirects_max ||
		    (call->hooks && call->hooks->upgrades) || !is_redirect(call->response))
			return r;
		r = follow(call);
		if (r < 0)
			return r;
	}
}

static int begin(struct eddyi_call *call, const char *url)
{
	const struct eddy_client_request *request = call->request;
	const struct eddy_client_options *options = &call->client->options;
	uint64_t timeout_ns = request->timeout_ns ? request->timeout_ns : options->timeout_ns;
	struct eddy_response *response = call->response;

	response->body_max = request->body_max ? request->body_max : options->body_max;
	response->deadline_ns = timeout_ns == EDDY_NEVER ? EDDY_NEVER : eddy_now() + timeout_ns;
	call->method = request->method ? request->method : "GET";
	return take_url(call, url);
}

int eddyi_client_send(struct eddy_client *client, const char *url,
		      const struct eddy_client_request *request, struct eddyi_client_hooks *hooks,
		      struct eddy_response **ret_response)
{
	static const struct eddy_client_request plain;
	struct eddyi_call call = {
		.client = client,
		.hooks = hooks,
		.began_ns = hooks ? eddy_now() : 0,
		.foreign = hooks && hooks->foreign,
		.request = request ? request : &plain,
	};
	int r = client ? check_request(client, call.request) : -ENOMEM;

	if (r < 0)
		return r;
	call.response = eddyi_response_new(client);
	if (!call.response)
		return eddyi_client_fail(client, -ENOMEM, "out of memory");
	r = begin(&call, url);
	eddyi_require_task(__func__);
	if (r == 0)
		r = (int)eddyi_client_run(call.response, run_call, &call);
	if (r == -ENOMEM)
		eddyi_client_fail(client, r, "out of memory");
	if (r < 0) {
		eddy_response_free(call.response);
		return r;
	}
	*ret_response = call.response;
	return 0;
}

/* Whether the result of a try may be another one later, and how long to wait for it. */
static bool may_retry(struct eddyi_retry *retry, int result, const struct eddy_response *response,
		      uint64_t *ret_delay_ns)
{
	if (result < 0)
		eddyi_retry_fail(retry, result, true);
	else if (eddy_response_status(response) >= 400)
		eddyi_retry_fail_status(retry, response);
	else
		return false;
	return retry->is_passing && eddyi_retry_next(retry, 0, ret_delay_ns) == 0;
}

int eddy_client_send(struct eddy_client *client, const char *url,
		     const struct eddy_client_request *request, struct eddy_response **ret_response)
{
	struct eddyi_retry retry = { .client = client, .options = request ? request->retry : NULL };
	struct eddy_response *response;
	uint64_t delay_ns;
	int r;

	if (client && retry.options && request->pull)
		return eddyi_client_fail(client, -EINVAL, "a request with .pull can't have .retry");
	for (;;) {
		response = NULL;
		r = eddyi_client_send(client, url, request, NULL, &response);
		if (!client || !retry.options || !may_retry(&retry, r, response, &delay_ns))
			break;
		eddy_response_free(response);
		r = eddy_sleep(delay_ns);
		if (r < 0)
			return eddyi_client_fail(client, r, "the call was cancelled");
	}
	if (r == 0)
		*ret_response = response;
	return r;
}
