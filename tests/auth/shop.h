/* shop.h: who comes to an app with a static secret, and what he is told. */
#ifndef EDDY_TESTS_SHOP_H
#define EDDY_TESTS_SHOP_H

#include "asked.h"

#include <criterion/new/assert.h>
#include <eddy/auth.h>
#include <eddy/client.h>
#include <stdlib.h>
#include <time.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define OTHERS "fedcba9876543210fedcba9876543210"
#define IN(secs) ((long)time(NULL) + (secs))
#define INVALID(why)                                                                               \
	"401 Bearer realm=\"shop\", error=\"invalid_token\", error_description=\"" why "\"|"

static inline struct eddy_jwk *key_of(const char *secret)
{
	struct eddy_jwk *key = NULL;

	cr_assert(zero(eddy_jwk_from_secret(eddy_str_from(secret), NULL, &key)));
	return key;
}

/* An Authorization with these claims, JSON with ' for its quotes; it stands until the next but three. */
EDDY_PRINTF(2, 3) static inline const char *token_by(const char *secret, const char *format, ...)
{
	static char fields[4][8192];
	static unsigned at;
	char *field = fields[at++ % 4], json[4096], *text;
	struct eddy_jwk *key = key_of(secret);
	json_t *claims;
	va_list args;

	va_start(args, format);
	vsnprintf(json, sizeof(json), format, args);
	va_end(args);
	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	claims = json_loads(json, 0, NULL);
	cr_assert(claims != NULL, "%s", json);
	cr_assert(zero(eddy_jwt_sign(key, EDDY_JWS_HS256, NULL, claims, &text)));
	snprintf(field, sizeof(fields[0]), "Bearer %s", text);
	free(text);
	json_decref(claims);
	eddy_jwk_unref(key);
	return field;
}

/* One that is good, with these claims beside. */
#define GOOD(more) token_by(SECRET, "{'exp':%ld" more "}", IN(60))

/* Return: "STATUS FIELDS|BODY" with the values of `field`, as asked(). */
static inline const char *ask(struct eddy_app *app, const char *line, const char *authorization,
			      const char *field)
{
	const struct eddy_header headers[] = { { "authorization", authorization }, { 0 } };
	const struct eddy_client_request request = { .headers = authorization ? headers : NULL };

	return asked_with(app, line, &request, field);
}

static inline void expect(struct eddy_app *app, const char *line, const char *authorization,
			  const char *expected)
{
	const char *got = ask(app, line, authorization, "www-authenticate");

	cr_expect(strncmp(got, expected, strlen(expected)) == 0, "%.60s: %.400s", line, got);
}

#endif
