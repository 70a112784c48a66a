#include "otlp_post.h"

#include <eddy/client.h>
#include <eddy/json.h>
#include <errno.h>
#include <stdio.h>

#define ANSWER_DEPTH_MAX 16
#define ANSWER_VALUES_MAX 1024

/* Read the number of rejected spans, an int64 as a number or as digits. */
static void read_answer(struct eddy_str body, struct eddyi_otlp_outcome *outcome)
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
static int judge(struct eddy_response *response, struct eddyi_otlp_outcome *outcome)
{
	int status = eddy_response_status(response), r;
	struct eddy_str body;

	if (status >= 200 && status <= 299) {
		r = eddy_response_body(response, &body);
		if (r < 0)
			return r;
		outcome->verdict = EDDYI_OTLP_TAKEN;
		read_answer(body, outcome);
		return 0;
	}
	outcome->verdict = is_temporary(status) ? EDDYI_OTLP_FAILED : EDDYI_OTLP_REFUSED;
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

int eddyi_otlp_post(struct eddy_client *client, const char *url, const struct eddy_header *headers,
		    struct eddy_str spans, struct eddyi_otlp_outcome *ret_outcome)
{
	const struct eddy_client_request request = {
		.method = "POST",
		.headers = headers,
		.body = spans,
	};
	struct eddyi_otlp_outcome outcome = { .verdict = EDDYI_OTLP_REFUSED };
	struct eddy_response *response = NULL;
	int r = eddy_client_send(client, url, &request, &response);

	if (r == 0)
		r = judge(response, &outcome);
	eddy_response_free(response);
	if (r == -ECANCELED)
		return r;
	if (r < 0) {
		outcome.verdict = is_for_good(r) ? EDDYI_OTLP_REFUSED : EDDYI_OTLP_FAILED;
		snprintf(outcome.why, sizeof(outcome.why), "%s", eddy_client_error(client));
	}
	*ret_outcome = outcome;
	return 0;
}
