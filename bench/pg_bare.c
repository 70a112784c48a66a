/* pg_bare: the same queries as pg_eddy, by libpq's pipeline mode and poll(2), for pg.py.
 *
 *     pg_bare CONNINFO row|pipeline|update CONNECTIONS SECONDS
 *
 * Each connection sends its next call when it has received the last one. Prints the processor time of
 * a call.
 */
#include "pg_work.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>

#define CONNECTIONS_MAX 64

struct item {
	int64_t id;
	const char *name;
	size_t name_len;
	double price;
	int64_t stock;
};

static struct conn {
	PGconn *pg;
	int64_t keys[PIPELINE];
	int received; /* results of the call */
} conns[CONNECTIONS_MAX];
static struct pollfd fds[CONNECTIONS_MAX];

static _Noreturn void die(PGconn *pg, const PGresult *result)
{
	fprintf(stderr, "pg_bare: %s%s\n", PQerrorMessage(pg), PQresultErrorMessage(result));
	exit(1);
}

static void flush(size_t i)
{
	int left = PQflush(conns[i].pg);

	if (left < 0)
		die(conns[i].pg, NULL);
	fds[i].events = left ? POLLIN | POLLOUT : POLLIN;
}

static void call(size_t i, const struct work *work)
{
	struct conn *conn = &conns[i];

	conn->received = 0;
	for (int j = 0; j < work->statements; j++) {
		char key[24];
		const char *values[] = { key };

		conn->keys[j] = next_key();
		snprintf(key, sizeof(key), "%lld", (long long)conn->keys[j]);
		if (!PQsendQueryPrepared(conn->pg, "0", 1, values, NULL, NULL, 0))
			die(conn->pg, NULL);
	}
	if (!PQpipelineSync(conn->pg))
		die(conn->pg, NULL);
	flush(i);
}

static void connect_to(const char *conninfo, const struct work *work, size_t i)
{
	PGconn *pg = PQconnectdb(conninfo);
	PGresult *result;

	if (PQstatus(pg) != CONNECTION_OK)
		die(pg, NULL);
	result = PQprepare(pg, "0", work->sql, 0, NULL);
	if (PQresultStatus(result) != PGRES_COMMAND_OK || PQsetnonblocking(pg, 1) < 0 ||
	    !PQenterPipelineMode(pg))
		die(pg, result);
	PQclear(result);
	conns[i].pg = pg;
	fds[i].fd = PQsocket(pg);
}

static bool is_right(const PGresult *result, int64_t key)
{
	struct item item;

	if (PQntuples(result) != 1 || PQnfields(result) != 4)
		return false;
	item.id = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
	item.name = PQgetvalue(result, 0, 1);
	item.name_len = (size_t)PQgetlength(result, 0, 1);
	item.price = strtod(PQgetvalue(result, 0, 2), NULL);
	item.stock = strtoll(PQgetvalue(result, 0, 3), NULL, 10);
	return item.id == key && item.name_len > 0 && item.price >= 0 && item.stock >= 0;
}

/* Take what has arrived. Return: whether the call is done. */
static bool receive(struct conn *conn)
{
	PGresult *result;
	bool is_done = false;

	if (!PQconsumeInput(conn->pg))
		die(conn->pg, NULL);
	while (!is_done && !PQisBusy(conn->pg)) {
		result = PQgetResult(conn->pg);
		switch (PQresultStatus(result)) {
		case PGRES_TUPLES_OK:
			if (!is_right(result, conn->keys[conn->received++]))
				die(conn->pg, result);
			break;
		case PGRES_COMMAND_OK:
			break;
		case PGRES_PIPELINE_SYNC:
			is_done = true;
			break;
		default:
			if (result) /* NULL is behind each statement's */
				die(conn->pg, result);
		}
		PQclear(result);
	}
	return is_done;
}

int main(int argc, char **argv)
{
	struct work work;
	struct micro micro;
	size_t count;

	if (argc != 5)
		return 2;
	work = work_of(argv[2]);
	count = strtoul(argv[3], NULL, 10);
	if (count > CONNECTIONS_MAX)
		return 2;
	micro = micro_begin(atof(argv[4]));
	for (size_t i = 0; i < count; i++) {
		connect_to(argv[1], &work, i);
		call(i, &work);
	}
	for (;;) {
		if (poll(fds, count, -1) < 0 && errno != EINTR)
			micro_die("poll");
		for (size_t i = 0; i < count; i++) {
			if (!fds[i].revents)
				continue;
			if (receive(&conns[i])) {
				if (!call_done(&micro))
					goto done;
				call(i, &work);
			} else if (fds[i].events & POLLOUT) {
				flush(i);
			}
		}
	}
done:
	micro_print(&micro);
	return 0;
}
