/* eddy/app.h: an HTTP application: addresses, routes, filters (middleware), limits and life cycle.
 *
 * Building an app returns no errors. A mistake (a malformed address or pattern, two handlers for
 * one route, an option out of range) is recorded: eddy_app_run() then fails before it listens, with
 * an ERROR log record for each mistake.
 *
 * Build an app on one thread before it runs, and do not change it afterwards. Each request runs in
 * a task (a coroutine with its own stack) on a loop (a thread with one io_uring).
 */
#ifndef EDDY_APP_H
#define EDDY_APP_H

#include <eddy/group.h>
#include <eddy/loop.h>
#include <eddy/str.h>
#include <eddy/technique.h>
#include <sys/types.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* The header fields in which trusted proxies name their clients. Only the chosen ones are read, as
 * clients could forge the others. */
enum eddy_forwarded {
	EDDY_FORWARDED_NONE,
	EDDY_FORWARDED_X,       /* X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host */
	EDDY_FORWARDED_RFC7239, /* Forwarded */
};

/* Limits, timeouts and workers. A zero field takes its default. "beyond: 413" is the status that a
 * request beyond the limit gets. */
struct eddy_server_options {
	unsigned workers; /* loops, each on its own thread; default 1, at most .workers_max */
	/* Workers that the program supports; default and limit 1024. Set 1 if handlers share
	 * memory without a lock, or share eddy's mutexes or channels, which belong to one loop.
	 * Startup fails if .workers is larger, even if a configuration file sets it. */
	unsigned workers_max;

	size_t request_line_max;   /* bytes; default 8 KiB; beyond: 414 */
	size_t header_block_max;   /* bytes of all header fields; default 16 KiB; beyond: 431 */
	unsigned header_count_max; /* header fields; default 100; beyond: 431 */
	uint64_t body_max;        /* bytes of a body read into memory; default 1 MiB; beyond: 413 */
	unsigned json_values_max; /* values of a JSON body; default 16,384; beyond: 413 */
	/* Bytes of all bodies in memory, with the JSON trees made from them, counted as they
	 * arrive; beyond: 503. Default: a quarter of the memory of the machine or control group. A
	 * request also gets 503 if other requests of its client address on its loop hold more than
	 * (.body_memory_max - total) / .workers; trusted proxies and unix sockets are exempt. */
	uint64_t body_memory_max;
	uint64_t file_max;      /* bytes of a body saved to files; default 1 GiB; beyond: 413 */
	unsigned parts_max;     /* parts of a multipart body; default 64; beyond: 413 */
	size_t part_header_max; /* bytes of a part's header block; default 8 KiB; beyond: 400 */
	uint64_t field_max;     /* bytes of a part read as text; default 64 KiB; beyond: 413 */
	/* Connections on all workers. Beyond the limit, a new connection closes an existing one: an
	 * idle one, else one with an incomplete head or TLS handshake, else one below
	 * .body_rate_min or .write_rate_min; within a kind, one of the client address with the most
	 * connections. Default: the smaller of 7/8 of RLIMIT_NOFILE less 32, and a quarter of the
	 * memory divided by 64 KiB (with TLS 288 KiB). */
	unsigned connections_max;
	/* Connections of one client address (IPv6: of one /64); default: no limit; beyond: closed
	 * at once. Unix sockets and trusted proxies are not counted. */
	unsigned connections_per_address_max;

	/* Files that each loop keeps open (eddy/open_files.h); default 1000. All loops together
	 * keep at most RLIMIT_NOFILE / 8. */
	unsigned open_files_max;
	uint64_t open_files_valid_ns; /* from opening such a file to closing it; default 1 s */
	bool no_open_files;           /* open a file for each request; default: keep files open */

	/* Speak HTTP/1 only. Default: also HTTP/2, with TLS by ALPN and without it to clients that
	 * begin with its preface (prior knowledge), unless eddy-http was built with
	 * -Dhttp2=disabled. */
	bool no_http2;

	uint64_t head_timeout_ns;  /* to receive a request's head; default 10 s; beyond: 408 */
	uint64_t body_timeout_ns;  /* no byte of a body arrives; default 30 s; beyond: 408 */
	uint64_t write_timeout_ns; /* the client takes no byte; default 30 s; beyond: close */
	uint64_t idle_timeout_ns;  /* keep-alive, between requests; default 60 s; beyond: close */
	/* Minimum rate of a request body's content, in bytes a second, at most 1 MiB/s; default
	 * 500; EDDY_NEVER: no minimum; below: 408. It is an average over the time that the server
	 * waits for the client, checked after .rate_grace_ns of waiting. See also eddy/route.h. */
	uint64_t body_rate_min;
	/* The same for response bytes that the client acknowledges while more are ready; below:
	 * close. */
	uint64_t write_rate_min;
	uint64_t rate_grace_ns; /* grace period before the rates apply; default 20 s */
	/* Graceful shutdown: time to drain (finish requests in flight); default 10 s; beyond: the
	 * requests are cancelled. */
	uint64_t drain_timeout_ns;
	/* Delay before graceful shutdown; default 0. Requests are still served; only eddy_health()
	 * answers 503, so that load balancers stop sending them. A restart skips it. */
	uint64_t lame_duck_ns;

	/* Reverse proxies and load balancers that may name their clients (eddy/peer.h), in PROXY
	 * headers or in the fields of .forwarded: IP addresses, networks such as "10.0.0.0/8", or
	 * "unix" for peers on a unix socket; NULL ends the list; default: none. */
	const char *const *trusted_proxies;
	/* The fields in which they name clients; default: none is read. The proxies must drop or
	 * overwrite these fields in their clients' requests, or append to them. */
	enum eddy_forwarded forwarded;
	bool forwarded_host;     /* eddy_req_host() uses these fields; default: the Host field */
	size_t proxy_header_max; /* bytes; default 4 KiB, at most 8 KiB; beyond: close */

	/* How files are sent and saved on the app's loops (eddy/technique.h). Copied; takes effect
	 * when the app runs. Default: the loop's own (eddy_transfer_configure()). Data that is
	 * encrypted or compressed in user space always passes through memory. */
	const struct eddy_transfer_options *transfer;

	/* Bytes of a task's stack, 64 KiB to 1 GiB (eddy/loop.h), on loops that
	 * eddy_app_run_blocking() makes; default 256 KiB. eddy_app_run() makes only the loops of
	 * workers after the first; default there: as the calling loop. */
	size_t stack_size;
	/* Nanoseconds that a handler may hold such a loop; beyond, a WARN record has a backtrace;
	 * see eddy/loop.h. Default: no check; with eddy_app_run(): as the calling loop. */
	uint64_t stall_ns;

	/* Kernel worker threads of each loop: this many for regular files, and this many for other
	 * calls; at most 1024. Default: the loop's own (eddy/loop.h), 8. */
	unsigned io_workers_max;

	mode_t unix_mode; /* of unix sockets' files; default: 0777 less umask(2) */

	/* Leave all signals to the program. Default: SIGINT and SIGTERM shut all apps of the process
	 * down gracefully. SIGHUP calls eddy_app_reload() of those that have certificates or cookie
	 * keys; without such an app it ends the process. SIGUSR2 restarts the program if .restart is
	 * set; else it is logged and ignored, unless the program handles it. */
	bool no_signals;
	/* SIGUSR2 calls eddy_app_restart(). For a while two processes run, which do not share
	 * memory. Default: SIGUSR2 does not restart. */
	bool restart;
};

/* Create an app that listens on localhost:7878. Never returns NULL: on allocation failure while an
 * app is built, the process prints a message to stderr and ends. */
EDDY_API struct eddy_app *eddy_app_new(void);

/* Free an app that is not running. NULL is accepted. eddy_app_run_blocking() frees its app: calling
 * this afterwards is optional, and allowed once. */
EDDY_API void eddy_app_free(struct eddy_app *app);

/* Set the app's first address, in place of localhost:7878. Copied. It is one of:
 * - "host:port" or "[v6]:port": an IP address, or a name, which binds all of its addresses
 * - "unix:PATH", or "unix:@NAME" without a file: a unix socket
 * - "systemd:NAME": the sockets that a service manager passes (sd_listen_fds(3)) with
 *   FileDescriptorName=NAME
 * - "systemd": all other sockets that it passes
 * Port 0 takes any free port. */
EDDY_API void eddy_app_bind(struct eddy_app *app, const char *address);

/* How an address listens. A zero field takes its default. */
struct eddy_bind_options {
	bool plain; /* HTTP without TLS; default: TLS if the app uses it (eddy_app_use_tls()) */
	/* Require a PROXY protocol header, version 1 or 2, before TLS and HTTP, from one of
	 * .trusted_proxies. eddy_req_peer() is the client that it names. A connection from another
	 * address, or without a valid header, is closed at once. Default: no header is expected. */
	bool proxy_protocol;
};

/* Add an address to listen on; an app has at most 64. The first one added takes the place of
 * localhost:7878 if eddy_app_bind() was not called. `options` may be NULL. Handlers and filters
 * recognize plain connections by eddy_req_is_secure(). */
EDDY_API void eddy_app_add_bind(struct eddy_app *app, const char *address,
				const struct eddy_bind_options *options);

/* Set limits, timeouts and the number of workers. Copied. `options` may be NULL. */
EDDY_API void eddy_app_with_server(struct eddy_app *app, const struct eddy_server_options *options);

/* Set the pointer that handlers get from eddy_req_context(). */
EDDY_API void eddy_app_set_context(struct eddy_app *app, void *context);

/* Map a handler to a method and a pattern (eddy/route.h). `router` is a pointer to an app or a
 * group (eddy/group.h). In a group the pattern follows the group's prefix; "" is the prefix itself.
 * Return: the route, never NULL; eddy_app_run() reports mistakes. */
EDDY_API struct eddy_route *eddy_app_map(union eddy_router router, const char *method,
					 const char *pattern, eddy_handler_fn *handler);

/* Map a handler to a pattern and the method in the function's name. Return: as eddy_app_map(). */
EDDY_API struct eddy_route *eddy_app_map_get(union eddy_router router, const char *pattern,
					     eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_head(union eddy_router router, const char *pattern,
					      eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_post(union eddy_router router, const char *pattern,
					      eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_put(union eddy_router router, const char *pattern,
					     eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_patch(union eddy_router router, const char *pattern,
					       eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_delete(union eddy_router router, const char *pattern,
						eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_options(union eddy_router router, const char *pattern,
						 eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_trace(union eddy_router router, const char *pattern,
					       eddy_handler_fn *handler);
EDDY_API struct eddy_route *eddy_app_map_connect(union eddy_router router, const char *pattern,
						 eddy_handler_fn *handler);

/* Set the handler for requests that no route matches, instead of 404. */
EDDY_API void eddy_app_map_fallback(struct eddy_app *app, eddy_handler_fn *handler);

/* Render an error response. `res` has the status and the fields that belong to it (allow,
 * accept-encoding, retry-after, …). `detail` explains the error to the client; it may be NULL. If
 * the request's head was rejected, `req` has no method and path, and may lack fields. May suspend.
 * Return: 0 if `res` holds the response; any other value sends the default instead. */
typedef int eddy_err_fn(struct eddy_req *req, struct eddy_res *res, int status, const char *detail);

/* Set the function that renders errors, in place of problem+json: for 404, 405 and rejected heads,
 * and if a handler or filter returns a status of 400 or more, or -errno. It does not render
 * responses of eddy_res_problem(). */
EDDY_API void eddy_app_map_err(struct eddy_app *app, eddy_err_fn *fn);

/* Add a filter (middleware). On an app it wraps all responses, including 404, 405 and errors; on a
 * group, those beneath its prefix; on a route, its handler. Filters of the app come first, then
 * those of its groups from the outermost on, then those of the route. eddy_next_data() returns
 * `data` (eddy/filter.h), which is borrowed for the app's life and may be NULL. */
EDDY_API void eddy_app_add_filter(union eddy_target target, eddy_filter_fn *filter, void *data);

/* Prepare or check an app that is about to start, with the values of its configuration file. It may
 * map routes, add filters, and report mistakes by eddy_app_mistake() (eddy/layer.h). Routes and
 * filters stay for further runs. May suspend.
 * Return: 0; -errno, such as -ENOMEM, on failure: the app does not start, and an ERROR record has
 * the reason. */
typedef int eddy_start_fn(struct eddy_app *app, void *data);

/* Call `fn(app, data)` in each run, and in the first eddy_app_test() after this call, once the
 * configuration file has been read without mistakes and before anything listens. Functions are
 * called in the order in which they were added. Adding a pair of `fn` and `data` again does not call
 * it twice. If it fails in an eddy_app_test(), the next one calls it again. */
EDDY_API void eddy_app_at_start(struct eddy_app *app, eddy_start_fn *fn, void *data);

/* Run `fn(data)` as a background task in each eddy_app_run() and eddy_app_test(), on its loop, from
 * before the first request until after the last. Then it is cancelled and awaited: clean-up that
 * suspends needs a .shielded scope with a timeout (eddy/scope.h). The task's result is ignored.
 * `name` and `data` are borrowed. */
EDDY_API void eddy_app_add_task(struct eddy_app *app, const char *name, eddy_task_fn *fn,
				void *data);

/* Run an app until eddy_app_shutdown(), SIGINT or SIGTERM, then shut down gracefully: wait
 * .lame_duck_ns, stop accepting, drain (finish requests in flight), and return. A second signal
 * cancels them at once. While a task holds the loop, a signal that comes a second after an earlier
 * one kills the process. Call it from a task. Suspends.
 *
 * A service manager that set NOTIFY_SOCKET (sd_notify(3)) is told when the app is ready and when it
 * stops; the watchdog (WATCHDOG_USEC) is fed while the app's loop runs.
 * Return: 0; -EINVAL if the app has mistakes; another -errno if startup fails; -ECANCELED. ERROR
 * records say why; without a subscriber to the log they go to stderr. */
EDDY_API int eddy_app_run(struct eddy_app *app);

/* Run an app from a plain main(), and free it. Reads the configuration file, makes a loop with
 * .stack_size and .stall_ns, and calls eddy_app_run(). Blocks until the app ends. Afterwards the app
 * must not be used, except that one eddy_app_free() is allowed, which releases the last few KiB.
 * Return: 0, -errno. */
EDDY_API int eddy_app_run_blocking(struct eddy_app *app);

/* Start graceful shutdown, as a signal does. An app that does not run yet ends right after its
 * start. The response of a handler that calls it is still sent, with `connection: close` unless
 * .lame_duck_ns is set. Any thread may call it. */
EDDY_API void eddy_app_shutdown(struct eddy_app *app);

/* Tell whether graceful shutdown has begun, other than for a restart. Any thread may call it. */
EDDY_API bool eddy_app_is_draining(const struct eddy_app *app);

/* Restart the program without downtime: the same arguments in a new process, which takes over the
 * listening sockets, so that no connection is refused. Any thread may call it.
 *
 * Once the new process serves, this one shuts down: requests in flight have unlimited time, and
 * each connection may send one more request within .drain_timeout_ns. If the new process fails, or
 * does not serve within 60 s, it is ended and this one continues; an ERROR record says why.
 *
 * The program is argv[0], looked up again in PATH or the working directory, so it may be a newer
 * version. Has no effect if the app is not running, or is already shutting down or restarting.
 * Supports one app in a process. Requires /proc. */
EDDY_API void eddy_app_restart(struct eddy_app *app);

/* Reload the certificates (eddy/tls.h) and cookie keys (eddy/cookie.h) of a running app, as SIGHUP
 * does. Blocks while it reads files. Any thread may call it.
 * Return: 0; -EINVAL if a file is unusable: all of its kind stay as they are, and log records say
 * why. */
EDDY_API int eddy_app_reload(struct eddy_app *app);

/* Get a running app's port: the first of several, 0 if it has none. Any thread may call it. */
EDDY_API uint16_t eddy_app_port(const struct eddy_app *app);

/* Counters of an app's connections, over all workers. */
struct eddy_app_stats {
	uint64_t connections;     /* open now; the other members are totals since eddy_app_new() */
	uint64_t accepted;        /* connections accepted */
	uint64_t refused;         /* closed at once, on allocation failure */
	uint64_t over_address;    /* closed at once, for .connections_per_address_max */
	uint64_t evicted_idle;    /* closed to make room: idle */
	uint64_t evicted_head;    /* closed to make room: incomplete head or TLS handshake */
	uint64_t evicted_slow;    /* closed to make room: too slow, or discarding an unread body */
	uint64_t slow_bodies;     /* answered 408 for .body_rate_min */
	uint64_t slow_writes;     /* closed for .write_rate_min */
	uint64_t refused_bodies;  /* answered 503 for .body_memory_max */
	uint64_t accept_failures; /* pauses in accepting, as when no descriptor was left */
	uint64_t proxy_failures;  /* closed for an invalid or unauthorized PROXY header */
	uint64_t h2_connections;  /* connections of HTTP/2 */
	uint64_t h2_calmed;       /* of them closed with ENHANCE_YOUR_CALM */
	uint64_t h2_reset;        /* streams of HTTP/2 that their clients have reset */
	uint64_t h2_refused;      /* streams of HTTP/2 that were refused */
};

/* Read the counters of an app. Any thread may call it. */
EDDY_API struct eddy_app_stats eddy_app_stats(const struct eddy_app *app);

EDDY_END_DECLS

#endif
