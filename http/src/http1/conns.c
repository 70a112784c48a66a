#include "conns.h"

#include "app/app.h"

#include <eddy/log.h>
#include <errno.h>
#include <sys/socket.h>

#define TARGET "eddy::http"

void eddyi_conns_init(struct eddyi_conns *conns)
{
	eddyi_holders_init(&conns->holders);
	eddy_list_init(&conns->in_progress);
	eddy_event_init(&conns->service.stop);
}

void eddyi_conns_deinit(struct eddyi_conns *conns)
{
	eddyi_holders_deinit(&conns->holders);
	eddy_timer_disarm(&conns->sweep);
	if (conns->service.client)
		conns->service.free_client(conns->service.client);
}

void eddyi_conn_tell(const struct eddyi_conn *conn, const char *why)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	char text[EDDY_SOCKADDR_TEXT_MAX] = "unknown";

	if (!eddy_log_is_enabled(EDDY_LOG_DEBUG, TARGET))
		return;
	if (getpeername(conn->wire.fd, &addr.addr.any, &addr.len) == 0)
		eddy_sockaddr_format(&addr.addr.any, addr.len, text);
	eddy_debug(TARGET, "a connection to %s from %s is closed: %s", conn->stream.bound, text,
		   why);
}

static struct eddyi_conn *conn_of(struct eddyi_seat *seat)
{
	return eddy_of(seat, struct eddyi_conn, seat);
}

void eddyi_conn_unseat(struct eddyi_conn *conn)
{
	struct eddyi_holder *holder = conn->seat.holder;
	struct eddyi_tally *tally = conn->conns->tally;

	if (tally && holder != &conn->conns->holders.nobody)
		eddyi_tally_give_back(tally, &holder->ip);
	eddyi_holders_unseat(&conn->conns->holders, &conn->seat);
}

/* Get the address that the limit applies to. Return: NULL for unix sockets and trusted proxies. */
static const struct eddyi_ip *address_of(const struct eddyi_conn *conn, struct eddyi_ip *ip)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	uint16_t port;

	if (getpeername(conn->wire.fd, &addr.addr.any, &addr.len) < 0 ||
	    !eddyi_ip_from_sockaddr(&addr, ip, &port) ||
	    eddyi_trust_has(&conn->conns->app->trust, ip))
		return NULL;
	return ip;
}

/* Seat a connection, and count it for its address. Return: 0, -EDQUOT, -ENOMEM. */
static int take_seat(struct eddyi_conn *conn, const struct eddyi_ip *ip)
{
	struct eddyi_tally *tally = conn->conns->tally;
	int r = 0;

	if (tally && ip)
		r = eddyi_tally_take(tally, ip,
				     conn->conns->app->options.connections_per_address_max);
	if (r == -EDQUOT) {
		eddyi_conn_count(conn->conns, over_address);
		eddyi_conn_tell(conn, "its address has reached connections_per_address_max");
	}
	if (r < 0 || eddyi_holders_seat(&conn->conns->holders, &conn->seat, ip))
		return r;
	if (tally && ip)
		eddyi_tally_give_back(tally, ip);
	return -ENOMEM;
}

int eddyi_conn_seat(struct eddyi_conn *conn)
{
	struct eddyi_ip ip;

	return take_seat(conn, address_of(conn, &ip));
}

int eddyi_conn_reseat(struct eddyi_conn *conn, const struct eddyi_ip *ip)
{
	enum eddyi_standing standing = conn->seat.standing;
	int r;

	eddyi_conn_unseat(conn);
	r = take_seat(conn, ip);
	if (r < 0)
		take_seat(conn, NULL); /* which always succeeds */
	eddyi_holders_move(&conn->conns->holders, &conn->seat, standing);
	return r;
}

/* If the receive of a parked connection has completed before, the request is handled first. */
void eddyi_conn_evict(struct eddyi_conn *conn)
{
	eddyi_holders_move(&conn->conns->holders, &conn->seat, EDDYI_STANDING_BUSY);
	conn->conns->leaving += !conn->evicted;
	conn->evicted = true;
	conn->wire.last = true;
	if (conn->state == EDDYI_CONN_PARKED)
		eddy_op_cancel(&conn->op);
	else if (conn->beside)
		eddy_scope_cancel(conn->beside);
	else if (conn->req)
		eddyi_exchange_cut(&conn->req->req);
}

/* Get the time until which a connection is protected from eviction; 0: it is not. */
static uint64_t spared_until(const struct eddyi_conn *conn)
{
	uint64_t until = conn->wire.timeout.since_ns;

	until += eddyi_conns_is_crowd(conn->conns, conn->seat.holder) ? EDDYI_CROWD_SPARED_NS :
									EDDYI_SPARED_NS;

	return until > eddy_loop_now() ? until : 0;
}

int eddyi_conns_evict(struct eddyi_conns *conns, uint64_t *ret_until_ns)
{
	static const char *const reasons[] = {
		[EDDYI_STANDING_IDLE] = "it is idle, and a new connection needs its place",
		[EDDYI_STANDING_HEAD] =
			"its request head is incomplete, and a new connection needs its place",
		[EDDYI_STANDING_SLOW] = "it is slow, and a new connection needs its place",
	};
	int r = -ENOENT;

	for (unsigned i = 0; i < EDDYI_STANDING_BUSY; i++) {
		struct eddyi_seat *seat = eddyi_holders_first(&conns->holders, i);
		uint64_t until = 0;

		if (!seat)
			continue;
		if (i == EDDYI_STANDING_HEAD)
			until = spared_until(conn_of(seat));
		if (until) {
			*ret_until_ns = until;
			r = -EAGAIN;
			continue;
		}
		eddyi_conn_tell(conn_of(seat), reasons[i]);
		eddyi_conn_count(conns, evicted[i]);
		eddyi_conn_evict(conn_of(seat));
		return 0;
	}
	return r;
}

static void make_last(struct eddyi_seat *seat)
{
	conn_of(seat)->wire.last = true;
}

static void evict_silent(struct eddyi_seat *seat)
{
	struct eddyi_conn *conn = conn_of(seat);

	if (conn->state == EDDYI_CONN_PARKED && !conn->arriving && !conn->evicted)
		eddyi_conn_evict(conn);
}

void eddyi_conns_stop(struct eddyi_conns *conns, bool patient)
{
	conns->stopping = true;
	conns->patient = patient;
	eddy_event_set(&conns->service.stop);
	eddyi_holders_each(&conns->holders, make_last);
	if (!patient)
		eddyi_holders_each(&conns->holders, evict_silent);
}

static void evict_parked(struct eddyi_seat *seat)
{
	if (conn_of(seat)->state == EDDYI_CONN_PARKED)
		eddyi_conn_evict(conn_of(seat));
}

void eddyi_conns_evict_parked(struct eddyi_conns *conns)
{
	eddyi_holders_each(&conns->holders, evict_parked);
}
