/* eddy/session.h: a filter (middleware) for sessions: values that the server keeps for a client
 * between its requests, such as who has logged in.
 *
 *     eddy_app_use_same_origin(app, NULL);
 *     eddy_app_use_sessions(app, NULL);
 *
 *     r = eddy_req_session(req, &session); // in a handler that has checked a password
 *     if (r == 0)
 *             r = eddy_session_renew(session);
 *     if (r == 0)
 *             r = eddy_session_set(session, "user", user);
 *
 * A cookie has the session's id, 256 random bits. Over TLS its name begins with __Host-, so that
 * other hosts can't set it. The store knows a hash of the id: reading the store does not suffice to
 * take over a session. A client without a session gets one when its first value is set.
 *
 * Browsers add cookies to requests that pages of other sites make (CSRF). SameSite=Lax keeps the
 * cookie from most of these; eddy_app_use_same_origin() rejects the others, and those of other
 * hosts of the same site.
 *
 * If eddy-http was built with -Dtls=disabled, calling these functions is a compile error.
 */
#ifndef EDDY_SESSION_H
#define EDDY_SESSION_H

#include <eddy/cookie.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* ---- stores ---- */

/* A store of sessions: bytes by a key of 32 bytes, which expire. Its functions get .store_data, are
 * called by all loops at once, and may suspend. An error of loading or saving becomes
 * the response: -EBUSY is a 503. */
struct eddy_session_store {
	/* Get the bytes of a key, in memory of the request (eddy_req_alloc()), and in how many
	 * nanoseconds they expire.
	 * Return: 0; -ENOENT if there are none, or they have expired; -errno. */
	int (*load)(void *data, struct eddy_req *req, struct eddy_str key,
		    struct eddy_str *ret_bytes, uint64_t *ret_left_ns);
	/* Store bytes, which expire after `lasts_ns`, in place of those of the key `old`: the same
	 * key, or another one if the session was renewed. If `old` is empty, the session is new.
	 * Both happen at once, so that a session that another request ends in between stays ended.
	 * Return: 0; -ENOENT if `old` has no bytes, or they have expired; -errno. */
	int (*save)(void *data, struct eddy_req *req, struct eddy_str key, struct eddy_str bytes,
		    uint64_t lasts_ns, struct eddy_str old);
	/* Let the bytes of a key expire after `lasts_ns`, and not change them: another request may
	 * have. Return: ignored. */
	int (*extend)(void *data, struct eddy_req *req, struct eddy_str key, uint64_t lasts_ns);
	/* Remove the bytes of a key. Return: 0, also if there are none; -errno. */
	int (*remove)(void *data, struct eddy_req *req, struct eddy_str key);
};

/* ---- the filter ---- */

/* A zero field takes its default. */
struct eddy_sessions_options {
	uint64_t idle_ns;  /* a session ends without requests that use it; default 30 min */
	uint64_t max_ns;   /* it ends this long after it began or was renewed; default 12 h; each at
			    * most 365 days */
	uint32_t size_max; /* bytes of a session's names and values, 4 more for each; default 4 KiB,
			    * at most 64 KiB - 1; beyond: -EMSGSIZE */
	const char *cookie;            /* its name; default "session". Copied */
	enum eddy_same_site same_site; /* default _LAX; _NONE over TLS only */
	bool persistent; /* the cookie lasts for .max_ns; default: until the browser ends */

	/* Default: memory of the process, which all loops share. Beyond its limits the session
	 * that was saved or extended longest ago ends. Borrowed for the app's life, with `store_data`. */
	const struct eddy_session_store *store;
	void *store_data;
	uint32_t count_max; /* sessions in memory; default 65,536, at most 2^28 */
	size_t memory_max;  /* bytes of them; default 64 MiB */
};

/* Give sessions to handlers. `options` may be NULL. Of an app and its groups, the outermost counts.
 * eddy_app_run() reports options out of range. */
EDDY_TLS_API void eddy_app_use_sessions(union eddy_target target,
					const struct eddy_sessions_options *options);

/* ---- in handlers and filters ---- */

/* The session of a request. One task at a time may use it. Changes are stored when the handler has
 * returned, before the response is sent; those of a stream after its last byte. Of requests at the
 * same time, the last one that stores wins; if one has ended or renewed the session, changes by the
 * others are lost. A request that changes nothing writes nothing, except that after an eighth of
 * .idle_ns it extends the session's life. */
struct eddy_session;

/* Get the session of a request, loaded at the first call; empty if there is none. The response then
 * gets `cache-control: no-store`, unless the field is set. Suspends.
 * Return: 0; -EDOM, with a log record, without eddy_app_use_sessions(); otherwise as
 * eddy_req_cookie_pairs(), and errors of the store. */
EDDY_TLS_API int eddy_req_session(struct eddy_req *req, struct eddy_session **ret_session);

/* Get a value; .ptr is NULL if there is none. It lives as long as the request. */
EDDY_TLS_API struct eddy_str eddy_session_get(const struct eddy_session *session, const char *name);

/* Set a value, of any bytes. Copied.
 * Return: 0; -EMSGSIZE beyond .size_max; -EINVAL if the client has no session, and the head of a
 * stream has been sent; -EIO without random numbers; -ENOMEM, also for a value whose .ptr is
 * NULL. */
EDDY_TLS_API int eddy_session_set(struct eddy_session *session, const char *name,
				  struct eddy_str value);

/* Remove a value. Return: 0, also if there is none; -ENOMEM. */
EDDY_TLS_API int eddy_session_remove(struct eddy_session *session, const char *name);

/* Give the session another id, and keep its values. Call it at each login, so that an id which
 * someone knew before is worth nothing (session fixation). Does nothing to an empty session.
 * Return: 0; -EINVAL if the head of a stream has been sent; -EIO, -ENOMEM. */
EDDY_TLS_API int eddy_session_renew(struct eddy_session *session);

/* End the session, as at a logout: it is removed from the store at once, and the client forgets the
 * cookie. Values that are set afterwards begin another one. Suspends.
 * Return: 0; errors of the store: the session goes on; -ENOMEM. */
EDDY_TLS_API int eddy_session_end(struct eddy_session *session);

EDDY_END_DECLS

#endif
