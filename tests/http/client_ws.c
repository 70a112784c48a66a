/* Tests of http/src/client/client_ws.c, against servers of raw bytes and an app. */
#include "../runtime/failing.h"
#include "localhost.h"
#include "ws/ws_accept.h"
#include "ws/ws_frame.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/client_ws.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/ws_room.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a server of raw bytes ---- */

#define SWITCH "HTTP/1.1 101 Switching Protocols\r\n"
#define UPGRADE "upgrade: WebSocket\r\nconnection: keep-alive, Upgrade\r\n"
#define ACCEPT "sec-websocket-accept: %s\r\n"
#define GOOD SWITCH UPGRADE ACCEPT "\r\n"

/* How the server of a test behaves, and what it has seen. */
static struct script {
	const char *reply;      /* "%s" is the proof for the key; NULL: none */
	struct eddy_str frames; /* sent with the reply */
	bool resets;            /* then, instead of reading on */
	bool stays;             /* open after the close frame */

	char head[4096];
	char frame[4096]; /* the frames of the client */
	size_t frame_len;
} script;

static void read_head(int fd)
{
	size_t len = 0;
	ssize_t r;

	memset(script.head, 0, sizeof(script.head));
	while (!strstr(script.head, "\r\n\r\n") &&
	       (r = eddy_recv(fd, script.head + len, sizeof(script.head) - 1 - len, 0)) > 0)
		len += (size_t)r;
}

static void reply(int fd)
{
	char text[4096], accept[EDDYI_WS_ACCEPT_LEN + 1] = "";
	const char *key = strstr(script.head, "sec-websocket-key: ");
	int len;

	if (key)
		eddyi_ws_accept(eddy_str(key + 19, EDDYI_WS_KEY_LEN), accept);
	len = snprintf(text, sizeof(text), script.reply, accept);
	if (script.frames.len)
		memcpy(text + len, script.frames.ptr, script.frames.len);
	eddy_send_all(fd, text, (size_t)len + script.frames.len, 0);
}

/* Whether the client has sent a close frame. */
static bool has_closed(void)
{
	struct eddy_str rest = eddy_str(script.frame, script.frame_len);
	struct eddyi_ws_frame frame = { 0 };
	int r;

	while (frame.opcode != EDDYI_WS_CLOSE) {
		r = eddyi_ws_frame_parse(rest, &frame);
		if (r <= 0 || rest.len < (size_t)r + frame.len)
			return false;
		rest = eddy_str_skip(rest, (size_t)r + frame.len);
	}
	return true;
}

static int serve_script(void *arg)
{
	struct linger linger = { .l_onoff = 1 };
	struct eddy_listeners *listeners = arg;
	int fd = eddy_accept(listeners->fds[0], NULL, NULL);
	ssize_t r = 1;

	if (fd < 0)
		return fd;
	read_head(fd);
	if (script.reply)
		reply(fd);
	if (script.resets)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	while (!script.resets && r > 0) {
		r = eddy_recv(fd, script.frame + script.frame_len,
			      sizeof(script.frame) - script.frame_len, 0);
		script.frame_len += r > 0 ? (size_t)r : 0;
		if (!script.stays && has_closed())
			break;
	}
	eddy_close(fd);
	return 0;
}

static char url[128], problem[512];
static struct eddy_client_options client_options;
static struct eddy_client_ws_options options;

struct attempt {
	int (*use)(struct eddy_ws *ws); /* NULL: nothing */
	int result, used, status;
	int fails; /* this allocation; 0: none */
	bool failed, ended;
};

static void attempt(struct attempt *attempt)
{
	struct eddy_client *client = eddy_client_new(&client_options);
	struct eddy_response *response = NULL;
	struct eddy_ws *ws = NULL;

	failing_at = attempt->fails;
	attempt->result = eddy_client_ws(client, url, &options, &response, &ws);
	attempt->failed = attempt->fails && !failing_at;
	failing_at = 0;
	snprintf(problem, sizeof(problem), "%s", eddy_client_error(client));
	cr_expect(eq(int, attempt->result == 0, ws != NULL));
	attempt->status = response ? eddy_response_status(response) : 0;
	if (ws && attempt->use)
		attempt->used = attempt->use(ws);
	eddy_ws_free(ws);
	eddy_response_free(response);
	eddy_client_free(client);
	attempt->ended = true;
}

static int run_script(void *arg)
{
	struct eddy_listeners listeners;
	struct eddy_scope scope;

	if (eddy_listen("127.0.0.1:0", NULL, &listeners) < 0)
		return -EADDRNOTAVAIL;
	snprintf(url, sizeof(url), "ws://127.0.0.1:%u/x?y", listeners.port);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", serve_script, &listeners);
	attempt(arg);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	return 0;
}

static struct attempt try(struct script wanted, int (*use)(struct eddy_ws *ws))
{
	struct attempt attempt = { .use = use };

	script = wanted;
	cr_assert(eq(int, eddy_run(NULL, run_script, &attempt), 0));
	return attempt;
}

/* ---- the handshake ---- */

static bool asked(const char *line)
{
	bool has = strstr(script.head, line) != NULL;

	if (!has)
		cr_log_error("no %s in %s", line, script.head);
	return has;
}

static int expect_second(struct eddy_ws *ws)
{
	cr_expect(eddy_str_eq_z(eddy_ws_protocol(ws), "second"));
	return 0;
}

Test(client_ws, asks_by_the_letter)
{
	static const char *const protocols[] = { "first", "second", NULL };
	const struct eddy_header headers[] = { { "origin", "http://example.org" }, { 0 } };

	options = (struct eddy_client_ws_options){
		.headers = headers,
		.socket = { .protocols = protocols, .deflate.on = true },
	};
	cr_expect(eq(int,
		     try((struct script){ .reply = SWITCH UPGRADE ACCEPT
					  "sec-websocket-protocol: second\r\n\r\n" },
			 expect_second)
			     .result,
		     0),
		  "%s", problem);
	cr_expect(asked("GET /x?y HTTP/1.1\r\nhost: 127.0.0.1:"));
	cr_expect(asked("\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
			"sec-websocket-version: 13\r\nsec-websocket-key: "));
	cr_expect(asked("\r\nsec-websocket-extensions: permessage-deflate; "));
	cr_expect(asked("\r\nsec-websocket-protocol: first, second\r\n"));
	cr_expect(asked("\r\norigin: http://example.org\r\n"));
	options = (struct eddy_client_ws_options){ 0 };
	cr_expect(eq(int, try((struct script){ .reply = GOOD }, NULL).result, 0), "%s", problem);
	cr_expect(strstr(script.head, "sec-websocket-protocol") == NULL);
	cr_expect(strstr(script.head, "sec-websocket-extensions") == NULL);
}

Test(client_ws, checks_the_reply)
{
	static const char *const protocols[] = { "first", "second", NULL };
	static const struct {
		const char *reply, *text;
	} replies[] = {
		{ SWITCH "connection: upgrade\r\n" ACCEPT "\r\n", "no upgrade" },
		{ SWITCH "upgrade: websocket\r\n" ACCEPT "\r\n", "no upgrade" },
		{ SWITCH "upgrade: websocket\r\nconnection: close\r\n" ACCEPT "\r\n",
		  "no upgrade" },
		{ SWITCH "upgrade: h2c\r\nconnection: upgrade\r\n" ACCEPT "\r\n", "no upgrade" },
		{ SWITCH UPGRADE "upgrade: h2c\r\n" ACCEPT "\r\n", "no upgrade" },
		{ "HTTP/1.0 101 No\r\n" UPGRADE ACCEPT "\r\n", "no upgrade" },
		{ SWITCH UPGRADE "\r\n", "accept" },
		{ SWITCH UPGRADE "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
		  "accept" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-accept: x\r\n\r\n", "accept" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-protocol: third\r\n\r\n", "subprotocol" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-protocol: First\r\n\r\n", "subprotocol" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-protocol:\r\n\r\n", "subprotocol" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-protocol: first\r\n"
					"sec-websocket-protocol: second\r\n\r\n",
		  "subprotocol" },
		{ SWITCH UPGRADE ACCEPT "sec-websocket-extensions: permessage-deflate\r\n\r\n",
		  "extension" },
		{ SWITCH "upgrade\r\n\r\n", "malformed" },
		{ "SSH-2.0-x\r\n\r\n", "malformed" },
	};

	options = (struct eddy_client_ws_options){ .socket.protocols = protocols };
	for (size_t i = 0; i < sizeof(replies) / sizeof(*replies); i++) {
		cr_expect(eq(int, try((struct script){ .reply = replies[i].reply }, NULL).result,
			     -EBADMSG),
			  "%zu: %s", i, problem);
		cr_expect(strstr(problem, replies[i].text) != NULL, "%zu: %s", i, problem);
	}
	/* A server must forget what it was asked to forget. */
	options.socket.deflate.on = true;
	cr_expect(
		eq(int, try((struct script){ .reply = replies[13].reply }, NULL).result, -EBADMSG));
	options.socket.deflate.takeover = true;
	cr_expect(eq(int, try((struct script){ .reply = replies[13].reply }, NULL).result, 0), "%s",
		  problem);
}

Test(client_ws, tells_the_status)
{
	static const char *const protocols[] = { "a b", NULL };
	const struct eddy_header headers[] = { { "Sec-WebSocket-Key", "x" }, { 0 } };
	struct attempt attempt;

	options = (struct eddy_client_ws_options){ 0 };
	attempt = try((struct script){ .reply = "HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno" },
		      NULL);
	cr_expect(eq(int, attempt.result, -EREMOTEIO));
	cr_expect(eq(int, attempt.status, 403));
	attempt = try((struct script){ .reply = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n" },
		      NULL);
	cr_expect(eq(int, attempt.result, -EREMOTEIO));
	client_options.redirects_max = 5;
	attempt = try((struct script){ .reply = "HTTP/1.1 302 Go\r\nlocation: /y\r\n"
						"content-length: 0\r\n\r\n" },
		      NULL);
	cr_expect(eq(int, attempt.result, -ELOOP), "%s", problem);
	cr_expect(eq(int, attempt.status, 302));
	options.headers = headers;
	cr_expect(eq(int, try((struct script){ 0 }, NULL).result, -EINVAL));
	options = (struct eddy_client_ws_options){ .socket.protocols = protocols };
	cr_expect(eq(int, try((struct script){ 0 }, NULL).result, -EINVAL));
}

Test(client_ws, has_a_deadline)
{
	options = (struct eddy_client_ws_options){ .timeout_ns = 20 * EDDY_MS };
	cr_expect(eq(int, try((struct script){ 0 }, NULL).result, -ETIMEDOUT));
	options = (struct eddy_client_ws_options){ 0 };
	cr_expect(eq(int, try((struct script){ .resets = true }, NULL).result, -ECONNRESET));
}

/* ---- frames ---- */

static int recv_twice(struct eddy_ws *ws)
{
	struct eddy_ws_message message;
	int r = eddy_ws_recv(ws, &message);

	if (r > 0)
		cr_expect(eddy_str_eq_z(message.bytes, "early"));
	return r > 0 ? eddy_ws_recv(ws, &message) : r;
}

/* Frames may come in the segment of the response, and must not be masked. */
Test(client_ws, takes_frames_right_behind_the_reply)
{
	options = (struct eddy_client_ws_options){ 0 };
	cr_expect(eq(int,
		     try((struct script){ .reply = GOOD,
					  .frames = EDDY_STR("\x81\x05"
							     "early\x88\x02\x03\xe8") },
			 recv_twice)
			     .used,
		     0));
	cr_expect(eq(int,
		     try((struct script){ .reply = GOOD,
					  .frames = EDDY_STR("\x81\x85"
							     "abcdearly!\x88\x02\x03\xe8") },
			 recv_twice)
			     .used,
		     -EPROTO));
	/* A compressed message was not agreed on. */
	cr_expect(eq(int,
		     try((struct script){ .reply = GOOD, .frames = EDDY_STR("\xc1\x01x") },
			 recv_twice)
			     .used,
		     -EPROTO));
}

static int send_frames(struct eddy_ws *ws)
{
	struct eddy_ws_room *room = eddy_ws_room_new(NULL);
	int r = eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("same text"));

	if (r == 0)
		r = eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("same text"));
	if (r == 0)
		r = eddy_ws_room_join(room, ws);
	if (r == 0)
		r = eddy_ws_room_send(room, EDDY_WS_TEXT, EDDY_STR("same text"));
	eddy_sleep(EDDY_MS);
	eddy_ws_room_unref(room);
	return r;
}

/* Every frame has a mask of its own, also those of a room, and the close frame. */
Test(client_ws, masks_frames)
{
	struct eddy_str rest;
	unsigned char masks[4][4];

	options = (struct eddy_client_ws_options){ 0 };
	cr_expect(eq(int, try((struct script){ .reply = GOOD }, send_frames).used, 0));
	rest = eddy_str(script.frame, script.frame_len);
	for (int i = 0; i < 4; i++) {
		struct eddyi_ws_frame frame;
		char payload[16];
		int r = eddyi_ws_frame_parse(rest, &frame);

		cr_assert(r > 0 && frame.masked && frame.len < sizeof(payload));
		eddyi_ws_mask(payload, rest.ptr + r, frame.len, frame.mask, 0);
		cr_expect(eddy_str_eq(eddy_str(payload, frame.len),
				      i < 3 ? EDDY_STR("same text") : EDDY_STR("\x03\xe8")));
		memcpy(masks[i], frame.mask, 4);
		cr_expect(i == 0 || memcmp(masks[i], masks[i - 1], 4) != 0);
		rest = eddy_str_skip(rest, (size_t)r + frame.len);
	}
	cr_expect(eq(sz, rest.len, 0));
}

static int until_it_fails(struct eddy_ws *ws)
{
	struct eddy_ws_message message;
	int r = eddy_ws_recv(ws, &message);

	cr_expect(eq(int, eddy_ws_send(ws, EDDY_WS_TEXT, EDDY_STR("x")), -EPIPE));
	cr_expect(eq(uint, eddy_ws_peer_code(ws), EDDY_WS_ABNORMAL));
	return r;
}

Test(client_ws, notices_a_lost_server)
{
	options = (struct eddy_client_ws_options){ 0 };
	cr_expect(eq(int,
		     try((struct script){ .reply = GOOD, .resets = true }, until_it_fails).used,
		     -ECONNRESET));
	options.socket.ping_ns = options.socket.pong_ns = 10 * EDDY_MS;
	cr_expect(eq(int, try((struct script){ .reply = GOOD, .stays = true }, until_it_fails).used,
		     -ETIMEDOUT));
	cr_expect(eq(int, script.frame[0], (char)0x89));
}

static int free_cancelled(void *arg)
{
	struct eddy_scope scope;
	uint64_t began_ns = eddy_now();

	/* Valgrind needs a tenth of a second for the handshake. */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 500 * EDDY_MS });
	run_script(arg);
	cr_expect(eq(int, eddy_scope_end(&scope), -ETIMEDOUT));
	cr_expect(eddy_now() - began_ns < 2 * EDDY_SECOND);
	return 0;
}

/* A server that neither answers a close frame nor ends the connection. */
Test(client_ws, a_cancelled_task_does_not_wait)
{
	struct attempt attempt = { 0 };

	options = (struct eddy_client_ws_options){ 0 };
	script = (struct script){ .reply = GOOD, .stays = true };
	cr_assert(eq(int, eddy_run(NULL, free_cancelled, &attempt), 0));
	cr_expect(eq(int, attempt.result, 0));
	cr_expect(has_closed());
}

/* ---- an app ---- */

static int echo(struct eddy_ws *ws, void *data)
{
	struct eddy_ws_message message;
	int r;

	(void)data;
	while ((r = eddy_ws_recv(ws, &message)) > 0)
		if ((r = eddy_ws_send(ws, message.type, message.bytes)) < 0)
			break;
	return r;
}

static int run_app(void *app)
{
	return eddy_app_run(app);
}

/* Runs `ask` while the app serves. */
struct with_app {
	struct eddy_app *app;
	int (*ask)(void);
	bool tls;
};

static int serve_app(void *arg)
{
	struct with_app *with = arg;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run_app, with->app);
	while (!eddy_app_port(with->app))
		eddy_yield();
	snprintf(url, sizeof(url), "%s://localhost:%u/echo", with->tls ? "wss" : "ws",
		 eddy_app_port(with->app));
	r = with->ask();
	eddy_app_shutdown(with->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

static void with_app(const struct eddy_ws_options *server, bool tls, int (*ask)(void))
{
	struct with_app with = { eddy_app_new(), ask, tls };
	int fd = memfd_create("pem", MFD_CLOEXEC);
	static char path[32];

	cr_assert(write(fd, localhost_pem, sizeof(localhost_pem) - 1) > 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	client_options.ca_file = tls ? path : NULL;
	eddy_app_bind(with.app, "localhost:0");
#ifndef EDDY_NO_TLS
	if (tls)
		eddy_app_use_tls(with.app, &(struct eddy_tls_options){ .cert = path, .key = path });
#endif
	eddy_app_with_server(with.app,
			     &(struct eddy_server_options){ .no_signals = true, .workers = 1 });
	eddy_app_map_ws(with.app, "/echo", echo, server);
	cr_expect(eq(int, eddy_run(NULL, serve_app, &with), 0), "%s", problem);
	eddy_app_free(with.app);
	close(fd);
}

static bool open_failed;

/* The handshake goes on, though the socket has failed. */
static int open_without_memory(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	static int n;
	int r;

	(void)req;
	(void)res;
	failing_at = ++n;
	r = eddy_ws_send(ws, EDDY_WS_TEXT,
			 EDDY_STR("a message that is so long that it is sent "
				  "compressed, if the peer takes part in that"));
	open_failed = !failing_at;
	failing_at = 0;
	cr_expect(eq(int, r, open_failed ? -ENOMEM : 0), "%d", n);
	return 0;
}

static int recv_one(struct eddy_ws *ws)
{
	struct eddy_ws_message message;

	return eddy_ws_recv(ws, &message);
}

static int open_until_it_works(void)
{
	unsigned failures = 0;

	do {
		struct attempt once = { .use = recv_one };

		attempt(&once);
		cr_expect(eq(int, once.result, 0), "%s", problem);
		cr_expect(eq(int, once.used, open_failed ? -ECONNRESET : 1));
		failures += open_failed;
	} while (open_failed);
	cr_expect(ge(uint, failures, 2));
	return 0;
}

Test(client_ws, whichever_allocation_of_open_fails)
{
	struct eddy_ws_options server = { .deflate.on = true, .open = open_without_memory };

	options = (struct eddy_client_ws_options){ .socket.deflate.on = true };
	with_app(&server, false, open_until_it_works);
}

static int send_sizes(struct eddy_ws *ws)
{
	static const size_t sizes[] = { 0, 1, 125, 126, 65535, 65536, 1 << 20 };
	struct eddy_ws_message message;
	int r = 1;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && r > 0; i++) {
		char *bytes = malloc(sizes[i] + 1);

		for (size_t at = 0; at < sizes[i]; at++)
			bytes[at] = (char)(at * at / 7);
		r = eddy_ws_send(ws, EDDY_WS_BINARY, eddy_str(bytes, sizes[i]));
		if (r == 0)
			r = eddy_ws_recv(ws, &message);
		if (r > 0)
			cr_expect(eddy_str_eq(message.bytes, eddy_str(bytes, sizes[i])), "%zu",
				  sizes[i]);
		free(bytes);
	}
	if (r < 0)
		return r;
	eddy_ws_close(ws, EDDY_WS_NORMAL, "enough");
	r = eddy_ws_recv(ws, &message);
	cr_expect(eq(uint, eddy_ws_peer_code(ws), r < 0 ? EDDY_WS_ABNORMAL : EDDY_WS_NORMAL));
	return r;
}

static int exchange(void)
{
	struct attempt all = { .use = send_sizes };

	attempt(&all);
	return all.result ? all.result : all.used;
}

static void exchange_deflated(bool tls)
{
	struct eddy_ws_options server = { .deflate.on = true };

	options = (struct eddy_client_ws_options){ 0 };
	with_app(NULL, tls, exchange);
	for (int i = 0; i < 4; i++) {
		server.deflate.takeover = i & 1;
		options.socket.deflate =
			(struct eddy_ws_deflate){ .on = true, .takeover = i & 2, .level = 6 };
		with_app(&server, tls, exchange);
	}
}

Test(client_ws, exchanges_messages)
{
	exchange_deflated(false);
}

#ifndef EDDY_NO_TLS
Test(client_ws, exchanges_messages_over_tls)
{
	exchange_deflated(true);
}

static int distrust(void)
{
	struct attempt once = { 0 };

	client_options.ca_file = NULL;
	attempt(&once);
	cr_expect(eq(int, once.result, -ENOKEY), "%s", problem);
	return 0;
}

Test(client_ws, verifies_certificates)
{
	options = (struct eddy_client_ws_options){ 0 };
	with_app(NULL, true, distrust);
}
#endif

static int attempt_swept(void *arg)
{
	attempt(arg);
	return 0;
}

/* Return: whether it has ended before it was cancelled. */
static bool cancel_after(unsigned turns, uint64_t ns)
{
	struct attempt swept = { .use = send_sizes };
	struct eddy_scope scope;
	bool ended;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "attempt", attempt_swept, &swept);
	while (turns--)
		eddy_yield();
	if (ns)
		eddy_sleep(ns);
	ended = swept.ended;
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	cr_expect(swept.ended);
	return ended;
}

static int cancel_everywhere(void)
{
	uint64_t ns = EDDY_US;

	for (unsigned turns = 0; turns < 60; turns++)
		cancel_after(turns, 0);
	while (!cancel_after(0, ns))
		ns += ns / 4;
	return 0;
}

Test(client_ws, is_cancelled_at_any_point)
{
	options = (struct eddy_client_ws_options){ .socket.deflate.on = true };
	with_app(&options.socket, false, cancel_everywhere);
#ifndef EDDY_NO_TLS
	with_app(&options.socket, true, cancel_everywhere);
#endif
}

/* ---- allocation failures ---- */

Test(client_ws, whichever_allocation_fails)
{
	static const char *const protocols[] = { "first", NULL };
	struct attempt attempt = { 0 };
	int n = 1;

	options = (struct eddy_client_ws_options){
		.socket = { .protocols = protocols, .deflate = { .on = true, .takeover = true } },
	};
	do {
		script = (struct script){ .reply = SWITCH UPGRADE ACCEPT
					  "sec-websocket-protocol: first\r\n"
					  "sec-websocket-extensions: permessage-deflate\r\n\r\n" };
		attempt.fails = n;
		cr_assert(eq(int, eddy_run(NULL, run_script, &attempt), 0));
		cr_expect(attempt.result == 0 || attempt.result == -ENOMEM, "%d: %d %s", n,
			  attempt.result, problem);
	} while (attempt.failed && n++ < 100);
	cr_expect(n > 5 && n < 100);
}
