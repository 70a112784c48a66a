/* Metrics of requests and connections.
 *
 * Invariants:
 * 1. A row has the metrics of one pattern and one method. Rows belong to the process, are only
 *    added, and are found without a lock. A row is added when its first request ends.
 * 2. There are at most ROWS_MAX rows: the program's patterns times the methods that answer. Further
 *    requests are counted in one row for all others. Clients cannot create rows.
 */
#include <eddy/internal/outside.h>
#include <eddy/layer.h>
#include <eddy/list.h>
#include <eddy/metrics.h>
#include <eddy/observer.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <errno.h>
#include <eddy/tracing.h>
#include <pthread.h>
#include <stdlib.h>

#define ROWS_MAX 2048
#define SLOTS (2 * ROWS_MAX)
/* Status classes, 2xx to 5xx. */
#define CLASSES 4

struct row {
	struct eddy_str pattern; /* owned, with a NUL */
	size_t method;           /* index in `methods` */
	struct eddy_metric *requests[CLASSES];
	struct eddy_metric *cut;
	struct eddy_metric *received;
	struct eddy_metric *sent;
	struct eddy_metric *duration;
};

static const char *const methods[] = { "GET",     "HEAD",    "POST",  "PUT",   "DELETE",
				       "CONNECT", "OPTIONS", "TRACE", "PATCH", "other" };
#define OTHER_METHOD (sizeof(methods) / sizeof(methods[0]) - 1)

static struct {
	pthread_mutex_t lock; /* held to add */
	size_t count;
	struct row *slots[SLOTS]; /* open-addressed hash table */
	struct row others;        /* used once `full` */
	bool full;
} rows = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct eddy_metric *in_flight;

/* ---- rows ---- */

static struct eddy_metric *declare(const char *name, const char *help, enum eddy_metric_type type,
				   unsigned decimals, const struct eddy_metric_label *labels)
{
	const struct eddy_metric_options options = {
		.name = name,
		.help = help,
		.type = type,
		.labels = labels,
		.decimals = decimals,
	};
	struct eddy_metric *metric = NULL;

	eddy_metric_declare(&options, &metric);
	return metric;
}

static bool declare_row(struct row *row)
{
	static const char *const classes[CLASSES] = { "2xx", "3xx", "4xx", "5xx" };
	const struct eddy_metric_label *labels = EDDY_METRIC_LABELS(
		{ "route", row->pattern.ptr }, { "method", methods[row->method] });
	bool is_whole = true;

	for (size_t i = 0; i < CLASSES; i++) {
		row->requests[i] =
			declare("eddy_http_requests_total",
				"Completed requests, by the pattern of the route that answered.",
				EDDY_METRIC_COUNTER, 0,
				EDDY_METRIC_LABELS(labels[0], labels[1], { "status", classes[i] }));
		is_whole &= row->requests[i] != NULL;
	}
	row->cut = declare(
		"eddy_http_responses_cut_total",
		"Responses that were not sent completely: the client left, or the handler failed.",
		EDDY_METRIC_COUNTER, 0, labels);
	row->received = declare("eddy_http_request_body_bytes_total",
				"Bytes of request bodies read.", EDDY_METRIC_COUNTER, 0, labels);
	row->sent = declare("eddy_http_response_bytes_total",
			    "Bytes of responses, heads included, before TLS.", EDDY_METRIC_COUNTER,
			    0, labels);
	row->duration = declare("eddy_http_request_duration_seconds",
				"Time from the request head to the end of the response.",
				EDDY_METRIC_HISTOGRAM, 9, labels);
	return is_whole && row->cut && row->received && row->sent && row->duration;
}

static size_t hash(struct eddy_str pattern, size_t method)
{
	uint64_t h = method + 1;

	for (size_t i = 0; i < pattern.len; i++)
		h = (h ^ (unsigned char)pattern.ptr[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 32) % SLOTS;
}

/* Return: the row's slot, or the free slot for it. */
static struct row **find(struct eddy_str pattern, size_t method, struct row **ret_row)
{
	for (size_t at = hash(pattern, method);; at = (at + 1) % SLOTS) {
		struct row *row = __atomic_load_n(&rows.slots[at], __ATOMIC_ACQUIRE);

		*ret_row = row;
		if (!row || (row->method == method && eddy_str_eq(row->pattern, pattern)))
			return &rows.slots[at];
	}
}

/* With the lock. Return: NULL if memory or metrics are exhausted. */
static struct row *row_new(struct eddy_str pattern, size_t method)
{
	struct row *row = calloc(1, sizeof(*row));
	char *text = row ? strndup(pattern.ptr, pattern.len) : NULL;

	if (text) {
		row->pattern = eddy_str(text, pattern.len);
		row->method = method;
		if (declare_row(row)) {
			rows.count++;
			return row;
		}
	}
	free(text);
	free(row);
	return NULL;
}

/* With the lock. */
static void use_others(void)
{
	rows.others.pattern = eddy_str_from("(other)");
	rows.others.method = OTHER_METHOD;
	declare_row(&rows.others);
	__atomic_store_n(&rows.full, true, __ATOMIC_RELEASE);
}

static const struct row *row_of(struct eddy_str pattern, size_t method)
{
	struct row **slot, *row;

	find(pattern, method, &row);
	if (__builtin_expect(row != NULL, 1))
		return row;
	if (__atomic_load_n(&rows.full, __ATOMIC_ACQUIRE))
		return &rows.others;
	pthread_mutex_lock(&rows.lock);
	slot = find(pattern, method, &row);
	if (!row && !rows.full) {
		row = rows.count < ROWS_MAX ? row_new(pattern, method) : NULL;
		if (row)
			__atomic_store_n(slot, row, __ATOMIC_RELEASE);
		else
			use_others();
	}
	pthread_mutex_unlock(&rows.lock);
	return row ? row : &rows.others;
}

/* ---- requests ---- */

static size_t method_of(const struct eddy_req *req)
{
	struct eddy_str name = eddy_req_method(req);
	size_t at = 0;

	while (at < OTHER_METHOD && !eddy_str_eq_z(name, methods[at]))
		at++;
	return at;
}

static size_t class_of(int status)
{
	return status < 200 || status > 599 ? CLASSES - 1 : (size_t)status / 100 - 2;
}

static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	(void)res;
	eddy_metric_add(in_flight, 1);
	return NULL;
}

static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
{
	struct eddy_str pattern = eddy_req_pattern(req);
	const struct row *row =
		row_of(pattern.ptr ? pattern : eddy_str_from("(none)"), method_of(req));

	(void)data;
	(void)state;
	eddy_metric_add(in_flight, -1);
	eddy_metric_add(row->requests[class_of(outcome->status)], 1);
	if (!outcome->whole)
		eddy_metric_add(row->cut, 1);
	if (outcome->received)
		eddy_metric_add(row->received, (int64_t)outcome->received);
	eddy_metric_add(row->sent, (int64_t)outcome->sent);
	eddy_metric_observe(row->duration, outcome->duration_ns);
}

/* ---- WebSockets ---- */

/* The codes that are counted on their own; the last are the others. */
static const char *const codes[] = { "1000", "1001", "1002", "1003", "1005", "1006",
				     "1007", "1008", "1009", "1011", "1013", "other" };
#define OTHER_CODE (sizeof(codes) / sizeof(codes[0]) - 1)

static struct eddy_metric *sockets;
static struct eddy_metric *closed[OTHER_CODE + 1];

static void declare_sockets(void)
{
	sockets = declare("eddy_websockets", "Open WebSockets.", EDDY_METRIC_GAUGE, 0, NULL);
	for (size_t i = 0; i <= OTHER_CODE; i++)
		closed[i] =
			declare("eddy_websockets_closed_total",
				"WebSockets that have ended, by the code of the first close frame.",
				EDDY_METRIC_COUNTER, 0, EDDY_METRIC_LABELS({ "code", codes[i] }));
}

static void *begin_socket(void *data, void *state, struct eddy_req *req,
			  struct eddy_socket_notes *notes)
{
	(void)data;
	(void)state;
	(void)req;
	(void)notes;
	eddy_metric_add(sockets, 1);
	return NULL;
}

static void end_socket(void *data, void *state, const struct eddy_socket_outcome *outcome)
{
	size_t at = 0;

	(void)data;
	(void)state;
	while (at < OTHER_CODE && strtoul(codes[at], NULL, 10) != outcome->code)
		at++;
	eddy_metric_add(sockets, -1);
	eddy_metric_add(closed[at], 1);
}

/* ---- connections ---- */

/* An app whose connections are counted. */
struct counted {
	struct eddy_node node;
	struct eddy_app *app;
	bool used;
};

static struct {
	pthread_mutex_t lock;
	struct eddy_node apps;
	struct eddy_app_stats gone; /* sums of freed apps */
} counted = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.apps = { &counted.apps, &counted.apps },
};

/* Sum a member of the stats of all apps. */
static int read_connections(void *arg, uint64_t *ret_value)
{
	uintptr_t at = (uintptr_t)arg;
	uint64_t sum;

	pthread_mutex_lock(&counted.lock);
	sum = *(const uint64_t *)((const char *)&counted.gone + at);
	for (struct eddy_node *node = counted.apps.next; node != &counted.apps; node = node->next) {
		struct eddy_app_stats stats =
			eddy_app_stats(eddy_of(node, struct counted, node)->app);

		sum += *(const uint64_t *)((const char *)&stats + at);
	}
	pthread_mutex_unlock(&counted.lock);
	*ret_value = sum;
	return 0;
}

static void declare_labelled(const char *name, const char *help, enum eddy_metric_type type,
			     const struct eddy_metric_label *labels, size_t at)
{
	struct eddy_metric *metric;

	eddy_metric_declare(&(struct eddy_metric_options){ .name = name,
							   .help = help,
							   .type = type,
							   .labels = labels,
							   .read = read_connections,
							   .arg = (void *)(uintptr_t)at },
			    &metric);
}

static void declare_connections(const char *name, const char *help, enum eddy_metric_type type,
				size_t at)
{
	declare_labelled(name, help, type, NULL, at);
}

static void declare_closed(const char *name, const char *help, const char *label, const char *value,
			   size_t at)
{
	declare_labelled(name, help, EDDY_METRIC_COUNTER, EDDY_METRIC_LABELS({ label, value }), at);
}

static void declare_closed_all(void)
{
	static const char evicted[] = "eddy_http_connections_evicted_total";
	static const char evicted_help[] = "Connections closed to make room for new ones.";
	static const char slow[] = "eddy_http_connections_too_slow_total";
	static const char slow_help[] =
		"Connections closed for falling below body_rate_min or write_rate_min.";

	declare_closed(evicted, evicted_help, "state", "idle",
		       offsetof(struct eddy_app_stats, evicted_idle));
	declare_closed(evicted, evicted_help, "state", "head",
		       offsetof(struct eddy_app_stats, evicted_head));
	declare_closed(evicted, evicted_help, "state", "slow",
		       offsetof(struct eddy_app_stats, evicted_slow));
	declare_closed(slow, slow_help, "direction", "body",
		       offsetof(struct eddy_app_stats, slow_bodies));
	declare_closed(slow, slow_help, "direction", "answer",
		       offsetof(struct eddy_app_stats, slow_writes));
}

static int read_tracing(void *arg, uint64_t *ret_value)
{
	struct eddy_tracing_stats stats = eddy_tracing_stats();

	*ret_value = *(const uint64_t *)((const char *)&stats + (uintptr_t)arg);
	return 0;
}

static void declare_tracing(const char *name, const char *help, size_t at)
{
	struct eddy_metric *metric;

	eddy_metric_declare(&(struct eddy_metric_options){ .name = name,
							   .help = help,
							   .read = read_tracing,
							   .arg = (void *)(uintptr_t)at },
			    &metric);
}

static void declare_all(void)
{
	declare_sockets();
	declare_tracing("eddy_spans_exported_total", "Spans accepted by the collector.",
			offsetof(struct eddy_tracing_stats, exported));
	declare_tracing("eddy_spans_dropped_total",
			"Spans dropped because the queue was full, or time ran out at shutdown.",
			offsetof(struct eddy_tracing_stats, dropped));
	declare_tracing("eddy_spans_failed_total",
			"Spans that the collector rejected, or that failed five times.",
			offsetof(struct eddy_tracing_stats, failed));
	declare_tracing("eddy_traceparents_malformed_total", "Invalid traceparent fields received.",
			offsetof(struct eddy_tracing_stats, malformed));
	declare_connections("eddy_http_connections", "Open connections.", EDDY_METRIC_GAUGE,
			    offsetof(struct eddy_app_stats, connections));
	declare_connections("eddy_http_connections_accepted_total", "Accepted connections.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, accepted));
	declare_closed_all();
	declare_connections("eddy_http_connections_over_address_total",
			    "Connections closed at once, as their address had reached "
			    "connections_per_address_max.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, over_address));
	declare_connections("eddy_http_connections_refused_total",
			    "Connections closed at once on allocation failure.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, refused));
	declare_connections("eddy_http_accept_failures_total",
			    "Times that accepting paused, for example for lack of descriptors.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, accept_failures));
	declare_connections(
		"eddy_http_proxy_failures_total",
		"Connections without the required PROXY header, or from a peer that is not a "
		"trusted proxy.",
		EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, proxy_failures));
	declare_connections("eddy_http_bodies_refused_total",
			    "Bodies rejected because body_memory_max was reached.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, refused_bodies));
	declare_connections("eddy_http2_connections_total", "Connections that spoke HTTP/2.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, h2_connections));
	declare_connections("eddy_http2_connections_calmed_total",
			    "Connections closed with ENHANCE_YOUR_CALM.", EDDY_METRIC_COUNTER,
			    offsetof(struct eddy_app_stats, h2_calmed));
	declare_connections("eddy_http2_streams_reset_total", "Streams that clients reset.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, h2_reset));
	declare_connections("eddy_http2_streams_refused_total",
			    "Streams that were refused beyond the limit of concurrent ones.",
			    EDDY_METRIC_COUNTER, offsetof(struct eddy_app_stats, h2_refused));
	in_flight = declare("eddy_http_requests_in_flight", "Requests in flight.",
			    EDDY_METRIC_GAUGE, 0, NULL);
}

static void begin_counting(struct eddy_app *app, void *kept)
{
	struct counted *this = kept;

	this->app = app;
	pthread_mutex_lock(&counted.lock);
	eddy_list_append(&counted.apps, &this->node);
	pthread_mutex_unlock(&counted.lock);
}

static void end_counting(void *kept)
{
	struct counted *this = kept;
	struct eddy_app_stats stats = eddy_app_stats(this->app);

	pthread_mutex_lock(&counted.lock);
	eddy_list_remove(&this->node);
	counted.gone.accepted += stats.accepted;
	counted.gone.refused += stats.refused;
	counted.gone.over_address += stats.over_address;
	counted.gone.evicted_idle += stats.evicted_idle;
	counted.gone.evicted_head += stats.evicted_head;
	counted.gone.evicted_slow += stats.evicted_slow;
	counted.gone.slow_bodies += stats.slow_bodies;
	counted.gone.slow_writes += stats.slow_writes;
	counted.gone.refused_bodies += stats.refused_bodies;
	counted.gone.accept_failures += stats.accept_failures;
	counted.gone.proxy_failures += stats.proxy_failures;
	counted.gone.h2_connections += stats.h2_connections;
	counted.gone.h2_calmed += stats.h2_calmed;
	counted.gone.h2_reset += stats.h2_reset;
	counted.gone.h2_refused += stats.h2_refused;
	pthread_mutex_unlock(&counted.lock);
}

/* ---- public functions ---- */

void eddy_app_use_metrics(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "metrics", sizeof(struct counted), begin_counting,
						 end_counting };
	static const struct eddy_observer observer = {
		.begin = begin,
		.end = end,
		.socket = begin_socket,
		.socket_end = end_socket,
	};
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct counted *this = eddy_app_layer(app, &layer);

	pthread_once(&once, declare_all);
	if (!this->used)
		eddy_app_observe(app, &observer, NULL);
	this->used = true;
}

int eddy_metrics(struct eddy_req *req, struct eddy_res *res)
{
	char *text, *copy;
	size_t len;
	int r = eddy_metric_text(&text, &len);

	if (r < 0)
		return r;
	copy = eddy_req_alloc(req, len);
	if (copy)
		memcpy(copy, text, len);
	free(text);
	if (!copy)
		return -ENOMEM;
	r = eddy_res_set_z(res, "cache-control", "no-store");
	if (r < 0)
		return r;
	return eddy_res_bytes(res, "text/plain; version=0.0.4; charset=utf-8", eddy_str(copy, len));
}
