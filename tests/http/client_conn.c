/* Tests of http/src/client/client_conn.c: connections that are kept, or replaced, and where they
 * lead. */
#include "../runtime/debug.h"
#include "turns.h"

static int ask_thrice(struct talk *talk)
{
	int failed = 0;

	for (int i = 0; i < 3; i++) {
		results[i] = ask_for(talk, "/", &asked, got[i], sizeof(got[i]));
		failed += results[i] < 0;
	}
	return -failed;
}

Test(client_conn, keeps_connections)
{
	const struct turn turns[] = { { NULL, HELLO, STAY },
				      { NULL, OK "transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
					STAY },
				      { NULL, HELLO, STAY },
				      { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_thrice };

	asked = (struct eddy_client_request){ 0 };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect(eq(int, (int)talk.connections, 1));
}

static int note(void *arg)
{
	int r;

	eddyi_opened_begin();
	r = ask_thrice(arg);
	eddyi_opened_end();
	return r;
}

/* In a task of its own: those of the server are in a scope of this one. */
static int ask_noted(struct talk *talk)
{
	struct eddy_scope scope;

	debug_begin();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "noted", note, talk);
	eddy_scope_join(&scope);
	eddy_log_unsubscribe();
	return eddy_scope_end(&scope);
}

/* They stay open on purpose: EDDY_DEBUG has no complaint. */
Test(client_conn, kept_connections_are_no_leak)
{
	const struct turn turns[] = {
		{ NULL, HELLO, STAY }, { NULL, HELLO, STAY }, { NULL, HELLO, STAY }, { 0 }
	};
	struct talk talk = { .turns = turns, .ask = ask_noted };

	asked = (struct eddy_client_request){ 0 };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect(eq(int, (int)talk.connections, 1));
	cr_expect_str_empty(warned);
}

/* What can't serve again is not asked again: nothing of it may be taken for the next response. */
Test(client_conn, drops_connections)
{
	static const char *const answers[] = {
		HELLO "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
		OK "content-length: 5\r\nconnection: close\r\n\r\nhello",
		"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
		OK "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nx",
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		const struct turn turns[] = { { NULL, answers[i], HANG },
					      { NULL, answers[i], HANG },
					      { NULL, answers[i], HANG },
					      { 0 } };
		struct talk talk = { .turns = turns, .ask = ask_thrice };

		asked = (struct eddy_client_request){ 0 };
		have_talk(&talk);
		cr_expect(eq(int, talk.result, 0), "%s", talk.error);
		for (int at = 0; at < 3; at++)
			cr_expect_str_eq(got[at], "200 hello");
		cr_expect(eq(int, (int)talk.connections, 3), "%s", answers[i]);
	}
}

/* A connection that is closed as it is used again is replaced, where that does no harm. */
Test(client_conn, replaces_stale_connections)
{
	const struct turn turns[] = { { NULL, HELLO, STAY }, { NULL, NULL, CLOSE },
				      { NULL, HELLO, STAY }, { NULL, NULL, RESET },
				      { NULL, HELLO, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_thrice };

	asked = (struct eddy_client_request){ .method = "PUT", .body = EDDY_STR("x") };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect(eq(int, (int)talk.answers, 5));
	talk = (struct talk){ .turns = turns, .ask = ask_thrice };
	asked.method = "POST";
	have_talk(&talk);
	cr_expect(eq(int, results[0], 0));
	cr_expect(eq(int, results[1], -ECONNRESET));
	cr_expect(eq(int, results[2], 0));
}

/* Once only, and not when a part of an answer has come. */
Test(client_conn, gives_up_on_stale_connections)
{
	const struct turn twice[] = { { NULL, HELLO, STAY },
				      { NULL, NULL, CLOSE },
				      { NULL, NULL, CLOSE },
				      { NULL, HELLO, STAY },
				      { 0 } };
	const struct turn begun[] = {
		{ NULL, HELLO, STAY }, { NULL, "H", CLOSE }, { NULL, HELLO, STAY }, { 0 }
	};
	struct talk talk = { .turns = twice, .ask = ask_thrice };

	asked = (struct eddy_client_request){ 0 };
	have_talk(&talk);
	cr_expect(eq(int, results[1], -ECONNRESET));
	cr_expect(eq(int, results[2], 0));
	talk = (struct talk){ .turns = begun, .ask = ask_thrice };
	have_talk(&talk);
	cr_expect(eq(int, results[1], -ECONNRESET));
	cr_expect(eq(int, results[2], 0));
}

static int ask_and_wait(struct talk *talk)
{
	int r = ask_for(talk, "/", NULL, got[0], sizeof(got[0]));

	eddy_sleep(20 * EDDY_MS);
	return r ? r : ask_for(talk, "/", NULL, got[1], sizeof(got[1]));
}

Test(client_conn, closes_idle_connections)
{
	const struct eddy_client_options options = { .idle_timeout_ns = EDDY_MS };
	const struct turn turns[] = { { NULL, HELLO, HANG }, { NULL, HELLO, HANG }, { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_and_wait };

	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", talk.error);
	cr_expect(eq(int, (int)talk.connections, 2));
}

/* ---- where it asks ---- */

static int ask_nobody(struct talk *talk)
{
	struct eddy_listeners listeners;
	char url[64];
	struct eddy_response *response;

	if (eddy_listen("[::1]:0", NULL, &listeners) < 0)
		return -ECONNREFUSED;
	snprintf(url, sizeof(url), "http://[::1]:%u/", listeners.port);
	eddy_listeners_close(&listeners);
	return eddy_client_get(talk->client, url, &response);
}

Test(client_conn, says_whom_it_did_not_reach)
{
	const struct turn turns[] = { { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_nobody };

	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECONNREFUSED));
	cr_expect(strstr(talk.error, "can't connect to [::1]:") != NULL || !talk.error[0], "%s",
		  talk.error);
}

static char path[64];

static int ask_by_path(void *arg)
{
	struct talk *talk = arg;
	const struct eddy_client_options options = { .connect = path, .redirects_max = 1 };
	struct eddy_listeners listeners;
	struct eddy_scope scope;

	if (eddy_listen(path, NULL, &listeners) < 0)
		return -EADDRNOTAVAIL;
	talk->listener = listeners.fds[0];
	talk->client = eddy_client_new(&options);
	strcpy(talk->base, "http://[2001:db8::1]:81");
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", take_turns, talk);
	results[0] = ask_for(talk, "/", NULL, got[0], sizeof(got[0]));
	results[1] = ask_for(talk, "/", NULL, got[1], sizeof(got[1]));
	eddy_client_free(talk->client);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	return 0;
}

Test(client_conn, connects_elsewhere)
{
	const struct turn turns[] = { { NULL, HELLO, STAY },
				      { NULL, TO("302", "http://b.example/"), STAY },
				      { 0 } };
	struct talk talk = { .turns = turns };

	snprintf(path, sizeof(path), "unix:@eddy-client-%d", getpid());
	cr_assert(eq(int, eddy_run(NULL, ask_by_path, &talk), 0));
	cr_expect(eq(int, results[0], 0));
	cr_expect_str_eq(got[0], "200 hello");
	cr_expect(strstr(talk.log, "\r\nhost: [2001:db8::1]:81\r\n") != NULL, "%s", talk.log);
	/* All origins would be one there. */
	cr_expect(eq(int, results[1], -EPERM));
}
