/* Tests of eddy/tracing.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <eddy/trace.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define TRACE_ID "0af7651916cd43dd8448eb211c80319c"

/* The records of target "test" and "eddy::access". */
static struct {
	char request_id[32], trace_id[40], span_id[24], message[64];
	unsigned count;
} kept[128];
static unsigned kept_count;

static void keep(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (strcmp(record->target, "test") != 0 && strcmp(record->target, "eddy::access") != 0)
		return;
	cr_assert(kept_count < 128);
	for (size_t i = 0; i < record->field_count; i++) {
		const struct eddy_field *field = &record->fields[i];

		if (strcmp(field->name, "request_id") == 0)
			snprintf(kept[kept_count].request_id, 32, "%.*s",
				 EDDY_FMT(field->value.str));
		if (strcmp(field->name, "trace_id") == 0)
			snprintf(kept[kept_count].trace_id, 40, "%.*s", EDDY_FMT(field->value.str));
		if (strcmp(field->name, "span_id") == 0)
			snprintf(kept[kept_count].span_id, 24, "%.*s", EDDY_FMT(field->value.str));
	}
	snprintf(kept[kept_count++].message, 64, "%.*s", EDDY_FMT(record->message));
}

static int in_a_task(void *arg)
{
	eddy_info("test", "task");
	return eddy_request_id() == *(uint64_t *)arg ? 0 : -EINVAL;
}

static int logs(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t id = eddy_request_id();
	struct eddy_scope scope;
	int r;

	(void)req;
	eddy_info("test", "before");
	r = eddy_sleep(EDDY_MS);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "task", in_a_task, &id);
	eddy_scope_join(&scope);
	r |= eddy_scope_end(&scope);
	eddy_info("test", "after");
	return r < 0 ? r : eddy_res_ok(res, "%" PRIu64, id);
}

static struct eddy_app *make(const struct eddy_tracing_options *options)
{
	struct eddy_app *app = eddy_app_new();

	kept_count = 0;
	eddy_app_map_get(app, "/logs", logs);
	eddy_app_set_tracing(app, options);
	eddy_app_use_tracing(app);
	eddy_app_use_tracing(app);
	return app;
}

static struct eddy_response *ask(struct eddy_app *app, const char *line,
				 const struct eddy_header *headers)
{
	struct eddy_client_request request = { .headers = headers };
	struct eddy_response *response = NULL;

	cr_assert(eq(int, eddy_app_test(app, line, &request, &response), 0), "%s", line);
	return response;
}

static bool is_number(struct eddy_str text)
{
	uint64_t number;

	return text.ptr && eddy_str_to_u64(text, &number) == 0;
}

Test(tracing, every_answer_has_a_number)
{
	static const char *const lines[] = { "GET /logs", "HEAD /logs", "GET /none",
					     "PUT /logs", "GET /%00",   "OPTIONS /logs" };
	struct eddy_app *app = make(&(struct eddy_tracing_options){ .header = true });
	char seen[6][24];

	for (size_t i = 0; i < 6; i++) {
		struct eddy_response *response = ask(app, lines[i], NULL);
		struct eddy_str id = eddy_response_header(response, "request-id");

		cr_assert(is_number(id), "%s", lines[i]);
		snprintf(seen[i], sizeof(seen[i]), "%.*s", EDDY_FMT(id));
		for (size_t j = 0; j < i; j++)
			cr_assert(strcmp(seen[i], seen[j]) != 0);
		eddy_response_free(response);
	}
	eddy_app_free(app);
}

Test(tracing, header_is_an_option_and_so_is_its_name)
{
	struct eddy_app *app = make(NULL);
	struct eddy_response *response = ask(app, "GET /logs", NULL);

	cr_assert(eddy_response_header(response, "request-id").ptr == NULL);
	eddy_response_free(response);
	eddy_app_free(app);
	app = make(&(struct eddy_tracing_options){ .header = true, .header_name = "x-id" });
	response = ask(app, "GET /logs", NULL);
	cr_assert(is_number(eddy_response_header(response, "x-id")));
	cr_assert(eddy_response_header(response, "request-id").ptr == NULL);
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(tracing, a_name_that_can_not_be_set_is_a_mistake)
{
	static const char *const names[] = { "x id", "", "Date", "content-length", "Connection" };

	for (size_t i = 0; i < 5; i++) {
		struct eddy_app *app =
			make(&(struct eddy_tracing_options){ .header_name = names[i] });
		struct eddy_response *response;

		cr_assert(eq(int, eddy_app_test(app, "GET /logs", NULL, &response), -EINVAL), "%s",
			  names[i]);
		eddy_app_free(app);
	}
}

Test(tracing, records_have_the_number_of_their_request)
{
	struct eddy_app *app =
		make(&(struct eddy_tracing_options){ .header = true, .access_log = true });
	struct eddy_response *response;
	struct eddy_str id, body;

	cr_assert(eq(int, eddy_log_subscribe(keep, NULL), 0));
	response = ask(app, "GET /logs", NULL);
	eddy_log_unsubscribe();
	id = eddy_response_header(response, "request-id");
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	cr_assert(eddy_str_eq(id, body));
	cr_assert(eq(uint, kept_count, 4));
	for (unsigned i = 0; i < kept_count; i++) {
		cr_assert(eddy_str_eq_z(id, kept[i].request_id), "%s", kept[i].message);
		cr_assert(eq(sz, strlen(kept[i].trace_id), 32));
		cr_assert(eq(sz, strlen(kept[i].span_id), 16));
	}
	cr_assert(eq(str, kept[3].message, "GET /logs 200"));
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(tracing, a_trace_is_continued)
{
	static const struct {
		const char *parent, *second;
		bool continued;
	} cases[] = {
		{ PARENT, NULL, true },
		{ "00-zz", NULL, false },
		{ PARENT, PARENT, false }, /* two of them contradict each other */
	};
	struct eddy_app *app = make(&(struct eddy_tracing_options){ 0 });

	cr_assert(eq(int, eddy_log_subscribe(keep, NULL), 0));
	for (size_t i = 0; i < 3; i++) {
		struct eddy_header headers[3] = { { "traceparent", cases[i].parent } };

		if (cases[i].second)
			headers[1] = (struct eddy_header){ "traceparent", cases[i].second };
		kept_count = 0;
		eddy_response_free(ask(app, "GET /logs", headers));
		cr_assert(eq(int, strcmp(kept[0].trace_id, TRACE_ID) == 0, cases[i].continued),
			  "%zu", i);
		cr_assert(strcmp(kept[0].span_id, "b7ad6b7169203331") != 0, "a span of its own");
	}
	eddy_log_unsubscribe();
	eddy_app_free(app);
}

/* ---- sent on ---- */

static char sent_parent[80], sent_state[80];

static int remember(struct eddy_req *req, struct eddy_res *res)
{
	snprintf(sent_parent, sizeof(sent_parent), "%.*s",
		 EDDY_FMT(eddy_req_header(req, "traceparent")));
	snprintf(sent_state, sizeof(sent_state), "%.*s",
		 EDDY_FMT(eddy_req_header(req, "tracestate")));
	return eddy_res_ok(res, "ok");
}

static int asks_others(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_app *other = eddy_req_context(req);
	struct eddy_response *response;
	int r = eddy_app_test(other, "GET /remember", NULL, &response);

	if (r == 0)
		eddy_response_free(response);
	return r < 0 ? r : eddy_res_ok(res, "ok");
}

Test(tracing, the_client_sends_it_on)
{
	static const struct eddy_header headers[] = {
		{ "traceparent", PARENT }, { "tracestate", "a=1" }, { "tracestate", "b=2" }, { 0 }
	};
	struct eddy_app *app = make(NULL), *other = eddy_app_new();
	struct eddy_trace_context context;

	eddy_app_map_get(other, "/remember", remember);
	eddy_app_map_get(app, "/asks", asks_others);
	eddy_app_set_context(app, other);
	eddy_response_free(ask(app, "GET /asks", headers));
	cr_assert(eq(int, eddy_trace_context_parse(eddy_str_from(sent_parent), &context), 0));
	cr_assert(strncmp(sent_parent + 3, TRACE_ID, 32) == 0);
	cr_assert(strncmp(sent_parent + 36, "b7ad6b7169203331", 16) != 0);
	cr_assert(eq(str, sent_state, "a=1, b=2"));
	eddy_app_free(other);
	eddy_app_free(app);
}

/* ---- many at once ---- */

static int one(void *arg)
{
	struct eddy_response *response = ask(arg, "GET /logs", NULL);

	eddy_response_free(response);
	return 0;
}

static int many(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 40; i++)
		cr_assert(eddy_scope_spawn(&scope, "one", one, arg) == 0);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* Each of 40 requests that sleep beside each other has its own number in all of its three records. */
Test(tracing, numbers_do_not_mix)
{
	struct eddy_app *app = make(NULL);
	unsigned same;

	cr_assert(eq(int, eddy_log_subscribe(keep, NULL), 0));
	cr_assert(eq(int, eddy_run(NULL, many, app), 0));
	eddy_log_unsubscribe();
	cr_assert(eq(uint, kept_count, 120));
	for (unsigned i = 0; i < kept_count; i++) {
		same = 0;
		for (unsigned j = 0; j < kept_count; j++)
			same += strcmp(kept[i].request_id, kept[j].request_id) == 0;
		cr_assert(eq(uint, same, 3));
	}
	eddy_app_free(app);
}

Test(tracing, there_is_none_outside_of_requests)
{
	cr_assert(eq(u64, eddy_request_id(), 0));
	cr_assert(eddy_request_trace() == NULL);
}
