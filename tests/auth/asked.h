/* asked.h: what an app answers, as one string. */
#ifndef EDDY_TESTS_ASKED_H
#define EDDY_TESTS_ASKED_H

#include <criterion/criterion.h>
#include <eddy/http.h>
#include <eddy/test.h>
#include <stdio.h>

static inline void asked_field(const struct eddy_response *response, const char *name, char *to,
			       size_t size)
{
	struct eddy_str key, value;

	for (size_t i = 0; i < eddy_response_header_count(response); i++) {
		eddy_response_header_at(response, i, &key, &value);
		if (eddy_str_eq_nocase(key, eddy_str_from(name)))
			snprintf(to + strlen(to), size - strlen(to), "%.*s|", EDDY_FMT(value));
	}
}

/* Return: "STATUS BODY", behind the status with the values of a field, and '|' behind each, if `field` is given;
 * "-errno" when there is no answer. It stands until the next call. */
static inline const char *asked_with(struct eddy_app *app, const char *line,
				     const struct eddy_client_request *request, const char *field)
{
	static char text[16384];
	struct eddy_response *response;
	struct eddy_str body;
	int r = eddy_app_test(app, line, request, &response);

	if (r < 0) {
		snprintf(text, sizeof(text), "%d", r);
		return text;
	}
	cr_assert_eq(eddy_response_body(response, &body), 0);
	snprintf(text, sizeof(text), "%d ", eddy_response_status(response));
	if (field)
		asked_field(response, field, text, sizeof(text));
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	return text;
}

static inline const char *asked(struct eddy_app *app, const char *line, const char *field)
{
	return asked_with(app, line, NULL, field);
}

#endif
