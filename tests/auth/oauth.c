/* Tests of eddy/oauth.h: what an app is told of its issuer, by the program and by its file. */
#include "guard/oauth.h"
#include "asked.h"
#include "guard/auth.h"
#include "configured.h"
#include "issuer/issuer.h"
#include "ran.h"

#include "../http/said.h"
#include "../folder.h"

#include <criterion/new/assert.h>
#include <eddy/auth.h>
#include <errno.h>
#include <sys/stat.h>

/* ---- mistakes ---- */

#define EXPECTED                                                                                   \
	"OAuth issuer: expected an absolute http or https URL without userinfo, query and fragment, not "

static void expect_mistakes(struct eddy_app *app, const char *want)
{
	said_begin();
	cr_expect_str_eq(asked(app, "GET /", NULL), "-22");
	cr_expect_str_eq(said_end(), want);
	eddy_app_free(app);
}

static void expect_bad(const struct eddy_oauth_options *options, const char *want)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth(app, options);
	eddy_app_use_oauth(app);
	expect_mistakes(app, want);
}

Test(oauth, issuers_are_urls)
{
	static const char *const bad[] = {
		"",           "issuer",         "issuer.example",     "https://",
		"//a",        "https://a?b",    "https://a/b#c",      "https://u@a",
		"https://a#", "https://u:p@a/", "https://a/\r\nb: c", "https://a b/",
		"ftp://a",    "https://a:0",    "https://a:99999",    "https:///b",
	};
	char want[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(want, sizeof(want), EXPECTED "\"%s\"\n", bad[i]);
		expect_bad(&(struct eddy_oauth_options){ .issuer = bad[i] }, want);
	}
	expect_bad(
		&(struct eddy_oauth_options){ .issuer = "http://a" },
		"OAuth issuer \"http://a\": only https is allowed; allow_http or require_https = "
		"false allows http for development\n");
}

Test(oauth, issuers_are_named)
{
	static const char want[] =
		"eddy_app_use_oauth(): no issuer is configured: set it by eddy_app_with_oauth() or "
		"in [oauth.client]\n";
	struct eddy_app *app = eddy_app_new();

	expect_bad(NULL, want);
	expect_bad(&(struct eddy_oauth_options){ 0 }, want);
	eddy_app_use_oauth(app);
	expect_mistakes(app, want);
}

/* Nobody waits for a FIFO. */
Test(oauth, certificates_are_in_a_file)
{
	char path[64], want[128];

	make_folder();
	snprintf(path, sizeof(path), "%s/fifo", folder);
	cr_assert(mkfifo(path, 0600) == 0);
	snprintf(want, sizeof(want), "OAuth issuer: the ca_file \"%s\" is not a file\n", path);
	expect_bad(&(struct eddy_oauth_options){ .issuer = "https://a", .ca_file = path }, want);
	remove_folder();
	expect_bad(&(struct eddy_oauth_options){ .issuer = "https://a", .ca_file = path }, want);
	expect_bad(&(struct eddy_oauth_options){ .issuer = "https://a", .ca_file = "/" },
		   "OAuth issuer: the ca_file \"/\" is not a file\n");
}

/* ---- what holds ---- */

/* The app starts. Return: what it goes by then. */
static const struct eddy_oauth_options *start(struct eddy_app *app)
{
	said_begin();
	cr_expect(strncmp(asked(app, "GET /", NULL), "404 ", 4) == 0);
	cr_expect_str_eq(said_end(), "");
	return &eddyi_oauth_of(app)->options;
}

/* Its strings may be gone by the time that the app starts. */
Test(oauth, options_have_defaults)
{
	struct eddy_app *app = eddy_app_new();
	char issuer[] = "https://a/b";
	const struct eddy_oauth_options *options;

	eddy_app_with_oauth(app, &(struct eddy_oauth_options){ .issuer = issuer });
	issuer[0] = 'x';
	eddy_app_use_oauth(app);
	eddy_app_use_oauth(app);
	options = start(app);
	cr_expect_str_eq(options->issuer, "https://a/b");
	cr_expect(options->refresh_cooldown_ns == 60 * EDDY_SECOND);
	cr_expect(options->max_key_age_ns == 900 * EDDY_SECOND);
	cr_expect(options->timeout_ns == 5 * EDDY_SECOND);
	cr_expect(options->redirects_max == 3 && !options->allow_http && !options->ca_file);
	eddy_app_free(app);
}

/* What is only described is not looked at. */
Test(oauth, is_activated_by_a_call)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth(app, &(struct eddy_oauth_options){ .issuer = "http://a" });
	configure(app, "[oauth.client]\nissuer = 'https://a'\n");
	start(app);
	cr_expect_null(eddyi_oauth_of(app)->issuer);
	eddy_app_free(app);
}

/* The options are those of the run, and of another issuer no key is left. */
Test(oauth, is_of_the_file_of_the_run)
{
	struct eddy_app *app = eddy_app_new();
	struct ran run;

	ran_init(&run, app);
	eddy_app_use_oauth(app);
	configure(app, "[oauth.client]\nissuer = 'https://a'\n");
	cr_expect(strncmp(ran(&run, "/"), "404 ", 4) == 0);
	cr_expect_str_eq(eddyi_auth_of(app)->checks.issuer, "https://a");
	configure(app, "[oauth.client]\nissuer = 'https://b'\n");
	cr_expect(strncmp(ran(&run, "/"), "404 ", 4) == 0);
	cr_expect_str_eq(eddyi_auth_of(app)->checks.issuer, "https://b");
	eddy_app_free(app);
}

/* ---- the file ---- */

Test(oauth, the_file_wins)
{
	struct eddy_app *app = eddy_app_new();
	const struct eddy_oauth_options *options;

	eddy_app_use_oauth(app);
	configure(app, "[oauth.client]\n"
		       "issuer = 'http://a/b'\n"
		       "refresh_cooldown_secs = 7\n"
		       "max_key_age_secs = 8\n"
		       "require_https = false\n"
		       "timeout_secs = 9\n"
		       "max_redirects = 0\n"
		       "ca_file = '/proc/self/status'\n");
	/* Whatever comes first. */
	eddy_app_with_oauth(app, &(struct eddy_oauth_options){
					 .issuer = "https://other",
					 .refresh_cooldown_ns = 1,
					 .max_key_age_ns = 1,
					 .timeout_ns = 1,
					 .redirects_max = 1,
					 .ca_file = "none",
				 });
	options = start(app);
	cr_expect_str_eq(options->issuer, "http://a/b");
	cr_expect(options->refresh_cooldown_ns == 7 * EDDY_SECOND);
	cr_expect(options->max_key_age_ns == 8 * EDDY_SECOND);
	cr_expect(options->timeout_ns == 9 * EDDY_SECOND);
	cr_expect(options->redirects_max == 0 && options->allow_http);
	cr_expect_str_eq(options->ca_file, "/proc/self/status");
	eddy_app_free(app);
}

/* What it does not say stays. */
Test(oauth, the_file_says_some)
{
	struct eddy_app *app = eddy_app_new();
	const struct eddy_oauth_options *options;

	eddy_app_with_oauth(app, &(struct eddy_oauth_options){
					 .issuer = "http://a",
					 .allow_http = true,
					 .no_redirects = true,
				 });
	eddy_app_use_oauth(app);
	configure(app, "[oauth.client]\ntimeout_secs = 9\n");
	options = start(app);
	cr_expect_str_eq(options->issuer, "http://a");
	cr_expect(options->timeout_ns == 9 * EDDY_SECOND);
	cr_expect(options->redirects_max == 0 && options->allow_http);
	eddy_app_free(app);
}

Test(oauth, the_file_has_mistakes)
{
	static const char *const bad[][2] = {
		{ "isuer = 'https://a'", "unknown key \"isuer\"; did you mean \"issuer\"?" },
		{ "issuer = 7", "issuer: expected" },
		{ "issuer = 'https://a?b'", "issuer: expected an absolute http or https URL" },
		{ "refresh_cooldown_secs = 0", "refresh_cooldown_secs: expected" },
		{ "refresh_cooldown_secs = '60'", "refresh_cooldown_secs: expected" },
		{ "max_key_age_secs = -1", "max_key_age_secs: expected" },
		{ "timeout_secs = 0", "timeout_secs: expected" },
		{ "timeout_secs = 0.5", "timeout_secs: expected" },
		{ "max_redirects = 21", "max_redirects: expected" },
		{ "require_https = 'no'", "require_https: expected" },
		{ "ca_file = ''", "ca_file: expected" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct eddy_app *app = eddy_app_new();
		char text[128];

		snprintf(text, sizeof(text), "[oauth.client]\n%s\n", bad[i][0]);
		configure(app, text);
		eddy_auth_config(app);
		said_begin();
		cr_expect_str_eq(asked(app, "GET /", NULL), "-22", "%s", text);
		cr_expect(strstr(said_end(), ":2: [oauth.client] ") && strstr(said, bad[i][1]),
			  "%s: %s", text, said);
		eddy_app_free(app);
	}
}
