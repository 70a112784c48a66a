/* Validation of claims: times, issuer and audience (RFC 7519 section 4). */
#include "jwt.h"

#include <eddy/internal/outside.h>
#include <time.h>

#define LEEWAY_NS (60 * EDDY_SECOND)

/* Convert to ns. A time out of range is EDDY_NEVER, one before 1970 is 0. */
static uint64_t to_ns(struct eddyi_value seconds)
{
	double real = seconds.number;
	uint64_t whole;

	if (!(real > 0))
		return 0;
	if (real >= (double)(EDDY_NEVER / EDDY_SECOND))
		return EDDY_NEVER;
	whole = (uint64_t)real;
	return whole * EDDY_SECOND + (uint64_t)((real - (double)whole) * (double)EDDY_SECOND);
}

static bool is_audience(const struct eddyi_object *claims, struct eddyi_value aud)
{
	struct eddyi_value one;

	while (eddyi_object_next(claims, &aud, &one))
		if (one.type != EDDYI_STRING)
			return false;
	return aud.type == EDDYI_STRING || aud.type == EDDYI_ARRAY;
}

/* RFC 7519 section 4.1. */
static bool has_right_types(const struct eddyi_object *claims)
{
	static const struct {
		const char *name;
		enum eddyi_value_type type;
	} rows[] = {
		{ "exp", EDDYI_NUMBER }, { "nbf", EDDYI_NUMBER }, { "iat", EDDYI_NUMBER },
		{ "iss", EDDYI_STRING }, { "sub", EDDYI_STRING }, { "jti", EDDYI_STRING },
	};
	struct eddyi_value aud = eddyi_object_get(claims, "aud");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum eddyi_value_type type = eddyi_object_get(claims, rows[i].name).type;

		if (type && type != rows[i].type)
			return false;
	}
	return !aud.type || is_audience(claims, aud);
}

static int check_times(const struct eddyi_object *claims, uint64_t now, uint64_t leeway)
{
	struct eddyi_value exp = eddyi_object_get(claims, "exp");
	uint64_t at = to_ns(exp);

	if (!exp.type)
		return EDDY_JWT_MISSING;
	if (at <= now && now - at >= leeway)
		return EDDY_JWT_EXPIRED;
	at = to_ns(eddyi_object_get(claims, "nbf"));
	return at > now && at - now > leeway ? EDDY_JWT_NOT_YET : 0;
}

static int check_issuer(const struct eddyi_object *claims, const char *issuer)
{
	struct eddy_str iss = eddyi_object_get(claims, "iss").text;

	if (!issuer)
		return 0;
	if (!iss.ptr)
		return EDDY_JWT_MISSING;
	return eddy_str_eq_z(iss, issuer) ? 0 : EDDY_JWT_ISSUER;
}

static bool is_meant_for(const struct eddyi_object *claims, struct eddyi_value aud,
			 const char *audience)
{
	struct eddyi_value one;

	if (aud.type == EDDYI_STRING)
		return eddy_str_eq_z(aud.text, audience);
	while (eddyi_object_next(claims, &aud, &one))
		if (eddy_str_eq_z(one.text, audience))
			return true;
	return false;
}

static int check_audience(const struct eddyi_object *claims, const char *const *audiences)
{
	struct eddyi_value aud = eddyi_object_get(claims, "aud");

	if (!audiences)
		return aud.type ? EDDY_JWT_AUDIENCE : 0;
	if (!aud.type)
		return EDDY_JWT_MISSING;
	for (; *audiences; audiences++)
		if (is_meant_for(claims, aud, *audiences))
			return 0;
	return EDDY_JWT_AUDIENCE;
}

int eddyi_jwt_check_claims(const struct eddy_jwt *token, const struct eddy_jwt_options *options)
{
	static const struct eddy_jwt_options defaults;
	const struct eddy_jwt_options *with = options ? options : &defaults;
	uint64_t leeway = with->leeway_ns ? with->leeway_ns : LEEWAY_NS;
	int r;

	if (!has_right_types(&token->claims))
		return EDDY_JWT_MALFORMED;
	r = check_times(&token->claims, with->now_ns ? with->now_ns : eddyi_clock(CLOCK_REALTIME),
			leeway == EDDY_JWT_NO_LEEWAY ? 0 : leeway);
	if (!r)
		r = check_issuer(&token->claims, with->issuer);
	return r ? r : check_audience(&token->claims, with->audiences);
}

uint64_t eddyi_jwt_expires(const struct eddy_jwt *token)
{
	return to_ns(eddyi_object_get(&token->claims, "exp"));
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
	struct eddyi_value value = eddyi_object_get(&token->claims, name), one;

	if (!text.len)
		return false;
	if (value.type == EDDYI_STRING)
		return has_word(value.text, text);
	while (eddyi_object_next(&token->claims, &value, &one))
		if (one.type == EDDYI_STRING && eddy_str_eq(one.text, text))
			return true;
	return false;
}
