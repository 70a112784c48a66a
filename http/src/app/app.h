/* app.h: what an app has been told, and what it is while it runs. */
#ifndef EDDYI_APP_H
#define EDDYI_APP_H

#include "filter.h"
#include "message/head.h"
#include "router.h"
#include "text/mime.h"
#include "text/network.h"

#include <eddy/layer.h>
#include <eddy/event.h>
#include <eddy/mutex.h>
#include <stdatomic.h>

/* How many addresses an app may listen on. */
#define EDDYI_ADDRESSES_MAX 64

struct eddy_client_options;
struct eddy_sandbox_options;
struct eddyi_run;
struct eddyi_tls_setup;
struct eddyi_tree;
struct eddyi_folder;
struct eddyi_section;
struct mistake;
struct start;
struct ending;
struct kept;
struct eddyi_watch;

/* What runs beside an app. */
struct eddyi_beside {
	struct eddyi_beside *next;
	const char *name;
	eddy_task_fn *fn;
	void *data;
};

#define EDDYI_WORKERS_MAX 1024
#define EDDYI_IO_WORKERS_MAX 1024
#define EDDYI_RATE_MIN_MAX (1 << 20)

/* The first member of an app, a group and a route, so that a union eddy_target points to it. */
struct eddyi_owner {
	struct eddy_app *app;
	struct eddyi_filters filters; /* inside those of the group around it */
};

static inline struct eddyi_owner *eddyi_owner(union eddy_target target)
{
	return (struct eddyi_owner *)target.app;
}

struct eddy_route {
	struct eddyi_owner owner;
	eddy_handler_fn *handler;
	const struct eddyi_tree *tree;     /* what eddy_app_map_files() has it serve */
	struct eddy_route_options options; /* a zero field: the app's */
};

struct eddy_group {
	struct eddyi_owner owner;
	struct eddy_str prefix; /* those of outer groups included; without a trailing slash */
	bool inert;             /* the prefix is a mistake: nothing in it is mapped */
};

/* Where an app listens. */
struct eddyi_address {
	const char *text;    /* as it was typed */
	bool plain;          /* without TLS, also where the app uses it */
	bool proxy_protocol; /* connections begin with a PROXY header */
};

struct eddy_app {
	struct eddy_group root;   /* of what is mapped on the app itself, with the empty prefix */
	struct eddyi_arena arena; /* of everything that it was told */
	struct eddyi_address addresses[EDDYI_ADDRESSES_MAX];
	size_t address_count;
	bool has_default_address;              /* no other was given */
	struct eddy_server_options options;    /* defaults filled in */
	struct eddyi_trust trust;              /* .trusted_proxies */
	struct eddy_transfer_options transfer; /* .transfer, if any was set: */
	bool has_transfer;
	struct eddyi_head_limits head_limits;
	void *context;
	struct eddyi_router *router;
	eddy_handler_fn *fallback;
	eddy_err_fn *render_error;            /* NULL: problem+json */
	struct eddyi_tls_setup *tls;          /* NULL: plain */
	struct eddyi_folder *kept_folders;    /* whose files stay open for eddy_res_file_at() */
	struct eddyi_folder *known_folders;   /* these, and those of eddy_app_map_files() */
	struct eddy_sandbox_options *sandbox; /* NULL: none is entered */
	struct mistake *mistakes;
	struct mistake **mistakes_end;
	struct kept *layers;
	struct eddyi_watch *watches; /* who observes its requests, the last that was added first */
	struct eddyi_beside *beside; /* what else runs while it runs; the last that was added first */
	struct start *starts;        /* what is done before it begins */
	struct eddy_mutex preparing;    /* one at a time; the others find it prepared */
	struct ending *endings;         /* what is done before it is freed */
	struct eddyi_section *sections; /* that its configuration file may have */
	const char *config_path;
	const char *const *config_bind; /* what the file says; ends with NULL */
	const char *const *config_bind_plain;
	const char *const *config_proxy_protocol;
	const char *config_technique;
	const char *config_technique_in;
	/* NULL without a file: a program that has none links no parser of it. */
	int (*read_config)(struct eddy_app *app);

	const struct eddy_client_options *client_options; /* of handlers; NULL: its defaults */

	struct eddyi_mime *mime; /* read when it runs or is tested for the first time */

	bool stands_in; /* while it starts: the subscriber to the log is its own */
	atomic_uint_fast64_t body_memory;    /* bytes of bodies that are in memory */
	atomic_uint_fast64_t refused_bodies; /* for which there was none left */

	/* While it runs: */
	struct eddyi_run *run;        /* guarded by a lock of run.c, as is: */
	unsigned early_stops;         /* shutdowns asked for before there was a run */
	struct eddy_app_stats before; /* what earlier runs have counted */
	atomic_uint port;
	atomic_bool draining; /* it ends, and nobody goes on for it */
};

/* Two strings as one, in the app's memory. */
struct eddy_str eddyi_app_join(struct eddy_app *app, struct eddy_str a, struct eddy_str b);

/* Listen at these addresses, which NULL ends, in place of those that are plain, or of those that are not; all
 * fit. The strings are borrowed. */
void eddyi_app_replace_addresses(struct eddy_app *app, const char *const *texts, bool plain);

/* Have connections begin with a PROXY header at these addresses, which NULL ends, and at no other. Return: false when the
 * app does not listen at one of them. */
bool eddyi_app_set_proxy_protocol(struct eddy_app *app, const char *const *texts);

/* Take .trusted_proxies from the options. */
void eddyi_app_set_trust(struct eddy_app *app);

/* Take the limits of heads from the options. */
void eddyi_app_set_head_limits(struct eddy_app *app);

/* Emit a record for each mistake. Return: whether there are any. */
bool eddyi_app_report_mistakes(const struct eddy_app *app);

/* Read the app's configuration file, do what is to be done before it runs or is tested, and report what is wrong.
 * Suspends. Return: 0, -EINVAL, -errno. */
int eddyi_app_prepare(struct eddy_app *app, bool is_run);

#endif
