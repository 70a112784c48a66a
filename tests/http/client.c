/* Tests of eddy/client.h: what it sends and reads, against servers of raw bytes, most of them hostile. */
#include "turns.h"

#include <sys/mman.h>
#include <sys/socket.h>

char got[8][4096];
int results[8];
struct eddy_client_request asked;

/* ---- what a client reads ---- */

Test(client, reads_bodies)
{
	static const struct {
		struct turn turn;
		const char *want;
	} bodies[] = {
		{ { NULL, HELLO, STAY }, "200 hello" },
		{ { NULL, OK "\r\nhello", CLOSE }, "200 hello" },
		{ { NULL, OK "\r\n", CLOSE }, "200 " },
		{ { NULL, "HTTP/1.0 404 No\r\n\r\ngone", CLOSE }, "404 gone" },
		{ { NULL,
		    OK "transfer-encoding: chunked\r\n\r\n2;x=\"y\"\r\nhe\r\n3\r\nllo\r\n0\r\nt: "
		       "u\r\n\r\n",
		    STAY },
		  "200 hello" },
		{ { NULL, "HTTP/1.1 204 No Content\r\n\r\n", STAY }, "204 " },
		{ { NULL, "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", STAY },
		  "304 " },
		{ { NULL, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\na: b\r\n\r\n" HELLO,
		    STAY },
		  "200 hello" },
		{ { NULL, "HTTP/1.1 302 Found\r\nlocation: /y\r\ncontent-length: 2\r\n\r\nto",
		    STAY },
		  "302 to" },
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct turn turns[2] = { bodies[i].turn };
		struct talk talk = { .turns = turns, .ask = ask_once };

		have_talk(&talk);
		cr_expect(eq(int, talk.result, 0), "%s: %s", bodies[i].turn.answer, talk.error);
		cr_expect_str_eq(got[0], bodies[i].want);
	}
}

/* Bad servers get a clear error: what it is, and what about. */
Test(client, refuses_responses)
{
	static const struct {
		struct turn turn;
		int r;
		const char *error;
	} bad[] = {
		{ { NULL, NULL, CLOSE }, -ECONNRESET, "closed the connection without a response" },
		{ { NULL, NULL, RESET }, -ECONNRESET, "closed the connection without a response" },
		{ { NULL, "HTTP/1.1 200 OK\r\na: ", CLOSE },
		  -ECONNRESET,
		  "closed the connection before the end of its response" },
		{ { NULL, "SSH-2.0-OpenSSH_9.2\r\n", HANG }, -EBADMSG, "is not HTTP/1.1" },
		{ { NULL, "HTTP/2.0 200 OK\r\n\r\n", HANG }, -EBADMSG, "status line" },
		{ { NULL, OK "a b\r\n\r\n", HANG }, -EBADMSG, "header field is malformed" },
		{ { NULL, OK "content-length: 5\r\n\r\nhell", CLOSE },
		  -ECONNRESET,
		  "closed the connection before the end of the body" },
		{ { NULL, OK "transfer-encoding: chunked\r\n\r\n5\r\nhel", CLOSE },
		  -ECONNRESET,
		  "closed the connection before the end of the body" },
		{ { NULL, OK "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", CLOSE },
		  -ECONNRESET,
		  "closed the connection before the end of the body" },
		{ { NULL, OK "\r\nhello", RESET },
		  -ECONNRESET,
		  "closed the connection before the end of the body" },
		{ { NULL, OK "transfer-encoding: chunked\r\n\r\nx\r\nhello\r\n0\r\n\r\n", HANG },
		  -EBADMSG,
		  "framing of the body" },
		{ { NULL, OK "transfer-encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n", HANG },
		  -EBADMSG,
		  "framing of the body" },
		{ { NULL, OK "content-length: 5\r\ncontent-length: 6\r\n\r\nhello", HANG },
		  -EBADMSG,
		  "content-length" },
		{ { NULL, OK "transfer-encoding: gzip\r\n\r\nhello", HANG },
		  -EBADMSG,
		  "transfer-encoding" },
		{ { NULL, "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n", HANG },
		  -EBADMSG,
		  "a protocol that was not requested" },
		{ { NULL, OK "content-length: 9000000\r\n\r\n", HANG },
		  -EMSGSIZE,
		  "more than 8388608 bytes" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct turn turns[2] = { bad[i].turn };
		struct talk talk = { .turns = turns, .ask = ask_once };

		have_talk(&talk);
		cr_expect(eq(int, talk.result, bad[i].r), "%zu: %s", i, talk.error);
		cr_expect(strstr(talk.error, bad[i].error) != NULL, "%zu: %s", i, talk.error);
	}
}

/* Nothing that a server sends makes a client grow, or wait, without end: `piece` comes `count` times. */
static void expect_limited(const char *text, const char *piece, int count, const char *tail,
			   const struct eddy_client_options *options, int r)
{
	static char answer[400000];
	struct turn turns[2] = { { NULL, answer, HANG } };
	struct talk talk = { .turns = turns, .options = options, .ask = ask_once };
	char *at = stpcpy(answer, text);

	while (count--)
		at = stpcpy(at, piece);
	stpcpy(at, tail);
	have_talk(&talk);
	cr_expect(eq(int, talk.result, r), "%s%s: %s", text, piece, talk.error);
}

Test(client, is_limited)
{
	const struct eddy_client_options small = { .body_max = 100 };
	const struct eddy_client_options quick = { .timeout_ns = 50 * EDDY_MS };
	const struct eddy_client_options stall = { .stall_timeout_ns = 50 * EDDY_MS };

	expect_limited(OK "a: ", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 3000, "", NULL, -EMSGSIZE);
	expect_limited(OK, "a: bbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n", 3000, "", NULL, -EMSGSIZE);
	expect_limited(OK, "a: b\r\n", 101, "\r\n", NULL, -EMSGSIZE);
	expect_limited("", "HTTP/1.1 102 Processing\r\n\r\n", 2000, "", NULL, -EBADMSG);
	expect_limited(OK "content-length: 101\r\n\r\n", "b", 101, "", &small, -EMSGSIZE);
	expect_limited(OK "transfer-encoding: chunked\r\n\r\n", "1\r\nb\r\n", 101, "", &small,
		       -EMSGSIZE);
	expect_limited(OK "\r\n", "b", 101, "", &small, -EMSGSIZE);
	expect_limited("HTTP/1.1 200", "", 0, "", &quick, -ETIMEDOUT);
	expect_limited(OK "content-length: 9\r\n\r\n", "b", 3, "", &quick, -ETIMEDOUT);
	expect_limited("", "", 0, "", &stall, -ETIMEDOUT);
	expect_limited(OK "content-length: 9\r\n\r\n", "b", 3, "", &stall, -ETIMEDOUT);
}

static int read_slowly(struct talk *talk)
{
	struct eddy_response *response;
	struct eddy_str name, value;
	char buf[3];
	ssize_t n;
	int r = eddy_client_get(talk->client, url_of(talk, "/a/../b#c"), &response);

	if (r < 0)
		return r;
	got[0][0] = got[1][0] = 0;
	while ((n = eddy_response_read(response, buf, sizeof(buf))) > 0)
		strncat(got[0], buf, (size_t)n);
	for (size_t i = 0; i < eddy_response_header_count(response); i++) {
		eddy_response_header_at(response, i, &name, &value);
		strncat(strncat(got[1], name.ptr, name.len), value.ptr, value.len);
	}
	snprintf(got[2], sizeof(got[2]), "%d %.*s", (int)eddy_response_length(response),
		 EDDY_FMT(eddy_response_header(response, "CONTENT-length")));
	snprintf(got[3], sizeof(got[3]), "%.*s", EDDY_FMT(eddy_response_url(response)));
	results[0] = eddy_response_header(response, "none").ptr == NULL;
	results[1] = eddy_response_read(response, buf, sizeof(buf)) == 0;
	eddy_response_free(response);
	return (int)n;
}

Test(client, shows_responses)
{
	struct turn turns[] = {
		{ NULL, OK "b:1\r\ncontent-length: 5\r\na: 2\r\nb: 3\r\n\r\nhello", STAY }, { 0 }
	};
	struct talk talk = { .turns = turns, .ask = read_slowly };

	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0));
	cr_expect_str_eq(got[0], "hello");
	cr_expect_str_eq(got[1], "b1content-length5a2b3");
	cr_expect_str_eq(got[2], "5 5");
	cr_expect(strstr(got[3], "/a/../b") != NULL && strchr(got[3], '#') == NULL, "%s", got[3]);
	cr_expect(results[0] && results[1]);
}

/* ---- what it sends ---- */

/* A file with these bytes. */
static int file_of(const char *text)
{
	int fd = memfd_create("body", MFD_CLOEXEC);

	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static void expect_sent(struct eddy_client_request request, const char *until, const char *want)
{
	struct turn turns[] = { { until, HELLO, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_asked };
	char head[512], *port;

	asked = request;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	/* What stands in for the port. */
	port = strrchr(talk.base, ':') + 1;
	snprintf(head, sizeof(head), "host: 127.0.0.1:%s\r\n", port);
	cr_expect(strstr(talk.log, head) != NULL, "%s", talk.log);
	cr_expect(strstr(talk.log, want) != NULL, "%s", talk.log);
}

Test(client, sends_requests)
{
	const struct eddy_header headers[] = {
		{ "accept", "a/b" }, { "X-Y", "1" }, { "user-agent", "me" }, { "x-y", "" }, { 0 }
	};
	const struct eddy_client_file file = { file_of("0123hello89"), 4, 5 };
	unsigned count[2] = { 0 };

	expect_sent((struct eddy_client_request){ 0 }, NULL,
		    "user-agent: eddy\r\naccept: */*\r\naccept-encoding: identity\r\n\r\n");
	expect_sent((struct eddy_client_request){ 0 }, NULL, "GET /x?y HTTP/1.1\r\nhost: ");
	expect_sent(
		(struct eddy_client_request){ .headers = headers }, NULL,
		"\r\naccept-encoding: identity\r\naccept: a/b\r\nX-Y: 1\r\nuser-agent: me\r\nx-y: "
		"\r\n\r\n");
	expect_sent((struct eddy_client_request){ .method = "POST" }, NULL,
		    "identity\r\ncontent-length: 0\r\n\r\n");
	expect_sent((struct eddy_client_request){ .method = "QUERY", .body = EDDY_STR("hello") },
		    "hello", "QUERY /x?y HTTP/1.1\r\n");
	expect_sent((struct eddy_client_request){ .method = "PUT", .body = EDDY_STR("hello") },
		    "hello", "\r\ncontent-length: 5\r\n\r\nhello");
	expect_sent((struct eddy_client_request){ .method = "PUT", .file = &file }, "hello",
		    "\r\ncontent-length: 5\r\n\r\nhello");
	expect_sent((struct eddy_client_request){ .method = "POST",
						  .pull = pull_three,
						  .pull_data = &count[0] },
		    "0\r\n\r\n",
		    "\r\ntransfer-encoding: "
		    "chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n1\r\n!\r\n0\r\n\r\n");
	expect_sent((struct eddy_client_request){ .method = "POST",
						  .pull = pull_three,
						  .pull_data = &count[1],
						  .pull_len = 6 },
		    "!", "\r\ncontent-length: 6\r\n\r\nhello!");
	close(file.fd);
}

/* Read all of a response, as "STATUS BODY", and be done with it. */
static void note(int i, int r, struct eddy_response *response)
{
	struct eddy_str body;

	results[i] = r;
	got[i][0] = 0;
	if (r < 0)
		return;
	results[i] = eddy_response_body(response, &body);
	if (results[i] == 0)
		snprintf(got[i], sizeof(got[i]), "%d %.*s", eddy_response_status(response),
			 EDDY_FMT(body));
	eddy_response_free(response);
}

static int ask_plainly(struct talk *talk)
{
	static const struct eddy_header of_post[] = { { "content-type", "a/b" }, { 0 } };
	static const struct eddy_header of_put[] = { { "content-type", "c/d" }, { 0 } };
	const struct eddy_client_request requests[] = {
		{ .method = "HEAD" },
		{ .method = "POST", .headers = of_post, .body = EDDY_STR("hello") },
		{ .method = "PUT", .headers = of_put, .body = EDDY_STR("hello") },
	};
	static const char *const paths[] = { "/h", "/o", "/u" };

	for (int i = 0; i < 3; i++) {
		struct eddy_response *response = NULL;
		int r = eddy_client_send(talk->client, url_of(talk, paths[i]), &requests[i],
					 &response);

		note(i, r, response);
	}
	return 0;
}

Test(client, sends_plain_requests)
{
	static const char *const want[] = {
		"HEAD /h HTTP/1.1\r\n",
		"POST /o HTTP/1.1\r\n",
		"content-type: a/b\r\ncontent-length: 5\r\n\r\nhello",
		"PUT /u HTTP/1.1\r\n",
		"content-type: c/d\r\ncontent-length: 5\r\n\r\nhello",
	};
	/* What a HEAD is told of its length does not follow. */
	const struct turn turns[] = { { NULL, OK "content-length: 5\r\n\r\n", STAY },
				      { "hello", HELLO, STAY },
				      { "hello", "HTTP/1.1 201 Made\r\ncontent-length: 0\r\n\r\n",
					STAY },
				      { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_plainly };
	const char *at = talk.log;

	have_talk(&talk);
	for (int i = 0; i < 3; i++)
		cr_expect(eq(int, results[i], 0), "%d: %s", i, talk.error);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		at = strstr(at, want[i]);
		cr_assert(at != NULL, "%s: %s", want[i], talk.log);
	}
	cr_expect_str_eq(got[0], "200 ");
	cr_expect_str_eq(got[1], "200 hello");
	cr_expect_str_eq(got[2], "201 ");
}

/* Whatever is wrong is said before anything is sent; a body that fails midway costs the connection. */
Test(client, refuses_requests)
{
	static unsigned count[3];
	const struct eddy_header bad[][2] = {
		{ { "a b", "c" } },
		{ { "", "c" } },
		{ { "a", "b\r\nc: d" } },
		{ { "a", "b\nc" } },
		{ { "a:", "b" } },
		{ { "a", NULL } },
		{ { "Host", "b" } },
		{ { "content-length", "1" } },
		{ { "transfer-encoding", "" } },
		{ { "connection", "close" } },
	};
	const struct eddy_client_file file = { file_of("hell"), 0, 5 };
	const struct eddy_client_request requests[] = {
		{ .method = "GE T" },
		{ .method = "" },
		{ .method = "GET\r\n" },
		{ .method = "CONNECT" },
		{ .pull = pull_three, .pull_data = &count[0], .body = EDDY_STR("a") },
		{ .pull = pull_three, .pull_data = &count[0], .file = &file },
	};
	const struct eddy_client_request midway[] = {
		{ .pull = pull_three, .pull_data = &count[1], .pull_len = 5 },
		{ .pull = pull_three, .pull_data = &count[2], .pull_len = 7 },
		{ .file = &file },
	};
	const struct eddy_client_options options = { .user_agent = "a\r\nb: c" };
	const struct turn turns[] = { { "never", NULL, STAY }, { 0 } };
	struct talk of_options = { .turns = turns, .ask = ask_once, .options = &options };

	have_talk(&of_options);
	cr_expect(eq(int, of_options.result, -EINVAL));
	cr_expect(eq(sz, of_options.log_len, 0));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct talk talk = { .turns = turns, .ask = ask_asked };

		asked = (struct eddy_client_request){ .headers = bad[i] };
		have_talk(&talk);
		cr_expect(eq(int, talk.result, -EINVAL), "%s", bad[i][0].name);
		cr_expect(eq(sz, talk.log_len, 0));
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct talk talk = { .turns = turns, .ask = ask_asked };

		asked = requests[i];
		have_talk(&talk);
		cr_expect(eq(int, talk.result, -EINVAL), "%zu", i);
		cr_expect(eq(sz, talk.log_len, 0));
	}
	for (size_t i = 0; i < sizeof(midway) / sizeof(*midway); i++) {
		struct talk talk = { .turns = turns, .ask = ask_asked };

		asked = midway[i];
		have_talk(&talk);
		cr_expect(eq(int, talk.result, -EINVAL), "%zu", i);
		cr_expect(strstr(talk.error, i < 2 ? "differs from" : "shorter") != NULL, "%s",
			  talk.error);
	}
	close(file.fd);
}

static ssize_t pull_error(void *data, void *buf, size_t len)
{
	(void)data;
	(void)buf;
	(void)len;
	return -EXDEV;
}

Test(client, passes_errors_of_bodies_on)
{
	const struct turn turns[] = { { "never", NULL, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_asked };

	asked = (struct eddy_client_request){ .pull = pull_error };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -EXDEV));
}

static ssize_t pull_endlessly(void *data, void *buf, size_t len)
{
	uint64_t *count = data;

	memset(buf, 'x', len);
	*count += len;
	return *count > EDDY_GIB ? -E2BIG : (ssize_t)len;
}

/* A server that has seen enough answers before it has seen all; it may read no more, or be gone. */
Test(client, hears_early_answers)
{
	static const char no[] = "HTTP/1.1 413 No\r\ncontent-length: 2\r\n\r\nno";
	const enum after ways[] = { HANG, CLOSE, STAY };

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		const struct turn turns[] = { { NULL, no, ways[i] }, { 0 } };
		struct talk talk = { .turns = turns, .ask = ask_asked };
		uint64_t count = 0;

		asked = (struct eddy_client_request){
			.method = "POST",
			.pull = pull_endlessly,
			.pull_data = &count,
		};
		have_talk(&talk);
		/* A reset may overtake the answer of one that is gone. */
		if (ways[i] == CLOSE && talk.result == -ECONNRESET)
			continue;
		cr_expect(eq(int, talk.result, 0), "%s", talk.error);
		cr_expect_str_eq(got[0], "413 no");
	}
}

/* What is no answer yet does not end the upload. */
Test(client, goes_on_behind_interim_answers)
{
	static const char interim[] = "HTTP/1.1 102 Processing\r\n\r\n";
	const struct turn turns[] = { { NULL, interim, STAY },
				      { "2\r\nhe\r\n3\r\nllo\r\n1\r\n!\r\n0\r\n\r\n", HELLO, STAY },
				      { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_asked };
	unsigned count = 0;

	asked = (struct eddy_client_request){
		.method = "POST",
		.pull = pull_three,
		.pull_data = &count,
		.expect_continue = true,
	};
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect_str_eq(got[0], "200 hello");
	cr_expect(strstr(talk.log, "\r\nexpect: 100-continue\r\n") != NULL);
}

Test(client, asks_before_a_body)
{
	const struct turn go_on[] = { { NULL, "HTTP/1.1 100 Continue\r\n\r\n", STAY },
				      { "!", HELLO, STAY },
				      { 0 } };
	const struct turn no[] = { { NULL, "HTTP/1.1 417 No\r\ncontent-length: 0\r\n\r\n", HANG },
				   { 0 } };
	struct talk talk = { .turns = go_on, .ask = ask_asked };

	asked = (struct eddy_client_request){
		.method = "PUT",
		.body = EDDY_STR("body!"),
		.expect_continue = true,
	};
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect(strstr(talk.log, "\r\n\r\nbody!") != NULL);
	talk = (struct talk){ .turns = no, .ask = ask_asked };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect_str_eq(got[0], "417 ");
	cr_expect(strstr(talk.log, "body!") == NULL);
}

/* ---- time ---- */

struct cut {
	struct talk *talk;
	int result;
};

static int ask_cut(void *arg)
{
	struct cut *cut = arg;

	cut->result = ask_for(cut->talk, "/", &asked, got[0], sizeof(got[0]));
	return 0;
}

/* Cancel a call once the server has read `until`. */
static int cut_off_behind(struct talk *talk, const char *until)
{
	struct cut cut = { .talk = talk };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "cut", ask_cut, &cut);
	for (int i = 0; i < 5000 && !strstr(talk->log, until); i++)
		eddy_sleep(EDDY_MS);
	eddy_sleep(10 * EDDY_MS);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	return cut.result;
}

static int cut_off(struct talk *talk)
{
	return cut_off_behind(talk, "");
}

/* The client goes on. */
static int cut_off_and_ask(struct talk *talk)
{
	int r = cut_off_behind(talk, "\r\n\r\n");

	results[0] = ask_for(talk, "/", &asked, got[0], sizeof(got[0]));
	return r;
}

Test(client, is_cancelled)
{
	static const char *const answers[] = {
		NULL,
		"HTTP/1.1 200 OK\r\n",
		OK "content-length: 5\r\n\r\nhell",
		OK "transfer-encoding: chunked\r\n\r\n5\r\n",
		OK "\r\nhello",
	};

	asked = (struct eddy_client_request){ 0 };
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		const struct turn turns[] = { { NULL, answers[i], HANG },
					      { NULL, HELLO, STAY },
					      { 0 } };
		struct talk talk = { .turns = turns, .ask = cut_off_and_ask };

		have_talk(&talk);
		cr_expect(eq(int, talk.result, -ECANCELED), "%zu", i);
		cr_expect(eq(int, results[0], 0), "%zu: %s", i, talk.error);
	}
}

Test(client, is_cancelled_while_it_sends)
{
	static char bytes[16 << 20];
	const struct turn turns[] = { { "", NULL, DOZE }, { 0 } };
	const struct eddy_client_file file = { file_of(""), 0, sizeof(bytes) };
	uint64_t count = 0;
	const struct eddy_client_request requests[] = {
		{ .method = "PUT", .body = eddy_str(bytes, sizeof(bytes)) },
		{ .method = "PUT", .file = &file },
		{ .method = "PUT", .pull = pull_endlessly, .pull_data = &count },
	};

	cr_assert(ftruncate(file.fd, sizeof(bytes)) == 0);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct talk talk = { .turns = turns, .ask = cut_off };

		asked = requests[i];
		have_talk(&talk);
		cr_expect(eq(int, talk.result, -ECANCELED), "%zu: %s", i, talk.error);
	}
	close(file.fd);
}

/* A server that takes nothing, and one that says nothing. */
Test(client, does_not_wait_for_ever)
{
	static char bytes[16 << 20];
	const struct eddy_client_options options = { .stall_timeout_ns = 80 * EDDY_MS };
	const struct turn turns[] = { { "", NULL, DOZE }, { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_asked };

	asked = (struct eddy_client_request){ .body = eddy_str(bytes, sizeof(bytes)) };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ETIMEDOUT));
	cr_expect(strstr(talk.error, "accepted no data") != NULL);
	talk = (struct talk){ .turns = turns, .ask = ask_asked };
	asked = (struct eddy_client_request){ .timeout_ns = 20 * EDDY_MS };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ETIMEDOUT));
	cr_expect(strstr(talk.error, "the call timed out") != NULL);
}
