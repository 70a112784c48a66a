/* issuer_rig.h: an issuer that does as it is told, an app that asks it, and what came of it.
 *
 * The issuer answers by raw bytes, as a task of the loop on which the app is tested (eddy/test.h). A scenario runs
 * as the app's handler, and notes what it sees: nothing is asserted in a task.
 */
#ifndef EDDY_TESTS_ISSUER_RIG_H
#define EDDY_TESTS_ISSUER_RIG_H

#include "issuer/issuer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>

/* Public keys of three kids; the last one is "a" again, with another key. */
#define KEY_A                                                                                      \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"
#define KEY_B                                                                                      \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"b\",\"x\":\"PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw\"}"
#define KEY_OTHER_A                                                                                \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"_FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU\"}"
#define KEYS(list) "{\"keys\":[" list "]}"

#define OAUTH "/.well-known/oauth-authorization-server"
#define OIDC "/.well-known/openid-configuration"
/* A `$` in what the issuer sends is its URL's origin. */
#define METADATA "{\"issuer\":\"$\",\"jwks_uri\":\"$/keys\"}"

enum how {
	OK, /* 200 with the text as its body; the text is the whole response where it begins with "HTTP" */
	HOLD,  /* the same, once the event `let_go` is set */
	HANG,  /* nothing, for ever */
	DRIP,  /* a byte of the text each 10 ms */
	FLOOD, /* a body without end */
	CUT,   /* the connection is closed */
};

#define ANSWERS_MAX 8

struct answer {
	const char *path; /* NULL: the last one, for all others */
	const char *text;
	enum how how;
};

/* For the block that they stand in. */
#define ANSWERS(...)                                                                               \
	((const struct answer[]){ __VA_ARGS__,                                                     \
				  { NULL, "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", OK } })
#define GOOD(list) ANSWERS({ OAUTH, METADATA, OK }, { "/keys", KEYS(list), OK })

struct rig {
	/* What a test says: */
	int (*scenario)(struct rig *rig); /* run as a handler */
	void (*build)(struct rig *rig);   /* add to the app; may be NULL */
	/* .issuer NULL: the fake one, with `path` behind; .timeout_ns is 30 s by default */
	struct eddy_oauth_options options;
	const char *path;
	const char *scheme; /* default "http" */
	const struct answer *answers;
	unsigned times; /* that the app is tested; default 1 */
	bool is_bare;   /* the scenario tests the app itself, instead of being a handler of it */

	/* While it runs: */
	struct eddy_app *app;
	struct eddyi_issuer *issuer;
	struct eddy_listeners listeners;
	char origin[64], url[128];
	struct eddy_event let_go;
	uint64_t waited_before;
	unsigned connections; /* that the issuer has accepted */
	unsigned looks;       /* times that metadata was asked for by the first of its URLs */

	struct answer changed[ANSWERS_MAX]; /* by rig_answer() */

	/* What came of it: */
	int result;
	char asked[2048]; /* paths that were asked for, with blanks between */
	char noted[2048];
	char said[4096]; /* records of eddy::auth, and errors: "WARN text\n" */
};

/* Make the loop, the issuer and the app, and run the scenario. */
void rig_run(struct rig *rig);

/* Have the issuer answer in another way from now on; they are copied. */
void rig_answer(struct rig *rig, const struct answer *answers);

/* Note something, and a blank. */
EDDY_PRINTF(2, 3) void rig_note(struct rig *rig, const char *format, ...);

/* Ask for keys, and note "v1[a]#1": version, kids, and how often the issuer was looked at; or an error's name. */
int rig_keys(struct rig *rig);

/* The same for keys that are newer than a version. */
int rig_newer(struct rig *rig, unsigned version);

/* Suspend until this many have begun to wait for a fetch, since the rig began. */
int rig_await_waiters(const struct rig *rig, uint64_t count);

/* How many records of a level there were, such as "WARN ". */
unsigned rig_count_said(const struct rig *rig, const char *level);

/* Expect what a scenario has noted. */
#define EXPECT_NOTED(rig, scenario_, want)                                                         \
	do {                                                                                       \
		(rig)->scenario = (scenario_);                                                     \
		rig_run(rig);                                                                      \
		cr_expect(eq(int, (rig)->result, 0));                                              \
		cr_expect_str_eq((rig)->noted, want);                                              \
	} while (0)

#endif
