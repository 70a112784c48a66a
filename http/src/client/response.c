#include "client.h"
#include "text/date.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <errno.h>
#include <stdlib.h>

#define WHOLE_FIRST ((size_t)(16 * EDDY_KIB))

struct eddy_response *eddyi_response_new(struct eddy_client *client)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_response *response = eddyi_arena_alloc(&arena, sizeof(*response));

	if (!response)
		return NULL;
	*response = (struct eddy_response){ .arena = arena, .client = client };
	return response;
}

static void give_up(struct eddy_response *response)
{
	if (response->conn)
		eddyi_client_conn_close(response->conn);
	response->conn = NULL;
}

void eddy_response_free(struct eddy_response *response)
{
	struct eddyi_arena arena;

	if (!response)
		return;
	give_up(response);
	free(response->whole);
	eddyi_arena_deinit(&response->head_arena);
	arena = response->arena;
	eddyi_arena_deinit(&arena);
}

/* Keep or close the connection after the body has been read. */
static void release(struct eddy_response *response)
{
	if (response->head.keep_alive)
		eddyi_client_conn_keep(response->conn);
	else
		eddyi_client_conn_close(response->conn);
	response->conn = NULL;
}

void eddyi_response_begin(struct eddy_response *response, struct eddyi_client_conn *conn)
{
	const struct eddyi_response_head *head = &response->head;

	response->conn = conn;
	/* The connection is no longer that of HTTP. */
	if (head->status == 101)
		return;
	eddyi_framed_begin(&response->body, head->framing, head->length);
	if (response->body.body.ended)
		release(response);
}

void eddyi_response_discard(struct eddy_response *response)
{
	if (response->conn && eddyi_framed_can_drain(&response->body) &&
	    eddyi_framed_drain(&response->body, &response->conn->wire) == 0 &&
	    response->body.body.ended)
		release(response);
	give_up(response);
}

/* ---- head ---- */

int eddy_response_status(const struct eddy_response *response)
{
	return response->head.status;
}

struct eddy_str eddy_response_url(const struct eddy_response *response)
{
	return response->url_text;
}

struct eddy_str eddy_response_header(const struct eddy_response *response, const char *name)
{
	const struct eddyi_response_head *head = &response->head;

	for (unsigned i = 0; i < head->header_count; i++)
		if (eddy_str_eq_nocase(head->headers[i].name, eddy_str_from(name)))
			return head->headers[i].value;
	return eddy_str(NULL, 0);
}

size_t eddy_response_header_count(const struct eddy_response *response)
{
	return response->head.header_count;
}

void eddy_response_header_at(const struct eddy_response *response, size_t at,
			     struct eddy_str *ret_name, struct eddy_str *ret_value)
{
	*ret_name = response->head.headers[at].name;
	*ret_value = response->head.headers[at].value;
}

int eddy_response_retry_after(const struct eddy_response *response, uint64_t *ret_ns)
{
	struct eddy_str value = eddy_response_header(response, "retry-after");
	time_t now = eddyi_clock_seconds(), when;
	uint64_t seconds;

	if (!value.ptr)
		return -ENOENT;
	if (eddy_str_to_u64(value, &seconds) < 0) {
		if (eddyi_date_parse(value, now, &when) < 0)
			return -ENOENT;
		seconds = when > now ? (uint64_t)(when - now) : 0;
	}
	*ret_ns = seconds < EDDY_NEVER / EDDY_SECOND ? seconds * EDDY_SECOND : EDDY_NEVER;
	return 0;
}

uint64_t eddy_response_length(const struct eddy_response *response)
{
	return response->head.length;
}

/* ---- body ---- */

struct reading {
	struct eddy_response *response;
	void *buf;
	size_t len;
};

/* Read a body that ends with its connection. */
static ssize_t read_until_close(struct eddy_response *response, void *buf, size_t len)
{
	struct eddyi_wire *wire = &response->conn->wire;
	struct eddy_str here = eddyi_wire_pending(wire);
	ssize_t r;

	if (here.len) {
		if (here.len < len)
			len = here.len;
		memcpy(buf, here.ptr, len);
		eddyi_wire_consume(wire, len);
		return (ssize_t)len;
	}
	r = eddyi_wire_recv(wire, buf, len);
	if (r != -ECONNRESET || !eddyi_wire_has_ended(wire))
		return r;
	response->body.body.ended = true;
	return 0;
}

static ssize_t read_some(void *arg)
{
	struct reading *reading = arg;
	struct eddy_response *response = reading->response;

	if (response->body.framing == EDDYI_BODY_CLOSE)
		return read_until_close(response, reading->buf, reading->len);
	return eddyi_framed_read(&response->body, &response->conn->wire, reading->buf,
				 reading->len);
}

static int explain(struct eddy_response *response, int error)
{
	struct eddy_client *client = response->client;

	if (error == -EBADMSG)
		return eddyi_client_fail(client, error, "the framing of the body is malformed");
	if (error == -ECONNRESET)
		return eddyi_client_fail(
			client, error,
			"the server closed the connection before the end of the body");
	if (error != -ETIMEDOUT && error != -ECANCELED)
		eddyi_client_fail(client, error, "can't read the body: %s", strerror(-error));
	return error;
}

static int fail(struct eddy_response *response, int error)
{
	response->error = error;
	give_up(response);
	return error;
}

ssize_t eddy_response_read(struct eddy_response *response, void *buf, size_t len)
{
	struct reading reading = { response, buf, len };
	ssize_t r;

	if (response->error)
		return response->error;
	if (!response->conn || !len)
		return 0;
	r = eddyi_client_run(response, read_some, &reading);
	if (r < 0)
		return fail(response, explain(response, (int)r));
	if (response->body.body.ended)
		release(response);
	return r;
}

struct filing {
	struct eddy_response *response;
	struct eddy_transfer *file;
};

static ssize_t file_some(void *arg)
{
	struct filing *filing = arg;
	struct eddyi_framed_body *body = &filing->response->body;
	struct eddyi_wire *wire = &filing->response->conn->wire;
	struct eddy_transfer *file = filing->file;
	struct eddy_str here;
	uint64_t left;
	int r;

	if (body->framing == EDDYI_BODY_CLOSE)
		return -EAGAIN;
	r = eddyi_framed_next(body, wire, &here, &left);
	if (r <= 0)
		return r;
	if (here.len || eddyi_transfer_copies_in(left) || !eddyi_wire_can_splice(wire))
		return -EAGAIN;
	if (file->len > left)
		file->len = left;
	file->socket = wire->fd;
	file->progress = &wire->timeout;
	eddyi_wire_guard(wire, &wire->clocks->body);
	r = eddy_transfer_to_file(file);
	eddyi_wire_unguard(wire);
	eddyi_framed_took(body, wire, file->moved, false);
	if (r == 0)
		return 1;
	return r == -ENODATA ? -ECONNRESET : r;
}

int eddyi_response_file(struct eddy_response *response, struct eddy_transfer *file)
{
	struct filing filing = { response, file };
	int r;

	file->moved = 0;
	if (response->error)
		return response->error;
	if (!response->conn || !file->len)
		return 0;
	r = (int)eddyi_client_run(response, file_some, &filing);
	if (r < 0 && r != -EAGAIN)
		return fail(response, explain(response, r));
	if (response->body.body.ended)
		release(response);
	return r;
}

int eddyi_response_fail_too_large(struct eddy_response *response)
{
	eddyi_client_fail(response->client, -EMSGSIZE, "the body has more than %llu bytes",
			  (unsigned long long)response->body_max);
	return fail(response, -EMSGSIZE);
}

/* Make room for at least one more byte and a NUL. */
static bool grow(struct eddy_response *response, size_t *size)
{
	size_t more = *size ? *size * 2 : WHOLE_FIRST;
	char *whole;

	if (response->whole_len + 1 < *size)
		return true;
	whole = realloc(response->whole, more);
	if (!whole)
		return false;
	response->whole = whole;
	*size = more;
	return true;
}

static int read_whole(struct eddy_response *response)
{
	size_t size = 0;
	ssize_t r;

	/* One more byte than allowed shows that the body is too large. */
	do {
		if (!grow(response, &size))
			return fail(response, -ENOMEM);
		r = eddy_response_read(response, response->whole + response->whole_len,
				       size - 1 - response->whole_len);
		if (r < 0)
			return (int)r;
		response->whole_len += (size_t)r;
		if (response->whole_len > response->body_max)
			return eddyi_response_fail_too_large(response);
	} while (r > 0);
	response->whole[response->whole_len] = 0;
	return 0;
}

int eddy_response_body(struct eddy_response *response, struct eddy_str *ret_body)
{
	int r;

	if (response->error)
		return response->error;
	if (!response->whole) {
		if (response->conn && response->body.framing == EDDYI_BODY_LENGTH &&
		    response->body.left > response->body_max)
			return eddyi_response_fail_too_large(response);
		r = read_whole(response);
		if (r < 0)
			return r;
	}
	*ret_body = eddy_str(response->whole, response->whole_len);
	return 0;
}
