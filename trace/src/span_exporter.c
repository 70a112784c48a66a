/* Spans to a collector, by OTLP over HTTP (its specification, version 1, in JSON): a task of the app takes batches
 * from a queue and posts them, one after the other. */
#include "span_queue.h"
#include "tracing.h"

#include <eddy/client.h>
#include <eddy/json.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TARGET "eddy::tracing"
#define URL_SIZE 2048
#define HEAD_SIZE ((size_t)(4 * EDDY_KIB))
#define ANSWER_MAX ((uint64_t)(64 * EDDY_KIB))
#define ANSWER_DEPTH_MAX 16

#define TRIES_MAX 5
#define DOUBLINGS_MAX 5
#define RETRY_AFTER_MAX (300 * EDDY_SECOND)

static atomic_uint_least64_t exported, dropped, failed;

struct exporter {
	struct eddy_tracing_options options; /* defaults filled in */
	char url[URL_SIZE];
	char head[HEAD_SIZE];
	struct eddyi_span_queue queue;
	struct eddy_client *client;
	unsigned doublings;           /* of the pause: the collector has failed */
	uint64_t not_before_ns;       /* it is left alone until then */
	bool is_failing, is_refusing; /* said so already */
};

/* What became of a post. */
struct outcome {
	enum verdict {
		TAKEN,
		REFUSED, /* for good */
		FAILED,  /* it may be tried again */
	} verdict;
	uint64_t rejected; /* of those that were taken */
	uint64_t pause_ns; /* that the collector asks for */
	char why[256];
};

struct eddy_tracing_stats eddy_tracing_stats(void)
{
	return (struct eddy_tracing_stats){
		.exported = atomic_load_explicit(&exported, memory_order_relaxed),
		.dropped = atomic_load_explicit(&dropped, memory_order_relaxed),
		.failed = atomic_load_explicit(&failed, memory_order_relaxed),
	};
}

static void count(atomic_uint_least64_t *counter, uint64_t spans)
{
	atomic_fetch_add_explicit(counter, spans, memory_order_relaxed);
}

/* ---- in ---- */

struct putting {
	struct exporter *exporter;
	const struct eddy_span_record *record;
};

/* A span's text is too long for a task's stack. */
static void put(void *arg)
{
	struct putting *putting = arg;
	char text[EDDY_OTLP_SPAN_MAX];
	size_t len = eddy_otlp_format_span(putting->record, text);

	if (!eddyi_span_queue_put(&putting->exporter->queue, eddy_str(text, len)))
		count(&dropped, 1);
}

static void take(const struct eddy_span_record *record, void *arg)
{
	struct putting putting = { arg, record };

	eddy_on_loop_stack(put, &putting);
}

/* ---- one post ---- */

/* How many spans the collector says to have rejected, by a number or by a string of digits: it is an int64. */
static void read_answer(struct eddy_str body, struct outcome *outcome)
{
	json_t *json, *partial, *rejected;
	const char *message;

	if (eddy_json_parse(body, ANSWER_DEPTH_MAX, &json) < 0)
		return;
	partial = json_object_get(json, "partialSuccess");
	rejected = json_object_get(partial, "rejectedSpans");
	message = json_string_value(json_object_get(partial, "errorMessage"));
	if (json_is_integer(rejected) && json_integer_value(rejected) > 0)
		outcome->rejected = (uint64_t)json_integer_value(rejected);
	else if (json_is_string(rejected))
		eddy_str_to_u64(eddy_str_from(json_string_value(rejected)), &outcome->rejected);
	snprintf(outcome->why, sizeof(outcome->why), "it has rejected some: %s",
		 message ? message : "it does not say why");
	json_decref(json);
}

static bool is_temporary(int status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* The head of an answer is there. Suspends. Return: 0, -errno when its body can't be read. */
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
	snprintf(outcome->why, sizeof(outcome->why), "it answers %d", status);
	return 0;
}

/* What it sends is no answer, or one that nobody wants to hear to its end: the next one would be no better. */
static bool is_for_good(int error)
{
	return error == -EBADMSG || error == -EMSGSIZE || error == -EINVAL || error == -EPERM ||
	       error == -EPROTONOSUPPORT;
}

/* Suspends. Return: 0, -ECANCELED. */
static int post(struct exporter *exporter, struct eddyi_span_batch *batch, struct outcome *outcome)
{
	static const struct eddy_header headers[] = { { "content-type", "application/json" },
						      { 0 } };
	struct eddy_client_request request = {
		.method = "POST",
		.headers = headers,
		.body = eddyi_span_batch_text(batch),
	};
	struct eddy_response *response = NULL;
	int r = eddy_client_send(exporter->client, exporter->url, &request, &response);

	*outcome = (struct outcome){ .verdict = REFUSED };
	if (r == 0)
		r = judge(response, outcome);
	eddy_response_free(response);
	if (r == -ECANCELED)
		return r;
	if (r < 0) {
		outcome->verdict = is_for_good(r) ? REFUSED : FAILED;
		snprintf(outcome->why, sizeof(outcome->why), "%s",
			 eddy_client_error(exporter->client));
	}
	return 0;
}

/* ---- one batch ---- */

/* Say what goes wrong when it begins to, and once it is well again. */
static void tell(struct exporter *exporter, const struct outcome *outcome)
{
	bool is_failing = outcome->verdict != TAKEN;
	bool is_refusing = outcome->rejected > 0;

	if ((is_failing && !exporter->is_failing) || (is_refusing && !exporter->is_refusing))
		eddy_warn(TARGET, "Spans can't be exported to %s: %s", exporter->url, outcome->why);
	if (!is_failing && exporter->is_failing)
		eddy_info(TARGET, "Spans are exported to %s again", exporter->url);
	exporter->is_failing = is_failing;
	if (!is_failing)
		exporter->is_refusing = is_refusing;
}

/* The pause doubles, and half of it is chance: many services should not come back at once. */
static void plan_pause(struct exporter *exporter, const struct outcome *outcome)
{
	uint64_t pause_ns = exporter->options.retry_ns << exporter->doublings;
	uint64_t asked_ns = outcome->pause_ns;

	if (outcome->verdict != FAILED) {
		exporter->doublings = 0;
		return;
	}
	pause_ns -= eddy_trace_unique() % (pause_ns / 2 + 1);
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

static int rest(const struct exporter *exporter)
{
	uint64_t now = eddy_now();

	return now < exporter->not_before_ns ? eddy_sleep(exporter->not_before_ns - now) : 0;
}

/* Post it until it is taken, refused, or was tried often enough. Suspends. Return: 0, -ECANCELED. */
static int export_batch(struct exporter *exporter, struct eddyi_span_batch *batch, unsigned tries)
{
	struct outcome outcome = { .verdict = FAILED };
	int r;

	for (; tries && outcome.verdict == FAILED; tries--) {
		r = rest(exporter);
		if (r == 0)
			r = post(exporter, batch, &outcome);
		if (r < 0)
			return r;
		tell(exporter, &outcome);
		plan_pause(exporter, &outcome);
	}
	count_batch(batch, &outcome);
	return 0;
}

/* ---- the task ---- */

/* The app has ended: what is left has a moment and one try. `batch` is one that is on its way; NULL: none. */
static void flush(struct exporter *exporter, struct eddyi_span_batch *batch)
{
	const struct eddy_scope_options options = {
		.shielded = true,
		.timeout_ns = exporter->options.flush_ns,
	};
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &options);
	for (; batch || (batch = eddyi_span_queue_take_now(&exporter->queue)); batch = NULL) {
		exporter->not_before_ns = 0;
		if (export_batch(exporter, batch, 1) < 0)
			count(&dropped, batch->count);
		eddyi_span_queue_done(&exporter->queue, batch);
	}
	eddy_scope_end(&scope);
}

static void run(struct exporter *exporter)
{
	struct eddyi_span_batch *batch;

	for (;;) {
		batch = NULL;
		if (eddyi_span_queue_take(&exporter->queue, exporter->options.age_ns, &batch) < 0 ||
		    export_batch(exporter, batch, TRIES_MAX) < 0)
			break;
		eddyi_span_queue_done(&exporter->queue, batch);
	}
	/* No more come from here on. */
	eddy_span_unsubscribe();
	flush(exporter, batch);
}

/* Its own posts are no spans. */
static void run_untraced(struct exporter *exporter)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .locals = EDDY_LOCALS({ &eddy_span_key, NULL }),
				 });
	run(exporter);
	eddy_scope_end(&scope);
}

/* ---- beginning ---- */

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Where spans go to. Return: false when nowhere: nobody has said it, or what was said is unusable. */
static bool find_url(struct exporter *exporter)
{
	const char *url = exporter->options.collector, *behind = "", *name = "collector";

	if (!url)
		url = env(name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	if (!url) {
		url = env(name = "OTEL_EXPORTER_OTLP_ENDPOINT");
		behind = url && *url && url[strlen(url) - 1] == '/' ? "v1/traces" : "/v1/traces";
	}
	if (!url)
		return false;
	if ((size_t)snprintf(exporter->url, sizeof(exporter->url), "%s%s", url, behind) <
		    sizeof(exporter->url) &&
	    eddy_client_check_url(exporter->url) == 0)
		return true;
	eddy_error(TARGET, "Spans are not exported: %s is no URL that can be asked: \"%s\"", name,
		   url);
	return false;
}

/* A random UUID (RFC 9562 section 5.4). */
static void make_uuid(char text[37])
{
	uint64_t a = eddy_trace_unique(), b = eddy_trace_unique();

	snprintf(text, 37, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
		 (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
		 (unsigned)(b >> 48 & 0x3fff) | 0x8000, (unsigned long long)(b & 0xffffffffffff));
}

/* Return: the length of the head. */
static size_t make_head(struct exporter *exporter)
{
	const char *service = exporter->options.service;
	char uuid[37];

	if (!service)
		service = env("OTEL_SERVICE_NAME");
	if (!service)
		service = program_invocation_short_name;
	make_uuid(uuid);
	return eddy_otlp_format_head(
		EDDY_FIELDS(eddy_field_str("service.name",
					   eddy_str(service, strnlen(service, 255))),
			    eddy_field_text("service.instance.id", uuid),
			    eddy_field_text("telemetry.sdk.name", "eddy"),
			    eddy_field_text("telemetry.sdk.language", "c"),
			    eddy_field_text("telemetry.sdk.version", EDDYI_VERSION)),
		exporter->head, sizeof(exporter->head));
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!options->field)                                                               \
			options->field = (value);                                                  \
	} while (0)

static void fill_defaults(struct eddy_tracing_options *options)
{
	DEFAULT(batch_max, 512);
	DEFAULT(queue_max, 2048);
	DEFAULT(age_ns, EDDY_SECOND);
	DEFAULT(timeout_ns, 10 * EDDY_SECOND);
	DEFAULT(retry_ns, EDDY_SECOND);
	DEFAULT(flush_ns, 2 * EDDY_SECOND);
}

/* Return: 0, -EBUSY, -ENOMEM. */
static int run_exporter(struct exporter *exporter)
{
	size_t head_len;
	int r;

	fill_defaults(&exporter->options);
	exporter->client = eddy_client_new(&(struct eddy_client_options){
		.timeout_ns = exporter->options.timeout_ns,
		.connect_timeout_ns = exporter->options.timeout_ns,
		.stall_timeout_ns = exporter->options.timeout_ns,
		.body_max = ANSWER_MAX,
	});
	if (!exporter->client)
		return -ENOMEM;
	head_len = make_head(exporter);
	eddyi_span_queue_init(&exporter->queue, eddy_str(exporter->head, head_len),
			      exporter->options.batch_max, exporter->options.queue_max);
	r = eddy_span_subscribe(take, exporter);
	if (r == 0)
		run_untraced(exporter);
	count(&dropped, eddyi_span_queue_deinit(&exporter->queue));
	eddy_client_free(exporter->client);
	return r;
}

int eddyi_tracing_export(void *arg)
{
	const struct eddyi_tracing *tracing = arg;
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	int r = -ENOMEM;

	if (exporter) {
		exporter->options = tracing->options;
		r = find_url(exporter) ? run_exporter(exporter) : 0;
	}
	free(exporter);
	if (r < 0)
		eddy_error(TARGET, "Spans are not exported: %s",
			   r == -EBUSY ? "the process has a subscriber already" : "memory is out");
	return 0;
}
