/* Invariants:
 * 1. `lock` guards everything that is neither atomic nor owned by the fetching task. It is held to
 *    read and to swap pointers, never to wait.
 * 2. Only a good set replaces a set. `version` is 0 at first, and changes with each set whose text
 *    differs.
 * 3. While `fetch` is BUSY one task fetches. Only that task changes `keys`, which it therefore
 *    reads without the lock, and `is_failing`.
 * 4. `version` is stored before `due_ns` and read after it: a reader that sees a later `due_ns`
 *    also sees the new version.
 * 5. A waiter is in a list, on the stack of its task. It is woken by being removed, with the lock
 *    held.
 */
#include "issuer.h"

#include "identifier.h"
#include "issuer_metadata.h"
#include "jwt/keyset.h"

#include <eddy/client.h>
#include <eddy/internal/figure.h>
#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/layer.h>
#include <eddy/list.h>
#include <eddy/log.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET "eddy::auth"

#define DOCUMENT_MAX EDDY_MIB

/* A timeout that does not overflow when added to the time. */
#define FOR_EVER_NS (EDDY_NEVER / 4)

enum counted {
	FETCHED,
	FAILED,
	WAITED,
	COUNTED,
};

#define FETCHES(outcome)                                                                           \
	{                                                                                          \
		.name = "eddy_oauth_fetches_total",                                                \
		.help = "Fetches of issuers' keys, by outcome.", .label = "outcome",               \
		.value = outcome                                                                   \
	}

static struct eddyi_figure figures[COUNTED] = {
	[FETCHED] = FETCHES("loaded"),
	[FAILED] = FETCHES("failed"),
	[WAITED] = { .name = "eddy_oauth_waits_total",
		     .help = "Requests that waited for an issuer's keys." },
};

enum fetch {
	IDLE,
	WANTED,
	BUSY,
};

struct eddyi_issuer {
	struct eddy_app *app;
	struct eddy_oauth_options options; /* set by each start */
	pthread_mutex_t lock;
	struct eddyi_issuer_keys keys; /* .set NULL: none was ever loaded */
	atomic_uint version;
	atomic_uint_least64_t due_ns; /* when the set is to be fetched again */
	uint64_t ended_ns;            /* when the last fetch ended; 0: none has */
	bool is_failing;              /* reported already */
	enum fetch fetch;
	struct eddy_node waiters; /* waiting for the end of a fetch */
	/* Tasks waiting for a wanted fetch; concurrent tests of an app have one each. */
	struct eddy_node fetchers;
};

struct eddy_oauth_stats eddy_oauth_stats(void)
{
	return (struct eddy_oauth_stats){
		.fetched = eddyi_figure_read(&figures[FETCHED]),
		.failed = eddyi_figure_read(&figures[FAILED]),
		.waited = eddyi_figure_read(&figures[WAITED]),
	};
}

void eddyi_issuer_offer_figures(void)
{
	eddyi_figure_offer(figures, COUNTED);
}

static void count(enum counted what)
{
	eddyi_figure_add(&figures[what], 1);
}

/* Add, and saturate. */
static uint64_t later(uint64_t now, uint64_t duration_ns)
{
	return duration_ns > UINT64_MAX - now ? UINT64_MAX : now + duration_ns;
}

/* ---- state that loops share ---- */

static unsigned version_of(const struct eddyi_issuer *issuer)
{
	return atomic_load_explicit(&issuer->version, memory_order_acquire);
}

static uint64_t due_of(const struct eddyi_issuer *issuer)
{
	return atomic_load_explicit(&issuer->due_ns, memory_order_acquire);
}

/* ---- waiting; called with the lock ---- */

struct waiting {
	struct eddy_node node;
	struct eddy_shared_event event;
};

/* Release the lock and wait until the list is woken or the timeout (0: none) expires. Suspends.
 * Return: whether it was woken. */
static bool wait_in(struct eddyi_issuer *issuer, struct eddy_node *list, uint64_t timeout_ns)
{
	struct waiting waiting;
	struct eddy_scope scope;
	bool was_woken;

	eddy_shared_event_init(&waiting.event);
	eddy_list_append(list, &waiting.node);
	pthread_mutex_unlock(&issuer->lock);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = timeout_ns });
	eddy_shared_event_wait(&waiting.event);
	eddy_scope_end(&scope);
	pthread_mutex_lock(&issuer->lock);
	was_woken = !waiting.node.next;
	if (!was_woken)
		eddy_list_remove(&waiting.node);
	return was_woken;
}

static void wake(struct eddy_node *list)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(list)))
		eddy_shared_event_set(&eddy_of(node, struct waiting, node)->event);
}

/* Start a fetch unless one runs, and wait for its end. Suspends. Return: 0, also on timeout;
 * -ECANCELED. */
static int await_fetch(struct eddyi_issuer *issuer)
{
	count(WAITED);
	if (issuer->fetch == IDLE) {
		issuer->fetch = WANTED;
		wake(&issuer->fetchers);
	}
	if (wait_in(issuer, &issuer->waiters, issuer->options.timeout_ns))
		return 0;
	return eddy_is_cancelled() ? -ECANCELED : 0;
}

/* ---- for guards ---- */

static int give(struct eddyi_issuer *issuer, struct eddy_keyset **ret_set, unsigned *ret_version)
{
	if (!issuer->keys.set)
		return -EAGAIN;
	*ret_set = eddy_keyset_ref(issuer->keys.set);
	*ret_version = version_of(issuer);
	return 0;
}

int eddyi_issuer_keys(struct eddyi_issuer *issuer, struct eddy_keyset **ret_set,
		      unsigned *ret_version)
{
	int r = 0;

	pthread_mutex_lock(&issuer->lock);
	if (!issuer->keys.set || eddy_now() >= due_of(issuer))
		r = await_fetch(issuer);
	if (r == 0)
		r = give(issuer, ret_set, ret_version);
	pthread_mutex_unlock(&issuer->lock);
	return r;
}

static bool may_ask_again(const struct eddyi_issuer *issuer)
{
	uint64_t ended_ns = issuer->ended_ns;

	return !ended_ns || eddy_now() >= later(ended_ns, issuer->options.refresh_cooldown_ns);
}

int eddyi_issuer_newer_keys(struct eddyi_issuer *issuer, unsigned version,
			    struct eddy_keyset **ret_set, unsigned *ret_version)
{
	int r = 0;

	pthread_mutex_lock(&issuer->lock);
	if (version_of(issuer) == version && (issuer->fetch != IDLE || may_ask_again(issuer)))
		r = await_fetch(issuer);
	if (r == 0 && version_of(issuer) == version)
		r = -ENOKEY;
	if (r == 0)
		r = give(issuer, ret_set, ret_version);
	pthread_mutex_unlock(&issuer->lock);
	return r;
}

bool eddyi_issuer_is_ready(const struct eddyi_issuer *issuer)
{
	return eddy_loop_now() < due_of(issuer);
}

bool eddyi_issuer_is_current(const struct eddyi_issuer *issuer, unsigned version)
{
	return eddyi_issuer_is_ready(issuer) && version_of(issuer) == version;
}

/* ---- one fetch ---- */

struct attempt {
	const struct eddy_oauth_options *options;
	struct eddy_str known;
	struct eddy_client *client;
	struct eddyi_issuer_keys keys;
	char *why;
};

/* Append a reason to `why`. Return: `error`. */
EDDY_PRINTF(3, 4)
static int fail(struct attempt *attempt, int error, const char *format, ...)
{
	size_t len = strlen(attempt->why);
	va_list args;

	if (len)
		len += (size_t)snprintf(attempt->why + len, EDDYI_ISSUER_WHY_SIZE - len, "; ");
	if (len >= EDDYI_ISSUER_WHY_SIZE)
		return error;
	va_start(args, format);
	vsnprintf(attempt->why + len, EDDYI_ISSUER_WHY_SIZE - len, format, args);
	va_end(args);
	return error;
}

static int out_of_memory(struct attempt *attempt)
{
	return fail(attempt, -ENOMEM, "out of memory");
}

/* ---- one document ---- */

static const char *advice(int error)
{
	switch (error) {
	case -ENOKEY:
		return " (ca_file can name the certificate of a CA to trust)";
	case -EINVAL:
		return " (check ca_file)";
	case -ELOOP:
		return " (max_redirects can be raised)";
	default:
		return "";
	}
}

/* Fetch a URL and parse its body by `look` on a thread of the offload pool: a megabyte of JSON, or
 * some hundred keys, would hold the loop. Return: 0 or above, what `look` returned; -errno. */
static int get(struct attempt *attempt, const char *url, eddy_offload_fn *look,
	       struct eddy_str *ret_body, void *arg)
{
	struct eddy_response *response = NULL;
	int r = eddy_client_get(attempt->client, url, &response);
	int status = r == 0 ? eddy_response_status(response) : 200;

	if (r == 0 && status == 200)
		r = eddy_response_body(response, ret_body);
	if (r < 0)
		fail(attempt, r, "%s: %s%s", url, eddy_client_error(attempt->client), advice(r));
	else if (status != 200)
		r = fail(attempt, -EBADMSG, "%s responded with status %d", url, status);
	else
		r = eddy_offload(look, arg);
	eddy_response_free(response);
	return r;
}

/* ---- metadata ---- */

static int look_at_metadata(void *arg)
{
	return eddyi_issuer_metadata_read(arg);
}

/* Fetch the metadata from `url`, which is freed. Return: 0, and the allocated URL of the keys;
 * -errno. */
static int get_metadata(struct attempt *attempt, char *url, char **ret_jwks_uri)
{
	struct eddyi_issuer_metadata metadata = {
		.issuer = attempt->options->issuer,
		.allow_http = attempt->options->allow_http,
	};
	int r = url ? get(attempt, url, look_at_metadata, &metadata.text, &metadata) : -ENOMEM;

	if (metadata.fault)
		fail(attempt, r, "%s %s%s%s%s%s", url, metadata.fault, *metadata.shown ? " " : "",
		     metadata.shown, metadata.reason ? ": " : "",
		     metadata.reason ? metadata.reason : "");
	free(url);
	if (r == 0)
		*ret_jwks_uri = metadata.jwks_uri;
	return r;
}

static int find_keys(struct attempt *attempt, char **ret_jwks_uri)
{
	const char *issuer = attempt->options->issuer;
	int r = get_metadata(attempt, eddyi_document_url(EDDYI_DOCUMENT_SERVER, issuer),
			     ret_jwks_uri);

	/* After a timeout there is no time left for the second URL. */
	if (r < 0 && r != -ETIMEDOUT)
		r = get_metadata(attempt, eddyi_document_url(EDDYI_DOCUMENT_OPENID, issuer),
				 ret_jwks_uri);
	if (r == 0)
		*attempt->why = '\0';
	return r;
}

/* ---- keys ---- */

struct reading {
	struct eddy_str known, text;
	struct eddyi_issuer_keys keys;
};

/* Parse a key set. Return: 0; 1 if its text is the known one; -errno. */
static int look_at_keys(void *arg)
{
	struct reading *reading = arg;
	struct eddy_str text = reading->text;
	char *copy;
	int r;

	if (text.len && eddy_str_eq(text, reading->known))
		return 1;
	r = eddy_keyset_parse(text, &reading->keys.set);
	if (r < 0)
		return r;
	copy = malloc(text.len);
	if (!copy) {
		eddy_keyset_unref(reading->keys.set);
		return -ENOMEM;
	}
	reading->keys.text = eddy_str(memcpy(copy, text.ptr, text.len), text.len);
	return 0;
}

static int get_keys(struct attempt *attempt, const char *url)
{
	struct reading reading = { .known = attempt->known };
	size_t told = strlen(attempt->why);
	int r = get(attempt, url, look_at_keys, &reading.text, &reading);

	if (attempt->why[told])
		return r;
	if (r == -ENOKEY)
		fail(attempt, r, "%s has no usable key", url);
	else if (r == -EBADMSG)
		fail(attempt, r, "%s is not a key set", url);
	else if (r == 0)
		attempt->keys = reading.keys;
	return r;
}

/* ---- a whole fetch ---- */

static int fetch_all(struct attempt *attempt)
{
	char *jwks_uri = NULL;
	int r = find_keys(attempt, &jwks_uri);

	if (r < 0)
		return r;
	r = get_keys(attempt, jwks_uri);
	free(jwks_uri);
	return r;
}

static int fetch_in_time(struct attempt *attempt)
{
	uint64_t timeout_ns = attempt->options->timeout_ns;
	struct eddy_scope scope;
	int r, ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = timeout_ns });
	r = fetch_all(attempt);
	ended = eddy_scope_end(&scope);
	if (r != -ECANCELED)
		return r;
	*attempt->why = '\0';
	if (ended != -ETIMEDOUT || eddy_is_cancelled())
		return fail(attempt, r, "the fetch was cancelled");
	return fail(attempt, -ETIMEDOUT, "it did not respond within %ju ms",
		    (uintmax_t)(timeout_ns / EDDY_MS));
}

int eddyi_issuer_fetch(const struct eddy_oauth_options *options, struct eddy_str known,
		       struct eddyi_issuer_keys *ret_keys, char ret_why[EDDYI_ISSUER_WHY_SIZE])
{
	struct attempt attempt = { .options = options, .known = known, .why = ret_why };
	int r;

	*ret_why = '\0';
	attempt.client = eddy_client_new(&(struct eddy_client_options){
		.ca_file = options->ca_file,
		.require_https = !options->allow_http,
		.redirects_max = options->redirects_max,
		/* The scope of fetch_in_time() has the timeout. */
		.timeout_ns = EDDY_NEVER,
		.connect_timeout_ns = FOR_EVER_NS,
		.stall_timeout_ns = FOR_EVER_NS,
		.body_max = DOCUMENT_MAX,
	});
	if (!attempt.client)
		return out_of_memory(&attempt);
	r = fetch_in_time(&attempt);
	eddy_client_free(attempt.client);
	if (r == -ENOMEM && !*ret_why)
		out_of_memory(&attempt);
	if (r == 0)
		*ret_keys = attempt.keys;
	return r;
}

/* ---- the task that fetches ---- */

/* Report the first failure, and the recovery. `set` is the one in use. Without the lock. */
static void say_failing(struct eddyi_issuer *issuer, const struct eddy_keyset *set, const char *why)
{
	const char *name = issuer->options.issuer;

	if (!issuer->is_failing && set)
		eddy_warn(
			TARGET,
			"The keys of %s can't be refreshed: %s. The loaded keys stay in use; check "
			"that this machine can still reach the issuer",
			name, why);
	else if (!issuer->is_failing)
		eddy_warn(
			TARGET,
			"The keys of %s can't be fetched: %s. Guarded routes respond with 503 "
			"until it works; check that the URL is the issuer's, and that this machine can "
			"reach it",
			name, why);
	issuer->is_failing = true;
}

static void say_well(struct eddyi_issuer *issuer, const struct eddy_keyset *set)
{
	const char *name = issuer->options.issuer;

	if (issuer->is_failing)
		eddy_info(TARGET, "The keys of %s can be fetched again", name);
	issuer->is_failing = false;
	eddy_debug(TARGET, "%zu keys of %s are loaded; %zu unusable ones were skipped",
		   eddy_keyset_count(set), name, eddyi_keyset_skipped(set));
}

/* After a failed fetch, use an expired set until the next attempt is allowed. With the lock. */
static void keep_old(struct eddyi_issuer *issuer, uint64_t now)
{
	if (issuer->keys.set && now >= due_of(issuer))
		atomic_store(&issuer->due_ns, later(now, issuer->options.refresh_cooldown_ns));
}

static struct eddyi_issuer_keys take_new(struct eddyi_issuer *issuer,
					 const struct eddyi_issuer_keys *keys)
{
	struct eddyi_issuer_keys old = issuer->keys;

	issuer->keys = *keys;
	atomic_fetch_add(&issuer->version, 1);
	return old;
}

/* With the lock. Return: the old keys, to be freed. */
static struct eddyi_issuer_keys end_fetch(struct eddyi_issuer *issuer, int result,
					  const struct eddyi_issuer_keys *keys)
{
	struct eddyi_issuer_keys old = { 0 };
	uint64_t now = eddy_now();

	if (result == 0)
		old = take_new(issuer, keys);
	if (result < 0)
		keep_old(issuer, now);
	else
		atomic_store(&issuer->due_ns, later(now, issuer->options.max_key_age_ns));
	issuer->ended_ns = now;
	issuer->fetch = IDLE;
	wake(&issuer->waiters);
	return old;
}

/* The task was cancelled; if requests wait, another task fetches. With the lock. */
static void drop_fetch(struct eddyi_issuer *issuer)
{
	issuer->fetch = eddy_list_is_empty(&issuer->waiters) ? IDLE : WANTED;
	if (issuer->fetch == WANTED)
		wake(&issuer->fetchers);
}

static void keys_deinit(struct eddyi_issuer_keys *keys)
{
	eddy_keyset_unref(keys->set);
	free((char *)keys->text.ptr);
}

/* Fetch. With the lock, released meanwhile. Suspends. */
static void fetch(struct eddyi_issuer *issuer)
{
	struct eddyi_issuer_keys keys = { 0 }, old = { 0 };
	char why[EDDYI_ISSUER_WHY_SIZE];
	int r;

	issuer->fetch = BUSY;
	pthread_mutex_unlock(&issuer->lock);
	r = eddyi_issuer_fetch(&issuer->options, issuer->keys.text, &keys, why);
	if (r >= 0)
		say_well(issuer, r == 0 ? keys.set : issuer->keys.set);
	else if (r != -ECANCELED)
		say_failing(issuer, issuer->keys.set, why);
	if (r != -ECANCELED)
		count(r < 0 ? FAILED : FETCHED);
	pthread_mutex_lock(&issuer->lock);
	if (r == -ECANCELED)
		drop_fetch(issuer);
	else
		old = end_fetch(issuer, r, &keys);
	pthread_mutex_unlock(&issuer->lock);
	keys_deinit(&old);
	pthread_mutex_lock(&issuer->lock);
}

/* A task of the app: fetches on demand. */
static int run(void *arg)
{
	struct eddyi_issuer *issuer = arg;

	pthread_mutex_lock(&issuer->lock);
	while (!eddy_is_cancelled()) {
		if (issuer->fetch == WANTED)
			fetch(issuer);
		else
			wait_in(issuer, &issuer->fetchers, 0);
	}
	pthread_mutex_unlock(&issuer->lock);
	return 0;
}

/* ---- start and end ---- */

static void deinit(void *arg)
{
	struct eddyi_issuer *issuer = arg;

	keys_deinit(&issuer->keys);
	pthread_mutex_destroy(&issuer->lock);
}

struct eddyi_issuer *eddyi_issuer_new(struct eddy_app *app)
{
	struct eddyi_issuer *issuer = eddy_app_alloc(app, sizeof(*issuer));

	issuer->app = app;
	pthread_mutex_init(&issuer->lock, NULL);
	eddy_list_init(&issuer->waiters);
	eddy_list_init(&issuer->fetchers);
	eddy_app_add_task(app, "issuer", run, issuer);
	eddy_app_at_free(app, deinit, issuer);
	return issuer;
}

/* Suspends. Only regular files: reading a FIFO would block. */
static bool is_file(const char *path)
{
	struct statx st;

	return eddy_statx(AT_FDCWD, path, 0, STATX_TYPE, &st) == 0 && S_ISREG(st.stx_mode);
}

static void check(struct eddy_app *app, const struct eddy_oauth_options *options)
{
	const char *name = options->issuer, *fault;

	if (!name) {
		eddy_app_mistake(app, "eddy_app_use_oauth(): no issuer is configured: set it by "
				      "eddy_app_with_oauth() or in [oauth.client]");
	} else if (!eddyi_identifier_is_issuer(name)) {
		eddy_app_mistake(
			app, "OAuth issuer: expected " EDDYI_ISSUER_EXPECTED ", not \"%s\"", name);
	} else {
		fault = eddyi_issuer_url_fault(name, options->allow_http);
		if (fault)
			eddy_app_mistake(app, "OAuth issuer \"%s\": %s", name, fault);
	}
	if (options->ca_file && !is_file(options->ca_file))
		eddy_app_mistake(app, "OAuth issuer: the ca_file \"%s\" is not a file",
				 options->ca_file);
}

/* Drop the keys of another issuer. */
static void forget_keys(struct eddyi_issuer *issuer)
{
	struct eddyi_issuer_keys old = take_new(issuer, &(struct eddyi_issuer_keys){ 0 });

	atomic_store(&issuer->due_ns, 0);
	issuer->ended_ns = 0;
	issuer->is_failing = false;
	keys_deinit(&old);
}

/* Wait for a fetch of a concurrent test, which reads options and keys. With the lock. Return: 0,
 * -ECANCELED. */
static int await_rest(struct eddyi_issuer *issuer)
{
	while (issuer->fetch == BUSY) {
		/* A cancelled fetch wakes no waiters, hence the timeout. */
		wait_in(issuer, &issuer->waiters, issuer->options.timeout_ns);
		if (eddy_is_cancelled())
			return -ECANCELED;
	}
	return 0;
}

int eddyi_issuer_start(struct eddyi_issuer *issuer, const struct eddy_oauth_options *options)
{
	const char *before;
	int r;

	pthread_mutex_lock(&issuer->lock);
	r = await_rest(issuer);
	before = issuer->options.issuer;
	if (r == 0 && before && !(options->issuer && strcmp(options->issuer, before) == 0))
		forget_keys(issuer);
	if (r == 0)
		issuer->options = *options;
	pthread_mutex_unlock(&issuer->lock);
	if (r == 0)
		check(issuer->app, options);
	return r;
}
