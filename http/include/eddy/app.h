/* eddy/app.h: an application: where it listens, what answers which path, and its limits.
 *
 * Building an app needs no checks. What is wrong with it (an address, a pattern, two handlers for
 * one route, an option out of range) is kept, and makes run fail before it listens, with an ERROR
 * record for each mistake.
 *
 * An app is built on one thread before it runs, and not changed after.
 */
#ifndef EDDY_APP_H
#define EDDY_APP_H

#include <eddy/group.h>
#include <eddy/str.h>
#include <eddy/technique.h>
#include <sys/types.h>

EDDY_BEGIN_DECLS

/* The fields that trusted proxies write, which are the only ones that are believed: a proxy passes on what its
 * client sends in all others. */
enum eddy_forwarded {
	EDDY_FORWARDED_NONE,
	EDDY_FORWARDED_X,       /* X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host */
	EDDY_FORWARDED_RFC7239, /* Forwarded */
};

/* Every field: 0 means its default. */
struct eddy_server_options {
	unsigned workers; /* loops, each on a thread of its own; default 1, at most .workers_max */
	/* Workers that the program supports: 1 for handlers that share a mutex, a channel or memory without a lock.
	 * More of them, also in a configuration file, fail the start; default 1024, the most there can be. */
	unsigned workers_max;

	size_t request_line_max;   /* bytes; default 8 KiB; past it 414 */
	size_t header_block_max;   /* bytes; default 16 KiB; past it 431 */
	unsigned header_count_max; /* fields; default 100; past it 431 */
	uint64_t body_max;        /* bytes of a body read into memory; default 1 MiB; past it 413 */
	unsigned json_values_max; /* values of a JSON body; default 16,384; past it 413 */
	/* Bytes of all bodies in memory together, and of JSON trees made of them, counted as they come; past it 503; default: a
	 * quarter of the memory of the machine, or of the process's control group. Where other bodies of an address hold more than is
	 * left free, by each loop's equal part, its next ones are answered 503 too. Proxies that are trusted and unix sockets are no address. */
	uint64_t body_memory_max;
	uint64_t file_max;      /* bytes of a body saved to files; default 1 GiB; past it 413 */
	unsigned parts_max;     /* parts of a multipart body; default 64; past it 413 */
	size_t part_header_max; /* bytes of a part's header block; default 8 KiB; past it 400 */
	uint64_t field_max;     /* bytes of a part read as text; default 64 KiB; past it 413 */
	/* When there are as many, others are closed for one that comes: idle ones, then those whose head, or TLS
	 * handshake, is incomplete, then those that come or go at less than .body_rate_min or .write_rate_min; of each
	 * kind those of the address that has most. Default: what RLIMIT_NOFILE leaves, and a quarter of the memory of the
	 * machine, or of the process's control group, has room for at 64 KiB each, with TLS 288 KiB. */
	unsigned connections_max;
	/* Those of one address, of IPv6 one /64; one more is closed at once. Unix sockets and trusted proxies are not
	 * counted. Default: no limit. */
	unsigned connections_per_address_max;

	/* Files that stay open for the next request (open_files.h): */
	unsigned open_files_max; /* on each loop; default 1000, an eighth of RLIMIT_NOFILE at most */
	uint64_t open_files_valid_ns; /* each of them; default 1 s */
	bool no_open_files;           /* each request opens what it sends; default: they do */

	uint64_t head_timeout_ns;  /* for a head to arrive; default 10 s; past it 408 */
	uint64_t body_timeout_ns;  /* without a byte of the body; default 30 s; past it 408 */
	uint64_t write_timeout_ns; /* without a byte taken by the peer; default 30 s; then close */
	uint64_t idle_timeout_ns;  /* between two requests; default 60 s; then close */
	/* Bytes a second, at most 1 MiB, on average over the time in which the server waited for the client, once
	 * that is .rate_grace_ns; default 500; EDDY_NEVER: any rate will do. A route may have its own (route.h). */
	uint64_t body_rate_min; /* of a body's content as it comes; below it 408 */
	uint64_t write_rate_min; /* of what the client acknowledges, while it takes less than there is; then close */
	uint64_t rate_grace_ns;    /* default 20 s */
	uint64_t drain_timeout_ns; /* for requests in flight at shutdown; default 10 s; then cut */
	/* Between being asked to end and doing so: all goes on, and only eddy_health() (health.h) says what is to
	 * come, for load balancers to see; default 0. A restart needs none. */
	uint64_t lame_duck_ns;

	/* Proxies that name their clients (peer.h), in PROXY headers or in the fields that .forwarded says: IP
	 * addresses, networks such as "10.0.0.0/8", "unix" for those who come by a unix socket; ends with NULL;
	 * default: none. */
	const char *const *trusted_proxies;
	/* The fields in which they do so; default: none are believed. The proxies have to drop or overwrite what
	 * their clients send of these fields, or to add to it at the end. */
	enum eddy_forwarded forwarded;
	bool forwarded_host; /* eddy_req_host() is what they were asked for; default: what they ask for */
	size_t proxy_header_max; /* bytes of a PROXY header of theirs; default 4 KiB, 8 KiB at most; past it close */

	/* How files are sent and saved (technique.h), by everything on the app's loops from when it runs on; it is
	 * copied; default: as the loops have it. What the program encrypts itself, or encodes, goes through memory
	 * whatever the technique. */
	const struct eddy_transfer_options *transfer;

	/* Kernel worker threads of each loop: this many for regular files and this many for all other calls; see
	 * eddy_loop_set_io_workers_max() of loop.h; default: as the loops have it. */
	unsigned io_workers_max;

	mode_t unix_mode; /* of the files of unix sockets; default: what umask(2) leaves of 0777 */

	/* Leave all signals alone. Default: SIGINT and SIGTERM shut the app down, SIGHUP reads certificates again
	 * (tls.h), SIGUSR2 does what .restart says. */
	bool no_signals;
	bool restart; /* SIGUSR2 does eddy_app_restart(); default: it does not */
};

/* Make an app that listens at localhost:7878. Never NULL: where memory is out while an app is built, the process
 * ends with a word on stderr. */
EDDY_API struct eddy_app *eddy_app_new(void);

/* Free an app that does not run. NULL is fine. */
EDDY_API void eddy_app_free(struct eddy_app *app);

/* Listen at `address` instead: "host:port", "[v6]:port", "unix:PATH", "unix:@NAME" for a unix socket
 * without a file, "systemd" for every socket that a service manager has passed to the process
 * (sd_listen_fds(3)), or "systemd:NAME" for those that it calls so (FileDescriptorName=). A host is an IP
 * address, or a name of which every address is taken. Port 0 is any free port. The string is copied. */
EDDY_API void eddy_app_bind(struct eddy_app *app, const char *address);

/* Listen at `address` as well. At most 64. */
EDDY_API void eddy_app_add_bind(struct eddy_app *app, const char *address);

/* Every field: 0 means its default. */
struct eddy_bind_options {
	bool plain; /* HTTP without TLS; default: as eddy_app_use_tls() has it */
	/* Every connection begins with a header of the PROXY protocol, version 1 or 2, in front of TLS and HTTP, and comes
	 * from one of .trusted_proxies, which names the client so: eddy_req_peer() is who it says. Whoever else comes,
	 * or sends something else, is closed at once. Default: none does, and none is looked for. */
	bool proxy_protocol;
};

/* The same two with options. A handler or a filter tells who came without TLS by eddy_req_is_secure(). */
EDDY_API void eddy_app_bind_with(struct eddy_app *app, const char *address,
				 const struct eddy_bind_options *options);
EDDY_API void eddy_app_add_bind_with(struct eddy_app *app, const char *address,
				     const struct eddy_bind_options *options);

/* Describe limits, times and workers; the options are copied, NULL is all defaults. */
EDDY_API void eddy_app_with_server(struct eddy_app *app, const struct eddy_server_options *options);

/* Keep a pointer for the handlers; see eddy_req_context(). */
EDDY_API void eddy_app_set_context(struct eddy_app *app, void *context);

/* Map a handler to a method and a pattern (route.h).
 * Return: the route, never NULL: what can't be mapped is kept as a mistake that run reports. */
EDDY_API struct eddy_route *eddy_app_map(struct eddy_app *app, const char *method,
					 const char *pattern, eddy_handler_fn *handler);

/* eddy_app_map_get() and so on; see route.h. */
EDDYI_MAPPERS(app, EDDYI_MAPPER)

/* Answer what no route answers, instead of 404. */
EDDY_API void eddy_app_map_fallback(struct eddy_app *app, eddy_handler_fn *handler);

/* Render an error that is answered for the app: `res` has the status, and the fields that say what
 * status alone does not (allow, accept-encoding, retry-after, …). `detail` helps the caller; it may be
 * NULL. Of a head that was refused, nothing but its fields may be known. May suspend.
 * Return: 0 when `res` holds the response; anything else sends the default instead. */
typedef int eddy_err_fn(struct eddy_req *req, struct eddy_res *res, int status, const char *detail);

/* Render errors by `fn` instead of as problem+json: 404 and 405, statuses from 400 on and -errno that
 * handlers and filters return, and heads that are refused. What eddy_res_problem() says stays. */
EDDY_API void eddy_app_map_err(struct eddy_app *app, eddy_err_fn *fn);

/* Put a filter around every answer of the app, 404, 405 and errors included; `data` is for
 * eddy_next_data() and borrowed for as long as the app lives. */
EDDY_API void eddy_app_add_filter(struct eddy_app *app, eddy_filter_fn *filter);
EDDY_API void eddy_app_add_filter_with(struct eddy_app *app, eddy_filter_fn *filter, void *data);

/* Run until eddy_app_shutdown(), or SIGINT or SIGTERM: then, after .lame_duck_ns, stop accepting, finish the
 * requests in flight, and return. A second signal ends them at once. Suspends; called from a task.
 *
 * A service manager that waits for it (NOTIFY_SOCKET, sd_notify(3)) is told when the app serves and when
 * it stops, and at the intervals of WATCHDOG_USEC that its loop still turns.
 * Return: 0; -EINVAL for an app with mistakes, or -errno when it could not start otherwise (ERROR
 * records say why; without a subscriber to the log they go to stderr); -ECANCELED. */
EDDY_API int eddy_app_run(struct eddy_app *app);

/* Run from a plain main(), and free the app. Return: 0, -errno. */
EDDY_API int eddy_app_run_blocking(struct eddy_app *app);

/* Ask the app to end as by a signal; one that does not run yet ends as soon as it does. Called by a handler,
 * its answer still arrives, and says `connection: close` unless there is .lame_duck_ns. Any thread. */
EDDY_API void eddy_app_shutdown(struct eddy_app *app);

/* Whether the app has been asked to end, and no other process goes on for it. Any thread. */
EDDY_API bool eddy_app_is_draining(const struct eddy_app *app);

/* Start this program again, with the arguments that it was started with, and let the new process take
 * over the listening sockets, so that no connection is refused. It is on its own once it serves: then this
 * one ends like after eddy_app_shutdown(), except that requests in flight, and what has been accepted and
 * not asked yet, have as long as they need. If the new process fails, or does not serve within 60 s, it is
 * ended and this one goes on; an ERROR record says why. The program is looked for as it was typed, from the
 * working directory: it may be a new version. Nothing happens when the app does not run, ends, or is being
 * restarted. For a process with one app. Needs /proc. Any thread. */
EDDY_API void eddy_app_restart(struct eddy_app *app);

/* The port that a running app listens on, the first one of several; 0 where it listens on none. Any thread. */
EDDY_API uint16_t eddy_app_port(const struct eddy_app *app);

/* The connections of an app, on all its workers. */
struct eddy_app_stats {
	uint64_t connections;  /* that are there now */
	uint64_t accepted;     /* ever, as are all that follow */
	uint64_t refused;      /* closed at once, for want of memory */
	uint64_t over_address; /* closed at once, for .connections_per_address_max */
	/* Closed to make room for others, when they were */
	uint64_t evicted_idle;
	uint64_t evicted_head;   /* waiting for the rest of a head or a handshake */
	uint64_t evicted_slow;   /* below .body_rate_min or .write_rate_min, or about to end */
	uint64_t slow_bodies;    /* answered 408 for .body_rate_min */
	uint64_t slow_writes;    /* closed for .write_rate_min */
	uint64_t refused_bodies; /* answered 503 for .body_memory_max */
	uint64_t accept_failures; /* times that accepting had to pause: no descriptor was left, or the like */
	uint64_t proxy_failures; /* closed for want of a good PROXY header, or of a right to send one */
};

/* Read them; an app that does not run has no connections, and had those of its runs before. Any thread. */
EDDY_API struct eddy_app_stats eddy_app_stats(const struct eddy_app *app);

EDDY_END_DECLS

#endif
