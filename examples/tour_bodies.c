/* Streamed bodies: generated or echoed. A write suspends until the peer has room (backpressure). */
#include "tour.h"

#include <eddy/task.h>
#include <errno.h>
#include <stdio.h>

/* Bytes that are generated or copied at a time. */
#define PIECE ((size_t)(16 * EDDY_KIB))

static int send_back(struct eddy_req *req, struct eddy_res *res)
{
	char piece[PIECE];
	ssize_t count;
	int r;

	while ((count = eddy_req_read(req, piece, sizeof(piece))) > 0)
		if ((r = eddy_res_write(res, piece, (size_t)count)) < 0)
			return r;
	return (int)count;
}

/* POST /echo */
static int echo(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str type = eddy_req_header(req, "content-type");

	if (type.len)
		eddy_res_set(res, "content-type", type);
	return send_back(req, res);
}

/* TRACE /trace */
static int trace(struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "content-type", "message/http");
	return send_back(req, res);
}

/* GET /stream/{n} */
static int stream(struct eddy_req *req, struct eddy_res *res)
{
	char line[32];
	uint32_t lines;
	int len, r;

	if (eddy_req_path(req, EDDY_TO(&lines)) < 0)
		return 400;
	eddy_res_set_z(res, "content-type", "text/plain; charset=utf-8");
	for (uint32_t i = 1; i <= lines; i++) {
		len = snprintf(line, sizeof(line), "line %u\n", i);
		if ((r = eddy_res_write(res, line, (size_t)len)) < 0)
			return r;
	}
	return 0;
}

/* The same numbers in each run (xorshift64*). */
static uint64_t next_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

/* A generator of bodies. */
struct maker {
	void (*make)(struct maker *maker, char *buf, size_t len);
	uint64_t state;
	struct eddy_str word; /* the rest of it */
};

static void make_noise(struct maker *maker, char *buf, size_t len)
{
	uint64_t number;

	for (size_t at = 0; at < len; at += sizeof(number)) {
		number = next_number(&maker->state);
		memcpy(buf + at, &number, len - at < sizeof(number) ? len - at : sizeof(number));
	}
}

static void make_text(struct maker *maker, char *buf, size_t len)
{
	static const char *const words[] = {
		"the ",    "water ", "of ",   "a ",       "river ",  "turns ",  "and ",  "slowly ",
		"behind ", "stone ", "in ",   "ring ",    "where ",  "leaves ", "come ", "to ",
		"rest, ",  "then ",  "goes ", "on ",      "with ",   "it ",     "down ", "past ",
		"bridge ", "mill ",  "far ",  "meadow. ", "Nobody ", "sees ",   "how ",  "deep.\n",
	};
	size_t step;

	for (size_t at = 0; at < len; at += step) {
		if (!maker->word.len)
			maker->word = eddy_str_from(words[next_number(&maker->state) >> 59]);
		step = maker->word.len < len - at ? maker->word.len : len - at;
		memcpy(buf + at, maker->word.ptr, step);
		maker->word = eddy_str_skip(maker->word, step);
	}
}

/* Send `len` bytes of a generator: up to 1 MiB with a content-length, more as a stream. */
static int send_made(struct eddy_req *req, struct eddy_res *res, const char *type, uint64_t len,
		     struct maker *maker)
{
	char piece[PIECE], *all;
	size_t step;
	int r = 0;

	if (len <= EDDY_MIB) {
		all = eddy_req_alloc(req, len);
		if (!all)
			return -ENOMEM;
		maker->make(maker, all, len);
		return eddy_res_bytes(res, type, (struct eddy_str){ all, len });
	}
	eddy_res_set_z(res, "content-type", type);
	for (; len && r == 0; len -= step) {
		step = len < PIECE ? len : PIECE;
		maker->make(maker, piece, step);
		r = eddy_res_write(res, piece, step);
	}
	return r;
}

/* GET /text/{n} */
static int text(struct eddy_req *req, struct eddy_res *res)
{
	struct maker maker = { .make = make_text, .state = 1 };
	uint64_t len;

	if (eddy_req_path(req, EDDY_TO(&len)) < 0)
		return 400;
	return send_made(req, res, "text/plain; charset=utf-8", len, &maker);
}

/* GET /random/{n} */
static int noise(struct eddy_req *req, struct eddy_res *res)
{
	struct maker maker = { .make = make_noise, .state = 1 };
	uint64_t len;

	if (eddy_req_path(req, EDDY_TO(&len)) < 0)
		return 400;
	return send_made(req, res, "application/octet-stream", len, &maker);
}

/* GET /slow/{ms} */
static int slow(struct eddy_req *req, struct eddy_res *res)
{
	uint32_t ms;
	int r;

	if (eddy_req_path(req, EDDY_TO(&ms)) < 0)
		return 400;
	r = eddy_sleep(ms * EDDY_MS);
	return r < 0 ? r : eddy_res_ok(res, "ok");
}

/* GET /log: both records have the request's fields, although the handler suspends in between. */
static int write_log(struct eddy_req *req, struct eddy_res *res)
{
	int r;

	(void)req;
	eddy_trace("request", "handling");
	r = eddy_sleep(5 * EDDY_MS);
	if (r < 0)
		return r;
	eddy_trace("request", "handling");
	return eddy_res_ok(res, "ok");
}

/* GET /preset: a response that is compressed already stays as it is. */
static int preset(struct eddy_req *req, struct eddy_res *res)
{
	/* "compressed before anybody asked\n" */
	static const unsigned char gzip[] = {
		0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xce, 0xcf,
		0x2d, 0x28, 0x4a, 0x2d, 0x2e, 0x4e, 0x4d, 0x51, 0x48, 0x4a, 0x4d, 0xcb, 0x2f,
		0x4a, 0x55, 0x48, 0xcc, 0xab, 0x4c, 0xca, 0x4f, 0xa9, 0x54, 0x48, 0x2c, 0xce,
		0x4e, 0x4d, 0xe1, 0x02, 0x00, 0x40, 0xc1, 0xa4, 0x52, 0x20, 0x00, 0x00, 0x00,
	};

	(void)req;
	eddy_res_set_z(res, "content-encoding", "gzip");
	eddy_res_set_z(res, "etag", "\"v1\"");
	return eddy_res_bytes(res, "text/plain; charset=utf-8",
			      (struct eddy_str){ (const char *)gzip, sizeof(gzip) });
}

/* GET /no-transform */
static int no_transform(struct eddy_req *req, struct eddy_res *res)
{
	struct maker maker = { .make = make_text, .state = 1 };

	eddy_res_set_z(res, "cache-control", "no-transform");
	return send_made(req, res, "text/plain; charset=utf-8", 64 * EDDY_KIB, &maker);
}

void tour_map_bodies(struct eddy_app *app)
{
	eddy_app_map_post(app, "/echo", echo);
	eddy_app_map_trace(app, "/trace", trace);
	eddy_app_map_get(app, "/stream/{n}", stream);
	eddy_app_map_get(app, "/text/{n}", text);
	eddy_app_map_get(app, "/random/{n}", noise);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	eddy_app_map_get(app, "/log", write_log);
	eddy_app_map_get(app, "/preset", preset);
	eddy_app_map_get(app, "/no-transform", no_transform);
}
