/* WebSockets of a client: the handshake (RFC 6455 section 4.1), and the link of the socket. */
#include "client.h"
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
	struct eddyi_client_conn *conn;
	struct eddy_op op;      /* receives */
	struct eddy_event over; /* the kernel has returned all that was lent to it */
	char protocol[];
};

static struct client_socket *socket_of(struct eddy_ws *ws)
{
	return eddy_of(ws, struct client_socket, ws);
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct client_socket *socket = eddy_of(op, struct client_socket, op);
	struct eddy_str bytes = eddy_str(eddy_buffers_of(NULL, flags), result > 0 ? result : 0);

	eddyi_ws_received(&socket->ws, bytes, result, !(flags & IORING_CQE_F_MORE));
	eddy_buffers_give_back(NULL, flags);
}

static void receive(struct eddy_ws *ws)
{
	struct client_socket *socket = socket_of(ws);
	struct io_uring_sqe *sqe = eddy_op_begin(&socket->op, received);

	eddy_buffers_prep_recv(NULL, sqe, socket->conn->wire.fd);
	eddy_op_start(&socket->op, sqe);
}

static void cancel(struct eddy_ws *ws)
{
	eddy_op_cancel(&socket_of(ws)->op);
}

static void finish(struct eddy_ws *ws)
{
	eddy_event_set(&socket_of(ws)->over);
}

static const struct eddyi_ws_link link_verbs = { .receive = receive,
						 .cancel = cancel,
						 .finish = finish };

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
	eddyi_client_conn_close(socket->conn);
	free(socket);
}

/* ---- the request ---- */

struct handshake {
	struct eddy_client *client;
	const struct eddy_ws_options *options;
	struct eddyi_ws_extension wanted, agreed;
	bool compresses;
	struct eddy_str protocol; /* chosen; .ptr NULL: none */
	char *protocols;          /* offered, as a list; owned */
	char key[EDDYI_WS_KEY_LEN + 1];
	char extension[EDDYI_WS_EXTENSION_SIZE];
	struct eddy_header fields[7];
};

static int check_options(struct eddy_client *client, const struct eddy_client_ws_options *options)
{
	static const char prefix[] = "sec-websocket-";
	const struct eddy_header *header = options->headers;
	const char *const *protocol = options->socket.protocols;

	for (; header && header->name; header++)
		if (strncasecmp(header->name, prefix, sizeof(prefix) - 1) == 0)
			return eddyi_client_fail(client, -EINVAL,
						 "the field \"%s\" is set by the client itself",
						 header->name);
	for (; protocol && *protocol; protocol++)
		if (!eddyi_syntax_is_token(eddy_str_from(*protocol)))
			return eddyi_client_fail(client, -EINVAL,
						 "a subprotocol is not a valid token");
	return 0;
}

/* Return: 0, -ENOMEM. */
static int join_protocols(struct handshake *shake)
{
	const char *const *protocols = shake->options->protocols;
	size_t size = 0;
	char *at;

	if (!protocols || !*protocols)
		return 0;
	for (size_t i = 0; protocols[i]; i++)
		size += strlen(protocols[i]) + 2;
	at = shake->protocols = malloc(size + 1);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; protocols[i]; i++)
		at = stpcpy(stpcpy(at, i ? ", " : ""), protocols[i]);
	return 0;
}

/* Make the fields of the request. Return: 0, -errno. */
static int make_fields(struct handshake *shake)
{
	const struct eddy_ws_deflate *deflate = &shake->options->deflate;
	struct eddyi_ws_side side = { deflate->takeover, EDDYI_WS_WINDOW_MAX };
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
		shake->wanted = (struct eddyi_ws_extension){ side, side };
		eddyi_ws_extension_offer(&shake->wanted, shake->extension);
		*field++ = (struct eddy_header){ "sec-websocket-extensions", shake->extension };
	}
	if (join_protocols(shake) < 0)
		return -ENOMEM;
	if (shake->protocols)
		*field = (struct eddy_header){ "sec-websocket-protocol", shake->protocols };
	return 0;
}

/* Return: NULL on allocation failure. */
static char *http_url(const char *url)
{
	bool is_ws = strncasecmp(url, "ws:", 3) == 0 || strncasecmp(url, "wss:", 4) == 0;
	char *text = malloc(strlen(url) + 3);

	if (text)
		stpcpy(stpcpy(text, is_ws ? "http" : ""), is_ws ? url + 2 : url);
	return text;
}

/* ---- the response ---- */

/* Get the value of a field that may occur once; .ptr NULL: it is absent. Return: false if it is repeated. */
static bool take_only(const struct eddy_response *response, const char *name,
		      struct eddy_str *ret_value)
{
	size_t found = 0;

	*ret_value = eddy_response_header(response, name);
	for (unsigned i = 0; i < response->head.header_count; i++)
		found += eddy_str_eq_nocase(response->head.headers[i].name, eddy_str_from(name));
	return found <= 1;
}

static bool has_upgraded(const struct eddy_response *response)
{
	struct eddy_str value, member;
	bool connects = false;

	for (unsigned i = 0; i < response->head.header_count; i++) {
		value = response->head.headers[i].value;
		if (!eddy_str_eq_nocase(response->head.headers[i].name, EDDY_STR("connection")))
			continue;
		while (eddyi_syntax_take_member(&value, &member))
			connects |= eddy_str_eq_nocase(member, EDDY_STR("upgrade"));
	}
	return connects && response->head.minor && take_only(response, "upgrade", &value) &&
	       eddy_str_eq_nocase(value, EDDY_STR("websocket"));
}

static bool is_accepted(const struct handshake *shake, const struct eddy_response *response)
{
	char accept[EDDYI_WS_ACCEPT_LEN + 1];
	struct eddy_str value;

	eddyi_ws_accept(eddy_str_from(shake->key), accept);
	return take_only(response, "sec-websocket-accept", &value) && eddy_str_eq_z(value, accept);
}

static bool take_protocol(struct handshake *shake, const struct eddy_response *response)
{
	const char *const *offered = shake->options->protocols;

	if (!take_only(response, "sec-websocket-protocol", &shake->protocol))
		return false;
	while (offered && *offered && !eddy_str_eq_z(shake->protocol, *offered))
		offered++;
	return !shake->protocol.ptr || (offered && *offered);
}

static bool take_extension(struct handshake *shake, const struct eddy_response *response)
{
	struct eddy_str value;

	if (!take_only(response, "sec-websocket-extensions", &value))
		return false;
	shake->compresses = value.len > 0;
	return !value.len || (shake->options->deflate.on &&
			      eddyi_ws_extension_check(value, &shake->wanted, &shake->agreed));
}

/* Return: 0, -errno. */
static int check_response(struct handshake *shake, const struct eddy_response *response)
{
	int status = response->head.status;
	const char *problem =
		!has_upgraded(response)          ? "is no upgrade to WebSocket" :
		!is_accepted(shake, response)    ? "has a wrong sec-websocket-accept" :
		!take_protocol(shake, response)  ? "chooses a subprotocol that was not offered" :
		!take_extension(shake, response) ? "chooses an extension that was not offered" :
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

/* Make a socket of the connection. Return: NULL on allocation failure. */
static struct eddy_ws *begin_socket(const struct handshake *shake, struct eddyi_client_conn *conn)
{
	struct eddy_str protocol = shake->protocol;
	struct client_socket *socket = calloc(1, sizeof(*socket) + protocol.len);
	struct eddy_ws *ws;

	if (!socket)
		return NULL;
	ws = &socket->ws;
	socket->conn = conn;
	socket->options = *shake->options;
	eddy_event_init(&socket->over);
	*ws = (struct eddy_ws){
		.options = &socket->options,
		.compresses = shake->compresses,
		.has_task = true,
	};
	if (protocol.ptr) {
		memcpy(socket->protocol, protocol.ptr, protocol.len);
		ws->protocol = eddy_str(socket->protocol, protocol.len);
	}
	if (shake->compresses) {
		eddyi_ws_deflate_init(&ws->deflate, &shake->agreed.client, false,
				      socket->options.deflate.level);
		eddyi_ws_deflate_init(&ws->inflate, &shake->agreed.server, true, 0);
	}
	conn->response = NULL;
	eddyi_ws_init(ws);
	eddyi_ws_begin(ws, &link_verbs, &conn->wire);
	return ws;
}

/* Send the request. Return: 0, and the response, of any status; -errno. */
static int ask(struct handshake *shake, const char *url,
	       const struct eddy_client_ws_options *options, struct eddy_response **ret_response)
{
	struct eddyi_client_hooks hooks = { .headers = shake->fields, .upgrades = true };
	const struct eddy_client_request request = { .headers = options->headers,
						     .timeout_ns = options->timeout_ns };
	char *text = http_url(url);
	int r = text ? eddyi_client_send(shake->client, text, &request, &hooks, ret_response) :
		       -ENOMEM;

	free(text);
	return r;
}

static int open_socket(struct handshake *shake, struct eddy_response *response,
		       struct eddy_ws **ret_ws)
{
	struct eddyi_client_conn *conn = response->conn;
	struct eddy_ws *ws;
	int r = check_response(shake, response);

	if (response->head.status != 101)
		return r;
	response->conn = NULL;
	ws = r == 0 ? begin_socket(shake, conn) : NULL;
	if (!ws) {
		eddyi_client_conn_close(conn);
		return r < 0 ? r : -ENOMEM;
	}
	*ret_ws = ws;
	return 0;
}

int eddy_client_ws(struct eddy_client *client, const char *url,
		   const struct eddy_client_ws_options *options,
		   struct eddy_response **ret_response, struct eddy_ws **ret_ws)
{
	static const struct eddy_client_ws_options defaults;
	struct eddy_ws_options socket = options ? options->socket : defaults.socket;
	struct handshake shake = { .client = client, .options = &socket };
	struct eddy_response *response = NULL;
	int r;

	options = options ? options : &defaults;
	eddyi_ws_offer_figures();
	eddyi_ws_options_fill(&socket);
	socket.parks = false;
	r = client ? check_options(client, options) : -ENOMEM;
	if (r == 0)
		r = make_fields(&shake);
	if (r == 0)
		r = eddy_buffers_prepare();
	if (r == 0)
		r = ask(&shake, url, options, &response);
	if (r == 0)
		r = open_socket(&shake, response, ret_ws);
	if (r == -ENOMEM && client)
		eddyi_client_fail(client, r, "out of memory");
	free(shake.protocols);
	if (ret_response)
		*ret_response = response;
	else
		eddy_response_free(response);
	return r;
}
