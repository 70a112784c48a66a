/* The OTLP exporter: a task of the app posts batches from a queue (OTLP/HTTP version 1, JSON). */
#include "otlp_settings.h"
#include "span_exporter.h"
#include "span.h"
#include "span_queue.h"
#include "trace_context.h"

#include <eddy/client.h>
#include <eddy/event.h>
#include <eddy/json.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET "eddy::tracing"

#define TRIES_MAX 5
#define TRIES_AT_END 2
#define DOUBLINGS_MAX 5
#define RETRY_AFTER_MAX (300 * EDDY_SECOND)

/* Limits of a response. */
#define ANSWER_MAX ((uint64_t)(64 * EDDY_KIB))
#define ANSWER_DEPTH_MAX 16
#define ANSWER_VALUES_MAX 1024

static atomic_uint_least64_t exported, dropped, failed, malformed;

struct exporter {
	struct eddy_tracing_options options; /* defaults filled in */
	struct eddyi_otlp_settings settings;
	struct eddyi_span_queue queue;
	struct eddy_client *client;
	unsigned doublings;           /* of the pause, after failures */
	uint64_t not_before_ns;       /* the collector is not contacted before */
	bool is_failing, is_refusing; /* reported already */
	struct eddy_scope exporting;
	struct eddy_scope *waiting; /* NULL: not waiting */
	struct eddy_event done;
	bool is_ending;
};

static void count(atomic_uint_least64_t *counter, uint64_t spans)
{
	atomic_fetch_add_explicit(counter, spans, memory_order_relaxed);
}

struct eddy_tracing_stats eddy_tracing_stats(void)
{
	return (struct eddy_tracing_stats){
		.exported = atomic_load_explicit(&exported, memory_order_relaxed),
		.dropped = atomic_load_explicit(&dropped, memory_order_relaxed),
		.failed = atomic_load_explicit(&failed, memory_order_relaxed),
		.malformed = atomic_load_explicit(&malformed, memory_order_relaxed),
	};
}

void eddyi_span_exporter_count_malformed(void)
{
	count(&malformed, 1);
}

/* ---- adding spans ---- */

struct putting {
	struct exporter *exporter;
	const struct eddy_span_record *record;
};

/* A span's text is too large for a task's stack. */
static void put(void *arg)
{
	struct putting *putting = arg;
	char text[EDDYI_OTLP_SPAN_MAX];
	size_t len = eddyi_otlp_format_span(putting->record, text);

	if (!eddyi_span_queue_put(&putting->exporter->queue, eddy_str(text, len)))
		count(&dropped, 1);
}

static void take(const struct eddy_span_record *record, void *arg)
{
	struct putting putting = { arg, record };

	eddy_on_loop_stack(put, &putting);
}

/* ---- one post ---- */

enum verdict {
	TAKEN,
	REFUSED, /* permanently */
	FAILED,  /* retry */
};

/* The result of a post. */
struct outcome {
	enum verdict verdict;
	uint64_t rejected; /* spans rejected by the collector, by its own count: any number */
	uint64_t pause_ns; /* requested pause */
	char why[256];     /* reason, for people; unset on success */
};

/* Read the number of rejected spans, an int64 as a number or as digits. */
static void read_answer(struct eddy_str body, struct outcome *outcome)
{
	json_t *json, *partial, *rejected;
	const char *message;

	if (eddy_json_parse(body, ANSWER_DEPTH_MAX, ANSWER_VALUES_MAX, &json) < 0)
		return;
	partial = json_object_get(json, "partialSuccess");
	rejected = json_object_get(partial, "rejectedSpans");
	message = json_string_value(json_object_get(partial, "errorMessage"));
	if (json_is_integer(rejected) && json_integer_value(rejected) > 0)
		outcome->rejected = (uint64_t)json_integer_value(rejected);
	else if (json_is_string(rejected))
		eddy_str_to_u64(eddy_str_from(json_string_value(rejected)), &outcome->rejected);
	snprintf(outcome->why, sizeof(outcome->why), "it rejected some spans: %s",
		 message ? message : "it gave no reason");
	json_decref(json);
}

static bool is_temporary(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Evaluate a response. Suspends. Return: 0; -errno if its body cannot be read. */
static int judge(struct eddy_response *response, struct outcome *outcome)
{
	int status = eddy_response_status(response), r;
	struct eddy_str body;

	if (status >= 200 && status <= 299) {
		r = eddy_response_body(response, &body);
		if (r < 0)
			return r;
		outcome->verdict = TAKEN;
		read_answer(body, outcome);
		return 0;
	}
	outcome->verdict = is_temporary(status) ? FAILED : REFUSED;
	eddy_response_retry_after(response, &outcome->pause_ns);
	snprintf(outcome->why, sizeof(outcome->why), "it responded with status %d", status);
	return 0;
}

/* Invalid and oversized responses are not retried, as the next would be alike. */
static bool is_for_good(int error)
{
	return error == -EBADMSG || error == -EMSGSIZE || error == -EINVAL || error == -EPERM ||
	       error == -EPROTONOSUPPORT;
}

/* Post `spans`, an ExportTraceServiceRequest. Suspends. Return: 0, -ECANCELED. */
static int post(struct eddy_client *client, const char *url, const struct eddy_header *headers,
		struct eddy_str spans, struct outcome *ret_outcome)
{
	const struct eddy_client_request request = {
		.method = "POST",
		.headers = headers,
		.body = spans,
	};
	struct outcome outcome = { .verdict = REFUSED };
	struct eddy_response *response = NULL;
	int r = eddy_client_send(client, url, &request, &response);

	if (r == 0)
		r = judge(response, &outcome);
	eddy_response_free(response);
	if (r == -ECANCELED)
		return r;
	if (r < 0) {
		outcome.verdict = is_for_good(r) ? REFUSED : FAILED;
		snprintf(outcome.why, sizeof(outcome.why), "%s", eddy_client_error(client));
	}
	*ret_outcome = outcome;
	return 0;
}

/* ---- one batch ---- */

/* Report the first failure, and the recovery. */
static void tell(struct exporter *exporter, const struct outcome *outcome)
{
	bool is_failing = outcome->verdict != TAKEN;
	bool is_refusing = outcome->rejected > 0;
	/* The query may hold a key. */
	struct eddy_str shown =
		eddy_str(exporter->settings.url, strcspn(exporter->settings.url, "?"));

	if ((is_failing && !exporter->is_failing) || (is_refusing && !exporter->is_refusing))
		eddy_warn(TARGET, "Spans can't be exported to %.*s: %s", EDDY_FMT(shown),
			  outcome->why);
	if (!is_failing && exporter->is_failing)
		eddy_info(TARGET, "Spans are exported to %.*s again", EDDY_FMT(shown));
	exporter->is_failing = is_failing;
	if (!is_failing)
		exporter->is_refusing = is_refusing;
}

/* Double the pause, half of it random, so that services do not retry simultaneously. */
static void plan_pause(struct exporter *exporter, const struct outcome *outcome)
{
	uint64_t pause_ns = exporter->options.retry_ns << exporter->doublings;
	uint64_t asked_ns = outcome->pause_ns;

	if (outcome->verdict != FAILED) {
		exporter->doublings = 0;
		return;
	}
	pause_ns -= eddyi_trace_unique() % (pause_ns / 2 + 1);
	if (asked_ns > RETRY_AFTER_MAX)
		asked_ns = RETRY_AFTER_MAX;
	exporter->not_before_ns = eddy_now() + (asked_ns > pause_ns ? asked_ns : pause_ns);
	if (exporter->doublings < DOUBLINGS_MAX)
		exporter->doublings++;
}

static void count_batch(const struct eddyi_span_batch *batch, const struct outcome *outcome)
{
	uint64_t lost = outcome->verdict != TAKEN        ? batch->count :
			outcome->rejected > batch->count ? batch->count :
							   outcome->rejected;

	count(&failed, lost);
	count(&exported, batch->count - lost);
}

/* Begin and end a wait that the end of the app interrupts. */
static void wait_in(struct exporter *exporter, struct eddy_scope *scope)
{
	eddy_scope_begin(scope, NULL);
	exporter->waiting = scope;
}

static void wait_out(struct exporter *exporter, struct eddy_scope *scope)
{
	exporter->waiting = NULL;
	eddy_scope_end(scope);
}

static void rest(struct exporter *exporter)
{
	uint64_t now = eddy_now();
	struct eddy_scope scope;

	if (exporter->is_ending || now >= exporter->not_before_ns)
		return;
	wait_in(exporter, &scope);
	eddy_sleep(exporter->not_before_ns - now);
	wait_out(exporter, &scope);
}

/* Post a batch until it is accepted, rejected, or has failed too often. Suspends. */
static void export_batch(struct exporter *exporter, struct eddyi_span_batch *batch)
{
	struct outcome outcome = { .verdict = FAILED };
	unsigned tries = 0;

	do {
		rest(exporter);
		if (post(exporter->client, exporter->settings.url, exporter->settings.headers,
			 eddyi_span_batch_text(batch), &outcome) < 0) {
			count(&dropped, batch->count);
			return;
		}
		/* The first failure may only be an idle connection that was closed. */
		if (tries++ || outcome.verdict != FAILED)
			tell(exporter, &outcome);
		plan_pause(exporter, &outcome);
	} while (outcome.verdict == FAILED &&
		 tries < (exporter->is_ending ? TRIES_AT_END : TRIES_MAX));
	count_batch(batch, &outcome);
}

/* ---- the task ---- */

/* Return: NULL at the end, if none is left. */
static struct eddyi_span_batch *next_batch(struct exporter *exporter)
{
	struct eddyi_span_batch *batch = NULL;
	struct eddy_scope scope;

	if (!exporter->is_ending) {
		wait_in(exporter, &scope);
		eddyi_span_queue_take(&exporter->queue, exporter->options.age_ns, &batch);
		wait_out(exporter, &scope);
	}
	return batch ? batch : eddyi_span_queue_take_now(&exporter->queue);
}

/* A task that is cancelled when the app ends: it unsubscribes, ends waits, and starts .flush_ns. */
static int watch_end(void *arg)
{
	struct exporter *exporter = arg;
	const struct eddy_scope_options options = {
		.shielded = true,
		.timeout_ns = exporter->options.flush_ns,
	};
	struct eddy_scope scope;
	int r = eddy_event_wait(&exporter->done);

	if (r == 0)
		return 0;
	eddy_span_unsubscribe(take, exporter);
	exporter->is_ending = true;
	if (exporter->waiting)
		eddy_scope_cancel(exporter->waiting);
	eddy_scope_begin(&scope, &options);
	r = eddy_event_wait(&exporter->done);
	eddy_scope_end(&scope);
	if (r < 0)
		eddy_scope_cancel(&exporter->exporting);
	return 0;
}

/* Shielded, since a post cut short would be sent twice. Its posts are not traced. */
static void export_all(struct exporter *exporter)
{
	const struct eddy_scope_options options = {
		.shielded = true,
		.locals = EDDY_LOCALS({ &eddyi_span_key, NULL }),
	};
	struct eddyi_span_batch *batch;

	eddy_scope_begin(&exporter->exporting, &options);
	while (!eddy_is_cancelled() && (batch = next_batch(exporter))) {
		export_batch(exporter, batch);
		eddyi_span_queue_done(&exporter->queue, batch);
	}
	eddy_scope_end(&exporter->exporting);
	eddy_event_set(&exporter->done);
}

/* Become the only exporter; wait while there is another. Return: 0, -ECANCELED. */
static int subscribe(struct exporter *exporter)
{
	int r = eddy_span_subscribe(take, exporter);

	if (r == -EBUSY)
		eddy_info(
			TARGET,
			"Another app or subscriber receives the spans of this process, so this app "
			"does not export them");
	while (r == -EBUSY) {
		r = eddy_sleep(EDDY_SECOND / 10);
		if (r == 0)
			r = eddy_span_subscribe(take, exporter);
	}
	return r;
}

static int run(struct exporter *exporter)
{
	struct eddy_scope scope;
	int r = subscribe(exporter);

	if (r < 0)
		return r;
	eddy_event_init(&exporter->done);
	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn(&scope, "spans' end", watch_end, exporter);
	if (r == 0)
		export_all(exporter);
	eddy_span_unsubscribe(take, exporter);
	eddy_scope_end(&scope);
	return r == -ECANCELED ? 0 : r;
}

/* ---- start ---- */

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!options->field)                                                               \
			options->field = (value);                                                  \
	} while (0)

static void fill_defaults(struct eddy_tracing_options *options)
{
	DEFAULT(batch_max, 512);
	DEFAULT(queue_max, 2048);
	/* Else a full queue would wait for more spans. */
	if (options->batch_max > options->queue_max)
		options->batch_max = options->queue_max;
	DEFAULT(age_ns, EDDY_SECOND);
	DEFAULT(timeout_ns, 10 * EDDY_SECOND);
	DEFAULT(retry_ns, EDDY_SECOND);
	DEFAULT(flush_ns, 2 * EDDY_SECOND);
}

static int run_exporter(struct exporter *exporter)
{
	int r;

	fill_defaults(&exporter->options);
	exporter->client = eddy_client_new(&(struct eddy_client_options){
		.timeout_ns = exporter->options.timeout_ns,
		.connect_timeout_ns = exporter->options.timeout_ns,
		.stall_timeout_ns = exporter->options.timeout_ns,
		.body_max = ANSWER_MAX,
		.ca_file = exporter->options.collector_ca,
	});
	if (!exporter->client)
		return -ENOMEM;
	eddyi_span_queue_init(&exporter->queue,
			      eddy_str(exporter->settings.head, exporter->settings.head_len),
			      exporter->options.batch_max, exporter->options.queue_max);
	r = run(exporter);
	count(&dropped, eddyi_span_queue_deinit(&exporter->queue));
	eddy_client_free(exporter->client);
	return r;
}

int eddyi_span_exporter_run(void *arg)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	int r = -ENOMEM;

	if (exporter) {
		exporter->options = *(const struct eddy_tracing_options *)arg;
		r = eddyi_otlp_settings_find(&exporter->settings, &exporter->options) ?
			    run_exporter(exporter) :
			    0;
	}
	free(exporter);
	if (r < 0 && r != -ECANCELED)
		eddy_error(TARGET, "Spans are not exported: out of memory");
	return 0;
}
