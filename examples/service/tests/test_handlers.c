/* Handlers with their routes and guards, without a socket: each request is passed to the app in
 * memory. Needs a database: tests/local.py test test_handlers. Prints TAP. */
#include "dropbox.h"

#include <eddy/test.h>
#include <stdlib.h>
#include <time.h>

static const char secret[] = "a secret of the tests, of more than 32 bytes";

struct expected {
	const char *line;
	const char *caller; /* NULL: no token */
	const char *body;
	int status;
	const char *part; /* of the response's body */
};

static const struct expected all[] = {
	{ "GET /healthz", NULL, NULL, 200, "" },
	{ "GET /files", NULL, NULL, 401, "Unauthorized" },
	{ "GET /nowhere", NULL, NULL, 404, "Not Found" },
	{ "DELETE /users/ada", "ada", NULL, 405, "" },
	{ "POST /users", "eve", "{\"name\":\"eve\",\"email\":\"eve@example.org\"}", 403, "" },
	{ "POST /users", "admin", "{\"name\":\"\",\"quota\":0}", 400, "\"pointer\":\"#/email\"" },
	{ "POST /users", "admin", "{\"name\":\"ada\",\"email\":\"a@b\",\"quota\":5}", 201,
	  "\"ada\"" },
	{ "POST /users", "admin", "{\"name\":\"ada\",\"email\":\"a@b\"}", 409, "of this name" },
	{ "GET /users/ada", "eve", NULL, 200, "\"quota\":5,\"used\":0" },
	{ "GET /users/nobody", "eve", NULL, 404, "" },
	{ "GET /users/%ff", "eve", NULL, 400, "" },
	{ "PUT /files/a", "eve", "x", 403, "" },
	{ "PUT /files/a", "ada", "1234", 201, "\"name\":\"a\",\"size\":4" },
	{ "PUT /files/a", "ada", "1", 409, "" },
	{ "PUT /files/b", "ada", "12", 507, "1 bytes of your quota" },
	{ "GET /files/a", "ada", NULL, 200, "1234" },
	{ "GET /files/a", "eve", NULL, 404, "" },
	{ "GET /files", "ada", NULL, 200, "\"size\":4,\"type\":\"application/json\"" },
	{ "GET /files?limit=501", "ada", NULL, 400, "limit" },
	{ "GET /openapi.json", NULL, NULL, 200, "\"/files/{name}\"" },
};

/* Return: "Bearer …", to be freed. */
static char *bearer(const struct eddy_jwk *key, const char *caller)
{
	json_t *claims = json_pack("{s:s,s:s,s:I}", "sub", caller, "role", caller, "exp",
				   (json_int_t)time(NULL) + 600);
	char *token = NULL, *text = NULL;

	if (eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &token) == 0) {
		text = malloc(strlen(token) + sizeof("Bearer "));
		sprintf(text, "Bearer %s", token);
	}
	free(token);
	json_decref(claims);
	return text;
}

static bool check(struct eddy_app *app, const struct eddy_jwk *key, const struct expected *expected)
{
	char *authorization = expected->caller ? bearer(key, expected->caller) : NULL;
	const struct eddy_header headers[] = {
		{ "content-type", "application/json" },
		{ authorization ? "authorization" : "x-none", authorization ? authorization : "" },
		{ 0 },
	};
	const struct eddy_client_request request = { .headers = headers,
						     .body = eddy_str_from(expected->body) };
	struct eddy_response *response = NULL;
	struct eddy_str body = { 0 };
	int r = eddy_app_test(app, expected->line, &request, &response);
	bool ok;

	if (r == 0)
		r = eddy_response_body(response, &body);
	ok = r == 0 && eddy_response_status(response) == expected->status &&
	     memmem(body.ptr, body.len, expected->part, strlen(expected->part));
	printf("%s - %s by %s is a %d\n", ok ? "ok" : "not ok", expected->line,
	       expected->caller ? expected->caller : "nobody", expected->status);
	if (!ok)
		printf("# %d: %.*s\n", r < 0 ? r : eddy_response_status(response), EDDY_FMT(body));
	eddy_response_free(response);
	free(authorization);
	return ok;
}

/* All on one loop, which keeps the connections to the database. */
static int run(void *arg)
{
	struct eddy_app *app = arg;
	struct eddy_jwk *key;
	int failed = 0, r = eddy_jwk_from_secret(eddy_str(secret, sizeof(secret) - 1), NULL, &key);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		failed += !check(app, key, &all[i]);
	eddy_jwk_unref(key);
	return failed;
}

int main(void)
{
	struct eddy_app *app = dropbox_app();
	char folder[] = "/tmp/dropbox-XXXXXX", command[64];
	int r;

	printf("1..%zu\n", sizeof(all) / sizeof(*all));
	eddy_log_text_subscribe();
	dropbox.data_dir = mkdtemp(folder);
	dropbox.database.options.conninfo = "postgresql://"; /* of tests/local.py */
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
					       .secret = eddy_str(secret, sizeof(secret) - 1) });
	r = eddy_run(NULL, run, app);
	eddy_app_free(app);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return r || system(command) ? 1 : 0;
}
