#include "parked.h"

#include "app/app.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/socket.h>

#define TARGET "eddy::http"

/* Minimum time of a head or handshake before eviction; less in a crowd. Without it, new connections
 * would evict each other before sending a request while all others are busy. */
#define SPARED_NS (500 * EDDY_MS)
#define CROWD_SPARED_NS (50 * EDDY_MS)

/* One check of a crowd looks at CROWD_LOOKS_MAX connections, and the next follows after
 * CROWD_LOOK_NS. */
#define CROWD_LOOKS_MAX 256
#define CROWD_LOOK_NS (10 * EDDY_MS)

static struct eddyi_parked *parked_of(struct eddyi_seat *seat)
{
	return eddy_of(seat, struct eddyi_parked, seat);
}

void eddyi_parked_tell(const struct eddyi_parked *parked, const char *why)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	char name[EDDYI_PARKED_TEXT_SIZE], text[EDDY_SOCKADDR_TEXT_MAX] = "unknown";

	if (!eddy_log_is_enabled(EDDY_LOG_DEBUG, TARGET))
		return;
	if (eddyi_getpeername_now(parked->fd, &addr.addr.any, &addr.len) == 0)
		eddy_sockaddr_format(&addr.addr.any, addr.len, text);
	parked->verbs->describe(parked, name);
	eddy_debug(TARGET, "%s from %s is closed: %s", name, text, why);
}

/* ---- the seat ---- */

static void unseat(struct eddyi_parked *parked)
{
	struct eddyi_holder *holder = parked->seat.holder;
	struct eddyi_conns *conns = parked->conns;

	if (conns->tally && holder != &conns->holders.nobody)
		eddyi_tally_give_back(conns->tally, &holder->ip);
	eddyi_holders_unseat(&conns->holders, &parked->seat);
}

/* Get the address that the limit applies to. Return: NULL for unix sockets and trusted proxies. */
static const struct eddyi_ip *address_of(const struct eddyi_parked *parked, struct eddyi_ip *ip)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	uint16_t port;

	if (eddyi_getpeername_now(parked->fd, &addr.addr.any, &addr.len) < 0 ||
	    !eddyi_ip_from_sockaddr(&addr, ip, &port) ||
	    eddyi_trust_has(&parked->conns->app->trust, ip))
		return NULL;
	return ip;
}

/* Take a seat, counted for `ip` unless that is NULL. Return: 0, -EDQUOT, -ENOMEM. */
static int take_seat(struct eddyi_parked *parked, const struct eddyi_ip *ip)
{
	struct eddyi_conns *conns = parked->conns;
	struct eddyi_tally *tally = conns->tally;
	int r = 0;

	if (tally && ip)
		r = eddyi_tally_take(tally, ip, conns->app->options.connections_per_address_max);
	if (r == -EDQUOT) {
		eddyi_conn_count(conns, over_address);
		eddyi_parked_tell(parked, "its address has reached connections_per_address_max");
	}
	if (r < 0 || eddyi_holders_seat(&conns->holders, &parked->seat, ip))
		return r;
	if (tally && ip)
		eddyi_tally_give_back(tally, ip);
	return -ENOMEM;
}

int eddyi_parked_begin(struct eddyi_parked *parked, struct eddyi_conns *conns, int fd)
{
	struct eddyi_ip ip;
	int r;

	parked->conns = conns;
	parked->fd = fd;
	parked->state = EDDYI_PARKED_BUSY;
	parked->last = conns->stopping;
	r = take_seat(parked, address_of(parked, &ip));
	conns->count += r == 0;
	return r;
}

void eddyi_parked_end(struct eddyi_parked *parked)
{
	unseat(parked);
	parked->conns->count--;
}

int eddyi_parked_reseat(struct eddyi_parked *parked, const struct eddyi_ip *ip)
{
	enum eddyi_standing standing = parked->seat.standing;
	int r;

	unseat(parked);
	r = take_seat(parked, ip);
	if (r < 0)
		take_seat(parked, NULL); /* which always succeeds */
	eddyi_holders_move(&parked->conns->holders, &parked->seat, standing);
	return r;
}

/* ---- waiting ---- */

static void closed(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_parked *parked = eddy_of(op, struct eddyi_parked, op);
	struct eddyi_conns *conns = parked->conns;

	(void)result;
	(void)flags;
	eddyi_parked_end(parked);
	conns->leaving -= parked->evicted;
	parked->verbs->free(parked);
	eddyi_conn_count(conns, closed);
	conns->gone(conns);
}

static void start_close(struct eddyi_parked *parked)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&parked->op, closed);

	io_uring_prep_close(sqe, parked->fd);
	eddy_op_start(&parked->op, sqe);
}

void eddyi_parked_close(struct eddyi_parked *parked)
{
	parked->state = EDDYI_PARKED_CLOSING;
	eddyi_holders_move(&parked->conns->holders, &parked->seat, EDDYI_STANDING_BUSY);
	eddy_timeout_disarm(parked->timeout);
	/* An armed receive would keep the socket open for the peer. */
	if (eddy_op_is_started(&parked->op))
		eddy_op_cancel(&parked->op);
	else
		start_close(parked);
}

static void received(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_parked *parked = eddy_of(op, struct eddyi_parked, op);
	bool last = !(flags & IORING_CQE_F_MORE);

	if (parked->state != EDDYI_PARKED_CLOSING)
		parked->verbs->resume(
			parked, eddy_str(eddy_buffers_of(NULL, flags), result > 0 ? result : 0),
			result, last);
	else if (last)
		start_close(parked);
	eddy_buffers_give_back(NULL, flags);
}

void eddyi_parked_receive(struct eddyi_parked *parked, size_t len)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&parked->op, received);

	if (len)
		eddy_buffers_prep_recv_some(NULL, sqe, parked->fd, len);
	else
		eddy_buffers_prep_recv(NULL, sqe, parked->fd);
	eddy_op_start(&parked->op, sqe);
}

void eddyi_parked_wait(struct eddyi_parked *parked, enum eddyi_standing standing,
		       struct eddy_timeout_queue *queue, size_t len)
{
	struct eddyi_conns *conns = parked->conns;

	if (!eddyi_is_limited_by(parked->timeout, queue))
		eddy_timeout_arm(parked->timeout, queue);
	parked->state = EDDYI_PARKED_IDLE;
	if (!eddy_op_is_started(&parked->op))
		eddyi_parked_receive(parked, len);
	if (parked->seat.standing == standing)
		return;
	eddyi_holders_move(&conns->holders, &parked->seat, standing);
	eddyi_conns_evictable(conns);
}

void eddyi_parked_expire(struct eddyi_parked *parked)
{
	parked->expired = true;
	eddy_op_cancel(&parked->op);
}

/* If the receive of an idle one has completed before, the request is handled first. */
void eddyi_parked_evict(struct eddyi_parked *parked)
{
	eddyi_holders_move(&parked->conns->holders, &parked->seat, EDDYI_STANDING_BUSY);
	parked->conns->leaving += !parked->evicted;
	parked->evicted = true;
	parked->last = true;
	if (parked->state == EDDYI_PARKED_IDLE)
		eddy_op_cancel(&parked->op);
	else
		parked->verbs->evict(parked);
}

/* ---- the set ---- */

void eddyi_conns_init(struct eddyi_conns *conns)
{
	eddyi_holders_init(&conns->holders);
	eddyi_service_init(&conns->service);
	eddy_list_init(&conns->http1);
}

void eddyi_conns_deinit(struct eddyi_conns *conns)
{
	eddyi_holders_deinit(&conns->holders);
	eddyi_blocks_free(&conns->blocks);
	eddy_timer_disarm(&conns->sweep);
	eddyi_service_deinit(&conns->service);
}

/* Whether a holder crowds out others: more than 16 connections, and more than an eighth of all. */
static bool is_crowd(const struct eddyi_conns *conns, const struct eddyi_holder *holder)
{
	return holder->count > 16 && holder->count > conns->count / 8;
}

/* Get the time until which one is protected from eviction; 0: it is not. */
static uint64_t spared_until(const struct eddyi_parked *parked)
{
	uint64_t until = parked->timeout->since_ns;

	until += is_crowd(parked->conns, parked->seat.holder) ? CROWD_SPARED_NS : SPARED_NS;
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
			until = spared_until(parked_of(seat));
		if (until) {
			*ret_until_ns = until;
			r = -EAGAIN;
			continue;
		}
		eddyi_parked_tell(parked_of(seat), reasons[i]);
		eddyi_conn_count(conns, evicted[i]);
		eddyi_parked_evict(parked_of(seat));
		return 0;
	}
	return r;
}

bool eddyi_conns_find_slow(struct eddyi_conns *conns)
{
	struct eddyi_holders *holders = &conns->holders;
	struct eddyi_holder *holder = holders->largest;
	struct eddy_node *list, *node, *next;
	uint64_t now = eddy_loop_now();
	bool found = false;

	if (!holder || !is_crowd(conns, holder) || now - conns->crowd_seen_ns < CROWD_LOOK_NS)
		return false;
	conns->crowd_seen_ns = now;
	list = &holder->seats[EDDYI_STANDING_BUSY];
	node = list->next;
	for (int i = 0; i < CROWD_LOOKS_MAX && node != list; i++, node = next) {
		struct eddyi_parked *parked = parked_of(eddy_of(node, struct eddyi_seat, node));

		next = node->next;
		/* The next check begins with others. */
		eddy_list_remove(node);
		eddy_list_append(list, node);
		if (!parked->evicted && parked->verbs->is_waiting &&
		    parked->verbs->is_waiting(parked)) {
			eddyi_holders_move(holders, &parked->seat, EDDYI_STANDING_SLOW);
			found = true;
		}
	}
	return found;
}

static void make_last(struct eddyi_seat *seat)
{
	struct eddyi_parked *parked = parked_of(seat);

	parked->last = true;
	if (parked->verbs->stop)
		parked->verbs->stop(parked);
}

static void evict_silent(struct eddyi_seat *seat)
{
	struct eddyi_parked *parked = parked_of(seat);

	if (parked->state == EDDYI_PARKED_IDLE && !parked->partial && !parked->evicted)
		eddyi_parked_evict(parked);
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

static void evict_idle(struct eddyi_seat *seat)
{
	struct eddyi_parked *parked = parked_of(seat);

	if (parked->state == EDDYI_PARKED_IDLE || parked->verbs->stop)
		eddyi_parked_evict(parked);
}

void eddyi_conns_evict_idle(struct eddyi_conns *conns)
{
	eddyi_holders_each(&conns->holders, evict_idle);
}
