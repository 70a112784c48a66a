/* Tests of the encrypted and signed cookies of eddy/cookie.h. */
#include "../folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEY_1 "0123456789abcdef0123456789abcdef"
#define KEY_2 "fedcba9876543210fedcba9876543210"

/* Set by the test, and read by the handler. */
static struct eddy_cookie cookie;
static bool is_signed;

static int set(struct eddy_req *req, struct eddy_res *res)
{
	int r = is_signed ? eddy_res_cookie_signed(res, &cookie) :
			    eddy_res_cookie_sealed(res, &cookie);

	(void)req;
	return r < 0 ? eddy_res_ok(res, "%d", r) : 0;
}

static int get(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str value;
	int r = is_signed ? eddy_req_cookie_signed(req, cookie.name, &value) :
			    eddy_req_cookie_sealed(req, cookie.name, &value);

	return r < 0 ? eddy_res_ok(res, "%d", r) : eddy_res_ok(res, "=%.*s", EDDY_FMT(value));
}

static struct eddy_app *make_app(const char *keys)
{
	struct eddy_app *app = eddy_app_new();

	if (keys)
		eddy_app_with_cookie_keys(
			app, &(struct eddy_cookie_keys){ .text = eddy_str_from(keys) });
	eddy_app_map_get(app, "/set", set);
	eddy_app_map_get(app, "/get", get);
	return app;
}

/* Ask with a cookie, and write the body, or the cookie that was set. */
static const char *ask(struct eddy_app *app, const char *line, const char *sent)
{
	static char got[8192];
	const struct eddy_header headers[] = { { "cookie", sent }, { 0 } };
	struct eddy_response *response;
	struct eddy_str body, set;

	cr_assert(
		eq(int,
		   eddy_app_test(app, line,
				 &(struct eddy_client_request){ .headers = sent ? headers : NULL },
				 &response),
		   0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	set = eddy_response_header(response, "set-cookie");
	snprintf(got, sizeof(got), "%.*s", EDDY_FMT(set.ptr ? set : body));
	eddy_response_free(response);
	return got;
}

/* Set `cookie`, and return its NAME=VALUE, to be freed. */
static char *make(struct eddy_app *app)
{
	const char *got = ask(app, "GET /set", NULL);

	cr_assert(strchr(got, '=') != NULL, "%s", got);
	return strndup(got, strcspn(got, ";"));
}

#define COOKIE(...)                                                                                \
	cookie = (struct eddy_cookie)                                                              \
	{                                                                                          \
		.name = "cart", __VA_ARGS__                                                        \
	}
#define PEARS .value = EDDY_STR("pears")

Test(cookie_sealed, comes_back)
{
	struct eddy_app *app = make_app(KEY_1);
	char *made;

	for (int i = 0; i < 2; i++) {
		is_signed = i == 1;
		COOKIE(PEARS);
		made = make(app);
		cr_expect(eq(int, !strstr(made, "pears"), !is_signed), "%s", made);
		cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
		cr_expect_str_eq(ask(app, "GET /get", NULL), "-2"); /* -ENOENT */
		free(made);
		COOKIE();
		made = make(app);
		cr_expect_str_eq(ask(app, "GET /get", made), "=");
		free(made);
	}
	is_signed = false;
	COOKIE(.value = EDDY_STR("any; bytes \n\xff"));
	made = make(app);
	cr_expect_str_eq(ask(app, "GET /get", made), "=any; bytes \n\xff");
	free(made);
	/* What a signed cookie can't hold, and dots, which it can. */
	is_signed = true;
	cr_expect_str_eq(ask(app, "GET /set", NULL), "-22");
	COOKIE(.value = EDDY_STR("1.2..3."));
	made = make(app);
	cr_expect_str_eq(ask(app, "GET /get", made), "=1.2..3.");
	free(made);
	eddy_app_free(app);
}

static void expect_attributes(struct eddy_app *app, const char *want)
{
	const char *got = ask(app, "GET /set", NULL);

	cr_expect_str_eq(got + strcspn(got, ";"), want, "%s", got);
}

Test(cookie_sealed, attributes)
{
	struct eddy_app *app = make_app(KEY_1);

	is_signed = false;
	COOKIE(PEARS);
	expect_attributes(app, "; Path=/; HttpOnly; SameSite=Lax");
	COOKIE(PEARS, .path = "/a", .domain = "x.example", .max_age_s = 60, .secure = true,
	       .same_site = EDDY_SAME_SITE_NONE);
	expect_attributes(
		app, "; Domain=x.example; Path=/a; Max-Age=60; Secure; HttpOnly; SameSite=None");
	COOKIE(PEARS);
	cookie.name = "__Host-cart";
	expect_attributes(app, "; Path=/; Secure; HttpOnly; SameSite=Lax");
	cookie.name = "__secure-cart";
	expect_attributes(app, "; Path=/; Secure; HttpOnly; SameSite=Lax");
	COOKIE(PEARS, .forget = true);
	cr_expect_str_eq(ask(app, "GET /set", NULL),
			 "cart=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; "
			 "HttpOnly; SameSite=Lax");
	is_signed = true;
	COOKIE(PEARS);
	expect_attributes(app, "; Path=/; SameSite=Lax");
	COOKIE(PEARS, .http_only = true);
	expect_attributes(app, "; Path=/; HttpOnly; SameSite=Lax");
	eddy_app_free(app);
}

/* Every character but those whose last bits are not used. */
Test(cookie_sealed, refuses_changes)
{
	struct eddy_app *app = make_app(KEY_1);

	for (int i = 0; i < 2; i++) {
		char *made;
		size_t len;

		is_signed = i == 1;
		COOKIE(PEARS);
		made = make(app);
		len = strlen(made);
		for (size_t at = strlen("cart="); at < len - 1; at++) {
			char was = made[at];

			made[at] = was == 'x' ? 'y' : 'x';
			cr_expect_str_eq(ask(app, "GET /get", made), "-74", "%s", made);
			made[at] = was;
		}
		for (size_t end = strlen("cart="); end < len; end++) {
			char was = made[end];

			made[end] = '\0';
			cr_expect_str_eq(ask(app, "GET /get", made), "-74", "%s", made);
			made[end] = was;
		}
		cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
		/* Under another name, or as the other kind. */
		made[0] = 'd';
		cookie.name = "dart";
		cr_expect_str_eq(ask(app, "GET /get", made), "-74");
		made[0] = 'c';
		cookie.name = "cart";
		is_signed = !is_signed;
		cr_expect_str_eq(ask(app, "GET /get", made), "-74");
		free(made);
	}
	eddy_app_free(app);
}

Test(cookie_sealed, ends)
{
	struct eddy_app *app = make_app(KEY_1);
	uint64_t now = (uint64_t)time(NULL);

	for (int i = 0; i < 2; i++) {
		char *made;

		is_signed = i == 1;
		COOKIE(PEARS, .expires_s = now - 1);
		made = make(app);
		cr_expect_str_eq(ask(app, "GET /get", made), "-74");
		free(made);
		COOKIE(PEARS, .expires_s = now + 1000);
		made = make(app);
		cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
		free(made);
		/* The longest time counts days, and does not wrap around. */
		COOKIE(PEARS, .max_age_s = UINT64_MAX);
		made = make(app);
		cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
		if (is_signed)
			cr_expect(le(u64, strtoull(strchr(made, '.') + 1, NULL, 10),
				     now + 401 * 86400));
		free(made);
	}
	eddy_app_free(app);
}

Test(cookie_sealed, size)
{
	struct eddy_app *app = make_app(KEY_1);
	char value[4097];
	char *made;

	memset(value, 'v', sizeof(value));
	is_signed = false;
	COOKIE(.value = eddy_str(value, 3000));
	made = make(app);
	cr_expect(eq(sz, strlen(ask(app, "GET /get", made)), 3001));
	free(made);
	COOKIE(.value = eddy_str(value, 3050));
	cr_expect_str_eq(ask(app, "GET /set", NULL), "-22");
	is_signed = true;
	COOKIE(.value = eddy_str(value, 4000));
	made = make(app);
	cr_expect(eq(sz, strlen(ask(app, "GET /get", made)), 4001));
	free(made);
	COOKIE(.value = eddy_str(value, 4096));
	cr_expect_str_eq(ask(app, "GET /set", NULL), "-22");
	eddy_app_free(app);
}

Test(cookie_sealed, rotates_keys)
{
	struct eddy_app *first = make_app(KEY_1), *both = make_app("\n" KEY_2 "\r\n" KEY_1 " \n"),
			*second = make_app(KEY_2);

	for (int i = 0; i < 2; i++) {
		char *old, *new;

		is_signed = i == 1;
		COOKIE(PEARS);
		old = make(first);
		new = make(both);
		cr_expect_str_eq(ask(both, "GET /get", old), "=pears");
		cr_expect_str_eq(ask(both, "GET /get", new), "=pears");
		cr_expect_str_eq(ask(second, "GET /get", new), "=pears");
		cr_expect_str_eq(ask(second, "GET /get", old), "-74");
		cr_expect_str_eq(ask(first, "GET /get", new), "-74");
		free(old);
		free(new);
	}
	eddy_app_free(first);
	eddy_app_free(both);
	eddy_app_free(second);
}

Test(cookie_sealed, needs_keys)
{
	struct eddy_app *app = make_app(NULL);

	is_signed = false;
	COOKIE(PEARS);
	cr_expect_str_eq(ask(app, "GET /set", NULL), "-126"); /* -ENOKEY */
	cr_expect_str_eq(ask(app, "GET /get", "cart=x"), "-126");
	cr_expect(eq(int, eddy_app_reload(app), 0));
	eddy_app_free(app);
}

/* ---- sources of keys ---- */

static char said[512];

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (record->level == EDDY_LOG_ERROR)
		snprintf(said, sizeof(said), "%.*s", EDDY_FMT(record->message));
}

static void expect_mistake(const struct eddy_cookie_keys *keys, const char *want)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;

	eddy_app_with_cookie_keys(app, keys);
	eddy_log_subscribe(hear, NULL);
	cr_expect(eq(int, eddy_app_test(app, "GET /", NULL, &response), -EINVAL));
	eddy_log_unsubscribe();
	cr_expect_str_eq(said, want);
	eddy_app_free(app);
}

#define EXPECT_MISTAKE(want, ...) expect_mistake(&(struct eddy_cookie_keys){ __VA_ARGS__ }, want)

Test(cookie_sealed, mistakes)
{
	char many[17 * sizeof(KEY_1) + 1] = "";

	for (int i = 0; i < 17; i++)
		strcat(many, KEY_1 "\n");
	EXPECT_MISTAKE("can't use the cookie keys from \"\": there are no keys",
		       .text = EDDY_STR("\n \n"));
	EXPECT_MISTAKE("can't use the cookie keys from \"\": there are more than 16 keys",
		       .text = eddy_str_from(many));
	EXPECT_MISTAKE("can't use the cookie keys from \"\": a key must have at least 32 bytes, as "
		       "printed by \"openssl rand -hex 32\"",
		       .text = EDDY_STR(KEY_1 "\nshort"));
	EXPECT_MISTAKE("can't use the cookie keys from \"\": expected either a file or a "
		       "text");
	EXPECT_MISTAKE("can't use the cookie keys from \"/dev/null\": it is not a file",
		       .file = "/dev/null");
	EXPECT_MISTAKE("can't use the cookie keys from \"/none\": No such file or directory",
		       .file = "/none");
	EXPECT_MISTAKE("can't use the cookie keys from \"/none\": expected either a file or a text",
		       .file = "/none", .text = EDDY_STR(KEY_1));
}

static void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	cr_assert(file != NULL);
	fputs(text, file);
	fclose(file);
}

Test(cookie_sealed, reads_its_file_again, .init = make_folder, .fini = remove_folder)
{
	struct eddy_app *app = make_app(NULL);
	char path[64], *made;

	snprintf(path, sizeof(path), "%s/keys", folder);
	write_file("keys", KEY_1 "\n");
	eddy_app_with_cookie_keys(app, &(struct eddy_cookie_keys){ .file = path });
	is_signed = false;
	COOKIE(PEARS);
	made = make(app);
	write_file("keys", KEY_2 "\n" KEY_1 "\n");
	cr_expect(eq(int, eddy_app_reload(app), 0));
	cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
	/* A bad file changes nothing. */
	write_file("keys", KEY_2 "\nshort\n");
	cr_expect(eq(int, eddy_app_reload(app), -EINVAL));
	cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
	write_file("keys", KEY_2 "\n");
	cr_expect(eq(int, eddy_app_reload(app), 0));
	cr_expect_str_eq(ask(app, "GET /get", made), "-74");
	free(made);
	eddy_app_free(app);
}

#ifndef EDDY_NO_CONFIG
Test(cookie_sealed, keys_of_the_configuration, .init = make_folder, .fini = remove_folder)
{
	struct eddy_app *app = make_app(NULL);
	char path[64], *made;

	snprintf(path, sizeof(path), "%s/app.toml", folder);
	write_file("app.toml", "[cookies]\nkeys_file = \"keys\"\n");
	write_file("keys", KEY_1 "\n");
	eddy_app_with_cookie_keys(app, NULL);
	eddy_app_with_config(app, path);
	is_signed = false;
	COOKIE(PEARS);
	made = make(app);
	cr_expect_str_eq(ask(app, "GET /get", made), "=pears");
	free(made);
	eddy_app_free(app);
}
#endif
