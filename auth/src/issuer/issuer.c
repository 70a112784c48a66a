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
#include "issuer_fetch.h"
#include "issuer_metadata.h"
#include "jwt/keyset.h"

#include <eddy/internal/figure.h>
#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/layer.h>
#include <eddy/list.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define TARGET "eddy::auth"

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
	return (unsigned)eddyi_outside_value(
		"issuer version", atomic_load_explicit(&issuer->version, memory_order_acquire));
}

static uint64_t due_of(const struct eddyi_issuer *issuer)
{
	return (uint64_t)eddyi_outside_value(
		"issuer due", (int64_t)atomic_load_explicit(&issuer->due_ns, memory_order_acquire));
}

/* With the lock. */
static enum fetch fetch_of(const struct eddyi_issuer *issuer)
{
	return (enum fetch)eddyi_outside_value("issuer fetch", issuer->fetch);
}

/* With the lock. */
static bool has_keys(const struct eddyi_issuer *issuer)
{
	return eddyi_outside_value("issuer keys", issuer->keys.set != NULL);
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
	was_woken = eddyi_outside_value("issuer waiter", !waiting.node.next);
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
	if (fetch_of(issuer) == IDLE) {
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
	if (!has_keys(issuer))
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
	if (!has_keys(issuer) || eddy_now() >= due_of(issuer))
		r = await_fetch(issuer);
	if (r == 0)
		r = give(issuer, ret_set, ret_version);
	pthread_mutex_unlock(&issuer->lock);
	return r;
}

static bool may_ask_again(const struct eddyi_issuer *issuer)
{
	uint64_t ended_ns =
		(uint64_t)eddyi_outside_value("issuer ended", (int64_t)issuer->ended_ns);

	return !ended_ns || eddy_now() >= later(ended_ns, issuer->options.refresh_cooldown_ns);
}

int eddyi_issuer_newer_keys(struct eddyi_issuer *issuer, unsigned version,
			    struct eddy_keyset **ret_set, unsigned *ret_version)
{
	int r = 0;

	pthread_mutex_lock(&issuer->lock);
	if (version_of(issuer) == version && (fetch_of(issuer) != IDLE || may_ask_again(issuer)))
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

/* ---- fetching ---- */

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
	if (has_keys(issuer) && now >= due_of(issuer))
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
		if (fetch_of(issuer) == WANTED)
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
	while (fetch_of(issuer) == BUSY) {
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
