/* WebSockets of a client: the handshake (RFC 6455 section 4.1), and the link of the socket. */
#include "client.h"
#include "message/head.h"
#include "text/base64.h"
#include "text/syntax.h"
#include "ws/ws_accept.h"
#include "ws/ws_socket.h"

#include <eddy/buffers.h>
#include <eddy/client_ws.h>
#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#define NONCE_LEN 16

/* ---- the socket ---- */

/* Invariant: `ws.has_task` is set until eddy_ws_free(), which waits for `over`. */
struct client_socket {
	struct eddy_ws ws;
	struct eddy_ws_options options; /* with defaults filled in */
	struct eddy_op op;              /* receives */
	struct eddy_event over;         /* the kernel has returned all that was lent to it */
	char protocols[]; /* that are offered, as a list: `ws.protocol` is one of them */
};

static struct client_socket *socket_of(struct eddy_ws *ws)
{
	return eddy_of(ws, struct client_socket, ws);
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct client_socket *socket = eddy_of(op, struct client_socket, op);
	struct eddy_str bytes = eddy_str(eddy_buffers_of(NULL, flags), result > 0 ? result : 0);

	eddyi_ws_received(&socket->ws, bytes, result);
	eddy_buffers_give_back(NULL, flags);
}

static void receive(struct eddy_ws *ws)
{
	struct client_socket *socket = socket_of(ws);
	struct io_uring_sqe *sqe = eddy_op_begin(&socket->op, received);

	eddy_buffers_prep_recv(NULL, sqe, ws->output.sender.wire->fd);
	eddy_op_start(&socket->op, sqe);
}

static void finish(struct eddy_ws *ws)
{
	eddy_event_set(&socket_of(ws)->over);
}

static const struct eddyi_ws_link link_verbs = { .receive = receive, .finish = finish };

void eddy_ws_free(struct eddy_ws *ws)
{
	struct client_socket *socket = ws ? socket_of(ws) : NULL;
	struct eddy_scope shield;

	if (!socket)
		return;
	eddyi_ws_release(ws, eddy_is_cancelled() ? EDDY_WS_GOING_AWAY : EDDY_WS_NORMAL);
	if (eddy_event_wait(&socket->over) < 0) {
		eddyi_ws_abort(ws, -ECANCELED);
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		eddy_event_wait(&socket->over);
		eddy_scope_end(&shield);
	}
	eddyi_client_conn_close(eddy_of(ws->output.sender.wire, struct eddyi_client_conn, wire));
	free(socket);
}

/* ---- the request ---- */

struct handshake {
	struct eddy_client *client;
	struct client_socket *socket;
	struct eddyi_arena arena; /* of texts */
	struct eddyi_head head;   /* of the response */
	char key[EDDYI_WS_KEY_LEN + 1];
	char extension[EDDYI_WS_EXTENSION_SIZE];
	struct eddy_header fields[7];
};

static int check_headers(struct eddy_client *client, const struct eddy_header *header)
{
	static const char prefix[] = "sec-websocket-";

	for (; header && header->name; header++)
		if (strncasecmp(header->name, prefix, sizeof(prefix) - 1) == 0)
			return eddyi_client_fail(client, -EINVAL,
						 "the field \"%s\" is set by the client itself",
						 header->name);
	return 0;
}

/* Make a socket that has not begun. Return: 0, -EINVAL, -ENOMEM. */
static int make_socket(struct handshake *shake, const struct eddy_ws_options *options)
{
	const char *const *protocol = options->protocols;
	struct eddy_str list = EDDY_STR("");
	struct client_socket *socket;

	for (; protocol && *protocol && list.ptr; protocol++) {
		if (!eddyi_syntax_is_token(eddy_str_from(*protocol)))
			return eddyi_client_fail(shake->client, -EINVAL,
						 "a subprotocol is not a valid token");
		list = eddyi_arena_printf(&shake->arena, "%.*s%s%s", EDDY_FMT(list),
					  list.len ? ", " : "", *protocol);
	}
	socket = list.ptr ? calloc(1, sizeof(*socket) + list.len + 1) : NULL;
	if (!socket)
		return -ENOMEM;
	memcpy(socket->protocols, list.ptr, list.len);
	socket->options = *options;
	socket->options.parks = false;
	eddyi_ws_options_fill(&socket->options);
	socket->ws.options = &socket->options;
	socket->ws.has_task = true;
	eddy_event_init(&socket->over);
	eddyi_ws_init(&socket->ws);
	shake->socket = socket;
	return 0;
}

/* Make the fields of the request. Return: 0, -errno. */
static int make_fields(struct handshake *shake)
{
	const struct eddy_ws_deflate *deflate = &shake->socket->options.deflate;
	struct eddy_header *field = shake->fields;
	unsigned char nonce[NONCE_LEN];

	if (eddyi_random(nonce, sizeof(nonce), GRND_NONBLOCK) < 0)
		return -errno;
	*eddyi_base64_encode(nonce, sizeof(nonce), shake->key) = 0;
	*field++ = (struct eddy_header){ "connection", "upgrade" };
	*field++ = (struct eddy_header){ "upgrade", "websocket" };
	*field++ = (struct eddy_header){ "sec-websocket-version", "13" };
	*field++ = (struct eddy_header){ "sec-websocket-key", shake->key };
	if (deflate->on) {
		eddyi_ws_extension_offer(deflate->takeover, shake->extension);
		*field++ = (struct eddy_header){ "sec-websocket-extensions", shake->extension };
	}
	if (*shake->socket->protocols)
		*field = (struct eddy_header){ "sec-websocket-protocol", shake->socket->protocols };
	return 0;
}

/* ---- the response ---- */

/* Fields that may occur once have no valid value if they are repeated, as they are joined then. */
static struct eddy_str field(struct handshake *shake, const char *name)
{
	return eddyi_head_join(&shake->head, name);
}

static bool has_upgraded(struct handshake *shake)
{
	return shake->head.version == EDDY_HTTP_1_1 &&
	       eddyi_syntax_has_member(field(shake, "connection"), EDDY_STR("upgrade")) &&
	       eddy_str_eq_nocase(field(shake, "upgrade"), EDDY_STR("websocket"));
}

static bool is_accepted(struct handshake *shake)
{
	char accept[EDDYI_WS_ACCEPT_LEN + 1];

	eddyi_ws_accept(eddy_str_from(shake->key), accept);
	return eddy_str_eq_z(field(shake, "sec-websocket-accept"), accept);
}

static bool take_protocol(struct handshake *shake)
{
	struct eddy_str chosen = field(shake, "sec-websocket-protocol"),
			rest = eddy_str_from(shake->socket->protocols), offered;

	while (chosen.ptr && eddyi_syntax_take_member(&rest, &offered))
		if (eddy_str_eq(chosen, offered)) {
			shake->socket->ws.protocol = offered;
			return true;
		}
	return !chosen.ptr;
}

static bool take_extension(struct handshake *shake)
{
	const struct eddy_ws_deflate *deflate = &shake->socket->options.deflate;
	struct eddy_str value = field(shake, "sec-websocket-extensions");
	struct eddyi_ws_extension agreed;

	if (!value.len)
		return true;
	if (!deflate->on || !eddyi_ws_extension_check(value, deflate->takeover, &agreed))
		return false;
	eddyi_ws_compress(&shake->socket->ws, agreed.client, agreed.server);
	return true;
}

/* Return: 0, -errno. */
static int check_response(struct handshake *shake, int status)
{
	const char *problem = !has_upgraded(shake)  ? "is no upgrade to WebSocket" :
			      !is_accepted(shake)   ? "has a wrong sec-websocket-accept" :
			      !take_protocol(shake) ? "chooses a subprotocol that was not offered" :
			      !take_extension(shake) ? "chooses an extension that was not offered" :
						       NULL;

	if (status >= 300 && status < 400)
		return eddyi_client_fail(shake->client, -ELOOP,
					 "the server redirects a WebSocket (status %d)", status);
	if (status != 101)
		return eddyi_client_fail(shake->client, -EREMOTEIO,
					 "the server refused the WebSocket with status %d", status);
	if (problem)
		return eddyi_client_fail(shake->client, -EBADMSG, "the server's response %s",
					 problem);
	return 0;
}

/* ---- opening ---- */

/* Send the request. Return: 0, and the response, of any status; -errno. */
static int ask(struct handshake *shake, const char *url,
	       const struct eddy_client_ws_options *options, struct eddy_response **ret_response)
{
	struct eddyi_client_hooks hooks = { .headers = shake->fields, .upgrades = true };
	const struct eddy_client_request request = { .headers = options->headers,
						     .timeout_ns = options->timeout_ns };
	bool is_ws = strncasecmp(url, "ws:", 3) == 0 || strncasecmp(url, "wss:", 4) == 0;
	struct eddy_str text = eddyi_arena_printf(&shake->arena, "%s%s", is_ws ? "http" : "",
						  is_ws ? url + 2 : url);

	return text.ptr ?
		       eddyi_client_send(shake->client, text.ptr, &request, &hooks, ret_response) :
		       -ENOMEM;
}

static int open_socket(struct handshake *shake, struct eddy_response *response)
{
	const struct eddyi_response_head *head = &response->head;
	struct eddyi_client_conn *conn = response->conn;
	int r;

	shake->head = (struct eddyi_head){ .arena = &shake->arena,
					   .headers = head->headers,
					   .header_count = head->header_count,
					   .version = head->minor ? EDDY_HTTP_1_1 : EDDY_HTTP_1_0 };
	r = check_response(shake, head->status);
	if (head->status != 101)
		return r;
	response->conn = NULL;
	if (r < 0) {
		eddyi_client_conn_close(conn);
		return r;
	}
	conn->response = NULL;
	eddyi_ws_begin(&shake->socket->ws, &link_verbs, &shake->socket->op, &conn->wire);
	return 0;
}

int eddy_client_ws(struct eddy_client *client, const char *url,
		   const struct eddy_client_ws_options *options,
		   struct eddy_response **ret_response, struct eddy_ws **ret_ws)
{
	static const struct eddy_client_ws_options defaults;
	struct handshake shake = { .client = client };
	struct eddy_response *response = NULL;
	int r;

	options = options ? options : &defaults;
	r = client ? check_headers(client, options->headers) : -ENOMEM;
	if (r == 0)
		r = make_socket(&shake, &options->socket);
	if (r == 0)
		r = make_fields(&shake);
	if (r == 0)
		r = eddy_buffers_prepare();
	if (r == 0)
		r = ask(&shake, url, options, &response);
	if (r == 0)
		r = open_socket(&shake, response);
	if (r == 0)
		*ret_ws = &shake.socket->ws;
	else
		free(shake.socket);
	if (r == -ENOMEM && client)
		eddyi_client_fail(client, r, "out of memory");
	eddyi_arena_deinit(&shake.arena);
	if (ret_response)
		*ret_response = response;
	else
		eddy_response_free(response);
	return r;
}
