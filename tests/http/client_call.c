/* Tests of http/src/client/client_call.c: redirects and retries. */
#include "turns.h"

#include <eddy/internal/http.h>

Test(client_call, follows_redirects)
{
	static const struct {
		const char *method, *status, *want, *body;
	} rows[] = {
		{ "GET", TO("301", "/z"), "GET /z HTTP", NULL },
		{ "HEAD", "HTTP/1.1 303 Moved\r\nlocation: ?z\r\n\r\n", "HEAD /x?z HTTP", NULL },
		{ "POST", TO("301", "z"), "GET /z HTTP", NULL },
		{ "POST", TO("302", "../z"), "GET /z HTTP", NULL },
		{ "PUT", TO("302", "/z"), "PUT /z HTTP", "body!" },
		{ "PUT", TO("303", "/z"), "GET /z HTTP", NULL },
		{ "POST", TO("307", "/z"), "POST /z HTTP", "body!" },
		{ "PUT", TO("308", "/z"), "PUT /z HTTP", "body!" },
	};
	const struct eddy_client_options options = { .redirects_max = 1 };
	const struct eddy_header headers[] = { { "authorization", "secret" },
					       { "content-type", "text/x" },
					       { 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool is_body = rows[i].method[0] == 'P', has_type, has_body;
		const struct turn turns[] = {
			{ is_body ? "body!" : NULL, rows[i].status, STAY },
			{ rows[i].body, OK "content-length: 0\r\n\r\n", STAY },
			{ 0 },
		};
		struct talk talk = { .turns = turns, .options = &options, .ask = ask_asked };
		const char *second;

		asked = (struct eddy_client_request){
			.method = rows[i].method,
			.headers = headers,
			.body = is_body ? EDDY_STR("body!") : EDDY_STR(""),
		};
		have_talk(&talk);
		cr_expect(eq(int, talk.result, 0), "%zu: %s", i, talk.error);
		cr_expect(eq(int, (int)talk.connections, 1));
		second = strstr(talk.log, rows[i].want);
		cr_assert(second != NULL, "%s: %s", rows[i].want, talk.log);
		has_type = strstr(second, "text/x") != NULL;
		has_body = strstr(second, "body!") != NULL;
		cr_expect(strstr(second, "secret") != NULL);
		cr_expect(has_type == (!is_body || rows[i].body != NULL));
		cr_expect(has_body == (rows[i].body != NULL));
	}
}

static int forbid(void *data, struct eddy_str from, struct eddy_str to)
{
	(void)data;
	return memmem(from.ptr, from.len, "/x", 2) && memmem(to.ptr, to.len, "/forbidden", 10) ?
		       -EACCES :
		       0;
}

Test(client_call, refuses_redirects)
{
	static const struct {
		const char *answer;
		int r;
		const char *error;
	} rows[] = {
		{ TO("302", "ftp://a.example/"), -EPERM, "neither http nor https" },
		{ TO("302", "javascript:alert(1)"), -EPERM, "neither http nor https" },
		{ TO("302", "http://user@127.0.0.1/"), -EBADMSG, "malformed" },
		{ TO("302", "/a b"), -EBADMSG, "malformed" },
		{ TO("302", "/forbidden"), -EACCES, "was rejected" },
		{ TO("302", "http://Unix:80/"), -EPERM, "name unix" },
	};
	const struct eddy_client_options loops = { .redirects_max = 3 };
	const struct turn round[] = { { NULL, TO("302", "/x"), STAY },
				      { NULL, TO("307", "/x"), STAY },
				      { NULL, TO("308", "/x"), STAY },
				      { NULL, TO("301", "/x"), STAY },
				      { 0 } };
	struct talk talk = { .turns = round, .options = &loops, .ask = ask_once };

	asked = (struct eddy_client_request){ 0 };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ELOOP));
	cr_expect(eq(int, (int)talk.answers, 4));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct eddy_client_options options = { .redirects_max = 3,
							     .redirect = forbid };
		const struct turn turns[] = { { NULL, rows[i].answer, STAY }, { 0 } };

		talk = (struct talk){ .turns = turns, .options = &options, .ask = ask_once };
		have_talk(&talk);
		cr_expect(eq(int, talk.result, rows[i].r), "%s", rows[i].answer);
		cr_expect(strstr(talk.error, rows[i].error) != NULL, "%s", talk.error);
	}
}

/* A body that came by a function is gone. */
Test(client_call, can_not_pull_twice)
{
	const struct eddy_client_options options = { .redirects_max = 1 };
	const struct turn turns[] = { { "0\r\n\r\n", TO("307", "/z"), STAY }, { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_asked };
	unsigned count = 0;

	asked = (struct eddy_client_request){
		.method = "POST",
		.pull = pull_three,
		.pull_data = &count,
	};
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -EPERM));
}

#define STATUS(line) "HTTP/1.1 " line "\r\ncontent-length: 4\r\n\r\nwait"

/* Talk about a request that is tried again twice. */
static void have_retries(struct talk *talk, const struct turn *turns, const char *method)
{
	static const struct eddy_client_retry retry = { .max = 2, .delay_ns = EDDY_MS };

	asked = (struct eddy_client_request){ .method = method,
					      .body = EDDY_STR("body!"),
					      .timeout_ns = 500 * EDDY_MS,
					      .retry = &retry };
	*talk = (struct talk){ .turns = turns, .ask = ask_asked };
	have_talk(talk);
}

Test(client_call, tries_again)
{
	static const struct {
		struct turn turns[4];
		int r;
		unsigned tries;
		const char *got;
	} rows[] = {
		{ { { "body!", STATUS("503 Away"), CLOSE }, { "body!", HELLO, STAY } },
		  0,
		  2,
		  "200 hello" },
		{ { { "body!", STATUS("500 Oh"), CLOSE },
		    { "body!", STATUS("502 Oh"), CLOSE },
		    { "body!", HELLO, STAY } },
		  0,
		  3,
		  "200 hello" },
		{ { { "body!", STATUS("504 Oh"), CLOSE },
		    { "body!", STATUS("429 Oh"), CLOSE },
		    { "body!", STATUS("408 Oh"), CLOSE } },
		  0,
		  3,
		  "408 wait" },
		{ { { "body!", NULL, RESET }, { "body!", NULL, HANG }, { "body!", HELLO, STAY } },
		  0,
		  3,
		  "200 hello" },
		{ { { "body!", NULL, CLOSE }, { "body!", NULL, CLOSE }, { "body!", NULL, CLOSE } },
		  -ECONNRESET,
		  3,
		  "" },
		{ { { "body!", STATUS("501 No"), STAY } }, 0, 1, "501 wait" },
		{ { { "body!", STATUS("404 No"), STAY } }, 0, 1, "404 wait" },
		{ { { "body!", "HTP/1.1 200 OK\r\n\r\n", CLOSE } }, -EBADMSG, 1, "" },
		{ { { "body!", STATUS("503 Away\r\nretry-after: 400"), CLOSE } }, 0, 1, "503 wait" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct talk talk;

		have_retries(&talk, rows[i].turns, "POST");
		cr_expect(eq(int, talk.result, rows[i].r), "%zu: %s", i, talk.error);
		cr_expect(eq(uint, talk.connections, rows[i].tries), "%zu", i);
		cr_expect(eq(str, got[0], (char *)rows[i].got), "%zu", i);
		cr_expect(rows[i].r < 0 || rows[i].got[0] == '2' ||
				  strstr(talk.error, "the server answered"),
			  "%zu: %s", i, talk.error);
	}
}

static int ask_nothing_that_listens(struct talk *talk)
{
	const struct eddy_client_retry retry = { .max = 2, .delay_ns = 20 * EDDY_MS };
	const struct eddy_client_request request = { .retry = &retry },
					 pulls = { .retry = &retry, .pull = pull_three };
	struct eddy_response *response;
	uint64_t begin = eddy_now();
	struct eddy_scope scope;

	results[0] = eddy_client_send(talk->client, url_of(talk, "/"), &pulls, &response);
	results[1] = eddy_client_send(talk->client, "http://127.0.0.1:1/", &request, &response);
	cr_expect(eddy_now() - begin >= 30 * EDDY_MS); /* 10 and 20 at least */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_MS });
	results[2] = eddy_client_send(talk->client, "http://127.0.0.1:1/", &request, &response);
	eddy_scope_end(&scope);
	return 0;
}

static int ask_and_leave(struct talk *talk)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 200 * EDDY_MS });
	r = ask_asked(talk); /* frees its response, which must be none */
	eddy_scope_end(&scope);
	return r;
}

Test(client_call, is_cancelled_between_tries)
{
	const struct eddy_client_retry retry = { .delay_ns = EDDY_SECOND };
	const struct turn turns[] = { { NULL, STATUS("503 Away"), CLOSE }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_and_leave };

	asked = (struct eddy_client_request){ .retry = &retry };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECANCELED));
	cr_expect(eq(uint, talk.answers, 1));
}

Test(client_call, tries_to_connect_again)
{
	const struct turn turns[] = { { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_nothing_that_listens };

	have_talk(&talk);
	cr_expect(eq(int, results[0], -EINVAL));
	cr_expect(eq(int, results[1], -ECONNREFUSED));
	cr_expect(eq(int, results[2], -ECANCELED));
}

static char elsewhere[256];

static int ask_elsewhere(struct talk *talk)
{
	snprintf(
		elsewhere, sizeof(elsewhere),
		"HTTP/1.1 302 Found\r\nlocation: http://localhost:%s/z\r\ncontent-length: 0\r\n\r\n",
		strrchr(talk->base, ':') + 1);
	return ask_asked(talk);
}

Test(client_call, keeps_secrets)
{
	const struct eddy_client_options options = { .redirects_max = 1 };
	const struct eddy_header headers[] = { { "Authorization", "secret" },
					       { "cookie", "secret" },
					       { "traceparent", "00-1" },
					       { 0 } };
	const struct turn turns[] = { { NULL, elsewhere, CLOSE }, { NULL, HELLO, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_elsewhere };
	const char *second;

	asked = (struct eddy_client_request){ .headers = headers };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	second = strstr(talk.log, "host: localhost:");
	cr_assert(second != NULL, "%s", talk.log);
	cr_expect(strstr(second, "secret") == NULL, "%s", second);
	cr_expect(strstr(second, "traceparent: 00-1\r\n") != NULL, "%s", second);
}

static int ask_for_secrecy(struct talk *talk)
{
	struct eddy_response *response;

	results[0] = eddy_client_get(talk->client, "ftp://127.0.0.1/", &response);
	results[1] = eddy_client_get(talk->client, "/path", &response);
	results[2] = eddy_client_get(talk->client, "https://unix/", &response);
	return ask_once(talk);
}

Test(client_call, requires_https)
{
	const struct eddy_client_options options = { .require_https = true };
	const struct turn turns[] = { { NULL, HELLO, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_for_secrecy };

	have_talk(&talk);
	cr_expect(eq(int, results[0], -EPROTONOSUPPORT));
	cr_expect(eq(int, results[1], -EINVAL));
	cr_expect(eq(int, results[2], -EPERM));
	cr_expect(eq(int, talk.result, -EPERM));
	cr_expect(eq(int, (int)talk.connections, 0));
}

Test(client_call, tells_what_urls_it_takes)
{
	cr_expect(eq(int, eddyi_client_check_url("http://a.example:4318/v1/traces"), 0));
	cr_expect(eq(int, eddyi_client_check_url("a.example:4318"), -EPROTONOSUPPORT));
	cr_expect(eq(int, eddyi_client_check_url("ftp://a.example"), -EPROTONOSUPPORT));
	cr_expect(eq(int, eddyi_client_check_url("http://user@a.example/"), -EINVAL));
	cr_expect(eq(int, eddyi_client_check_url("http://"), -EINVAL));
}

Test(client_call, tells_what_fields_it_takes)
{
	cr_expect(eddyi_client_may_set("authorization"));
	cr_expect(eddyi_client_may_set("date"));
	cr_expect(not(eddyi_client_may_set("Host")));
	cr_expect(not(eddyi_client_may_set("transfer-encoding")));
	cr_expect(not(eddyi_client_may_set("a b")));
	cr_expect(not(eddyi_client_may_set("")));
}
