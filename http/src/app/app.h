/* app.h: an app's settings, and its state while it runs. */
#ifndef EDDYI_APP_H
#define EDDYI_APP_H

#include "message/head.h"
#include "router.h"
#include "text/mime.h"
#include "text/network.h"

#include <eddy/layer.h>
#include <eddy/event.h>
#include <eddy/mutex.h>
#include <eddy/offload.h>
#include <eddy/route.h>
#include <eddy/scope.h>
#include <stdatomic.h>

#define EDDYI_ADDRESSES_MAX 64

struct eddy_client_options;
struct eddy_sandbox_options;
struct eddyi_run;
struct eddyi_cookie_keys;
struct eddyi_tls_setup;
struct eddyi_tree;
struct eddyi_folder;
struct eddyi_section;
struct mistake;
struct start;
struct ending;
struct kept;
struct eddyi_watch;

/* A task of eddy_app_add_task(). */
struct eddyi_beside {
	struct eddyi_beside *next;
	const char *name;
	eddy_task_fn *fn;
	void *data;
};

/* ---- filters ---- */

/* A filter of an app, a group or a route. */
struct eddyi_filter {
	struct eddyi_filter *next;
	eddy_filter_fn *fn;
	void *data;
	bool is_guard;
	struct eddy_guard guard;
};

/* Invariant: `outer` leads to the app's filters. Outer filters may be added after inner ones, so
 * each request walks the chain of its route. */
struct eddyi_filters {
	const struct eddyi_filters *outer; /* of the surrounding owner; NULL for the app's */
	struct eddyi_filter *first;
	struct eddyi_filter **end;
};

static inline void eddyi_filters_init(struct eddyi_filters *filters,
				      const struct eddyi_filters *outer)
{
	*filters = (struct eddyi_filters){ .outer = outer, .end = &filters->first };
}

/* ---- the app ---- */

#define EDDYI_WORKERS_MAX 1024
#define EDDYI_IO_WORKERS_MAX 1024
/* The deepest of eddy's own calls, the fetch of an issuer's keys, uses less than 48 KiB. */
#define EDDYI_STACK_MIN (64 * EDDY_KIB)
#define EDDYI_STACK_MAX EDDY_GIB
#define EDDYI_RATE_MIN_MAX (1 << 20)

/* The first member of an app, a group and a route, so that union eddy_target points to it. */
struct eddyi_owner {
	struct eddy_app *app;
	struct eddyi_filters filters; /* inside those of the surrounding group */
};

static inline struct eddyi_owner *eddyi_owner(union eddy_target target)
{
	return (struct eddyi_owner *)target.app;
}

struct eddy_route {
	struct eddyi_owner owner;
	struct eddy_route *next; /* in the order of mapping */
	eddy_handler_fn *handler;
	const char *label;                 /* "GET /users/{id}", for people */
	const struct eddyi_tree *tree;     /* the folder of eddy_app_map_files() */
	struct eddy_route_options options; /* a zero field: the app's */
};

struct eddy_group {
	struct eddyi_owner owner;
	struct eddy_str prefix; /* including outer groups; without a trailing slash */
	bool inert;             /* the prefix is invalid: its routes are not mapped */
};

struct eddyi_address {
	const char *text;    /* as configured */
	bool plain;          /* without TLS, also if the app uses TLS */
	bool proxy_protocol; /* connections begin with a PROXY header */
};

struct eddy_app {
	struct eddy_group root;   /* the group of the app itself, with an empty prefix */
	struct eddyi_arena arena; /* of all settings */
	struct eddyi_address addresses[EDDYI_ADDRESSES_MAX];
	size_t address_count;
	bool has_default_address;              /* no other has been set */
	struct eddy_server_options options;    /* with defaults filled in */
	struct eddyi_trust trust;              /* from .trusted_proxies */
	struct eddy_transfer_options transfer; /* from .transfer, if set: */
	bool has_transfer;
	struct eddyi_head_limits head_limits;
	void *context;
	struct eddyi_router *router;
	struct eddy_route *routes, **routes_end;
	eddy_handler_fn *fallback;
	eddy_err_fn *render_error;            /* NULL: problem+json */
	struct eddyi_tls_setup *tls;          /* NULL: no TLS */
	struct eddyi_folder *kept_folders;    /* those of eddy_app_keep_files_open() */
	struct eddyi_folder *known_folders;   /* also those of eddy_app_map_files() */
	struct eddy_sandbox_options *sandbox; /* NULL: no sandbox */
	struct mistake *mistakes;
	struct mistake **mistakes_end;
	struct kept *layers;
	struct eddyi_watch *watches; /* observers of requests, the latest first */
	struct eddyi_beside *beside; /* tasks of eddy_app_add_task(), the latest first */
	struct start *starts;        /* functions to call before the app runs */
	struct eddy_mutex preparing; /* serializes preparing; later callers find it done */
	struct ending *endings;      /* functions to call before the app is freed */
	struct eddyi_section *sections;
	const char *config_path;
	const char *const *config_bind; /* values of the file; terminated by NULL */
	const char *const *config_bind_plain;
	const char *const *config_proxy_protocol;
	const char *config_technique;
	const char *config_technique_in;
	/* NULL without a file, so that a program without one does not link the parser. */
	int (*read_config)(struct eddy_app *app);
	bool has_read_config; /* before a loop existed; the next start takes the result: */
	int read_result;
	struct eddy_offload_options offload; /* from the file */

	struct eddyi_cookie_keys *cookie_keys;            /* NULL: none */
	const struct eddy_client_options *client_options; /* for handlers; NULL: defaults */

	struct eddyi_mime *mime; /* read before the first run or test */

	bool stands_in; /* during the start: this app has subscribed to the log */
	bool is_gone;   /* eddy_app_run_blocking() has freed all but this structure */
	struct eddy_app *next_gone;
	atomic_uint_fast64_t body_memory;
	atomic_uint_fast64_t refused_bodies; /* because of body_memory */

	/* Of a running app: */
	struct eddyi_run *run;        /* guarded by eddyi_run_lock, as is: */
	unsigned early_stops;         /* shutdowns requested before the run */
	struct eddy_app_stats before; /* counters of earlier runs */
	atomic_uint port;
	atomic_bool draining;      /* shutting down without a successor */
	struct eddy_node handling; /* while signals are handled for it, in the list of run.c */
};

/* Format a string in the app's memory. Aborts on allocation failure. */
EDDY_PRINTF(2, 3)
struct eddy_str eddyi_app_printf(struct eddy_app *app, const char *format, ...);

/* Replace the plain addresses, or the others, by these, which NULL terminates; all must fit.
 * Borrowed. */
void eddyi_app_replace_addresses(struct eddy_app *app, const char *const *texts, bool plain);

/* Require a PROXY header at these addresses, which NULL terminates, and at no others.
 * Return: false if the app does not listen at one of them. */
bool eddyi_app_set_proxy_protocol(struct eddy_app *app, const char *const *texts);

/* Apply .trusted_proxies of the options. */
void eddyi_app_set_trust(struct eddy_app *app);

/* Apply the limits of heads from the options. */
void eddyi_app_set_head_limits(struct eddy_app *app);

/* Free an app except for its structure, which a later eddy_app_free() frees. */
void eddyi_app_retire(struct eddy_app *app);

/* Emit a log record for each mistake. Return: whether there are any. */
bool eddyi_app_report_mistakes(const struct eddy_app *app);

/* Read the configuration file before a loop exists, so that loops can be made with its options. The
 * next eddyi_app_prepare() takes the result. */
void eddyi_app_read_early(struct eddy_app *app);

/* If the program subscribes to no log records, print errors to stderr until _stand_back(). */
void eddyi_app_stand_in(struct eddy_app *app);
void eddyi_app_stand_back(struct eddy_app *app);

/* Read the configuration file, prepare for a run or test, and report mistakes. Suspends.
 * Return: 0, -EINVAL, -errno. */
int eddyi_app_prepare(struct eddy_app *app, bool is_run);

/* ---- tasks beside requests ---- */

/* Of the tasks of eddy_app_add_task(), which run while an app runs.
 *
 * Invariant: they are in a shielded scope, which a task of its own ends after the last
 * request, also if the program cancels its app. */
struct eddyi_beside_keeper {
	const struct eddy_app *app;
	struct eddy_event begun, served;
	int result;
};

void eddyi_beside_init(struct eddyi_beside_keeper *keeper, const struct eddy_app *app);

/* Start the tasks. Suspends, and is not cancelled. Return: 0; -errno, and log records say why. */
int eddyi_beside_begin(struct eddyi_beside_keeper *keeper, struct eddy_scope *scope);

/* Cancel the tasks after the last request. The end of the scope waits for them. */
void eddyi_beside_end(struct eddyi_beside_keeper *keeper);

#endif
