/* eddy_pg.h: PostgreSQL for tasks, by libpq: a connection pool, queries, transactions and
 * notifications. Calls suspend the task and not the thread.
 *
 *     static int find(struct eddy_pg *pg, int64_t id)
 *     {
 *             EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
 *             struct user user;
 *             int r = eddy_pg_one(pg, &rows, user_members, &user,
 *                                 "select name, age from users where id = $1", EDDY_PG(id));
 *
 *             if (r == 0)
 *                     printf("%.*s\n", EDDY_FMT(user.name));
 *             return r;
 *     }
 *
 * A pool may be used on every loop of the program. Each loop has connections of its own, and a limit
 * of its own. Statements are prepared when a connection first runs them.
 *
 * Calls that send statements return 0, or:
 *    -EBUSY         no connection within .wait_ns: all are in use, or the server refuses new ones.
 *                   Nothing was sent
 *    -ETIMEDOUT     .query_ns, or the server's statement_timeout, has passed
 *    -ECANCELED     the scope was cancelled
 *    -ECONNABORTED  the connection broke, as when the server ends; the statements may have been
 *                   executed
 *    -EEXIST        a unique or an exclusion constraint is violated
 *    -EAGAIN        serialization failure, deadlock, or a lock that another transaction holds
 *                   (nowait, lock_timeout): repeat the whole transaction
 *    -EINVAL        a value is malformed or out of range, or violates another constraint; a
 *                   parameter contains a NUL byte
 *    -EACCES        the role of the connection may not do this
 *    -ENOSPC        the server's disk is full
 *    -ENOMEM
 *    -EIO           any other error of the server, such as a syntax error, with an ERROR record of
 *                   target "eddy::pg"
 * eddy_pg_error() and eddy_pg_sqlstate() say more. A handler of eddy-http that returns -EBUSY,
 * -ECONNABORTED or -EAGAIN answers 503. A query is never repeated once a byte of it may have left.
 * On a deadline or cancellation the server is asked to cancel the query, which takes at most 250 ms
 * more, and the connection is closed.
 *
 * Metrics of the process: eddy_pg_connections, which includes those of listeners and those that are
 * being made; eddy_pg_connections_used; eddy_pg_waiting; eddy_pg_wait_seconds_total;
 * eddy_pg_calls_total by outcome: ok, failed and busy (-EBUSY).
 *
 * Multi-statement texts and COPY are not supported; LISTEN is for eddy_pg_listen() only.
 */
#ifndef EDDY_PG_H
#define EDDY_PG_H

#include <eddy/chan.h>
#include <eddy/member.h>

EDDY_BEGIN_DECLS

struct eddyi_pg_conn;
struct eddyi_pg_pool;
struct pg_result;

/* A pool; or a transaction, with one of its connections. All functions that take a pool take a
 * transaction as well, except eddy_pg_begin(), eddy_pg_listen() and eddy_pg_close(). */
struct eddy_pg {
	struct eddyi_pg_pool *pool; /* private */
	struct eddyi_pg_conn *conn; /* private; NULL: a pool */
};

/* A zero field takes its default. */
struct eddy_pg_options {
	/* Where and how to connect, as libpq reads it: "host=db dbname=shop sslmode=verify-full", or
	 * a URI. Copied. Default: the environment (PGHOST, PGDATABASE, …). */
	const char *conninfo;
	unsigned connections_max; /* of each loop; default 10 */
	uint64_t wait_ns;         /* for a connection; default 5 s; EDDY_NEVER: none */
	uint64_t query_ns; /* for a call, once it has a connection; default 30 s; EDDY_NEVER: none */
	/* Idle connections are closed after this time, when the pool is next used; default 5 min. */
	uint64_t idle_ns;
	/* Prepared statements of a connection, those that it runs first; others are parsed each
	 * time. Default 100. */
	unsigned statements_max;
	bool unprepared; /* prepare nothing, as PgBouncer may need; default: prepare */
};

/* Open a pool. It connects when it is first used.
 * Return: 0; -EINVAL, with an ERROR record, if .conninfo is malformed; -ENOMEM. */
int eddy_pg_open(const struct eddy_pg_options *options, struct eddy_pg *ret_pg);

/* Close the connections. No call may be in progress and no transaction open, on any loop. */
void eddy_pg_close(struct eddy_pg *pg);

/* --- parameters */

/* A parameter $1, $2, …, in text form, whose type the server infers. Strings are borrowed. */
struct eddy_pg_value {
	const char *z;       /* private, like the others: the text, with a NUL; */
	struct eddy_str str; /* or without; */
	char number[32];     /* or a number; none: null */
};

struct eddy_pg_params {
	const struct eddy_pg_value *list;
	size_t count;
};

/* The most parameters of a statement. Pass a longer list as an array: `where id = any($1)`. */
#define EDDY_PG_PARAMS_MAX 64

struct eddy_pg_value eddy_pg_str(struct eddy_str str); /* NULL .ptr is null */
struct eddy_pg_value eddy_pg_text(const char *z);      /* NULL is null */
struct eddy_pg_value eddy_pg_bool(bool value);
struct eddy_pg_value eddy_pg_i64(int64_t value);
struct eddy_pg_value eddy_pg_u64(uint64_t value);
struct eddy_pg_value eddy_pg_f64(double value);

/* Make a value of an integer, double, bool, struct eddy_str, string or NULL. */
#define EDDY_PG_VALUE(x)                                                                           \
	_Generic((x),                                                                              \
		struct eddy_str: eddy_pg_str,                                                      \
		char *: eddy_pg_text,                                                              \
		const char *: eddy_pg_text,                                                        \
		void *: eddy_pg_text,                                                              \
		bool: eddy_pg_bool,                                                                \
		float: eddy_pg_f64,                                                                \
		double: eddy_pg_f64,                                                               \
		unsigned char: eddy_pg_u64,                                                        \
		unsigned short: eddy_pg_u64,                                                       \
		unsigned: eddy_pg_u64,                                                             \
		unsigned long: eddy_pg_u64,                                                        \
		unsigned long long: eddy_pg_u64,                                                   \
		signed char: eddy_pg_i64,                                                          \
		short: eddy_pg_i64,                                                                \
		int: eddy_pg_i64,                                                                  \
		long: eddy_pg_i64,                                                                 \
		long long: eddy_pg_i64)(x)

/* Make the parameters of a statement: EDDY_PG(name, 5, true), EDDY_PG(). They live as long as the
 * enclosing block. */
#define EDDY_PG(...)                                                                               \
	((struct eddy_pg_params){                                                                  \
		EDDYI_PG_LIST(__VA_ARGS__) + 1,                                                    \
		sizeof(EDDYI_PG_LIST(__VA_ARGS__)) / sizeof(struct eddy_pg_value) - 1 })
#define EDDYI_PG_LIST(...)                                                                         \
	((const struct eddy_pg_value[]){                                                           \
		{ .z = NULL } __VA_OPT__(, EDDYI_PG_4(EDDYI_PG_EACH(__VA_ARGS__))) })
#define EDDYI_PG_EACH(x, ...)                                                                      \
	EDDY_PG_VALUE(x) __VA_OPT__(, EDDYI_PG_AGAIN EDDYI_PG_PARENS(__VA_ARGS__))
#define EDDYI_PG_AGAIN() EDDYI_PG_EACH
#define EDDYI_PG_PARENS ()
#define EDDYI_PG_4(...) EDDYI_PG_3(EDDYI_PG_3(EDDYI_PG_3(EDDYI_PG_3(__VA_ARGS__))))
#define EDDYI_PG_3(...) EDDYI_PG_2(EDDYI_PG_2(EDDYI_PG_2(EDDYI_PG_2(__VA_ARGS__))))
#define EDDYI_PG_2(...) EDDYI_PG_1(EDDYI_PG_1(EDDYI_PG_1(EDDYI_PG_1(__VA_ARGS__))))
#define EDDYI_PG_1(...) __VA_ARGS__

/* --- queries */

/* The result of a statement. Free it with eddy_pg_rows_deinit(). Zeros are an empty one. */
struct eddy_pg_rows {
	struct pg_result *result; /* private, but for libpq's own functions: a PGresult */
	size_t count;             /* rows */
	uint64_t affected;        /* rows inserted, updated, deleted or selected */
};

/* Free a result, and the strings that were read from it. */
void eddy_pg_rows_deinit(struct eddy_pg_rows *rows);

/* Run a statement. Suspends. `*ret_rows` is overwritten, not freed; NULL discards the rows. All rows
 * are held in memory: use `limit`. */
EDDY_CHECKED int eddy_pg_query(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
			       struct eddy_pg_params params);

/* Read a row's columns, in order, into variables: eddy_pg_row(&rows, 0, EDDY_TO(&id),
 * EDDY_TO(&name)). Strings are borrowed from the rows, and end with a NUL. A null makes a struct
 * eddy_str with a NULL .ptr, and fits no other variable.
 * Return: 0; -EDOM, with an ERROR record, if a column is missing or does not fit its variable. */
#define eddy_pg_row(rows, i, ...)                                                                  \
	eddyi_pg_row((rows), (i), (const struct eddy_to[]){ __VA_ARGS__ },                         \
		     sizeof((const struct eddy_to[]){ __VA_ARGS__ }) / sizeof(struct eddy_to))
EDDY_CHECKED int eddyi_pg_row(const struct eddy_pg_rows *rows, size_t i, const struct eddy_to *to,
			      size_t count);

/* The most columns of a row that is read into a struct, which are kept on the stack. */
#define EDDY_PG_COLUMNS_MAX 256

/* Read a row into a struct by the names of its columns (eddy/member.h). A null is a missing value.
 * Strings are borrowed from the rows. Return: 0; -EDOM, with an ERROR record, if the row lacks a
 * member that is not optional, or a value is not allowed. */
#define eddy_pg_row_into(rows, i, members, ret_target)                                             \
	eddyi_pg_row_into((rows), (i), (members), sizeof(members) / sizeof(*(members)),            \
			  (ret_target))
EDDY_CHECKED int eddyi_pg_row_into(const struct eddy_pg_rows *rows, size_t i,
				   const struct eddy_member *members, size_t count,
				   void *ret_target);

/* Run a statement and read its first row into a struct. Suspends. `*ret_rows` owns its strings.
 * Return: as eddy_pg_query() and eddy_pg_row_into(); -ENOENT if there is no row. */
#define eddy_pg_one(pg, ret_rows, members, ret_target, sql, params)                                \
	eddyi_pg_one((pg), (ret_rows), (sql), (params), (members),                                 \
		     sizeof(members) / sizeof(*(members)), (ret_target))
EDDY_CHECKED int eddyi_pg_one(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
			      struct eddy_pg_params params, const struct eddy_member *members,
			      size_t count, void *ret_target);

/* Run a statement and read its first row into variables: eddy_pg_get(pg, &rows, "select name …",
 * EDDY_PG(id), EDDY_TO(&name)). Suspends. Return: as eddy_pg_query() and eddy_pg_row(); -ENOENT if
 * there is no row. */
#define eddy_pg_get(pg, ret_rows, sql, params, ...)                                                \
	eddyi_pg_get((pg), (ret_rows), (sql), (params), (const struct eddy_to[]){ __VA_ARGS__ },   \
		     sizeof((const struct eddy_to[]){ __VA_ARGS__ }) / sizeof(struct eddy_to))
EDDY_CHECKED int eddyi_pg_get(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
			      struct eddy_pg_params params, const struct eddy_to *to, size_t count);

/* A statement of a pipeline, and its result. */
struct eddy_pg_statement {
	const char *sql;
	struct eddy_pg_params params;
	struct eddy_pg_rows rows; /* set if all statements succeed */
	bool is_new;              /* private */
};

/* Run statements in one round trip. Suspends. Outside of a transaction they are one: if a statement
 * fails, none has an effect. Return: 0; the error of the first that fails. */
EDDY_CHECKED int eddy_pg_pipeline(struct eddy_pg *pg, struct eddy_pg_statement *list, size_t count);

/* Describe the last failed call on this loop, for people and for logs: the server's message. Read it
 * before the task suspends. */
const char *eddy_pg_error(const struct eddy_pg *pg);

/* Get the SQLSTATE of the last failed call on this loop, such as "23505"; "" if the error is not the
 * server's. Read it before the task suspends. */
const char *eddy_pg_sqlstate(const struct eddy_pg *pg);

/* --- transactions */

/* Begin a transaction, which eddy_pg_end() ends. Suspends. `sql` is "begin isolation level
 * serializable" or the like; NULL: "begin". One task at a time may use a transaction. It should not
 * use the pool meanwhile: it might wait for the connection that it holds. */
EDDY_CHECKED int eddy_pg_begin(struct eddy_pg *pg, const char *sql, struct eddy_pg *ret_tx);

/* Commit a transaction. Suspends. Return: as eddy_pg_query(), where -ECONNABORTED, -ETIMEDOUT and
 * -ECANCELED leave open whether it was committed; the error of the statement that aborted it. */
EDDY_CHECKED int eddy_pg_commit(struct eddy_pg *tx);

/* End a transaction: roll it back unless it was committed. Suspends, also in a cancelled scope, for
 * at most 1.3 seconds. */
void eddy_pg_end(struct eddy_pg *tx);

/* --- notifications */

struct eddy_pg_notification {
	char channel[64];   /* "": the connection was made, perhaps again; see eddy_pg_listen() */
	char payload[8000]; /* of NOTIFY, with a NUL */
};

struct eddy_pg_listener {
	struct eddy_pg *pg;
	const char *const *channels; /* to listen on; ended by NULL, as by EDDY_LIST() */
	struct eddy_chan *to;        /* gets each struct eddy_pg_notification; or else */
	void (*fn)(void *arg, const struct eddy_pg_notification *item); /* is called; may suspend */
	void *arg;
};

/* Listen on a connection of its own, beyond .connections_max, until the task is cancelled or the
 * channel is closed: eddy_scope_spawn(&scope, "listen", eddy_pg_listen, &listener), or
 * eddy_app_add_task(). Suspends. A broken connection is made again. Notifications of the meantime are
 * lost: each connection begins with an item whose channel is "", on which the receiver reads its data
 * afresh.
 * Return: -ECANCELED; -EPIPE. */
int eddy_pg_listen(void *listener);

EDDY_END_DECLS

#endif
