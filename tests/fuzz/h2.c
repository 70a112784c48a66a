/* Fuzzes http/src/h2: an app that listens, and a client of one connection that does what the input says.
 *
 * The bits of the first byte: the harness sends the preface; timeouts are short. Steps follow, each a byte and its
 * arguments; see step(). Frames are gathered until a step lets the server have turns. */
#include "exchange/exchange_state.h"
#include "h2/h2.h"
#include "h2/h2_output.h"

#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFACE_BIT 1
#define SHORT_BIT 2
#define SHORT_NS (4 * EDDY_MS)
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define FRAME_HEAD 9
#define LARGE 400000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define need(ok) ((ok) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #ok), abort()))

/* ---- the app ---- */

static struct eddyi_conns *conns;
static struct eddy_event released;
static unsigned handlers;
static char large[LARGE];
static int file, folder;

/* By HTTP/1, before the client of the input. They are there while the app runs. */
static int find_conns(struct eddy_req *req, struct eddy_res *res)
{
	conns = eddy_of(req->stream, struct eddyi_conn, stream)->parked.conns;
	return eddy_res_no_content(res);
}

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int send_large(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_bytes(res, NULL, eddy_str(large, sizeof(large)));
}

static int send_file(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_file(res, EDDY_STR("file"), dup(file), NULL);
}

static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str body;
	int r = eddy_req_body(req, &body);

	return r < 0 ? r : eddy_res_bytes(res, "text/plain", body);
}

static int pump(struct eddy_req *req, struct eddy_res *res)
{
	char buf[1000];
	ssize_t r;

	eddy_res_interim(res, 103, NULL);
	while ((r = eddy_req_read(req, buf, sizeof(buf))) > 0)
		if ((r = eddy_res_write(res, buf, (size_t)r)) < 0)
			break;
	need(r || req->head.version != EDDY_HTTP_2 || eddyi_h2_stream_of(req)->inbox.complete);
	return (int)r;
}

static int save(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	return eddy_req_save_at(req, folder, EDDY_STR("saved"), NULL, NULL);
}

static int hold(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_event_wait(&released);
	return eddy_res_write(res, large, 100);
}

static int count(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r;

	handlers++;
	r = eddy_next(next, req, res);
	handlers--;
	return r;
}

static const struct {
	const char *path, *method;
	eddy_handler_fn *handler;
} routes[] = {
	{ "/", "GET", hello },         { "/large", "GET", send_large },
	{ "/file", "GET", send_file }, { "/echo", "POST", echo },
	{ "/pump", "POST", pump },     { "/save", "POST", save },
	{ "/hold", "POST", hold },     { "/hold", "GET", hold },
	{ "/none", "POST", hello },    { "/conns", "GET", find_conns },
};
#define ROUTES (sizeof(routes) / sizeof(*routes))

/* ---- the client ---- */

struct client {
	const uint8_t *at, *end; /* the rest of the input */
	int fd;
	int32_t next; /* its next stream */
	bool has_preface, has_stopped;
	char unsent[1 << 17];
	size_t unsent_len;
	/* What has come. */
	uint8_t head[FRAME_HEAD];
	size_t head_len, frame_left;
	bool ended[1000]; /* by stream */
};

static uint8_t take(struct client *client)
{
	return client->at < client->end ? *client->at++ : 0;
}

static void add(struct client *client, const void *bytes, size_t len)
{
	if (len > sizeof(client->unsent) - client->unsent_len)
		return;
	memcpy(client->unsent + client->unsent_len, bytes, len);
	client->unsent_len += len;
}

static void add_rest(struct client *client, size_t len)
{
	if (len > (size_t)(client->end - client->at))
		len = (size_t)(client->end - client->at);
	add(client, client->at, len);
	client->at += len;
}

static void add_head(struct client *client, uint8_t type, uint8_t flags, int32_t id, size_t len)
{
	const uint8_t head[FRAME_HEAD] = {
		(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,       type,        flags,
		(uint8_t)(id >> 24),  (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id,
	};

	add(client, head, sizeof(head));
}

/* A well-formed head, on the next stream. */
static void ask(struct client *client, uint8_t how)
{
	const char *path = routes[how % (ROUTES - 1)].path;
	size_t path_len = strlen(path);
	bool gets = routes[how % (ROUTES - 1)].method[0] == 'G', ends = gets || how & 0x80;

	add_head(client, NGHTTP2_HEADERS, ends ? 5 : 4, client->next, path_len + 7);
	/* :method, :scheme, :authority, :path */
	add(client,
	    (const char[]){ gets ? '\x82' : '\x83', '\x86', '\x01', 1, 'a', 4, (char)path_len }, 7);
	add(client, path, path_len);
	client->next += 2;
}

static void send_all_but(struct client *client, size_t kept)
{
	size_t len = client->unsent_len > kept ? client->unsent_len - kept : 0;
	ssize_t r = send(client->fd, client->unsent, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (r <= 0)
		return;
	client->unsent_len -= (size_t)r;
	memmove(client->unsent, client->unsent + r, client->unsent_len);
}

static void check_frame(struct client *client)
{
	const uint8_t *head = client->head;
	uint32_t id = (uint32_t)(head[5] & 127) << 24 | (uint32_t)head[6] << 16 |
		      (uint32_t)head[7] << 8 | head[8];

	client->frame_left = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
	need(client->frame_left <=
	     (head[3] == NGHTTP2_DATA ? EDDYI_H2_BULK_MAX : EDDYI_H2_DATA_MAX));
	need(head[3] <= NGHTTP2_WINDOW_UPDATE || head[3] == NGHTTP2_CONTINUATION);
	if (id >= 1000 || head[3] > NGHTTP2_HEADERS)
		return;
	need(id % 2 && !client->ended[id]);
	client->ended[id] = head[4] & NGHTTP2_FLAG_END_STREAM;
}

/* Frames of the server. */
static void check(struct client *client, const char *bytes, size_t len)
{
	while (len) {
		size_t some = client->frame_left < len ? client->frame_left : len;

		if (some) {
			client->frame_left -= some;
		} else {
			client->head[client->head_len++] = (uint8_t)*bytes;
			some = 1;
		}
		bytes += some;
		len -= some;
		if (client->head_len == FRAME_HEAD) {
			client->head_len = 0;
			check_frame(client);
		}
	}
}

/* Receive at most so many bytes. Return: 0 at the end; below 0: none for now. */
static ssize_t receive(struct client *client, size_t max)
{
	static char buf[1 << 16];
	ssize_t r = recv(client->fd, buf, max < sizeof(buf) ? max : sizeof(buf), MSG_DONTWAIT);

	if (r > 0 && client->has_preface)
		check(client, buf, (size_t)r);
	return r;
}

/* ---- the invariants of h2.h ---- */

static void check_stream(struct eddyi_h2_stream *stream)
{
	void *known = nghttp2_session_get_stream_user_data(stream->h2->session, stream->id);

	need(stream->closed ? known != stream : known == stream);
	need(stream->has_task || !stream->closed);
	need(!stream->has_ended || !stream->bytes.len);
	need(!stream->file || stream->file->moved < stream->file->len);
}

static void check_conn(struct eddyi_seat *seat)
{
	struct eddyi_parked *parked = eddy_of(seat, struct eddyi_parked, seat);
	struct eddyi_h2 *h2 = eddy_of(parked, struct eddyi_conn, parked)->h2;
	unsigned tasks = 0, slow = 0;

	if (!h2)
		return;
	for (struct eddy_node *node = h2->streams.next; node != &h2->streams; node = node->next) {
		struct eddyi_h2_stream *stream = eddy_of(node, struct eddyi_h2_stream, node);

		check_stream(stream);
		tasks += stream->has_task;
		slow += stream->is_slow;
		need(stream->inbox.len <= stream->req.body_memory);
	}
	need(tasks == h2->tasks && slow == h2->slow_streams);
	need(tasks <= EDDYI_H2_STREAMS_MAX);
	need(h2->output_at <= h2->output_len && h2->output_len <= h2->output_size);
	need(!h2->over || h2->tasks || eddyi_sender_is_busy(&h2->sender));
	/* Something wakes it: a receive, a send, a task, or a timer. */
	need(eddy_op_is_started(&parked->op) || eddyi_sender_is_busy(&h2->sender) || h2->tasks ||
	     eddy_timer_is_armed(&h2->flush));
}

static void let_turn(unsigned turns)
{
	uint64_t until = eddy_stats().loop.turns + turns;

	while (conns && eddy_stats().loop.turns < until) {
		eddyi_holders_each(&conns->holders, check_conn);
		eddy_yield();
	}
}

/* ---- the input ---- */

static void evict(struct eddyi_seat *seat)
{
	struct eddyi_parked *parked = eddy_of(seat, struct eddyi_parked, seat);

	if (!parked->evicted && parked->state != EDDYI_PARKED_CLOSING)
		eddyi_parked_evict(parked);
}

static void step(struct client *client, struct eddy_app *app)
{
	uint8_t kind = take(client) % 11, head[4];

	switch (kind) {
	case 0: /* a frame: type, flags, stream, length, payload */
	case 1: /* one of zeros, whose length counts 256 bytes */
		for (size_t i = 0; i < sizeof(head); i++)
			head[i] = take(client);
		add_head(client, head[0], head[1], head[2], (size_t)head[3] << 8 * kind);
		if (kind)
			add(client, large, (size_t)head[3] << 8);
		else
			add_rest(client, head[3]);
		break;
	case 2: /* bytes as they are */
		add_rest(client, take(client));
		break;
	case 3:
		ask(client, take(client));
		break;
	case 4:
		send_all_but(client, take(client));
		let_turn(1 + take(client) % 8);
		break;
	case 5:
		receive(client, (size_t)(1 + take(client)) << 8);
		break;
	case 6:
		eddy_event_set(&released);
		break;
	case 7:
		shutdown(client->fd, take(client) & 1 ? SHUT_RD : SHUT_WR);
		break;
	case 8:
		if (conns)
			eddyi_holders_each(&conns->holders, evict);
		break;
	case 9:
		if (!client->has_stopped)
			eddy_app_shutdown(app);
		client->has_stopped = true;
		break;
	case 10:
		usleep(2 + SHORT_NS / 1000);
		break;
	}
}

static int dial(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = (size_t)snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	while (connect(fd, (const struct sockaddr *)&to,
		       (socklen_t)(sizeof(sa_family_t) + 1 + len)) < 0)
		eddy_yield();
	return fd;
}

static void talk(struct eddy_app *app, const char *name, const uint8_t *data, size_t size)
{
	static struct client client;
	static const char first[] = "GET /conns HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
	uint8_t how = data[0];
	char buf[1024];

	client = (struct client){ .at = data + 1, .end = data + size, .fd = dial(name), .next = 1 };
	need(eddy_send_all(client.fd, first, strlen(first), 0) == 0);
	while (eddy_recv(client.fd, buf, sizeof(buf), 0) > 0)
		;
	close(client.fd);
	client.fd = dial(name);
	client.has_preface = how & PREFACE_BIT;
	if (client.has_preface) {
		add(&client, PREFACE, strlen(PREFACE));
		add_head(&client, NGHTTP2_SETTINGS, 0, 0, 0);
	}
	while (client.at < client.end)
		step(&client, app);
	send_all_but(&client, 0);
	let_turn(2);
	eddy_event_set(&released);
	while (receive(&client, SIZE_MAX) > 0)
		let_turn(2);
	close(client.fd);
	while (conns && conns->count)
		let_turn(1);
	need(!handlers && !app->body_memory && !(conns && conns->counts.serving));
	if (!client.has_stopped)
		eddy_app_shutdown(app);
}

/* ---- both ---- */

static int run(void *app)
{
	int r = eddy_app_run(app);

	conns = NULL;
	return r;
}

struct input {
	const uint8_t *data;
	size_t size;
};

static struct eddy_app *make_app(const char *name)
{
	struct eddy_app *app = eddy_app_new();
	char address[64];

	snprintf(address, sizeof(address), "unix:@%s", name);
	eddy_app_bind(app, address);
	eddy_app_add_filter(app, count, NULL);
	for (size_t i = 0; i < ROUTES; i++)
		eddy_app_map(app, routes[i].method, routes[i].path, routes[i].handler);
	return app;
}

static int session(void *arg)
{
	static struct eddy_app *app;
	static char name[32], path[] = "/tmp/eddy-fuzz-XXXXXX";
	const struct input *input = arg;
	uint64_t limit = input->data[0] & SHORT_BIT ? SHORT_NS : 1000 * EDDY_SECOND;
	struct eddy_scope scope;

	if (!app) {
		snprintf(name, sizeof(name), "eddy-fuzz-h2-%d", (int)getpid());
		app = make_app(name);
		file = memfd_create("file", MFD_CLOEXEC);
		need(write(file, large, sizeof(large)) == sizeof(large));
		/* Nothing gets a name in a folder that has been removed. */
		need(mkdtemp(path) != NULL);
		folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		need(rmdir(path) == 0);
	}
	eddy_app_with_server(app, &(struct eddy_server_options){ .no_signals = true,
								 .connections_max = 8,
								 .workers = 1,
								 .body_memory_max = 200000,
								 .body_timeout_ns = limit,
								 .write_timeout_ns = limit,
								 .idle_timeout_ns = limit,
								 .rate_grace_ns = limit,
								 .drain_timeout_ns =
									 1000 * EDDY_SECOND });
	eddy_event_init(&released);
	eddy_scope_begin(&scope, NULL);
	need(eddy_scope_spawn(&scope, "app", run, app) == 0);
	talk(app, name, input->data, input->size);
	need(eddy_scope_join(&scope) == 0);
	return eddy_scope_end(&scope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (size)
		need(eddy_run(NULL, session, &input) == 0);
	return 0;
}
