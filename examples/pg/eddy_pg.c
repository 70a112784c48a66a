#include "eddy_pg.h"

#include <dlfcn.h>
#include <eddy/event.h>
#include <eddy/internal/figure.h>
#include <eddy/internal/member.h>
#include <eddy/io.h>
#include <eddy/list.h>
#include <eddy/log.h>
#include <eddy/loops.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/select.h>
#include <eddy/semaphore.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET "eddy::pg"
#define OID_BOOL 16
#define BACKOFF_MIN_NS (50 * EDDY_MS)
#define BACKOFF_MAX_NS EDDY_SECOND
#define CANCEL_NS (250 * EDDY_MS)
#define ROLLBACK_NS EDDY_SECOND
#define PING_NS (30 * EDDY_SECOND)

/* A connection, in libpq's pipeline mode.
 *
 * Invariants:
 * 1. `clean`: everything sent has been answered. Others are closed, never reused.
 * 2. The server has prepared texts[i] as "i", for i < prepared.
 * 3. While it connects, one job of the offload pool may use it, and nothing else.
 */
struct eddyi_pg_conn {
	struct eddy_node node; /* in idle of its loop */
	PGconn *pg;
	PostgresPollingStatusType want;
	bool clean;
	int failed;        /* the last error of the server */
	uint64_t since_ns; /* idle */
	unsigned prepared;
	char **texts;
	char conninfo[]; /* a copy: a hanging job may outlive the pool */
};

/* The part of a pool that belongs to one loop.
 *
 * Invariants:
 * 1. A connection in use has a permit; one in `idle` has none. So there are at most
 *    connections_max in use, and with them idle ones.
 * 2. `backoff_ns` is 0 unless the last attempt to connect failed. Then one attempt is made at
 *    `retry_ns`, and callers with a permit wait for it or for `changed`.
 */
struct at_loop {
	const struct eddy_pg_options *options;
	struct eddy_semaphore permits;
	struct eddy_node idle; /* the last used first */
	struct eddy_event changed;
	uint64_t retry_ns;
	uint64_t backoff_ns;
	char refusal[512]; /* why the last attempt to connect failed */
	char error[512];
	char sqlstate[6];
};

struct eddyi_pg_pool {
	struct eddy_pg_options options;
	struct at_loop loops[EDDY_LOOPS_MAX]; /* untouched memory until its loop uses it */
	char conninfo[];
};

enum { CONNECTIONS, USED, WAITING, WAITED, DONE, FAILED, BUSY, FIGURES };

#define CALLS "eddy_pg_calls_total", "Calls that run statements, by outcome.", "outcome"
static struct eddyi_figure figures[FIGURES] = {
	[CONNECTIONS] = { "eddy_pg_connections", "Connections to PostgreSQL.", .is_gauge = true },
	[USED] = { "eddy_pg_connections_used", "Connections in use.", .is_gauge = true },
	[WAITING] = { "eddy_pg_waiting", "Calls that wait for a connection.", .is_gauge = true },
	[WAITED] = { "eddy_pg_wait_seconds_total", "Time of these waits.", .decimals = 9 },
	[DONE] = { CALLS, .value = "ok" },
	[FAILED] = { CALLS, .value = "failed" },
	[BUSY] = { CALLS, .value = "busy" },
};

static void count(int figure, int64_t by)
{
	eddyi_figure_add(&figures[figure], by);
}

static void count_call(int r)
{
	count(r == 0 ? DONE : r == -EBUSY ? BUSY : FAILED, 1);
}

static struct at_loop *here(const struct eddy_pg *pg)
{
	struct at_loop *loop = &pg->pool->loops[eddy_loops_index()];

	if (!loop->options) {
		loop->options = &pg->pool->options;
		eddy_semaphore_init(&loop->permits, loop->options->connections_max);
		eddy_event_init(&loop->changed);
		eddy_list_init(&loop->idle);
	}
	return loop;
}

const char *eddy_pg_error(const struct eddy_pg *pg)
{
	return here(pg)->error;
}

const char *eddy_pg_sqlstate(const struct eddy_pg *pg)
{
	return here(pg)->sqlstate;
}

/* ---- errors ---- */

/* Record an error that is not the server's. Return: `error`. */
static EDDY_PRINTF(3, 4) int fail(struct at_loop *loop, int error, const char *format, ...)
{
	size_t len;
	va_list args;

	va_start(args, format);
	vsnprintf(loop->error, sizeof(loop->error), format, args);
	va_end(args);
	len = strlen(loop->error);
	if (len && loop->error[len - 1] == '\n')
		loop->error[len - 1] = 0; /* of libpq's messages */
	loop->sqlstate[0] = 0;
	if (error == -EIO)
		eddy_error(TARGET, "%s", loop->error);
	return error;
}

static int lost(struct at_loop *loop, PGconn *pg)
{
	return fail(loop, -ECONNABORTED, "%s", PQerrorMessage(pg));
}

/* Map a class, or a whole SQLSTATE; the first that fits. */
static int to_errno(const char *sqlstate)
{
	static const struct {
		char prefix[6];
		int error;
	} map[] = {
		{ "23505", -EEXIST }, { "23P01", -EEXIST },    { "22", -EINVAL },
		{ "23", -EINVAL },    { "40001", -EAGAIN },    { "40P01", -EAGAIN },
		{ "42501", -EACCES }, { "53100", -ENOSPC },    { "53200", -ENOMEM },
		{ "55P03", -EAGAIN }, { "57014", -ETIMEDOUT }, { "57P", -ECONNABORTED },
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (!strncmp(sqlstate, map[i].prefix, strlen(map[i].prefix)))
			return map[i].error;
	return -EIO;
}

/* Record an error of the server. Return: -errno; -ESTALE if a table has changed since the statement
 * was prepared, and nothing was executed. */
static int refused(struct at_loop *loop, const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
	bool is_stale = function && !strcmp(function, "RevalidateCachedQuery");
	int error;

	if (!sqlstate)
		sqlstate = "";
	error = fail(loop, is_stale ? -ESTALE : to_errno(sqlstate), "%s",
		     PQresultErrorMessage(result));
	snprintf(loop->sqlstate, sizeof(loop->sqlstate), "%s", sqlstate);
	return error;
}

/* ---- connections ---- */

static void conn_free(void *arg)
{
	struct eddyi_pg_conn *conn = arg;

	count(CONNECTIONS, -1);
	PQfinish(conn->pg);
	while (conn->prepared)
		free(conn->texts[--conn->prepared]);
	free(conn->texts);
	free(conn);
}

static void notice(void *arg, const char *message)
{
	(void)arg;
	eddy_info(TARGET, "%.*s", (int)strcspn(message, "\n"), message);
}

/* On the offload pool: libpq resolves names, reads certificates and does the TLS handshake here. */
static int connect_step(void *arg)
{
	struct eddyi_pg_conn *conn = arg;

	if (conn->pg) {
		conn->want = PQconnectPoll(conn->pg);
	} else {
		conn->pg = PQconnectStart(conn->conninfo);
		conn->want = PQstatus(conn->pg) == CONNECTION_BAD ? PGRES_POLLING_FAILED :
								    PGRES_POLLING_WRITING;
		PQsetNoticeProcessor(conn->pg, notice, NULL);
	}
	return 0;
}

/* Wait for events of a socket. Return: them; -ECANCELED if the scope is cancelled; another -errno,
 * recorded. */
static int await_socket(struct at_loop *loop, PGconn *pg, unsigned events)
{
	int r = eddy_poll(PQsocket(pg), events);

	if (r >= 0 || (r == -ECANCELED && eddy_is_cancelled()))
		return r;
	return fail(loop, r == -ECANCELED ? -ECONNABORTED : r, "poll: %s", strerror(-r));
}

static uint64_t next_backoff(uint64_t backoff_ns)
{
	if (backoff_ns == 0)
		return BACKOFF_MIN_NS;
	return 2 * backoff_ns < BACKOFF_MAX_NS ? 2 * backoff_ns : BACKOFF_MAX_NS;
}

/* Connect. Return: 0; -ECANCELED; another -errno, recorded. */
static int conn_new(struct at_loop *loop, struct eddyi_pg_conn **ret_conn)
{
	const struct eddy_pg_options *options = loop->options;
	struct eddyi_pg_conn *conn = calloc(1, sizeof(*conn) + strlen(options->conninfo) + 1);
	int r;

	if (!conn)
		return fail(loop, -ENOMEM, "out of memory");
	count(CONNECTIONS, 1);
	strcpy(conn->conninfo, options->conninfo);
	conn->texts = calloc(options->statements_max + 1, sizeof(*conn->texts));
	r = conn->texts ? 0 : -ENOMEM;
	while (r >= 0 && conn->want != PGRES_POLLING_OK) {
		/* The first step resolves a name, and may hang. Others are awaited: they would use
		 * OpenSSL while the process ends. */
		if (conn->pg)
			r = eddy_offload(connect_step, conn);
		else if ((r = eddy_offload_detached(connect_step, conn, conn_free)) == -ECANCELED)
			return r; /* the job owns it */
		if (r == 0 && conn->want == PGRES_POLLING_FAILED)
			r = -ECONNREFUSED;
		else if (r == 0 && conn->want != PGRES_POLLING_OK)
			r = await_socket(loop, conn->pg,
					 conn->want == PGRES_POLLING_READING ? POLLIN : POLLOUT);
	}
	if (r >= 0 && (PQsetnonblocking(conn->pg, 1) < 0 || !PQenterPipelineMode(conn->pg)))
		r = -ECONNREFUSED;
	if (r < 0) {
		const char *message = conn->pg ? PQerrorMessage(conn->pg) : "";

		if (r != -ECANCELED)
			fail(loop, r, "%s", *message ? message : strerror(-r));
		conn_free(conn);
		return r;
	}
	conn->clean = true;
	*ret_conn = conn;
	return 0;
}

static int cancel_job(void *arg)
{
	char error[256];

	PQcancel(arg, error, sizeof(error));
	return 0;
}

static void cancel_free(void *arg)
{
	PQfreeCancel(arg);
}

/* Ask the server to cancel what the connection waits for. Suspends, also in a cancelled scope. */
static void conn_cancel(struct eddyi_pg_conn *conn)
{
	PGcancel *cancel = PQgetCancel(conn->pg);
	struct eddy_scope shield;

	if (!cancel)
		return;
	eddy_scope_begin(&shield,
			 &(struct eddy_scope_options){ .shielded = true, .timeout_ns = CANCEL_NS });
	if (eddy_offload_detached(cancel_job, cancel, cancel_free) != -ECANCELED)
		PQfreeCancel(cancel);
	eddy_scope_end(&shield);
}

/* libpq may have no room for all of a TLS record. OpenSSL keeps the rest, and no event of the socket
 * tells. Its function is found at run time, since libpq may have been built without TLS. */
static bool has_pending(PGconn *pg)
{
	const void *ssl = PQsslInUse(pg) ? PQsslStruct(pg, "OpenSSL") : NULL;
	int (*pending)(const void *ssl) = NULL;

	if (ssl)
		*(void **)&pending = dlsym(dlopen(NULL, RTLD_LAZY), "SSL_pending");
	return pending && pending(ssl) > 0;
}

/* Wait for events, and take the input. */
static int await(struct at_loop *loop, PGconn *pg, unsigned events)
{
	int r = await_socket(loop, pg, events);

	if (r < 0)
		return r;
	while ((r & ~POLLOUT) && PQconsumeInput(pg))
		if (!has_pending(pg))
			return 0;
	return r & ~POLLOUT ? lost(loop, pg) : 0;
}

/* ---- statements ---- */

/* Queue a statement, and its preparation if the connection has room for one more. */
static int queue(struct eddyi_pg_conn *conn, struct eddy_pg_statement *statement,
		 unsigned statements_max)
{
	const char *values[EDDY_PG_PARAMS_MAX], *sql = statement->sql;
	int count = (int)statement->params.count, ok = 1;
	unsigned number = 0;
	char name[EDDY_U64_SIZE], *copies = NULL, *end;
	size_t size = 0;

	for (int i = 0; i < count; i++)
		if (statement->params.list[i].str.ptr)
			size += statement->params.list[i].str.len + 1;
	if (size && !(copies = malloc(size)))
		return -ENOMEM;
	end = copies;
	for (int i = 0; i < count; i++) {
		const struct eddy_pg_value *value = &statement->params.list[i];

		values[i] = value->z ? value->z : value->number[0] ? value->number : NULL;
		if (!value->str.ptr)
			continue;
		values[i] = end;
		memcpy(end, value->str.ptr, value->str.len);
		end += value->str.len;
		*end++ = 0;
	}
	while (number < conn->prepared && strcmp(conn->texts[number], sql))
		number++;
	statement->is_new = number == conn->prepared && number < statements_max &&
			    (conn->texts[number] = strdup(sql));
	eddy_u64_format(number, name);
	if (statement->is_new) {
		conn->prepared++;
		ok = PQsendPrepare(conn->pg, name, sql, 0, NULL);
	}
	if (ok && number < conn->prepared)
		ok = PQsendQueryPrepared(conn->pg, name, count, values, NULL, NULL, 0);
	else if (ok)
		ok = PQsendQueryParams(conn->pg, sql, count, NULL, values, NULL, NULL, 0);
	free(copies);
	return ok ? 0 : -ECONNABORTED;
}

/* Take what libpq has next: a result, or NULL behind the one of a command. */
static int next_result(struct at_loop *loop, PGconn *pg, PGresult **ret_result)
{
	while (PQisBusy(pg)) {
		int r = await(loop, pg, POLLIN);

		if (r < 0)
			return r;
	}
	*ret_result = PQgetResult(pg);
	return PQstatus(pg) == CONNECTION_BAD ? lost(loop, pg) : 0;
}

/* Receive the result of one command. `*failed` keeps the first error of the pipeline. */
static int receive(struct at_loop *loop, PGconn *pg, int *failed, struct eddy_pg_rows *ret_rows)
{
	PGresult *result = NULL, *end = NULL;
	int r = next_result(loop, pg, &result);
	ExecStatusType status = PQresultStatus(result);

	if (r == 0 && status != PGRES_PIPELINE_SYNC)
		r = next_result(loop, pg, &end);
	PQclear(end);
	if (r == 0 && status == PGRES_FATAL_ERROR && *failed == 0)
		*failed = refused(loop, result);
	else if (r == 0 && (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || end || !result))
		r = fail(loop, -EIO, "COPY is not supported");
	if (r < 0 || !ret_rows || *failed < 0) {
		PQclear(result);
		return r;
	}
	*ret_rows = (struct eddy_pg_rows){ .result = result, .count = (size_t)PQntuples(result) };
	ret_rows->affected = status == PGRES_TUPLES_OK ? ret_rows->count :
							 strtoull(PQcmdTuples(result), NULL, 10);
	return 0;
}

/* Send statements, and receive their results. Return: 0; -errno. The connection is clean if the
 * error is the server's. */
static int exchange(struct at_loop *loop, struct eddyi_pg_conn *conn,
		    struct eddy_pg_statement *list, size_t count)
{
	unsigned kept = conn->prepared;
	int failed = 0, left, r = 0;

	conn->clean = false;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = queue(conn, &list[i], loop->options->statements_max);
	if (r == 0 && !PQpipelineSync(conn->pg))
		r = -ECONNABORTED;
	if (r < 0)
		return r == -ECONNABORTED ? lost(loop, conn->pg) : fail(loop, r, "out of memory");
	while ((left = PQflush(conn->pg)) > 0)
		if ((r = await(loop, conn->pg, POLLIN | POLLOUT)) < 0)
			return r;
	if (left < 0)
		return lost(loop, conn->pg);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (list[i].is_new) {
			r = receive(loop, conn->pg, &failed, NULL);
			kept += r == 0 && failed == 0;
		}
		if (r == 0)
			r = receive(loop, conn->pg, &failed, &list[i].rows);
	}
	if (r == 0)
		r = receive(loop, conn->pg, &failed, NULL); /* the end */
	if (r < 0)
		return r;
	/* Preparations behind a failure were skipped. */
	while (conn->prepared > kept)
		free(conn->texts[--conn->prepared]);
	conn->clean = failed != -ESTALE;
	conn->failed = failed < 0 ? failed : conn->failed;
	return failed;
}

static void scope_begin(struct eddy_scope *scope, uint64_t timeout_ns)
{
	eddy_scope_begin(scope, &(struct eddy_scope_options){
					.timeout_ns = timeout_ns == EDDY_NEVER ? 0 : timeout_ns });
}

/* Run statements on a connection, within the deadline of a query. */
static int run(struct at_loop *loop, struct eddyi_pg_conn *conn, struct eddy_pg_statement *list,
	       size_t count)
{
	struct eddy_scope scope;
	int r, ended;

	for (size_t i = 0; i < count; i++)
		list[i].rows = (struct eddy_pg_rows){ 0 };
	if (!conn->clean)
		return fail(loop, -ECONNABORTED, "the connection of the transaction was lost");
	if (eddy_is_cancelled())
		return fail(loop, -ECANCELED, "cancelled before anything was sent");
	scope_begin(&scope, loop->options->query_ns);
	r = exchange(loop, conn, list, count);
	ended = eddy_scope_end(&scope);
	if (r < 0)
		for (size_t i = 0; i < count; i++)
			eddy_pg_rows_deinit(&list[i].rows);
	if (r != -ECANCELED)
		return r;
	conn_cancel(conn);
	if (ended == -ETIMEDOUT)
		return fail(loop, -ETIMEDOUT, "no result within %llu ms",
			    (unsigned long long)(loop->options->query_ns / EDDY_MS));
	return fail(loop, -ECANCELED, "the query was cancelled");
}

/* ---- the pool ---- */

int eddy_pg_open(const struct eddy_pg_options *options, struct eddy_pg *ret_pg)
{
	const char *conninfo = options && options->conninfo ? options->conninfo : "";
	struct eddyi_pg_pool *pool;
	char *why = NULL;
	PQconninfoOption *parsed = PQconninfoParse(conninfo, &why);

	if (!parsed) {
		eddy_error(TARGET, "%s", why ? why : strerror(ENOMEM));
		PQfreemem(why);
		return why ? -EINVAL : -ENOMEM;
	}
	PQconninfoFree(parsed);
	pool = calloc(1, sizeof(*pool) + strlen(conninfo) + 1);
	if (!pool)
		return -ENOMEM;
	if (options)
		pool->options = *options;
	pool->options.conninfo = strcpy(pool->conninfo, conninfo);
#define DEFAULT(field, value)                                                                      \
	if (!pool->options.field)                                                                  \
	pool->options.field = (value)
	DEFAULT(connections_max, 10);
	DEFAULT(wait_ns, 5 * EDDY_SECOND);
	DEFAULT(query_ns, 30 * EDDY_SECOND);
	DEFAULT(idle_ns, 300 * EDDY_SECOND);
	DEFAULT(statements_max, 100);
#undef DEFAULT
	if (pool->options.unprepared)
		pool->options.statements_max = 0;
	eddyi_figure_offer(figures, FIGURES);
	*ret_pg = (struct eddy_pg){ .pool = pool };
	return 0;
}

static void drop_idle(struct at_loop *loop)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&loop->idle)))
		conn_free(eddy_of(node, struct eddyi_pg_conn, node));
}

void eddy_pg_close(struct eddy_pg *pg)
{
	if (!pg->pool)
		return;
	for (size_t i = 0; i < EDDY_LOOPS_MAX; i++)
		if (pg->pool->loops[i].options)
			drop_idle(&pg->pool->loops[i]);
	free(pg->pool);
	pg->pool = NULL;
}

/* Take an idle connection on which the server has sent nothing: neither an end nor its reason. One
 * that was given back in this turn of the loop has just been read. */
static struct eddyi_pg_conn *take_idle(struct at_loop *loop)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&loop->idle))) {
		struct eddyi_pg_conn *conn = eddy_of(node, struct eddyi_pg_conn, node);
		struct pollfd fd = { PQsocket(conn->pg), POLLIN, 0 };

		if (conn->since_ns == eddy_loop_now() || poll(&fd, 1, 0) == 0)
			return conn;
		conn_free(conn);
	}
	return NULL;
}

/* Get a connection for a permit that the caller has. Suspends. */
static int find_conn(struct at_loop *loop, struct eddyi_pg_conn **ret_conn)
{
	uint64_t now;
	bool known;
	int r;

	while (!(*ret_conn = take_idle(loop))) {
		now = eddy_now(); /* the loop's time stands still if nothing suspends */
		if (now < loop->retry_ns) {
			struct eddy_case cases[] = { eddy_case_event(&loop->changed),
						     eddy_case_at(loop->retry_ns) };

			eddy_event_clear(&loop->changed);
			r = eddy_select(cases, 2);
			if (r < 0)
				return r;
			continue;
		}
		known = loop->backoff_ns != 0;
		if (known)
			loop->retry_ns = now + loop->backoff_ns;
		r = conn_new(loop, ret_conn);
		if (r == 0) {
			if (loop->backoff_ns)
				eddy_info(TARGET, "connected again");
			loop->backoff_ns = loop->retry_ns = 0;
			eddy_event_set(&loop->changed);
			return 0;
		}
		if (r == -ECANCELED)
			return r;
		memcpy(loop->refusal, loop->error, sizeof(loop->refusal));
		if (loop->backoff_ns && !known)
			continue; /* another attempt has failed meanwhile */
		if (!known)
			eddy_warn(TARGET, "can't connect, trying again: %s", loop->refusal);
		loop->backoff_ns = next_backoff(loop->backoff_ns);
		loop->retry_ns = eddy_now() + loop->backoff_ns;
	}
	return 0;
}

/* Take a connection out of the pool, within the deadline of a wait. Suspends. */
static int take(struct at_loop *loop, struct eddyi_pg_conn **ret_conn)
{
	struct eddy_scope scope;
	bool permitted = eddy_semaphore_try_acquire(&loop->permits, 1) == 0;
	uint64_t began;
	int r, ended;

	if (permitted && (*ret_conn = take_idle(loop))) {
		count(USED, 1);
		return 0;
	}
	count(WAITING, 1);
	began = eddy_now();
	scope_begin(&scope, loop->options->wait_ns);
	if (!permitted)
		permitted = eddy_semaphore_acquire(&loop->permits, 1) == 0;
	r = permitted ? find_conn(loop, ret_conn) : -ECANCELED;
	ended = eddy_scope_end(&scope);
	count(WAITING, -1);
	count(WAITED, (int64_t)(eddy_now() - began));
	if (r == 0) {
		count(USED, 1);
		return 0;
	}
	if (permitted)
		eddy_semaphore_release(&loop->permits, 1);
	if (ended != -ETIMEDOUT)
		return fail(loop, -ECANCELED, "cancelled before anything was sent");
	if (loop->backoff_ns || permitted)
		return fail(loop, -EBUSY, "can't connect: %s",
			    loop->backoff_ns ? loop->refusal : "the server does not answer");
	return fail(loop, -EBUSY, "all %u connections were in use for %llu ms",
		    loop->options->connections_max,
		    (unsigned long long)(loop->options->wait_ns / EDDY_MS));
}

/* Give a connection and its permit back to the pool. */
static void give_back(struct at_loop *loop, struct eddyi_pg_conn *conn)
{
	struct eddyi_pg_conn *oldest;

	if (conn->clean && PQtransactionStatus(conn->pg) == PQTRANS_IDLE) {
		conn->since_ns = eddy_loop_now();
		eddy_list_prepend(&loop->idle, &conn->node);
	} else {
		conn_free(conn);
	}
	while (!eddy_list_is_empty(&loop->idle)) {
		oldest = eddy_of(loop->idle.prev, struct eddyi_pg_conn, node);
		if (eddy_loop_now() - oldest->since_ns < loop->options->idle_ns)
			break;
		eddy_list_remove(&oldest->node);
		conn_free(oldest);
	}
	eddy_semaphore_release(&loop->permits, 1);
	count(USED, -1);
	eddy_event_set(&loop->changed);
}

/* ---- queries ---- */

static bool is_malformed(const struct eddy_pg_params *params)
{
	if (params->count > EDDY_PG_PARAMS_MAX)
		return true;
	for (size_t i = 0; i < params->count; i++)
		if (params->list[i].str.ptr &&
		    memchr(params->list[i].str.ptr, 0, params->list[i].str.len))
			return true;
	return false;
}

int eddy_pg_pipeline(struct eddy_pg *pg, struct eddy_pg_statement *list, size_t count)
{
	struct at_loop *loop = here(pg);
	struct eddyi_pg_conn *conn = pg->conn;
	int r, runs = 0;

	for (size_t i = 0; i < count; i++)
		if (is_malformed(&list[i].params))
			return fail(loop, -EINVAL, "a parameter has a NUL byte, or is the 65th");
	do {
		if (!pg->conn && (r = take(loop, &conn)) < 0)
			break;
		r = run(loop, conn, list, count);
		if (!pg->conn)
			give_back(loop, conn);
		if (r == -ESTALE)
			drop_idle(loop); /* they have prepared the same */
	} while (r == -ESTALE && !pg->conn && ++runs < 2);
	count_call(r);
	return r == -ESTALE ? -EAGAIN : r;
}

int eddy_pg_query(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
		  struct eddy_pg_params params)
{
	struct eddy_pg_statement statement = { .sql = sql, .params = params };
	int r = eddy_pg_pipeline(pg, &statement, 1);

	if (r == 0 && ret_rows)
		*ret_rows = statement.rows;
	else if (r == 0)
		eddy_pg_rows_deinit(&statement.rows);
	return r;
}

/* Run a statement that gives a row. */
static int query_first(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
		       struct eddy_pg_params params)
{
	int r = eddy_pg_query(pg, ret_rows, sql, params);

	if (r == 0 && ret_rows->count == 0) {
		eddy_pg_rows_deinit(ret_rows);
		r = -ENOENT;
	}
	return r;
}

/* Keep rows that could be read. */
static int keep_if(struct eddy_pg_rows *rows, int r)
{
	if (r < 0)
		eddy_pg_rows_deinit(rows);
	return r;
}

int eddyi_pg_one(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
		 struct eddy_pg_params params, const struct eddy_member *members, size_t count,
		 void *ret_target)
{
	int r = query_first(pg, ret_rows, sql, params);

	return r < 0 ? r :
		       keep_if(ret_rows,
			       eddyi_pg_row_into(ret_rows, 0, members, count, ret_target));
}

int eddyi_pg_get(struct eddy_pg *pg, struct eddy_pg_rows *ret_rows, const char *sql,
		 struct eddy_pg_params params, const struct eddy_to *to, size_t count)
{
	int r = query_first(pg, ret_rows, sql, params);

	return r < 0 ? r : keep_if(ret_rows, eddyi_pg_row(ret_rows, 0, to, count));
}

/* ---- rows ---- */

void eddy_pg_rows_deinit(struct eddy_pg_rows *rows)
{
	PQclear(rows->result);
	*rows = (struct eddy_pg_rows){ 0 };
}

/* Get a value; .ptr is NULL for null. PostgreSQL writes a boolean as "t" or "f". */
static struct eddy_str value_of(const PGresult *result, int row, int column)
{
	const char *text = PQgetvalue(result, row, column);
	int len = PQgetlength(result, row, column);

	if (len == 0 && PQgetisnull(result, row, column))
		return eddy_str(NULL, 0);
	if (len == 1 && PQftype(result, column) == OID_BOOL)
		return text[0] == 't' ? EDDY_STR("true") : EDDY_STR("false");
	return eddy_str(text, (size_t)len);
}

int eddyi_pg_row(const struct eddy_pg_rows *rows, size_t i, const struct eddy_to *to, size_t count)
{
	size_t columns = (size_t)PQnfields(rows->result);

	if (i >= rows->count || count > columns) {
		eddy_error(TARGET, "column %zu of row %zu is read of %zu columns and %zu rows",
			   count, i, columns, rows->count);
		return -EDOM;
	}
	for (size_t column = 0; column < count; column++) {
		struct eddy_str value = value_of(rows->result, (int)i, (int)column);

		if ((!value.ptr && to[column].type != EDDY_TYPE_STR) ||
		    eddy_to_parse(to[column], value) < 0) {
			eddy_error(TARGET, "the column \"%s\" does not fit its variable: %.*s",
				   PQfname(rows->result, (int)column),
				   value.ptr ? (int)value.len : 4, value.ptr ? value.ptr : "null");
			return -EDOM;
		}
	}
	return 0;
}

struct row {
	const PGresult *result;
	const char *const *names;
	int number;
	int columns;
};

static int read_column(const void *from, const char *name, const struct eddy_member *member,
		       struct eddy_to to)
{
	const struct row *row = from;

	for (int column = 0; column < row->columns; column++) {
		struct eddy_str value;

		if (row->names[column][0] != name[0] || strcmp(row->names[column], name))
			continue;
		value = value_of(row->result, row->number, column);
		if (value.ptr)
			return eddyi_member_parse(member, value, to);
	}
	return -ENOENT;
}

int eddyi_pg_row_into(const struct eddy_pg_rows *rows, size_t i, const struct eddy_member *members,
		      size_t count, void *ret_target)
{
	const char *names[EDDY_PG_COLUMNS_MAX];
	struct row row = { rows->result, names, (int)i, PQnfields(rows->result) };
	struct eddyi_source source = { read_column, &row };
	char why[EDDY_WHY_SIZE] = "there is no such row, or it has more than 256 columns";
	bool is_there = i < rows->count && row.columns <= EDDY_PG_COLUMNS_MAX;

	for (int column = 0; is_there && column < row.columns; column++)
		names[column] = PQfname(rows->result, column);
	if (is_there && eddyi_members_read(&source, members, count, ret_target, why) == 0)
		return 0;
	eddy_error(TARGET, "the row does not fit the struct: %s", why);
	return -EDOM;
}

/* ---- parameters ---- */

struct eddy_pg_value eddy_pg_str(struct eddy_str str)
{
	return (struct eddy_pg_value){ .str = str };
}

struct eddy_pg_value eddy_pg_text(const char *z)
{
	return (struct eddy_pg_value){ .z = z };
}

struct eddy_pg_value eddy_pg_bool(bool value)
{
	return eddy_pg_text(value ? "true" : "false");
}

struct eddy_pg_value eddy_pg_i64(int64_t value)
{
	struct eddy_pg_value to = { .number = "-" };

	eddy_u64_format(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, to.number + (value < 0));
	return to;
}

struct eddy_pg_value eddy_pg_u64(uint64_t value)
{
	struct eddy_pg_value to = { 0 };

	eddy_u64_format(value, to.number);
	return to;
}

struct eddy_pg_value eddy_pg_f64(double value)
{
	struct eddy_pg_value to = { 0 };

	snprintf(to.number, sizeof(to.number), "%.17g", value);
	/* The program may have chosen a locale. */
	for (char *at = to.number; *at; at++)
		if (*at == ',')
			*at = '.';
	return to;
}

/* ---- transactions ---- */

int eddy_pg_begin(struct eddy_pg *pg, const char *sql, struct eddy_pg *ret_tx)
{
	struct eddy_pg tx = { .pool = pg->pool };
	int r = take(here(pg), &tx.conn);

	if (r < 0) {
		count_call(r);
		return r;
	}
	r = eddy_pg_query(&tx, NULL, sql ? sql : "begin", EDDY_PG());
	if (r < 0)
		give_back(here(pg), tx.conn);
	else
		*ret_tx = tx;
	return r;
}

int eddy_pg_commit(struct eddy_pg *tx)
{
	/* The server would answer COMMIT by rolling back, without an error. */
	if (tx->conn->clean && PQtransactionStatus(tx->conn->pg) == PQTRANS_INERROR)
		return tx->conn->failed;
	return eddy_pg_query(tx, NULL, "commit", EDDY_PG());
}

void eddy_pg_end(struct eddy_pg *tx)
{
	struct eddy_scope shield;

	if (!tx->conn)
		return;
	if (tx->conn->clean && PQtransactionStatus(tx->conn->pg) != PQTRANS_IDLE) {
		eddy_scope_begin(&shield, &(struct eddy_scope_options){
						  .shielded = true, .timeout_ns = ROLLBACK_NS });
		/* If it fails, the connection is closed, which rolls back as well. */
		(void)!eddy_pg_query(tx, NULL, "rollback", EDDY_PG());
		eddy_scope_end(&shield);
	}
	give_back(here(tx), tx->conn);
	tx->conn = NULL;
}

/* ---- notifications ---- */

static int pass_on(const struct eddy_pg_listener *listener, const struct eddy_pg_notification *item)
{
	if (listener->to)
		return eddy_chan_send(listener->to, item);
	listener->fn(listener->arg, item);
	return 0;
}

/* Pass on what has arrived. */
static int deliver(PGconn *pg, const struct eddy_pg_listener *listener)
{
	struct eddy_pg_notification item;
	PGnotify *notify;
	int r = 0;

	while (r == 0 && (notify = PQnotifies(pg))) {
		snprintf(item.channel, sizeof(item.channel), "%s", notify->relname);
		snprintf(item.payload, sizeof(item.payload), "%s", notify->extra);
		PQfreemem(notify);
		r = pass_on(listener, &item);
	}
	return r;
}

static int listen_on(const struct eddy_pg_listener *listener, struct eddyi_pg_conn *conn)
{
	struct eddy_pg pg = { listener->pg->pool, conn };
	struct eddy_pg_notification item = { .channel = "" };
	struct eddy_scope scope;
	int r = 0;

	for (const char *const *channel = listener->channels; r == 0 && *channel; channel++) {
		char sql[2 * sizeof(item.channel) + 16];
		char *name = PQescapeIdentifier(conn->pg, *channel, strlen(*channel));

		snprintf(sql, sizeof(sql), "listen %s", name ? name : "");
		PQfreemem(name);
		r = eddy_pg_query(&pg, NULL, sql, EDDY_PG());
	}
	if (r == 0)
		r = pass_on(listener, &item);
	while (r == 0 && (r = deliver(conn->pg, listener)) == 0) {
		scope_begin(&scope, PING_NS);
		r = await(here(&pg), conn->pg, POLLIN);
		/* Silence: look whether the server is still there. */
		if (eddy_scope_end(&scope) == -ETIMEDOUT && r == -ECANCELED)
			r = eddy_pg_query(&pg, NULL, "select 1", EDDY_PG());
	}
	return r;
}

int eddy_pg_listen(void *arg)
{
	const struct eddy_pg_listener *listener = arg;
	struct at_loop *loop = here(listener->pg);
	uint64_t backoff_ns = 0;
	struct eddyi_pg_conn *conn;
	struct eddy_scope scope;
	int r;

	do {
		scope_begin(&scope, loop->options->wait_ns);
		r = conn_new(loop, &conn);
		if (eddy_scope_end(&scope) == -ETIMEDOUT && r < 0)
			r = fail(loop, -ETIMEDOUT, "the server does not answer");
		if (r == 0) {
			backoff_ns = 0;
			r = listen_on(listener, conn);
			conn_free(conn);
		}
		if (r == -ECANCELED || r == -EPIPE)
			return r;
		if (!backoff_ns)
			eddy_warn(TARGET, "can't listen, trying again: %s", loop->error);
		backoff_ns = next_backoff(backoff_ns);
	} while ((r = eddy_sleep(backoff_ns)) == 0);
	return r;
}
