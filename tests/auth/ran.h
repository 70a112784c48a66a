/* ran.h: what an app answers while it runs, which it may do several times. */
#ifndef EDDY_TESTS_RAN_H
#define EDDY_TESTS_RAN_H

#include <criterion/criterion.h>
#include <eddy/auth.h>
#include <eddy/client.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct ran {
	struct eddy_app *app;
	const char *path;
	const char *secret; /* that a token is signed with; NULL: there is none */
	bool has_audience;  /* it is for "me" */
	char answer[4096];
};

/* Return: the value of a field, empty where no token is wanted. */
static inline void ran_sign(const struct ran *ran, char *field, size_t size)
{
	struct eddy_jwk *key = NULL;
	char *text = NULL;
	json_t *claims;

	*field = '\0';
	if (!ran->secret || eddy_jwk_from_secret(eddy_str_from(ran->secret), NULL, &key) < 0)
		return;
	claims = json_pack("{s:I,s:s*}", "exp", (json_int_t)time(NULL) + 60, "aud",
			   ran->has_audience ? "me" : NULL);
	if (eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &text) == 0)
		snprintf(field, size, "Bearer %s", text);
	free(text);
	json_decref(claims);
	eddy_jwk_unref(key);
}

/* A task of the app: ask, and end it. */
static inline int ran_ask(void *arg)
{
	struct ran *ran = arg;
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	struct eddy_str body = { NULL, 0 };
	char url[256], field[2048];
	const struct eddy_header headers[] = { { "authorization", field }, { 0 } };
	const struct eddy_client_request request = { .headers = headers };
	int r;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", eddy_app_port(ran->app), ran->path);
	ran_sign(ran, field, sizeof(field));
	r = client ? eddy_client_send(client, url, &request, &response) : -ENOMEM;
	if (r == 0)
		r = eddy_response_body(response, &body);
	snprintf(ran->answer, sizeof(ran->answer), "%d %.*s",
		 r < 0 ? r : eddy_response_status(response), EDDY_FMT(body));
	eddy_response_free(response);
	eddy_client_free(client);
	eddy_app_shutdown(ran->app);
	return 0;
}

/* Before anything else that is done with the app. */
static inline void ran_init(struct ran *ran, struct eddy_app *app)
{
	*ran = (struct ran){ .app = app };
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &(struct eddy_server_options){ .no_signals = true });
	eddy_app_add_task(app, "asks", ran_ask, ran);
}

static inline int ran_run(void *arg)
{
	return eddy_app_run(arg);
}

/* Run the app for one request. Return: "STATUS BODY"; it stands until the next call. */
static inline const char *ran(struct ran *ran, const char *path)
{
	int r;

	ran->path = path;
	snprintf(ran->answer, sizeof(ran->answer), "nothing");
	r = eddy_run(NULL, ran_run, ran->app);
	if (r < 0)
		snprintf(ran->answer, sizeof(ran->answer), "%d", r);
	return ran->answer;
}

#endif
