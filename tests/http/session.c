/* Tests of eddy/session.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- a program ---- */

/* GET /do?set=NAME&to=VALUE&remove=NAME&renew&end&get=NAME: in this order, each if it is there. The
 * result is the value that was got, or the first error. */
static int act(struct eddy_session *session, struct eddy_req *req, struct eddy_str *ret_value)
{
	struct eddy_str value, to;
	int r = 0;

	if (eddy_req_query_get(req, "set", &value) == 0) {
		eddy_req_query_get(req, "to", &to);
		r = eddy_session_set(session, eddy_req_strdup(req, value), to);
	}
	if (r == 0 && eddy_req_query_get(req, "remove", &value) == 0)
		r = eddy_session_remove(session, eddy_req_strdup(req, value));
	if (r == 0 && eddy_req_query_get(req, "renew", &value) == 0)
		r = eddy_session_renew(session);
	if (r == 0 && eddy_req_query_get(req, "end", &value) == 0)
		r = eddy_session_end(session);
	if (r == 0 && eddy_req_query_get(req, "get", &value) == 0)
		*ret_value = eddy_session_get(session, eddy_req_strdup(req, value));
	return r;
}

static int run(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str value = EDDY_STR("done");
	struct eddy_session *session, *again;
	int r = eddy_req_session(req, &session);

	if (r < 0)
		return r;
	cr_expect(eq(int, eddy_req_session(req, &again), 0));
	cr_expect(session == again);
	r = act(session, req, &value);
	if (r < 0)
		return eddy_res_ok(res, "%d", r);
	return eddy_res_ok(res, "%.*s", value.ptr ? (int)value.len : 4,
			   value.ptr ? value.ptr : "none");
}

static int fail(struct eddy_req *req, struct eddy_res *res)
{
	int r = run(req, res);

	return r < 0 ? r : 409;
}

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	struct eddy_str value = { 0 };
	int r = eddy_req_session(req, &session);

	if (r == 0 && !eddy_req_query_get(req, "before", &value))
		r = eddy_session_set(session, "before", value);
	if (r == 0)
		r = eddy_res_write(res, "part ", 5);
	if (r == 0)
		r = act(session, req, &value) < 0 ? eddy_res_write(res, "late", 4) :
						    eddy_res_write(res, "done", 4);
	return r;
}

static int without(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "without");
}

static struct eddy_app *make_app(const struct eddy_sessions_options *options)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_sessions(app, options);
	eddy_app_map_get(app, "/do", run);
	eddy_app_map_get(app, "/fail", fail);
	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/without", without);
	return app;
}

/* ---- a client ---- */

static char jar[256];    /* the cookie that it keeps */
static char set_it[256]; /* the last set-cookie; "" if there was none */
static char control[64]; /* the last cache-control */

static void keep(struct eddy_response *response)
{
	struct eddy_str set = eddy_response_header(response, "set-cookie");
	struct eddy_str cache = eddy_response_header(response, "cache-control");

	snprintf(set_it, sizeof(set_it), "%.*s", EDDY_FMT(set));
	snprintf(control, sizeof(control), "%.*s", EDDY_FMT(cache));
	if (strstr(set_it, "Max-Age=0"))
		jar[0] = '\0';
	else if (set.len)
		snprintf(jar, sizeof(jar), "%.*s", (int)strcspn(set_it, ";"), set_it);
}

static const char *ask_with(struct eddy_app *app, const char *line, const char *cookie)
{
	static char got[300];
	const struct eddy_header headers[] = { { "cookie", cookie }, { 0 } };
	struct eddy_response *response;
	struct eddy_str body;

	cr_assert(eq(int,
		     eddy_app_test(app, line,
				   &(struct eddy_client_request){ .headers = *cookie ? headers :
										       NULL },
				   &response),
		     0),
		  "%s", line);
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	snprintf(got, sizeof(got), "%.*s", EDDY_FMT(body));
	if (eddy_response_status(response) != 200)
		snprintf(got, sizeof(got), "%d", eddy_response_status(response));
	keep(response);
	eddy_response_free(response);
	return got;
}

static const char *ask(struct eddy_app *app, const char *line)
{
	return ask_with(app, line, jar);
}

#define EXPECT(line, want) cr_expect_str_eq(ask(app, "GET " line), want)

/* ---- tests ---- */

Test(session, keeps_values)
{
	struct eddy_app *app = make_app(NULL);

	EXPECT("/do?get=user", "none");
	cr_expect_str_eq(set_it, "");
	cr_expect_str_eq(control, "no-store");
	EXPECT("/do?set=user&to=ada", "done");
	cr_expect(eq(sz, strcspn(set_it, ";"), strlen("session=") + 43), "%s", set_it);
	cr_expect_str_eq(set_it + strcspn(set_it, ";"), "; Path=/; HttpOnly; SameSite=Lax");
	EXPECT("/do?get=user", "ada");
	cr_expect_str_eq(set_it, "");
	EXPECT("/do?set=other&to=1&get=user", "ada");
	EXPECT("/do?set=user&to=bob&get=other", "1");
	EXPECT("/do?get=user", "bob");
	EXPECT("/do?remove=user&get=user", "none");
	EXPECT("/do?get=user", "none");
	EXPECT("/do?remove=none&get=other", "1");
	EXPECT("/do?set=other&to=&get=other", "");
	EXPECT("/do?get=other", "");
	EXPECT("/do?set=&to=nameless&get=", "nameless");
	/* A handler that asks for no session gets none. */
	EXPECT("/without", "without");
	cr_expect_str_eq(control, "");
	eddy_app_free(app);
}

/* An id that the server did not make is worth nothing. */
Test(session, ids_of_others)
{
	static const char *const cookies[] = {
		"session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"session=",
		"session=x",
		"session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA*A",
		"__Host-session=x",
	};
	struct eddy_app *app = make_app(NULL);
	char prefixed[sizeof(jar) + sizeof("__Host-")];

	for (size_t i = 0; i < sizeof(cookies) / sizeof(*cookies); i++) {
		cr_expect_str_eq(ask_with(app, "GET /do?get=user", cookies[i]), "none");
		cr_expect_str_eq(set_it, "");
		cr_expect_str_eq(ask_with(app, "GET /do?set=user&to=x", cookies[i]), "done");
		cr_expect(strstr(set_it, "AAAAAAAA") == NULL);
		cr_expect_str_neq(jar, "");
	}
	/* Over plain HTTP the name has no prefix. */
	EXPECT("/do?get=user", "x");
	snprintf(prefixed, sizeof(prefixed), "__Host-%s", jar);
	cr_expect_str_eq(ask_with(app, "GET /do?get=user", prefixed), "none");
	eddy_app_free(app);
}

Test(session, renews_its_id)
{
	struct eddy_app *app = make_app(NULL);
	char old[256];

	EXPECT("/do?renew", "done");
	cr_expect_str_eq(set_it, "");
	EXPECT("/do?set=cart&to=pears", "done");
	strcpy(old, jar);
	EXPECT("/do?set=user&to=ada&renew", "done");
	cr_expect_str_neq(jar, old);
	EXPECT("/do?get=cart", "pears");
	EXPECT("/do?get=user", "ada");
	cr_expect_str_eq(ask_with(app, "GET /do?get=cart", old), "none");
	/* Of one that begins in the same request there is one cookie. */
	jar[0] = '\0';
	EXPECT("/do?set=user&to=bob&renew", "done");
	EXPECT("/do?get=user", "bob");
	eddy_app_free(app);
}

Test(session, ends)
{
	struct eddy_app *app = make_app(NULL);
	char old[256];

	EXPECT("/do?set=user&to=ada", "done");
	strcpy(old, jar);
	EXPECT("/do?end&get=user", "none");
	cr_expect_str_eq(set_it, "session=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 "
				 "GMT; HttpOnly; SameSite=Lax");
	cr_expect_str_eq(ask_with(app, "GET /do?get=user", old), "none");
	/* A renewed one ends under both ids. */
	EXPECT("/do?set=user&to=ada", "done");
	strcpy(old, jar);
	EXPECT("/do?renew&end", "done");
	cr_expect_str_eq(jar, "");
	cr_expect_str_eq(ask_with(app, "GET /do?get=user", old), "none");
	/* The same as the end of none. */
	EXPECT("/do?end", "done");
	eddy_app_free(app);
}

Test(session, sizes)
{
	struct eddy_app *app = make_app(&(struct eddy_sessions_options){ .size_max = 20 });

	EXPECT("/do?set=name&to=0123456789abc", "-90"); /* -EMSGSIZE: 4 + 4 + 13 */
	cr_expect(strstr(set_it, "Max-Age=0") || !set_it[0], "%s", set_it);
	EXPECT("/do?set=name&to=0123456789ab&get=name", "0123456789ab");
	EXPECT("/do?set=x&to=", "-90");
	EXPECT("/do?set=name&to=012&get=name", "012");
	EXPECT("/do?set=x&to=01&get=x", "01");
	EXPECT("/do?get=name", "012");
	eddy_app_free(app);
}

/* Of a response with an error, changes are kept. */
Test(session, errors)
{
	struct eddy_app *app = make_app(NULL);

	EXPECT("/fail?set=tries&to=1", "409");
	EXPECT("/do?get=tries", "1");
	eddy_app_free(app);
}

Test(session, streams)
{
	struct eddy_app *app = make_app(NULL);

	EXPECT("/stream?set=user&to=ada", "part late");
	cr_expect_str_eq(set_it, "");
	EXPECT("/stream?before=1&set=user&to=ada", "part done");
	EXPECT("/do?get=user", "ada");
	EXPECT("/do?get=before", "1");
	EXPECT("/stream?renew", "part late");
	EXPECT("/stream?end", "part done");
	EXPECT("/do?get=user", "none");
	eddy_app_free(app);
}

Test(session, expires)
{
	static const struct eddy_sessions_options brief[] = { { .idle_ns = 50 * EDDY_MS },
							      { .max_ns = 50 * EDDY_MS } };

	for (size_t i = 0; i < sizeof(brief) / sizeof(*brief); i++) {
		struct eddy_app *app = make_app(&brief[i]);

		EXPECT("/do?set=user&to=ada", "done");
		cr_expect_str_neq(jar, "");
		nanosleep(&(struct timespec){ .tv_nsec = 100 * EDDY_MS }, NULL);
		EXPECT("/do?get=user", "none");
		eddy_app_free(app);
	}
}

Test(session, cookie_options)
{
	struct eddy_app *app =
		make_app(&(struct eddy_sessions_options){ .cookie = "sid",
							  .same_site = EDDY_SAME_SITE_STRICT,
							  .persistent = true,
							  .max_ns = 3600 * EDDY_SECOND });

	EXPECT("/do?set=user&to=ada", "done");
	cr_expect(strncmp(jar, "sid=", 4) == 0);
	cr_expect_str_eq(set_it + strcspn(set_it, ";"),
			 "; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict");
	eddy_app_free(app);
}

/* ---- another store ---- */

/* Of one session. */
static struct store {
	char bytes[256];
	size_t len;
	unsigned char key[32];
	unsigned loads, saves, news, extends, removes;
	uint64_t lasts_ns;
	int error;
} store;

static int load_it(void *data, struct eddy_req *req, struct eddy_str key,
		   struct eddy_str *ret_bytes, uint64_t *ret_left_ns)
{
	char *bytes = eddy_req_alloc(req, sizeof(store.bytes));

	cr_expect(data == &store);
	store.loads++;
	if (store.error || !store.len || memcmp(store.key, key.ptr, sizeof(store.key)) != 0)
		return store.error ? store.error : -ENOENT;
	eddy_yield(); /* a store may suspend */
	memcpy(bytes, store.bytes, store.len);
	*ret_bytes = eddy_str(bytes, store.len);
	*ret_left_ns = store.lasts_ns;
	return 0;
}

static int save_it(void *data, struct eddy_req *req, struct eddy_str key, struct eddy_str bytes,
		   uint64_t lasts_ns, struct eddy_str old)
{
	(void)data;
	(void)req;
	eddy_yield();
	cr_expect(eq(sz, key.len, sizeof(store.key)));
	if (store.error)
		return store.error;
	if (old.len && (!store.len || memcmp(store.key, old.ptr, sizeof(store.key)) != 0))
		return -ENOENT;
	store.saves++;
	store.news += !old.len;
	store.lasts_ns = lasts_ns;
	memcpy(store.key, key.ptr, sizeof(store.key));
	memcpy(store.bytes, bytes.ptr, store.len = bytes.len);
	return 0;
}

static int extend_it(void *data, struct eddy_req *req, struct eddy_str key, uint64_t lasts_ns)
{
	(void)data;
	(void)req;
	(void)key;
	store.extends++;
	store.lasts_ns = lasts_ns;
	return store.error;
}

static int remove_it(void *data, struct eddy_req *req, struct eddy_str key)
{
	(void)data;
	(void)req;
	if (store.error)
		return store.error;
	store.removes++;
	if (memcmp(store.key, key.ptr, sizeof(store.key)) == 0)
		store.len = 0;
	return 0;
}

static const struct eddy_session_store verbs = { load_it, save_it, extend_it, remove_it };

static struct eddy_app *make_stored(void)
{
	store = (struct store){ 0 };
	return make_app(&(struct eddy_sessions_options){
		.store = &verbs, .store_data = &store, .idle_ns = 1000 * EDDY_SECOND });
}

Test(session, writes_what_has_changed)
{
	struct eddy_app *app = make_stored();
	char id[64];

	EXPECT("/without", "without");
	EXPECT("/do?get=user", "none");
	cr_expect(eq(uint, store.loads, 0)); /* there was no cookie */
	EXPECT("/do?set=user&to=ada", "done");
	cr_expect(eq(uint, store.saves, 1));
	cr_expect(eq(uint, store.news, 1));
	cr_expect(gt(u64, store.lasts_ns, 999 * EDDY_SECOND));
	cr_expect(le(u64, store.lasts_ns, 1000 * EDDY_SECOND));
	EXPECT("/without", "without");
	EXPECT("/do?get=user", "ada");
	EXPECT("/do?set=user&to=ada", "done");
	EXPECT("/do?remove=none", "done");
	cr_expect(eq(uint, store.loads, 3));
	cr_expect(eq(uint, store.saves, 1));
	EXPECT("/do?set=user&to=bob", "done");
	cr_expect(eq(uint, store.saves, 2));
	cr_expect(eq(uint, store.news, 1));
	EXPECT("/do?renew", "done");
	cr_expect(eq(uint, store.saves, 3));
	cr_expect(eq(uint, store.news, 1));
	cr_expect(eq(uint, store.removes, 0));
	/* The store does not know the id. */
	snprintf(id, sizeof(id), "%s", jar + strlen("session="));
	cr_expect(memmem(store.bytes, store.len, id, 43) == NULL);
	cr_expect(memcmp(store.key, id, 32) != 0);
	eddy_app_free(app);
}

Test(session, extends_its_life)
{
	struct eddy_app *app = make_stored();

	EXPECT("/do?set=user&to=ada", "done");
	store.lasts_ns = 876 * EDDY_SECOND;
	EXPECT("/do?get=user", "ada");
	cr_expect(eq(uint, store.extends, 0));
	store.lasts_ns = 874 * EDDY_SECOND;
	EXPECT("/without", "without");
	cr_expect(eq(uint, store.extends, 0));
	EXPECT("/do?get=user", "ada");
	cr_expect(eq(uint, store.extends, 1));
	cr_expect(eq(u64, store.lasts_ns, 1000 * EDDY_SECOND));
	cr_expect(eq(uint, store.saves, 1));
	eddy_app_free(app);
}

Test(session, is_not_extended_beyond_its_end)
{
	struct eddy_app *app;

	store = (struct store){ 0 };
	app = make_app(&(struct eddy_sessions_options){ .store = &verbs,
							.store_data = &store,
							.idle_ns = 1000 * EDDY_SECOND,
							.max_ns = 600 * EDDY_SECOND });
	EXPECT("/do?set=user&to=ada", "done");
	cr_expect(le(u64, store.lasts_ns, 600 * EDDY_SECOND));
	store.lasts_ns = 100 * EDDY_SECOND;
	EXPECT("/do?get=user", "ada");
	cr_expect(eq(uint, store.extends, 1));
	cr_expect(le(u64, store.lasts_ns, 600 * EDDY_SECOND));
	cr_expect(gt(u64, store.lasts_ns, 500 * EDDY_SECOND));
	eddy_app_free(app);
}

static bool renews;

/* As if another request had ended the session in between. */
static int end_between(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	int r = eddy_req_session(req, &session);

	store.len = 0;
	if (r == 0)
		r = eddy_session_set(session, "user", EDDY_STR("mallory"));
	if (r == 0 && renews)
		r = eddy_session_renew(session);
	return r < 0 ? r : eddy_res_ok(res, "done");
}

Test(session, does_not_come_back)
{
	struct eddy_app *app = make_stored();

	eddy_app_map_get(app, "/between", end_between);
	for (int i = 0; i < 2; i++) {
		renews = i == 1;
		EXPECT("/do?set=user&to=ada", "done");
		EXPECT("/between", "done");
		cr_expect_str_eq(set_it, "");
		EXPECT("/do?get=user", "none");
	}
	eddy_app_free(app);
}

Test(session, errors_of_the_store)
{
	struct eddy_app *app = make_stored();

	store.error = -EBUSY;
	EXPECT("/do?set=user&to=ada", "503");
	cr_expect_str_eq(set_it, "");
	store.error = 0;
	EXPECT("/do?set=user&to=ada", "done");
	store.error = -EBUSY;
	EXPECT("/do?get=user", "503");
	EXPECT("/without", "without");
	store.error = 0;
	EXPECT("/do?get=user", "ada");
	/* Bytes that this version does not know. */
	store.bytes[0] ^= 1;
	EXPECT("/do?get=user", "none");
	store.bytes[0] ^= 1;
	store.len--;
	EXPECT("/do?get=user", "none");
	store.len = 3;
	EXPECT("/do?get=user", "none");
	eddy_app_free(app);
}

/* Whatever the store has, it is read within its bounds. */
Test(session, bytes_of_the_store)
{
	struct eddy_app *app = make_stored();
	struct store good;
	char cookie[sizeof(jar)];

	EXPECT("/do?set=user&to=ada", "done");
	EXPECT("/do?set=other&to=1", "done");
	good = store;
	strcpy(cookie, jar);
	for (size_t i = 0; i < 300; i++) {
		store = good;
		store.len = sizeof(uint64_t[2]) + i % (good.len - sizeof(uint64_t[2]) + 1);
		store.bytes[sizeof(uint64_t[2]) + i * 7 % (good.len - sizeof(uint64_t[2]))] ^=
			(char)(1 + i);
		ask_with(app, "GET /do?set=third&to=x&remove=user&get=other", cookie);
	}
	eddy_app_free(app);
}

/* ---- mistakes ---- */

static char said[512]; /* the first ERROR record */

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (record->level == EDDY_LOG_ERROR && !said[0])
		snprintf(said, sizeof(said), "%.*s", EDDY_FMT(record->message));
}

Test(session, mistakes)
{
	static const struct eddy_sessions_options wrong[] = {
		{ .idle_ns = UINT64_MAX },   { .max_ns = UINT64_MAX }, { .size_max = 65536 },
		{ .count_max = UINT32_MAX }, { .cookie = "a b" },      { .cookie = "" },
	};
	struct eddy_response *response;

	eddy_log_subscribe(hear, NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct eddy_app *app = make_app(&wrong[i]);

		said[0] = '\0';
		cr_expect(eq(int, eddy_app_test(app, "GET /do", NULL, &response), -EINVAL));
		cr_expect(strstr(said, "invalid options of sessions") != NULL, "%s", said);
		eddy_app_free(app);
	}
	eddy_log_unsubscribe();
}

Test(session, of_a_group)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");

	eddy_app_use_sessions(group, &(struct eddy_sessions_options){ .cookie = "outer" });
	eddy_app_use_sessions(eddy_app_map_get(group, "/do", run), NULL);
	eddy_app_map_get(app, "/do", run);
	EXPECT("/g/do?set=user&to=ada", "done");
	cr_expect(strncmp(jar, "outer=", 6) == 0);
	eddy_log_subscribe(hear, NULL);
	EXPECT("/do", "500");
	eddy_log_unsubscribe();
	cr_expect_str_eq(said, "eddy_req_session() needs eddy_app_use_sessions()");
	eddy_app_free(app);
}
