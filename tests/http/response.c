/* Tests of http/src/client/response.c. */
#include "turns.h"

static const struct {
	const char *value;
	int r;
	uint64_t seconds;
} waits[] = {
	{ "7", 0, 7 },
	{ "0", 0, 0 },
	{ "-1", -ENOENT, 0 },
	{ "1.5", -ENOENT, 0 },
	{ "soon", -ENOENT, 0 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT", 0, 0 },
	{ "18446744073709551615", 0, EDDY_NEVER / EDDY_SECOND },
};

static int ask_when(struct talk *talk)
{
	struct eddy_response *response = NULL;
	uint64_t ns = 1;
	int r = 0;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits) && r == 0; i++) {
		r = eddy_client_get(talk->client, url_of(talk, "/"), &response);
		if (r < 0)
			return r;
		cr_expect(eq(int, eddy_response_retry_after(response, &ns), waits[i].r), "%s",
			  waits[i].value);
		if (waits[i].r == 0)
			cr_expect(eq(u64, ns / EDDY_SECOND, waits[i].seconds), "%s",
				  waits[i].value);
		eddy_response_free(response);
	}
	r = eddy_client_get(talk->client, url_of(talk, "/"), &response);
	if (r == 0)
		cr_expect(eq(int, eddy_response_retry_after(response, &ns), -ENOENT));
	eddy_response_free(response);
	return r;
}

Test(response, reads_when_to_come_again)
{
	enum { COUNT = sizeof(waits) / sizeof(*waits) };
	struct talk talk = { .ask = ask_when };
	struct turn turns[COUNT + 2] = { 0 };
	char answers[COUNT][128];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(answers[i], sizeof(answers[i]),
			 OK "content-length: 0\r\nretry-after: %s\r\n\r\n", waits[i].value);
		turns[i].answer = answers[i];
	}
	turns[COUNT].answer = OK "content-length: 0\r\n\r\n";
	talk.turns = turns;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0));
}
