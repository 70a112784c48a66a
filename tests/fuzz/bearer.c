/* Fuzzes auth/src/guard/credentials.h and challenge.h: each line is an Authorization field, a Cookie field, and a word of a challenge. A token that
 * is found is one, and a challenge that is sent says what it was made of. */
#include "guard/challenge.h"
#include "guard/credentials.h"
#include "exchange/exchange_state.h"

#include <eddy/cookie.h>
#include <errno.h>
#include <stdlib.h>

#define LINES_MAX 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t split(struct eddy_str text, struct eddy_str *lines)
{
	size_t count = 0;

	while (count < LINES_MAX && eddy_str_split(&text, '\n', &lines[count]))
		count++;
	return count;
}

static void read_fields(const struct eddy_str *lines, size_t count)
{
	struct eddyi_header headers[LINES_MAX];
	struct eddy_req req = { .head.headers = headers };
	struct eddy_str token;

	for (size_t i = 0; i < count; i++)
		headers[i] =
			(struct eddyi_header){ EDDY_STR("Authorization"), eddy_str_trim(lines[i]) };
	req.head.header_count = (unsigned)count;
	if (eddyi_credentials_read(&req, NULL, &token) != EDDYI_CREDENTIALS_BEARER)
		return;
	if (count != 1 || !token.len || token.ptr[0] == '=')
		abort();
	for (size_t i = 0; i < token.len; i++)
		if (token.ptr[i] <= ' ' || token.ptr[i] > '~' || strchr("\",;:\\", token.ptr[i]))
			abort();
}

/* Each line as a Cookie field. What counts is one and not empty. */
static void read_cookies(const struct eddy_str *lines, size_t count)
{
	struct eddyi_header headers[LINES_MAX];
	struct eddy_req req = { .head = { .headers = headers, .method_name = EDDY_STR("GET") } };
	struct eddy_str token, value;
	int found;

	for (size_t i = 0; i < count; i++)
		headers[i] = (struct eddyi_header){ EDDY_STR("Cookie"), eddy_str_trim(lines[i]) };
	req.head.header_count = (unsigned)count;
	found = eddyi_credentials_read(&req, "id", &token);
	if (found == EDDYI_CREDENTIALS_BEARER) {
		if (!token.len || eddy_req_cookie(&req, "id", &value) < 0 ||
		    !eddy_str_eq(token, value))
			abort();
	} else if (found != EDDYI_CREDENTIALS_NONE && found != EDDYI_CREDENTIALS_TWICE &&
		   found != -EMSGSIZE) {
		abort();
	}
	eddyi_arena_deinit(&req.arena);
}

/* Take `name="value"` off the front. */
static void expect_parameter(struct eddy_str *rest, const char *name, const char *value)
{
	size_t len = strlen(name);

	if (rest->len < len + 2 || memcmp(rest->ptr, name, len) != 0 ||
	    memcmp(rest->ptr + len, "=\"", 2) != 0)
		abort();
	*rest = eddy_str_skip(*rest, len + 2);
	for (; *value; value++) {
		if (rest->len && rest->ptr[0] == '\\')
			*rest = eddy_str_skip(*rest, 1);
		else if (rest->len && rest->ptr[0] == '"')
			abort();
		if (!rest->len || rest->ptr[0] != *value)
			abort();
		*rest = eddy_str_skip(*rest, 1);
	}
	if (!rest->len || rest->ptr[0] != '"')
		abort();
	*rest = eddy_str_skip(*rest, 1);
}

static void expect_challenge(struct eddy_str said, const char *const *values)
{
	static const char *const names[LINES_MAX] = { "realm", "error", "error_description",
						      "scope", "resource_metadata" };
	bool any = false;

	if (said.len < 6 || memcmp(said.ptr, "Bearer", 6) != 0)
		abort();
	said = eddy_str_skip(said, 6);
	for (int i = 0; i < LINES_MAX; i++) {
		const char *before = any ? ", " : " ";

		if (!values[i])
			continue;
		if (said.len < strlen(before) || memcmp(said.ptr, before, strlen(before)) != 0)
			abort();
		said = eddy_str_skip(said, strlen(before));
		expect_parameter(&said, names[i], values[i]);
		any = true;
	}
	if (said.len)
		abort();
}

static void challenge(const struct eddy_str *lines, size_t count)
{
	struct eddy_req req = { .res = { .req = &req } };
	const char *values[LINES_MAX] = { NULL };
	struct eddyi_challenge why;

	/* An empty line is a word that is not there. */
	for (size_t i = 0; i < count; i++)
		if (lines[i].len)
			values[i] = eddyi_arena_dup(&req.arena, lines[i]).ptr;
	why = (struct eddyi_challenge){ values[0], values[1], values[2], values[3], values[4] };
	if (eddyi_challenge_set(&why, &req, &req.res) == 0)
		expect_challenge(eddy_res_header(&req.res, "www-authenticate"), values);
	eddyi_arena_deinit(&req.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str lines[LINES_MAX];
	size_t count = split(eddy_str((const char *)data, size), lines);

	read_fields(lines, count);
	read_cookies(lines, count);
	challenge(lines, count);
	return 0;
}
