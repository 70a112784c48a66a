/* Tests of auth/src/issuer/issuer.h: what issuers may do, and what they may not. */
#include "issuer_rig.h"
#include "issuer/issuer.h"
#include "leap.h"

#include "../runtime/failing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Always over. */
#define NOTHING 1

static int load(struct rig *rig)
{
	rig_keys(rig);
	return 0;
}

/* ---- where it looks ---- */

/* Answers that come again and again. */
#define ANSWER_KEYS                                                                                \
	{                                                                                          \
		"/keys", KEYS(KEY_A), OK                                                           \
	}
#define TENANT "{\"issuer\":\"$/tenant\",\"jwks_uri\":\"$/keys\"}"

static void expect_asked(const char *path, const struct answer *answers, const char *noted,
			 const char *asked)
{
	struct rig rig = { .path = path, .answers = answers };

	EXPECT_NOTED(&rig, load, noted);
	cr_expect_str_eq(rig.asked, asked);
}

Test(issuer_fetch, finds_metadata)
{
	expect_asked("/tenant", ANSWERS({ OAUTH "/tenant", TENANT, OK }, ANSWER_KEYS), "v1[a]#1 ",
		     OAUTH "/tenant /keys");
	expect_asked("/tenant", ANSWERS({ "/tenant" OIDC, TENANT, OK }, ANSWER_KEYS), "v1[a]#1 ",
		     OAUTH "/tenant /tenant" OIDC " /keys");
	expect_asked("/tenant/",
		     ANSWERS({ "/tenant" OIDC, "{\"issuer\":\"$/tenant/\",\"jwks_uri\":\"$/keys\"}",
			       OK },
			     ANSWER_KEYS),
		     "v1[a]#1 ", OAUTH "/tenant /tenant" OIDC " /keys");
	expect_asked("/",
		     ANSWERS({ OIDC, "{\"issuer\":\"$/\",\"jwks_uri\":\"$/keys\"}", OK },
			     ANSWER_KEYS),
		     "v1[a]#1 ", OAUTH " " OIDC " /keys");
	/* A document that is wrong is as none. */
	expect_asked("", ANSWERS({ OAUTH, "{}", OK }, { OIDC, METADATA, OK }, ANSWER_KEYS),
		     "v1[a]#1 ", OAUTH " " OIDC " /keys");
	expect_asked("", ANSWERS({ OAUTH, NULL, CUT }, { OIDC, METADATA, OK }, ANSWER_KEYS),
		     "v1[a]#1 ", OAUTH " " OIDC " /keys");
	/* Keys that are wrong are not looked for elsewhere. */
	expect_asked("", ANSWERS({ OAUTH, METADATA, OK }, { OIDC, METADATA, OK }), "EAGAIN#1 ",
		     OAUTH " /keys");
}

/* What is fine in the end is no news. */
Test(issuer_fetch, says_what_is_wrong_alone)
{
	struct rig rig = { .answers = ANSWERS({ OIDC, METADATA, OK }) };

	EXPECT_NOTED(&rig, load, "EAGAIN#1 ");
	cr_expect(strstr(rig.said, "/keys responded with status 404") && !strstr(rig.said, OAUTH),
		  "%s", rig.said);
}

/* ---- what is refused ---- */

static const struct {
	const char *metadata, *keys; /* NULL: a good one */
	const char *why;             /* in what is said of it */
} bad[] = {
	{ "", NULL, "is not a JSON metadata document" },
	{ "{", NULL, "is not a JSON metadata document" },
	{ "[]", NULL, "is not a JSON metadata document" },
	{ "<html></html>", NULL, "is not a JSON metadata document" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":\"$/keys\",\"issuer\":\"$\"}", NULL,
	  "is not a JSON metadata document" },
	{ "{\"jwks_uri\":\"$/keys\"}", NULL, "is the metadata of another issuer" },
	{ "{\"issuer\":7,\"jwks_uri\":\"$/keys\"}", NULL, "is the metadata of another issuer" },
	{ "{\"issuer\":\"$/\",\"jwks_uri\":\"$/keys\"}", NULL,
	  "is the metadata of another issuer" },
	{ "{\"issuer\":\"HTTP://127.0.0.1\",\"jwks_uri\":\"$/keys\"}", NULL,
	  "in iss: HTTP://127.0.0.1; " },
	{ "{\"issuer\":\"$\"}", NULL, "has no jwks_uri" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":null}", NULL, "has no jwks_uri" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":\"/keys\"}", NULL,
	  "can't be used: /keys: it is not an absolute" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":\"http://user@127.0.0.1/keys\"}", NULL,
	  "can't be used: http://user@" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":\"file:///etc/passwd\"}", NULL, "can't be used: file:" },
	{ "{\"issuer\":\"$\",\"jwks_uri\":\"gopher://127.0.0.1/\"}", NULL, "can't be used" },
	{ "HTTP/1.1 201 Made\r\ncontent-length: 0\r\n\r\n", NULL, "responded with status 201" },
	{ "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", NULL, "responded with status 404" },
	{ "HTTP/9 200\r\n\r\n", NULL, "HTTP/1.1" },
	{ NULL, "", "is not a key set" },
	{ NULL, "{", "is not a key set" },
	{ NULL, "{}", "is not a key set" },
	{ NULL, "{\"keys\":7}", "is not a key set" },
	{ NULL, "{\"keys\":[]}", "has no usable key" },
	{ NULL, "{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U\"}]}",
	  "has no usable key" },
	{ NULL, "HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", "/keys responded with status 503" },
	{ NULL, "HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n", "1048576" },
};

static size_t bad_at;

static const struct answer *bad_answers(void)
{
	static struct answer answers[] = {
		{ OAUTH, NULL, OK }, { OIDC, NULL, OK }, { "/keys", NULL, OK }, { NULL, "", CUT }
	};

	answers[0].text = answers[1].text = bad[bad_at].metadata ? bad[bad_at].metadata : METADATA;
	answers[2].text = bad[bad_at].keys ? bad[bad_at].keys : KEYS(KEY_A);
	return answers;
}

/* Without keys there are none, and those that are there stay. */
static int load_badly(struct rig *rig)
{
	rig_answer(rig, bad_answers());
	rig_keys(rig);
	rig_answer(rig, GOOD(KEY_A));
	rig_keys(rig);
	rig_answer(rig, bad_answers());
	rig_keys(rig);
	return rig_newer(rig, 1) == -ENOKEY ? 0 : -EPROTO;
}

Test(issuer_fetch, refuses_what_is_wrong)
{
	for (bad_at = 0; bad_at < sizeof(bad) / sizeof(*bad); bad_at++) {
		struct rig rig = {
			.options = { .max_key_age_ns = NOTHING, .refresh_cooldown_ns = NOTHING },
		};

		EXPECT_NOTED(&rig, load_badly, "EAGAIN#1 v1[a]#2 v1[a]#3 ENOKEY#4 ");
		cr_expect(strstr(rig.said, bad[bad_at].why) != NULL, "%zu: %s", bad_at, rig.said);
		/* It goes wrong, is well, and goes wrong again. */
		cr_expect(rig_count_said(&rig, "WARN ") == 2 && rig_count_said(&rig, "INFO ") == 1,
			  "%zu: %s", bad_at, rig.said);
	}
}

/* ---- who does not answer ---- */

/* As long as one waits, in time that passes at once. */
#define LONG (1000 * EDDY_SECOND)

static const char HEAD[] = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n          ";

/* What has come to the issuer when nothing more does. */
static struct {
	const char *asked;
	unsigned connections;
} awaited;

struct patience {
	struct rig *rig;
	uint64_t waiters;
	bool is_over;
};

/* All that can go on without time does: turns of the loop pass. */
static void go_on(void)
{
	for (int i = 0; i < 20; i++)
		eddy_sleep(1);
}

static int have_patience(void *arg)
{
	struct patience *patience = arg;
	struct rig *rig = patience->rig;
	int r = rig_await_waiters(rig, patience->waiters);

	while (r == 0 &&
	       (strcmp(rig->asked, awaited.asked) != 0 || rig->connections < awaited.connections))
		r = eddy_sleep(EDDY_MS);
	go_on();
	leap(LONG / 2);
	go_on();
	rig_note(rig, patience->is_over ? "early" : "waits");
	leap(LONG / 2);
	return r;
}

/* It takes as long as it may, and no longer: the rest of the time would not pass at once. */
static int load_in_time(struct rig *rig)
{
	struct patience patience = {
		.rig = rig,
		.waiters = eddy_oauth_stats().waited - rig->waited_before + 1,
	};
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "patience", have_patience, &patience);
	rig_keys(rig);
	patience.is_over = true;
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static void expect_in_time(const char *scheme, const struct answer *answers, const char *noted,
			   const char *asked)
{
	struct rig rig = { .scheme = scheme, .answers = answers, .options.timeout_ns = LONG };

	awaited.asked = asked;
	awaited.connections = 1;
	EXPECT_NOTED(&rig, load_in_time, noted);
	cr_expect_str_eq(rig.asked, asked);
}

/* Who hangs is not asked by another URL, and costs what the timeout says, which is for both documents. */
Test(issuer_fetch, waits_for_nobody)
{
	expect_in_time(NULL, ANSWERS({ OAUTH, NULL, HANG }), "waits EAGAIN#1 ", OAUTH);
	expect_in_time(NULL, ANSWERS({ OAUTH, HEAD, OK }), "waits EAGAIN#1 ", OAUTH);
	expect_in_time(NULL, ANSWERS({ OAUTH, HEAD, DRIP }), "waits EAGAIN#1 ", OAUTH);
	expect_in_time(NULL, ANSWERS({ OAUTH, METADATA, OK }, { "/keys", NULL, HANG }),
		       "waits EAGAIN#1 ", OAUTH " /keys");
	expect_in_time(NULL, ANSWERS({ OAUTH, METADATA, OK }, { "/keys", HEAD, DRIP }),
		       "waits EAGAIN#1 ", OAUTH " /keys");
	/* A server that waits for a head, and gets a handshake. */
	expect_in_time("https", ANSWERS({ OAUTH, NULL, HANG }), "waits EAGAIN#0 ", "");
}

static int load_and_hang(struct rig *rig)
{
	rig_keys(rig);
	rig_answer(rig, ANSWERS({ OAUTH, NULL, HANG }));
	awaited.asked = OAUTH " /keys " OAUTH;
	load_in_time(rig);
	/* Who waits may be told before who fetches. */
	while (!rig_count_said(rig, "WARN "))
		eddy_sleep(EDDY_MS);
	return 0;
}

/* Old keys serve who has waited. */
Test(issuer_fetch, old_keys_outlast_who_hangs)
{
	struct rig rig = {
		.answers = GOOD(KEY_A),
		.options = { .timeout_ns = LONG, .max_key_age_ns = NOTHING },
	};

	EXPECT_NOTED(&rig, load_and_hang, "v1[a]#1 waits v1[a]#2 ");
	cr_expect(strstr(rig.said, "not respond within 1000000 ms") != NULL, "%s", rig.said);
}

Test(issuer_fetch, reads_no_end)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, METADATA, OK }, { "/keys", NULL, FLOOD }),
	};

	EXPECT_NOTED(&rig, load, "EAGAIN#1 ");
	cr_expect(strstr(rig.said, "more than 1048576 bytes") != NULL, "%s", rig.said);
}

/* Connections that nobody accepts: the queue is full, and a further one is not answered. */
static int fill(struct eddy_listeners *listeners, int fds[8])
{
	int r = eddy_listen("127.0.0.1:0", &(struct eddy_listen_options){ .backlog = 1 },
			    listeners);
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(listeners->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	for (int i = 0; i < 8; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(fds[i], (struct sockaddr *)&at, sizeof(at));
	}
	return r;
}

static int fill_queue(void *arg)
{
	void **args = arg;

	return fill(args[0], args[1]);
}

Test(issuer_fetch, waits_for_no_connection)
{
	struct eddy_listeners listeners;
	char issuer[64];
	int fds[8];
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, NULL, HANG }),
		.options = { .timeout_ns = LONG, .issuer = issuer },
	};

	cr_assert(eq(int, eddy_run(NULL, fill_queue, (void *[]){ &listeners, fds }), 0));
	snprintf(issuer, sizeof(issuer), "http://127.0.0.1:%u", listeners.port);
	awaited.asked = "";
	EXPECT_NOTED(&rig, load_in_time, "waits EAGAIN#0 ");
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	close(listeners.fds[0]);
}

Test(issuer_fetch, nobody_is_there)
{
	struct rig rig = {
		.answers = ANSWERS({ OAUTH, NULL, HANG }),
		.options.issuer = "http://127.0.0.1:1",
	};

	EXPECT_NOTED(&rig, load, "EAGAIN#0 ");
	cr_expect(strstr(rig.said,
			 "WARN The keys of http://127.0.0.1:1 can't be fetched: "
			 "http://127.0.0.1:1/.well-known/oauth-authorization-server: ") != NULL,
		  "%s", rig.said);
	cr_expect(strstr(rig.said, "; http://127.0.0.1:1/.well-known/openid-configuration: ") !=
			  NULL,
		  "%s", rig.said);
}

/* ---- redirects ---- */

#define FIRST                                                                                      \
	{                                                                                          \
		OAUTH, TO("/1"), OK                                                                \
	}
#define SECOND                                                                                     \
	{                                                                                          \
		"/1", TO("$/2"), OK                                                                \
	}
#define LAST                                                                                       \
	{                                                                                          \
		"/3", METADATA, OK                                                                 \
	}
#define TO(location) "HTTP/1.1 302 Found\r\nlocation: " location "\r\ncontent-length: 0\r\n\r\n"

static void expect_redirected(const struct eddy_oauth_options *options,
			      const struct answer *answers, const char *noted, const char *why)
{
	struct rig rig = { .options = *options, .answers = answers };

	EXPECT_NOTED(&rig, load, noted);
	cr_expect(strstr(rig.said, why) != NULL, "%s", rig.said);
}

Test(issuer_fetch, follows_redirects)
{
	const struct eddy_oauth_options plain = { 0 }, none = { .no_redirects = true },
					one = { .redirects_max = 1 };

	expect_redirected(&plain, ANSWERS(FIRST, SECOND, { "/2", TO("/3"), OK }, LAST, ANSWER_KEYS),
			  "v1[a]#1 ", "1 keys of");
	expect_redirected(&plain,
			  ANSWERS(FIRST, SECOND, { "/2", TO("/4"), OK }, { "/4", TO("/3"), OK },
				  LAST, ANSWER_KEYS),
			  "EAGAIN#1 ", "more than 3 redirects (max_redirects can be raised)");
	expect_redirected(&one, ANSWERS(FIRST, { "/1", METADATA, OK }, ANSWER_KEYS), "v1[a]#1 ",
			  "1 keys of");
	expect_redirected(&one, ANSWERS(FIRST, SECOND, { "/2", METADATA, OK }, ANSWER_KEYS),
			  "EAGAIN#1 ", "more than 1 redirects");
	expect_redirected(&none, ANSWERS(FIRST, { "/1", METADATA, OK }, ANSWER_KEYS), "EAGAIN#1 ",
			  "responded with status 302");
	expect_redirected(&plain, ANSWERS({ OAUTH, TO("http://u@127.0.0.1/"), OK }), "EAGAIN#1 ",
			  "redirect's URL is malformed");
	expect_redirected(&plain, ANSWERS({ OAUTH, TO("file:///etc/passwd"), OK }), "EAGAIN#1 ",
			  "neither http nor https");
}

/* ---- where memory is out ---- */

static int allocations;

/* What a thread of the pool has left, as there is one alone. */
static int exchange(void *arg)
{
	int *at = arg, left = failing_at;

	failing_at = *at;
	*at = left;
	return 0;
}

static int load_failing(struct rig *rig)
{
	struct eddy_keyset *set;
	unsigned version;
	int r;

	failing_at = allocations;
	r = eddyi_issuer_keys(rig->issuer, &set, &version);
	allocations = failing_at;
	failing_at = 0;
	if (r == 0)
		eddy_keyset_unref(set);
	/* Whatever has failed is over: the next one gets them. */
	return r == 0 || r == -EAGAIN ? rig_keys(rig) : r;
}

/* Each allocation of the loop fails in its turn, the issuer's own too; leaks are AddressSanitizer's to find. */
Test(issuer_fetch, memory_is_out)
{
	unsigned failures = 0;
	int at = 1;

	do {
		struct rig rig = { .answers = GOOD(KEY_A) };

		allocations = at;
		rig.scenario = load_failing;
		rig_run(&rig);
		cr_assert(eq(int, rig.result, 0), "%d", at);
		cr_expect(strncmp(rig.noted, "v1[a]#", 6) == 0, "%d: %s", at, rig.noted);
		failures += strstr(rig.said, "WARN ") != NULL;
	} while (allocations == 0 && at++ < 500);
	cr_expect(at < 500 && failures > 3, "%d, %u", at, failures);
}

static int load_failing_in_the_pool(struct rig *rig)
{
	int r;

	eddy_offload_configure(&(struct eddy_offload_options){ .threads = 1 });
	eddy_offload(exchange, &allocations);
	r = rig_keys(rig);
	allocations = 0;
	eddy_offload(exchange, &allocations);
	return r == 0 || r == -EAGAIN ? rig_keys(rig) : r;
}

/* The same where documents are read. */
Test(issuer_fetch, memory_is_out_in_the_pool)
{
	unsigned failures = 0;
	int at = 1;

	do {
		struct rig rig = { .answers = GOOD(KEY_A) };

		allocations = at;
		rig.scenario = load_failing_in_the_pool;
		rig_run(&rig);
		cr_assert(eq(int, rig.result, 0), "%d", at);
		cr_expect(strstr(rig.noted, "v1[a]#") != NULL, "%d: %s", at, rig.noted);
		failures += strncmp(rig.noted, "EAGAIN#1 ", 9) == 0;
		if (strncmp(rig.noted, "EAGAIN#1 ", 9) == 0)
			cr_expect(strstr(rig.said, "out of memory") != NULL, "%s", rig.said);
	} while (allocations == 0 && at++ < 500);
	cr_expect(at < 500 && failures > 2, "%d, %u", at, failures);
}
