#include "conns.h"

#include "exchange/exchange_state.h"

void eddyi_conns_init(struct eddyi_conns *conns)
{
	eddy_list_init(&conns->fresh);
	eddy_list_init(&conns->idle);
	eddy_list_init(&conns->active);
	eddy_event_init(&conns->stop);
}

void eddyi_conns_deinit(struct eddyi_conns *conns)
{
	if (conns->client)
		conns->free_client(conns->client);
}

/* Its receive may have been faster than its eviction; then the request is answered first. */
static void evict(struct eddyi_conn *conn)
{
	conn->evicted = true;
	conn->wire.last = true;
	eddy_op_cancel(&conn->op);
}

static bool evict_first(struct eddyi_conns *conns, struct eddy_node *list)
{
	struct eddy_node *node = eddy_list_shift(list);

	if (!node)
		return false;
	eddy_list_append(&conns->active, node);
	evict(eddy_of(node, struct eddyi_conn, node));
	return true;
}

bool eddyi_conns_evict_idle(struct eddyi_conns *conns)
{
	if (!evict_first(conns, &conns->idle))
		return false;
	eddyi_conn_count(conns, evicted);
	return true;
}

static void make_last(struct eddy_node *list)
{
	for (struct eddy_node *node = list->next; node != list; node = node->next)
		eddy_of(node, struct eddyi_conn, node)->wire.last = true;
}

void eddyi_conns_stop(struct eddyi_conns *conns, bool patient)
{
	conns->stopping = true;
	conns->patient = patient;
	eddy_event_set(&conns->stop);
	make_last(&conns->active);
	make_last(&conns->idle);
	make_last(&conns->fresh);
	while (!patient && (evict_first(conns, &conns->idle) || evict_first(conns, &conns->fresh)))
		;
}

void eddyi_conns_evict_parked(struct eddyi_conns *conns)
{
	struct eddy_node *node;

	for (node = conns->active.next; node != &conns->active; node = node->next) {
		struct eddyi_conn *conn = eddy_of(node, struct eddyi_conn, node);

		if (conn->state == EDDYI_CONN_PARKED)
			evict(conn);
	}
}

struct eddy_event *eddy_req_stopping(const struct eddy_req *req)
{
	return &eddy_of(req->wire, struct eddyi_conn, wire)->conns->stop;
}
