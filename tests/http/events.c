/* Tests of eddy/events.h, and of http/src/events/events_channel.h. */
#include "events/events_channel.h"
#include "events/events.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/list.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the format ---- */

static void expect_text(struct eddy_events_message message, const char *expected)
{
	char text[256];
	size_t len = eddyi_events_format(&message, NULL);

	cr_assert_leq(len, sizeof(text));
	cr_expect_eq(eddyi_events_format(&message, text), len);
	cr_expect(eddy_str_eq_z(eddy_str(text, len), expected), "%.*s", (int)len, text);
}

#define MESSAGE(...) ((struct eddy_events_message){ __VA_ARGS__ })

Test(events, messages_are_formatted)
{
	expect_text(MESSAGE(.data = EDDY_STR("hello")), "data: hello\n\n");
	expect_text(MESSAGE(.id = EDDY_STR("1"), .event = EDDY_STR("tick"), .data = EDDY_STR("x"),
			    .retry_ns = 1500 * EDDY_MS),
		    "id: 1\nevent: tick\nretry: 1500\ndata: x\n\n");
	expect_text(MESSAGE(.data = EDDY_STR("")), "data: \n\n");
	expect_text(MESSAGE(.id = EDDY_STR("")), "id: \n\n");
	expect_text(MESSAGE(.retry_ns = EDDY_SECOND), "retry: 1000\n\n");
	expect_text(MESSAGE(.comment = EDDY_STR("a\nb"), .data = EDDY_STR("x")),
		    "data: x\n: a\n: b\n\n");
}

Test(events, lines_of_data_are_fields)
{
	expect_text(MESSAGE(.data = EDDY_STR("a\nb")), "data: a\ndata: b\n\n");
	expect_text(MESSAGE(.data = EDDY_STR("a\rb\r\nc")), "data: a\ndata: b\ndata: c\n\n");
	expect_text(MESSAGE(.data = EDDY_STR("\n\r\r\n")), "data: \ndata: \ndata: \ndata: \n\n");
	expect_text(MESSAGE(.data = EDDY_STR("a\n")), "data: a\ndata: \n\n");
	expect_text(MESSAGE(.data = EDDY_STR("id: 7\n\nretry: 1")),
		    "data: id: 7\ndata: \ndata: retry: 1\n\n");
}

Test(events, ids_and_names_are_lines)
{
	static const struct eddy_str bad[] = { { "a\n", 2 }, { "\ra", 2 }, { "a\0b", 3 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect_not(eddyi_events_is_valid(&MESSAGE(.id = bad[i])));
		cr_expect_not(eddyi_events_is_valid(&MESSAGE(.event = bad[i])));
		cr_expect(eddyi_events_is_valid(&MESSAGE(.data = bad[i])));
	}
}

/* ---- the stream of a handler ---- */

static int stream(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_events(res, NULL);

	(void)req;
	cr_expect_eq(eddy_events_send(res, &MESSAGE(.id = EDDY_STR("a\nb"))), -EINVAL);
	if (r == 0)
		r = eddy_events_send(res, &MESSAGE(.comment = EDDY_STR("hi\nthere")));
	if (r == 0)
		r = eddy_events_send(res, &MESSAGE(.data = EDDY_STR("one")));
	return r;
}

static int silent(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_events(res, &(struct eddy_events_options){ .comment_ns = 10 * EDDY_MS });

	(void)req;
	if (r == 0)
		r = eddy_sleep(100 * EDDY_MS);
	return r;
}

static int last_id(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str id = eddy_events_last_id(req);

	return eddy_res_ok(res, "%s %.*s", id.ptr ? "id" : "none", EDDY_FMT(id));
}

static void expect_body(struct eddy_app *app, const char *line, const char *id, int status,
			const char *expected)
{
	struct eddy_header fields[] = { { "last-event-id", id }, { 0 } };
	struct eddy_client_request request = { .headers = id ? fields : NULL };
	struct eddy_response *response;
	struct eddy_str body;

	cr_assert_eq(eddy_app_test(app, line, &request, &response), 0);
	cr_expect_eq(eddy_response_status(response), status);
	cr_assert_eq(eddy_response_body(response, &body), 0);
	cr_expect(eddy_str_eq_z(body, expected), "%s: %.*s", line, EDDY_FMT(body));
	eddy_response_free(response);
}

Test(events, a_handler_sends)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;

	eddy_app_map_get(app, "/stream", stream);
	eddy_app_map_get(app, "/id", last_id);
	expect_body(app, "GET /stream", NULL, 200, ": hi\n: there\n\ndata: one\n\n");
	expect_body(app, "HEAD /stream", NULL, 200, "");
	expect_body(app, "GET /id", NULL, 200, "none ");
	expect_body(app, "GET /id", "x y", 200, "id x y");
	cr_assert_eq(eddy_app_test(app, "GET /stream", NULL, &response), 0);
	cr_expect(
		eddy_str_eq_z(eddy_response_header(response, "content-type"), "text/event-stream"));
	cr_expect(eddy_str_eq_z(eddy_response_header(response, "cache-control"), "no-store"));
	eddy_response_free(response);
	eddy_app_free(app);
}

Test(events, silence_is_filled_with_comments)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;
	struct eddy_str body;

	eddy_app_map_get(app, "/silent", silent);
	cr_assert_eq(eddy_app_test(app, "GET /silent", NULL, &response), 0);
	eddy_response_body(response, &body);
	cr_expect_geq(body.len, 2 * 3);
	cr_expect_leq(body.len, 10 * 3);
	for (size_t i = 0; i < body.len; i += 3)
		cr_expect(eddy_str_starts(eddy_str_skip(body, i), EDDY_STR(":\n\n")));
	eddy_response_free(response);
	eddy_app_free(app);
}

/* ---- channels ---- */

static struct eddy_events_channel *channel_of(struct eddy_events_channel_options options)
{
	struct eddy_events_channel *channel = eddy_events_channel_new(&options);

	cr_assert_not_null(channel);
	return channel;
}

static void publish(struct eddy_events_channel *channel, const char *id, const char *data)
{
	struct eddy_events_message message = { .data = eddy_str_from(data) };

	if (id)
		message.id = eddy_str_from(id);
	cr_assert_eq(eddy_events_publish(channel, &message), 0);
}

static int subscribe(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_events_subscribe(eddy_req_context(req), res);
}

struct ending {
	struct eddy_app *app;
	struct eddy_events_channel *channel;
	const char *id;
	const char *expected;
	const char *request; /* NULL: GET /feed */
};

static int get_feed(void *arg)
{
	struct ending *ending = arg;

	expect_body(ending->app, ending->request ? ending->request : "GET /feed", ending->id, 200,
		    ending->expected);
	return 0;
}

static void publish_topic(struct eddy_events_channel *channel, const char *topic, const char *id)
{
	struct eddy_events_message message = { .id = eddy_str_from(id), .data = EDDY_STR("x") };

	if (topic)
		message.topic = eddy_str_from(topic);
	cr_assert_eq(eddy_events_publish(channel, &message), 0);
}

static int run_ending(void *arg)
{
	struct ending *ending = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "get", get_feed, ending);
	eddy_sleep(20 * EDDY_MS);
	publish(ending->channel, "9", "later");
	/* A subscriber that skips it sees the end behind it. */
	publish_topic(ending->channel, "of nobody", "10");
	eddy_events_channel_free(ending->channel);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* Publish messages 1 to 4, subscribe, publish another, and end the channel. */
static void expect_feed(struct eddy_events_channel_options options, const char *id,
			const char *expected)
{
	struct eddy_events_channel *channel = channel_of(options);
	struct eddy_app *app = eddy_app_new();
	struct ending ending = { app, channel, id, expected, NULL };

	publish(channel, "1", "a");
	publish(channel, "2", "b");
	publish(channel, "3", "c");
	publish(channel, "4", "d");
	eddy_app_set_context(app, channel);
	eddy_app_map_get(app, "/feed", subscribe);
	cr_assert_eq(eddy_run(NULL, run_ending, &ending), 0);
	eddy_app_free(app);
}

#define POST(id, data) "id: " id "\ndata: " data "\n\n"

Test(events, subscribers_get_what_they_have_missed)
{
	struct eddy_events_channel_options three = { .replay_max = 3 };
	struct eddy_events_channel_options greeting = { .replay_max = 3, .greets = true };
	const char *kept = POST("2", "b") POST("3", "c") POST("4", "d") POST("9", "later");

	expect_feed(three, NULL, POST("9", "later"));
	expect_feed(three, "3", POST("4", "d") POST("9", "later"));
	expect_feed(three, "4", POST("9", "later"));
	expect_feed(three, "1", kept);
	expect_feed(three, "unknown", kept);
	expect_feed(three, "", POST("9", "later"));
	expect_feed(greeting, NULL, kept);
	expect_feed(greeting, "3", POST("4", "d") POST("9", "later"));
	expect_feed((struct eddy_events_channel_options){ .no_replay = true }, "2",
		    POST("9", "later"));
	expect_feed((struct eddy_events_channel_options){ 0 }, "2",
		    POST("3", "c") POST("4", "d") POST("9", "later"));
}

static int subscribe_to(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str topic;
	int r = eddy_req_query_get(req, "topic", &topic);

	return r < 0 ? r : eddy_events_subscribe_to(eddy_req_context(req), topic, res);
}

static void expect_topic(const char *request, const char *last_id, const char *expected)
{
	struct eddy_events_channel *channel = channel_of((struct eddy_events_channel_options){ 0 });
	struct eddy_app *app = eddy_app_new();
	struct ending ending = { app, channel, last_id, expected, request };

	publish_topic(channel, "a", "1");
	publish_topic(channel, "b", "2");
	publish_topic(channel, NULL, "3");
	publish_topic(channel, "", "4");
	publish_topic(channel, "a", "5");
	publish_topic(channel, "ab", "6");
	publish_topic(channel, "b", "7");
	eddy_app_set_context(app, channel);
	eddy_app_map_get(app, "/feed", subscribe);
	eddy_app_map_get(app, "/topic", subscribe_to);
	cr_assert_eq(eddy_run(NULL, run_ending, &ending), 0);
	eddy_app_free(app);
}

#define TOPIC(id) POST(id, "x")

Test(events, a_topic_has_its_own_subscribers)
{
	expect_topic("GET /feed", "2", TOPIC("3") POST("9", "later"));
	expect_topic("GET /topic?topic=a", "1", TOPIC("3") TOPIC("5") POST("9", "later"));
	expect_topic("GET /topic?topic=b", "6", TOPIC("7") POST("9", "later"));
	expect_topic("GET /topic?topic=b", "1",
		     TOPIC("2") TOPIC("3") TOPIC("7") POST("9", "later"));
	expect_topic("GET /topic?topic=none", "1", TOPIC("3") POST("9", "later"));
	expect_topic("GET /topic?topic=", "1", TOPIC("3") TOPIC("4") POST("9", "later"));
	/* Its place is found among the messages of all. */
	expect_topic("GET /topic?topic=a", "2", TOPIC("3") TOPIC("5") POST("9", "later"));
}

static void wake(struct eddyi_receiver *receiver)
{
	(void)receiver;
}

static void begin(struct eddyi_receiver *receiver, struct eddy_events_channel *channel,
		  const char *id)
{
	*receiver = (struct eddyi_receiver){ .wake = wake };
	cr_assert_eq(eddyi_receiver_begin(receiver, &channel->fanout,
					  eddyi_channel_find(channel, eddy_str_from(id))),
		     0);
}

static int numbers(void *arg)
{
	struct eddy_events_channel *channel = channel_of((struct eddy_events_channel_options){ 0 });
	struct eddyi_receiver receiver;
	uint64_t before = 0;

	(void)arg;
	begin(&receiver, channel, "");
	for (int i = 0; i < 3; i++) {
		const struct eddyi_events_text *message;
		uint64_t id;

		publish(channel, NULL, "x");
		message = eddyi_receiver_next(&receiver);
		cr_assert_not_null(message);
		cr_assert_eq(eddy_to_parse(EDDY_TO(&id), message->id), 0);
		cr_expect(before ? id == before + 1 : id > 1700000000000000);
		before = id;
		eddyi_receiver_advance(&receiver, 1);
	}
	cr_expect_null(eddyi_receiver_next(&receiver));
	eddyi_receiver_end(&receiver);
	eddy_events_channel_free(channel);
	return 0;
}

Test(events, messages_are_numbered)
{
	cr_expect_eq(eddy_run(NULL, numbers, NULL), 0);
}

static int lag(void *arg)
{
	struct eddy_events_channel *channel =
		channel_of((struct eddy_events_channel_options){ .lag_max = 100 });
	struct eddyi_receiver slow, quick, late;
	char ten[11] = "0123456789";

	(void)arg;
	begin(&slow, channel, "");
	begin(&quick, channel, "");
	for (int i = 0; i < 10; i++) {
		cr_expect_eq(eddyi_channel_lags(&slow), i >= 5, "%d", i);
		publish(channel, "x", ten); /* 24 bytes */
		eddyi_receiver_advance(&quick, 1);
	}
	cr_expect_not(eddyi_channel_lags(&quick));
	/* Two of them are kept. */
	begin(&late, channel, "unknown");
	cr_expect_not(eddyi_channel_lags(&late));
	eddyi_receiver_advance(&late, 1);
	eddyi_receiver_advance(&late, 1);
	cr_expect_null(eddyi_receiver_next(&late));
	for (int i = 0; i < 10; i++)
		eddyi_receiver_advance(&slow, 1);
	cr_expect_null(eddyi_receiver_next(&slow));
	eddyi_receiver_end(&slow);
	eddyi_receiver_end(&quick);
	eddyi_receiver_end(&late);
	eddy_events_channel_free(channel);
	return 0;
}

Test(events, a_slow_receiver_lags)
{
	cr_expect_eq(eddy_run(NULL, lag, NULL), 0);
}
