/* Tests of http/src/http1/stream.h: streams that can't be allocated. */
#include "../runtime/failing.h"
#include "dial.h"
#include "hex.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>

/* No block of an arena has room for it beside its copy. */
#define LONG ((size_t)(20 * EDDY_KIB))

static char text[LONG];

/* Fail to allocate the head of a stream, which is the allocation of this number. */
static int lack_head(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_set(res, "x-long", eddy_str(text, LONG));

	if (r < 0)
		return r;
	failing_at = (int)(intptr_t)eddy_req_route_data(req);
	r = eddy_res_write(res, "stream", 6);
	cr_expect(eq(int, failing_at, 0));
	failing_at = 0;
	cr_expect(eq(int, r, -ENOMEM));
	eddy_res_remove(res, "x-long");
	return r;
}

static void encode(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	if (eddy_res_set_z(res, "content-encoding", "x-hex") == 0)
		eddy_res_code(res, &hex, hex_new(false));
}

static int encoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, encode, NULL);

	return r < 0 ? r : eddy_next(next, req, res);
}

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

struct talk {
	struct eddy_app *app;
	char got[4096];
};

static int run(void *app)
{
	return eddy_app_run(app);
}

static void ask_all(struct talk *talk)
{
	static const char requests[] = "GET /lacking HTTP/1.1\r\nHost: localhost\r\n\r\n"
				       "GET /coded HTTP/1.1\r\nHost: localhost\r\n\r\n"
				       "GET /hello HTTP/1.1\r\nHost: localhost\r\n"
				       "Connection: close\r\n\r\n";
	int fd = dial(eddy_app_port(talk->app));
	size_t len = 0;
	ssize_t r;

	cr_assert(eq(int, eddy_send_all(fd, requests, sizeof(requests) - 1, 0), 0));
	while ((r = eddy_recv(fd, talk->got + len, sizeof(talk->got) - 1 - len, 0)) > 0)
		len += (size_t)r;
	close(fd);
}

static int serve(void *arg)
{
	struct talk *talk = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, talk->app);
	while (!eddy_app_port(talk->app))
		eddy_yield();
	ask_all(talk);
	eddy_app_shutdown(talk->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

/* Skip a response, which ends with these bytes. Return: what follows; NULL if it is another one. */
static const char *skip(const char *at, const char *begin, const char *end)
{
	const char *found = at ? strstr(at, end) : NULL;

	cr_expect(found && strncmp(at, begin, strlen(begin)) == 0, "%s: %s", begin, at);
	return found ? found + strlen(end) : NULL;
}

/* The error is a whole response, and the connection is kept. */
Test(stream_memory, lacks_a_head)
{
	static const char problem[] = "{\"type\":\"about:blank\",\"title\":\"Internal Server "
				      "Error\",\"status\":500,\"detail\":\"";
	struct talk talk = { .app = eddy_app_new() };
	struct eddy_route *coded;
	const char *at = talk.got;

	memset(text, 'x', sizeof(text));
	eddy_app_bind(talk.app, "127.0.0.1:0");
	eddy_app_with_server(talk.app,
			     &(struct eddy_server_options){ .no_signals = true, .workers = 1 });
	eddy_route_with(eddy_app_map_get(talk.app, "/lacking", lack_head),
			&(struct eddy_route_options){ .data = (void *)1 });
	/* The first is for the bytes that the coder makes. */
	coded = eddy_app_map_get(talk.app, "/coded", lack_head);
	eddy_route_with(coded, &(struct eddy_route_options){ .data = (void *)2 });
	eddy_app_add_filter(coded, encoding, NULL);
	eddy_app_map_get(talk.app, "/hello", hello);
	cr_assert(eq(int, eddy_run(NULL, serve, &talk), 0));
	eddy_app_free(talk.app);
	cr_expect(strstr(at, "x-hex") == NULL, "%s", at);
	cr_expect(strstr(at, "chunked") == NULL, "%s", at);
	for (int i = 0; i < 2; i++) {
		at = skip(at, "HTTP/1.1 500 ", problem);
		at = at ? strchr(at, '}') : NULL;
		at = at ? at + 1 : NULL;
	}
	skip(at, "HTTP/1.1 200 ", "hello");
	cr_expect(eq(uint, alive, 0));
}
