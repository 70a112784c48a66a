/* Sessions: the filter, and what handlers do with the session of a request. */
#include "exchange/exchange_state.h"
#include "session_memory.h"
#include "text/base64.h"
#include "text/syntax.h"
#include "tls/wolfssl.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <eddy/peer.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <wolfssl/wolfcrypt/hash.h>

#define MINUTE_NS (60 * EDDY_SECOND)
#define YEAR_NS (365 * 1440 * MINUTE_NS)
#define SIZE_MAX_DEFAULT ((uint32_t)(4 * EDDY_KIB))
#define SIZE_MAX_MAX 0xffff
#define COUNT_MAX_MAX (1U << 28)

#define ID_LEN 32
#define ID_TEXT_LEN 43 /* base64 without its padding */
#define KEY_LEN 32     /* SHA-256 of the id */

/* Of the bytes in a store, before names and values. Big-endian. */
struct head {
	uint64_t version;  /* of the format: 1 */
	uint64_t began_ns; /* since 1970 */
};

/* Of a name and a value, which follow it. */
#define PAIR_HEAD_LEN 4

struct sessions {
	struct eddy_sessions_options options;
	const char *host_cookie; /* the name of the cookie over TLS */
	struct eddyi_session_memory memory;
};

/* Invariants:
 * 1. `key` is the hash of `id`. A session without an id has no values.
 * 2. `is_stored`: the store had `key`. `old_key`: the one before the session was renewed, if
 *    `has_old`, which the store had.
 * 3. Memory of `pairs` is never changed, since values that a handler has got point to it. */
struct eddy_session {
	const struct sessions *sessions; /* NULL before the filter */
	struct eddy_req *req;
	bool is_loaded, has_id, is_stored, has_old;
	bool is_changed;  /* since it was loaded */
	bool sets_cookie; /* to the id, or to forget it if there is none */
	unsigned char id[ID_LEN], key[KEY_LEN], old_key[KEY_LEN];
	uint64_t began_ns, left_ns; /* when it was loaded */
	struct eddy_str pairs;      /* names and values, each pair behind its lengths */
};

static const struct eddy_req_layer layer = { "session", sizeof(struct eddy_session), NULL };

static uint64_t now_ns(void)
{
	return eddyi_clock(CLOCK_REALTIME);
}

/* ---- names and values ---- */

/* Take a pair off the front. Return: false at the end, or if the rest is no pair. */
static bool take_pair(struct eddy_str *rest, struct eddy_pair *ret_pair)
{
	const unsigned char *at = (const unsigned char *)rest->ptr;
	size_t name_len, value_len;

	if (rest->len < PAIR_HEAD_LEN)
		return false;
	name_len = (size_t)at[0] << 8 | at[1];
	value_len = (size_t)at[2] << 8 | at[3];
	if (rest->len - PAIR_HEAD_LEN < name_len + value_len)
		return false;
	*rest = eddy_str_skip(*rest, PAIR_HEAD_LEN);
	ret_pair->name = eddy_str(rest->ptr, name_len);
	ret_pair->value = eddy_str(rest->ptr + name_len, value_len);
	*rest = eddy_str_skip(*rest, name_len + value_len);
	return true;
}

static char *add_pair(char *at, struct eddy_str name, struct eddy_str value)
{
	*at++ = (char)(name.len >> 8);
	*at++ = (char)name.len;
	*at++ = (char)(value.len >> 8);
	*at++ = (char)value.len;
	memcpy(at, name.ptr, name.len);
	at += name.len;
	if (value.len)
		memcpy(at, value.ptr, value.len);
	return at + value.len;
}

/* Copy all pairs but the one of this name, and append it with the value unless .ptr is NULL. */
static int change(struct eddy_session *session, struct eddy_str name, struct eddy_str value)
{
	uint32_t max = session->sessions->options.size_max;
	struct eddy_str rest = session->pairs;
	struct eddy_pair pair;
	char *bytes, *end;

	if (name.len > max || value.len > max)
		return -EMSGSIZE;
	bytes = end = eddyi_arena_alloc(&session->req->arena,
					rest.len + PAIR_HEAD_LEN + name.len + value.len);
	if (!bytes)
		return -ENOMEM;
	while (take_pair(&rest, &pair))
		if (!eddy_str_eq(pair.name, name))
			end = add_pair(end, pair.name, pair.value);
	if (value.ptr)
		end = add_pair(end, name, value);
	if ((size_t)(end - bytes) > max)
		return -EMSGSIZE;
	session->pairs = eddy_str(bytes, (size_t)(end - bytes));
	session->is_changed = true;
	return 0;
}

struct eddy_str eddy_session_get(const struct eddy_session *session, const char *name)
{
	struct eddy_str rest = session->pairs;
	struct eddy_pair pair;

	while (take_pair(&rest, &pair))
		if (eddy_str_eq_z(pair.name, name))
			return pair.value;
	return (struct eddy_str){ 0 };
}

/* ---- the cookie ---- */

static const char *cookie_of(const struct eddy_session *session)
{
	return eddy_req_is_secure(session->req) ? session->sessions->host_cookie :
						  session->sessions->options.cookie;
}

static bool make_key(struct eddy_session *session)
{
	return wc_Sha256Hash(session->id, ID_LEN, session->key) == 0;
}

static int make_id(struct eddy_session *session)
{
	const struct eddy_res *res = &session->req->res;

	if (res->head_sent || res->kind == EDDYI_RES_STREAM)
		return -EINVAL;
	if (eddyi_random(session->id, ID_LEN, 0) < 0 || !make_key(session))
		return -EIO;
	session->has_id = session->sets_cookie = true;
	session->is_stored = false;
	session->began_ns = now_ns();
	return 0;
}

static bool read_id(struct eddy_session *session, struct eddy_str text)
{
	unsigned char bytes[EDDYI_BASE64_DECODED(ID_TEXT_LEN)];

	if (text.len != ID_TEXT_LEN || eddyi_base64_decode(text, bytes) != ID_LEN)
		return false;
	memcpy(session->id, bytes, ID_LEN);
	return make_key(session);
}

/* An eddy_res_head_fn. */
static void set_fields(void *data, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session = data;
	const struct eddy_sessions_options *options = &session->sessions->options;
	char id[EDDYI_BASE64_ENCODED(ID_LEN)];

	if (!eddy_res_header(res, "cache-control").ptr)
		eddy_res_set_z(res, "cache-control", "no-store");
	if (!session->sets_cookie)
		return;
	eddyi_base64_encode(session->id, ID_LEN, id);
	/* Once: the head of another response may follow. */
	session->sets_cookie =
		eddy_res_cookie(res,
				&(struct eddy_cookie){
					.name = cookie_of(session),
					.value = eddy_str(id, session->has_id ? ID_TEXT_LEN : 0),
					.path = "/",
					.max_age_s = options->persistent ?
							     options->max_ns / EDDY_SECOND :
							     0,
					.forget = !session->has_id,
					.secure = eddy_req_is_secure(req),
					.http_only = true,
					.same_site = options->same_site,
				}) < 0;
}

/* ---- the store ---- */

static struct eddy_str key_of(const unsigned char key[KEY_LEN])
{
	return eddy_str((const char *)key, KEY_LEN);
}

static bool read_bytes(struct eddy_session *session, struct eddy_str bytes)
{
	struct eddy_str rest;
	struct eddy_pair pair;
	struct head head;

	if (bytes.len < sizeof(head))
		return false;
	memcpy(&head, bytes.ptr, sizeof(head));
	rest = session->pairs = eddy_str_skip(bytes, sizeof(head));
	while (take_pair(&rest, &pair))
		;
	session->began_ns = be64toh(head.began_ns);
	return be64toh(head.version) == 1 && !rest.len;
}

static int load(struct eddy_session *session)
{
	const struct eddy_sessions_options *options = &session->sessions->options;
	struct eddy_str text, bytes;
	int r = eddy_req_cookie(session->req, cookie_of(session), &text);

	if (r == 0 && !read_id(session, text))
		r = -ENOENT;
	if (r == 0)
		r = options->store->load(options->store_data, session->req, key_of(session->key),
					 &bytes, &session->left_ns);
	if (r == 0)
		session->has_id = session->is_stored = read_bytes(session, bytes);
	if (!session->has_id)
		session->pairs = EDDY_STR("");
	return r == -ENOENT ? 0 : r;
}

static int remove_key(const struct eddy_session *session, const unsigned char key[KEY_LEN])
{
	const struct eddy_sessions_options *options = &session->sessions->options;

	return options->store->remove(options->store_data, session->req, key_of(key));
}

static int save(struct eddy_session *session, uint64_t lasts_ns)
{
	const struct eddy_sessions_options *options = &session->sessions->options;
	const struct head head = { htobe64(1), htobe64(session->began_ns) };
	size_t len = sizeof(head) + session->pairs.len;
	char *bytes = eddyi_arena_alloc(&session->req->arena, len);
	struct eddy_str old = { 0 };
	int r = -ENOMEM;

	if (session->has_old)
		old = key_of(session->old_key);
	else if (session->is_stored)
		old = key_of(session->key);
	if (bytes) {
		memcpy(bytes, &head, sizeof(head));
		memcpy(bytes + sizeof(head), session->pairs.ptr, session->pairs.len);
		r = options->store->save(options->store_data, session->req, key_of(session->key),
					 eddy_str(bytes, len), lasts_ns, old);
	}
	/* The client must not get an id that the store does not know. */
	if (r < 0)
		session->sets_cookie = false;
	/* Another request has ended the session, or renewed it. */
	return r == -ENOENT && old.len ? 0 : r;
}

/* Save changes; without any, extend a session of which an eighth of .idle_ns has passed. */
static int finish(struct eddy_session *session)
{
	const struct eddy_sessions_options *options = &session->sessions->options;
	uint64_t now = now_ns(), end = session->began_ns + options->max_ns;
	uint64_t lasts_ns = options->idle_ns;

	if (!session->has_id || end <= now)
		return 0;
	if (lasts_ns > end - now)
		lasts_ns = end - now;
	if (session->is_changed)
		return save(session, lasts_ns);
	if (session->is_stored && lasts_ns > session->left_ns + options->idle_ns / 8)
		options->store->extend(options->store_data, session->req, key_of(session->key),
				       lasts_ns);
	return 0;
}

/* ---- handlers ---- */

int eddy_req_session(struct eddy_req *req, struct eddy_session **ret_session)
{
	struct eddy_session *session = eddy_req_find_layer(req, &layer);
	int r = 0;

	if (!session) {
		eddy_error("eddy::http", "eddy_req_session() needs eddy_app_use_sessions()");
		return -EDOM;
	}
	if (!session->is_loaded)
		r = load(session);
	if (r == 0 && !session->is_loaded)
		r = eddy_res_on_head(&req->res, set_fields, session);
	if (r < 0)
		return r;
	session->is_loaded = true;
	*ret_session = session;
	return 0;
}

int eddy_session_set(struct eddy_session *session, const char *name, struct eddy_str value)
{
	struct eddy_str is = eddy_session_get(session, name);
	bool begins = !session->has_id;
	int r = 0;

	if (!value.ptr)
		return -ENOMEM;
	if (is.ptr && eddy_str_eq(is, value))
		return 0;
	if (begins)
		r = make_id(session);
	if (r == 0)
		r = change(session, eddy_str_from(name), value);
	if (r < 0 && begins)
		session->has_id = false;
	return r;
}

int eddy_session_remove(struct eddy_session *session, const char *name)
{
	if (!eddy_session_get(session, name).ptr)
		return 0;
	return change(session, eddy_str_from(name), (struct eddy_str){ 0 });
}

int eddy_session_renew(struct eddy_session *session)
{
	unsigned char key[KEY_LEN];
	bool was_stored = session->is_stored;
	int r;

	if (!session->has_id)
		return 0;
	memcpy(key, session->key, KEY_LEN);
	r = make_id(session);
	if (r < 0)
		return r;
	session->is_changed = true;
	if (was_stored) {
		session->has_old = true;
		memcpy(session->old_key, key, KEY_LEN);
	}
	return 0;
}

int eddy_session_end(struct eddy_session *session)
{
	int r = 0;

	if (session->is_stored)
		r = remove_key(session, session->key);
	if (r == 0 && session->has_old)
		r = remove_key(session, session->old_key);
	if (r < 0)
		return r;
	session->has_id = session->is_stored = session->has_old = session->is_changed = false;
	session->sets_cookie = true;
	session->pairs = EDDY_STR("");
	return 0;
}

/* ---- the filter ---- */

static int keep_session(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session = eddy_req_layer(req, &layer);
	int r, saved;

	if (!session)
		return -ENOMEM;
	/* An outer filter has it. */
	if (session->sessions)
		return eddy_next(next, req, res);
	session->sessions = eddy_next_data(next);
	session->req = req;
	r = eddy_next(next, req, res);
	saved = session->is_loaded ? finish(session) : 0;
	return r < 0 ? r : saved;
}

static bool is_possible(const struct eddy_sessions_options *options)
{
	return options->idle_ns <= YEAR_NS && options->max_ns <= YEAR_NS &&
	       options->size_max <= SIZE_MAX_MAX && options->count_max <= COUNT_MAX_MAX &&
	       eddyi_syntax_is_token(eddy_str_from(options->cookie));
}

static void use_memory(struct eddy_app *app, struct sessions *sessions)
{
	struct eddy_sessions_options *options = &sessions->options;

	options->store = &eddyi_session_memory;
	options->store_data = &sessions->memory;
	if (eddyi_session_memory_init(&sessions->memory, options->count_max, options->memory_max) <
	    0)
		eddy_app_mistake(app, "sessions: out of memory");
	else
		eddy_app_at_free(app, eddyi_session_memory_deinit, &sessions->memory);
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!sessions->options.field)                                                      \
			sessions->options.field = (value);                                         \
	} while (0)

void eddy_app_use_sessions(union eddy_target target, const struct eddy_sessions_options *options)
{
	struct eddy_app *app = eddy_app_of(target);
	struct sessions *sessions = eddy_app_alloc(app, sizeof(*sessions));

	*sessions = (struct sessions){ .options = options ? *options :
							    (struct eddy_sessions_options){ 0 } };
	DEFAULT(idle_ns, 30 * MINUTE_NS);
	DEFAULT(max_ns, 720 * MINUTE_NS);
	DEFAULT(size_max, SIZE_MAX_DEFAULT);
	DEFAULT(cookie, "session");
	DEFAULT(same_site, EDDY_SAME_SITE_LAX);
	DEFAULT(count_max, 65536);
	DEFAULT(memory_max, (size_t)(64 * EDDY_MIB));
	if (!is_possible(&sessions->options)) {
		eddy_app_mistake(app,
				 "invalid options of sessions: expected times of at most 365 days, "
				 ".size_max of at most %u, .count_max of at most %u, and a token "
				 "as the cookie's name, not \"%s\"",
				 SIZE_MAX_MAX, COUNT_MAX_MAX, sessions->options.cookie);
		return;
	}
	sessions->options.cookie = eddy_app_keep_string(app, sessions->options.cookie);
	sessions->host_cookie = eddyi_app_printf(app, "__Host-%s", sessions->options.cookie).ptr;
	if (!sessions->options.store)
		use_memory(app, sessions);
	eddy_app_add_filter(target, keep_session, sessions);
}
