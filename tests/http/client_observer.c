/* Tests of eddy/client_observer.h. */
#include "turns.h"

#include <eddy/client_observer.h>

struct seen {
	unsigned begun;
	bool is_zeroed;
};

static char story[2048];
static unsigned open_states;

static void tell(const char *format, ...)
{
	size_t len = strlen(story);
	va_list args;

	va_start(args, format);
	vsnprintf(story + len, sizeof(story) - len, format, args);
	va_end(args);
}

static const struct eddy_header *begin(void *state, const struct eddy_client_hop *hop)
{
	static const struct eddy_header fields[] = { { "x-hop", "seen" },
						     { "x-own", "theirs" },
						     { 0 } };
	struct seen *seen = state;
	struct eddy_str path = eddy_str_skip(hop->url, hop->url.len - 4);

	seen->is_zeroed = seen->begun == 0;
	seen->begun = 7;
	open_states++;
	tell("%s %.*s %.*s %d %u; ", hop->method, EDDY_FMT(path), EDDY_FMT(hop->host),
	     hop->port > 0, hop->redirects);
	return fields;
}

static void end(void *state, int result)
{
	const struct seen *seen = state;

	open_states -= seen->begun == 7 && seen->is_zeroed;
	tell("= %d; ", result);
}

static const struct eddy_header *begin_without(void *state, const struct eddy_client_hop *hop)
{
	(void)hop;
	tell("%s", state ? "second; " : "");
	return NULL;
}

static void end_without(void *state, int result)
{
	(void)state;
	(void)result;
	tell("second ends; ");
}

static const struct eddy_client_observer observer = { sizeof(struct seen), begin, end };
static const struct eddy_client_observer without = { 0, begin_without, end_without };

static unsigned count(const char *text, const char *part)
{
	unsigned found = 0;

	for (; (text = strstr(text, part)); text++)
		found++;
	return found;
}

/* Each hop is one; fields that it has itself are its own, and those that belong to them are left
 * out. */
Test(client_observer, sees_every_hop)
{
	const struct eddy_client_options options = { .redirects_max = 1 };
	const struct eddy_header headers[] = { { "X-Own", "mine" }, { 0 } };
	const struct turn turns[] = { { NULL, TO("302", "/zzz"), STAY },
				      { NULL, HELLO, STAY },
				      { 0 } };
	struct talk talk = { .turns = turns, .options = &options, .ask = ask_asked };

	cr_assert(eq(int, eddy_client_observe(&observer), 0));
	cr_assert(eq(int, eddy_client_observe(&observer), 0));
	asked = (struct eddy_client_request){ .headers = headers };
	have_talk(&talk);
	cr_assert(eq(int, talk.result, 0));
	cr_expect(eq(str, story, "GET /x?y 127.0.0.1 1 0; = 302; GET /zzz 127.0.0.1 1 1; = 200; "));
	cr_expect(eq(uint, open_states, 0));
	cr_expect(eq(uint, count(talk.log, "x-hop"), 0), "%s", talk.log);
	cr_expect(eq(uint, count(talk.log, "X-Own: mine\r\n"), 2));
	cr_expect(eq(uint, count(talk.log, "x-own"), 0));
}

Test(client_observer, adds_its_fields)
{
	const struct turn turns[] = { { NULL, HELLO, STAY }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_once };

	cr_assert(eq(int, eddy_client_observe(&observer), 0));
	have_talk(&talk);
	cr_assert(eq(int, talk.result, 0));
	cr_expect(eq(uint, count(talk.log, "x-hop: seen\r\n"), 1), "%s", talk.log);
	cr_expect(eq(uint, count(talk.log, "x-own: theirs\r\n"), 1), "%s", talk.log);
}

Test(client_observer, hears_of_failures)
{
	const struct turn turns[] = { { NULL, "nonsense\r\n\r\n", CLOSE }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_once };

	cr_assert(eq(int, eddy_client_observe(&without), 0));
	cr_assert(eq(int, eddy_client_observe(&observer), 0));
	have_talk(&talk);
	cr_assert(eq(int, talk.result, -EBADMSG));
	cr_expect(eq(str, story, "second; GET /x?y 127.0.0.1 1 0; = -74; second ends; "));
}

/* What is not sent is not seen. */
Test(client_observer, sees_nothing_of_mistakes)
{
	struct talk talk = { .turns = (const struct turn[]){ { 0 } }, .ask = ask_asked };

	eddy_client_observe(&observer);
	asked = (struct eddy_client_request){ .method = "a b" };
	have_talk(&talk);
	cr_assert(eq(int, talk.result, -EINVAL));
	cr_expect(eq(str, story, ""));
}

Test(client_observer, are_four_at_most)
{
	static const struct eddy_client_observer others[5] = { { 0 } };

	for (int i = 0; i < 4; i++)
		cr_assert(eq(int, eddy_client_observe(&others[i]), 0));
	cr_assert(eq(int, eddy_client_observe(&others[4]), -ENOSPC));
	cr_assert(eq(int, eddy_client_observe(&others[3]), 0));
}
