/* What a token claims: for whom it is, by whom, and when (RFC 7519 section 4). */
#include "jwt.h"

#include "json.h"

#include <time.h>

#define LEEWAY_NS (60 * EDDY_SECOND)

/* A moment beyond what ns can say is EDDY_NEVER, one before 1970 is 1970. */
static uint64_t to_ns(const json_t *seconds)
{
	double real = json_number_value(seconds);
	uint64_t whole;

	if (!(real > 0))
		return 0;
	if (real >= (double)(EDDY_NEVER / EDDY_SECOND))
		return EDDY_NEVER;
	whole = (uint64_t)real;
	return whole * EDDY_SECOND + (uint64_t)((real - (double)whole) * (double)EDDY_SECOND);
}

static uint64_t since_1970(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * EDDY_SECOND + (uint64_t)now.tv_nsec;
}

static bool is_number(const json_t *value)
{
	return json_is_number(value);
}

static bool is_string(const json_t *value)
{
	return json_is_string(value);
}

/* A string, or some. */
static bool is_audience(const json_t *value)
{
	size_t i;
	json_t *one;

	if (!json_is_array(value))
		return json_is_string(value);
	json_array_foreach(value, i, one) if (!json_is_string(one)) return false;
	return true;
}

/* RFC 7519 section 4.1. */
static bool has_right_types(const json_t *claims)
{
	static const struct {
		const char *name;
		bool (*is_right)(const json_t *value);
	} rows[] = {
		{ "exp", is_number },   { "nbf", is_number }, { "iat", is_number },
		{ "iss", is_string },   { "sub", is_string }, { "jti", is_string },
		{ "aud", is_audience },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const json_t *value = json_object_get(claims, rows[i].name);

		if (value && !rows[i].is_right(value))
			return false;
	}
	return true;
}

static int check_times(const json_t *claims, uint64_t now, uint64_t leeway)
{
	const json_t *exp = json_object_get(claims, "exp"), *nbf = json_object_get(claims, "nbf");
	uint64_t at;

	if (!exp)
		return EDDY_JWT_MISSING;
	at = to_ns(exp);
	if (at <= now && now - at >= leeway)
		return EDDY_JWT_EXPIRED;
	at = nbf ? to_ns(nbf) : 0;
	return at > now && at - now > leeway ? EDDY_JWT_NOT_YET : 0;
}

static int check_issuer(const json_t *claims, const char *issuer)
{
	struct eddy_str iss = eddyi_auth_json_str(claims, "iss");

	if (!issuer)
		return 0;
	if (!iss.ptr)
		return EDDY_JWT_MISSING;
	return eddy_str_eq_z(iss, issuer) ? 0 : EDDY_JWT_ISSUER;
}

static bool is_meant_for(const json_t *aud, const char *audience)
{
	size_t i;
	json_t *one;

	if (json_is_string(aud))
		return !strcmp(json_string_value(aud), audience);
	json_array_foreach(aud, i, one) if (!strcmp(json_string_value(one), audience)) return true;
	return false;
}

static int check_audience(const json_t *claims, const char *const *audiences)
{
	const json_t *aud = json_object_get(claims, "aud");

	if (!audiences)
		return aud ? EDDY_JWT_AUDIENCE : 0;
	if (!aud)
		return EDDY_JWT_MISSING;
	for (; *audiences; audiences++)
		if (is_meant_for(aud, *audiences))
			return 0;
	return EDDY_JWT_AUDIENCE;
}

int eddy_jwt_check_claims(const struct eddy_jwt *token, const struct eddy_jwt_options *options)
{
	static const struct eddy_jwt_options defaults;
	const struct eddy_jwt_options *with = options ? options : &defaults;
	uint64_t leeway = with->leeway_ns ? with->leeway_ns : LEEWAY_NS;
	int r;

	if (!has_right_types(token->claims))
		return EDDY_JWT_MALFORMED;
	r = check_times(token->claims, with->now_ns ? with->now_ns : since_1970(),
			leeway == EDDY_JWT_NO_LEEWAY ? 0 : leeway);
	if (!r)
		r = check_issuer(token->claims, with->issuer);
	return r ? r : check_audience(token->claims, with->audiences);
}

uint64_t eddy_jwt_expires(const struct eddy_jwt *token)
{
	return to_ns(json_object_get(token->claims, "exp"));
}

static bool has_word(struct eddy_str words, struct eddy_str text)
{
	struct eddy_str word;

	while (eddy_str_split(&words, ' ', &word))
		if (eddy_str_eq(word, text))
			return true;
	return false;
}

bool eddy_jwt_has(const struct eddy_jwt *token, const char *name, struct eddy_str text)
{
	const json_t *value = json_object_get(token->claims, name);
	size_t i;
	json_t *one;

	if (!text.len)
		return false;
	if (json_is_string(value))
		return has_word(eddyi_auth_json_str(token->claims, name), text);
	json_array_foreach(value, i, one) if (json_is_string(one) &&
					      eddy_str_eq(eddy_str(json_string_value(one),
								   json_string_length(one)),
							  text)) return true;
	return false;
}
