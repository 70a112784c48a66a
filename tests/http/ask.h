/* ask.h: one request through the routes, filters and handlers of an app, without a connection or a
 * loop: nothing in them may suspend. */
#ifndef EDDY_TESTS_ASK_H
#define EDDY_TESTS_ASK_H

#include "exchange/exchange.h"
#include "http1/http1.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What came of it; end it by ask_end(). */
struct asked {
	struct eddyi_conns conns;
	struct eddyi_conn conn;
	struct eddy_req *req;
	int r; /* below 0: the connection would be cut */
	int status;
	struct eddy_str body; /* NUL-terminated in `text` */
	char text[4096];
};

/* `request` is a head, its lines ended by \n, with what follows it; `fd` is the connection that it seems
 * to come by, or -1. */
static inline void ask_by(struct asked *asked, const struct eddy_app *app, int fd,
			  const char *request)
{
	struct eddyi_http1 *http1;
	char bytes[32768];
	size_t len = 0, used;

	/* Lines of the head end with CRLF. */
	for (const char *at = request; *at; at++) {
		bool in_head = !strstr(request, "\n\n") || at <= strstr(request, "\n\n") + 1;

		if (*at == '\n' && in_head)
			bytes[len++] = '\r';
		bytes[len++] = *at;
		cr_assert(len < sizeof(bytes) - 2);
	}
	*asked = (struct asked){ .conns.app = app,
				 .conn = { .parked.conns = &asked->conns, .wire.fd = fd } };
	eddyi_http1_init(&asked->conn);
	asked->req = eddyi_req_new(app, &asked->conn.stream, sizeof(*http1));
	cr_assert(asked->req != NULL);
	http1 = eddyi_http1_of(asked->req);
	eddyi_request_head_init(&http1->head, &asked->req->head, &app->head_limits);
	asked->status = eddyi_request_head_feed(&http1->head, bytes, len, &used);
	asked->req->refused = asked->status >= 400 ? asked->status : 0;
	cr_assert(asked->status != 0, "half a head: %s", request);
	cr_assert(eddyi_wire_keep(&asked->conn.wire, eddy_str(bytes + used, len - used)));
	eddyi_framed_begin(&http1->body, http1->head.framing, asked->req->head.length);
	asked->req->body = &http1->body.body;
	asked->r = eddyi_answer(asked->req);
	asked->status = asked->req->res.status;
	if (asked->req->res.kind == EDDYI_RES_BYTES)
		asked->body = asked->req->res.bytes;
	snprintf(asked->text, sizeof(asked->text), "%.*s", EDDY_FMT(asked->body));
}

static inline void ask(struct asked *asked, const struct eddy_app *app, const char *request)
{
	ask_by(asked, app, -1, request);
}

static inline void ask_end(struct asked *asked)
{
	free(asked->conn.wire.inbox);
	free(asked->conn.end);
	eddyi_req_free(asked->req);
}

/* Ask for a path, and hold the answer against "STATUS BODY". */
#define EXPECT_ANSWER(app, request, want)                                                          \
	do {                                                                                       \
		struct asked asked_;                                                               \
		char got_[5000];                                                                   \
                                                                                                   \
		ask(&asked_, app, request);                                                        \
		snprintf(got_, sizeof(got_), "%d %s", asked_.status, asked_.text);                 \
		cr_expect_str_eq(got_, want, "%s: got %s, not %s", request, got_, want);           \
		ask_end(&asked_);                                                                  \
	} while (0)

#define HOST "Host: localhost\n"
#define GET(path) "GET " path " HTTP/1.1\n" HOST "\n"

#endif
