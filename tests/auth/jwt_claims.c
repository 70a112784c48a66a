/* Tests of eddy/jwt.h: what claims are believed, and when. */
#include "tokens.h"

#include <time.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define NOW (1000 * EDDY_SECOND)

static int check(const char *claims, const struct eddy_jwt_options *options)
{
	struct eddy_jwt *token = token_with(claims);
	int r = eddyi_jwt_check_claims(token, options);

	eddy_jwt_unref(token);
	return r;
}

/* It is the 1000th second since 1970. */
static const struct {
	const char *claims;
	uint64_t leeway_ns;
	int fault;
} times[] = {
	{ "{}", 0, EDDY_JWT_MISSING },
	{ "{\"nbf\":1}", 0, EDDY_JWT_MISSING },
	{ "{\"nbf\":5000}", 0, EDDY_JWT_MISSING },
	{ "{\"EXP\":5000}", 0, EDDY_JWT_MISSING },
	{ "{\"exp\":1001}", EDDY_JWT_NO_LEEWAY, 0 },
	{ "{\"exp\":1000}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_EXPIRED },
	{ "{\"exp\":999}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_EXPIRED },
	{ "{\"exp\":1000.5}", EDDY_JWT_NO_LEEWAY, 0 },
	{ "{\"exp\":999.5}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_EXPIRED },
	{ "{\"exp\":1.001e3}", EDDY_JWT_NO_LEEWAY, 0 },
	{ "{\"exp\":1.0e3}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_EXPIRED },
	{ "{\"exp\":941}", 0, 0 },
	{ "{\"exp\":940}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":940.25}", 0, 0 },
	{ "{\"exp\":998}", 3 * EDDY_SECOND, 0 },
	{ "{\"exp\":997}", 3 * EDDY_SECOND, EDDY_JWT_EXPIRED },
	{ "{\"exp\":1}", 2000 * EDDY_SECOND, 0 },
	{ "{\"exp\":1}", EDDY_JWT_NO_LEEWAY - 1, 0 },
	{ "{\"exp\":0}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":-0}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":-0.0}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":-1}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":-1e300}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":1e-300}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":-9223372036854775808}", 0, EDDY_JWT_EXPIRED },
	{ "{\"exp\":9223372036854775807}", 0, 0 },
	{ "{\"exp\":18446744073}", 0, 0 },
	{ "{\"exp\":18446744074}", 0, 0 }, /* ns of it are a few, modulo 2^64 */
	{ "{\"exp\":18446744074.5}", 0, 0 },
	{ "{\"exp\":36893488147}", 0, 0 },
	{ "{\"exp\":1e10}", 0, 0 },
	{ "{\"exp\":1e30}", 0, 0 },
	{ "{\"exp\":1e308}", 0, 0 },
	{ "{\"exp\":null}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":\"5000\"}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":true}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":[5000]}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":{}}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"nbf\":1000}", EDDY_JWT_NO_LEEWAY, 0 },
	{ "{\"exp\":5000,\"nbf\":1001}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":1000.5}", EDDY_JWT_NO_LEEWAY, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":999.5}", EDDY_JWT_NO_LEEWAY, 0 },
	{ "{\"exp\":5000,\"nbf\":1060}", 0, 0 },
	{ "{\"exp\":5000,\"nbf\":1061}", 0, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":1060.5}", 0, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":1003}", 3 * EDDY_SECOND, 0 },
	{ "{\"exp\":5000,\"nbf\":1004}", 3 * EDDY_SECOND, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":4000}", EDDY_JWT_NO_LEEWAY - 1, 0 },
	{ "{\"exp\":5000,\"nbf\":0}", 0, 0 },
	{ "{\"exp\":5000,\"nbf\":-1}", 0, 0 },
	{ "{\"exp\":5000,\"nbf\":-1e300}", 0, 0 },
	{ "{\"exp\":5000,\"nbf\":-9223372036854775808}", 0, 0 },
	{ "{\"exp\":5000,\"nbf\":9223372036854775807}", 0, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":18446744074}", 0, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":1e300}", 0, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"nbf\":null}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"nbf\":\"1\"}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"nbf\":[]}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":1,\"nbf\":5000}", 0, EDDY_JWT_EXPIRED },
	/* When it was issued is nobody's concern, as long as it is a time. */
	{ "{\"exp\":5000,\"iat\":4000}", 0, 0 },
	{ "{\"exp\":5000,\"iat\":-4000.5}", 0, 0 },
	{ "{\"exp\":5000,\"iat\":\"1\"}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"iat\":null}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"sub\":\"joe\",\"jti\":\"\"}", 0, 0 },
	{ "{\"exp\":5000,\"sub\":1}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"sub\":null}", 0, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"jti\":[\"a\"]}", 0, EDDY_JWT_MALFORMED },
};

Test(jwt_claims, is_valid_from_nbf_until_exp)
{
	for (size_t i = 0; i < COUNT(times); i++)
		cr_expect_eq(check(times[i].claims,
				   &(struct eddy_jwt_options){ .now_ns = NOW,
							       .leeway_ns = times[i].leeway_ns }),
			     times[i].fault, "%s", times[i].claims);
}

/* To the nanosecond. */
Test(jwt_claims, ends_at_its_end)
{
	struct eddy_jwt_options options = { .leeway_ns = 3 };

	options.now_ns = 5 * EDDY_SECOND + 2;
	cr_expect_eq(check("{\"exp\":5}", &options), 0);
	options.now_ns++;
	cr_expect_eq(check("{\"exp\":5}", &options), EDDY_JWT_EXPIRED);
	options.now_ns = 5 * EDDY_SECOND - 3;
	cr_expect_eq(check("{\"exp\":9,\"nbf\":5}", &options), 0);
	options.now_ns--;
	cr_expect_eq(check("{\"exp\":9,\"nbf\":5}", &options), EDDY_JWT_NOT_YET);
	options = (struct eddy_jwt_options){ .now_ns = UINT64_MAX - 1 };
	cr_expect_eq(check("{\"exp\":1e300}", &options), 0);
	cr_expect_eq(check("{\"exp\":18446744013}", &options), EDDY_JWT_EXPIRED);
	cr_expect_eq(check("{\"exp\":18446744014}", &options), 0);
	options.now_ns = 1;
	cr_expect_eq(check("{\"exp\":1,\"nbf\":60}", &options), 0);
	cr_expect_eq(check("{\"exp\":1,\"nbf\":61}", &options), EDDY_JWT_NOT_YET);
}

Test(jwt_claims, goes_by_the_clock_of_the_machine)
{
	char claims[128];
	long long now = (long long)time(NULL);

	cr_expect_eq(check("{\"exp\":1000000000}", NULL), EDDY_JWT_EXPIRED);
	/* The leeway is a minute: these hold for the next half, and since the last. */
	snprintf(claims, sizeof(claims), "{\"exp\":%lld,\"nbf\":%lld}", now - 30, now + 30);
	cr_expect_eq(check(claims, NULL), 0);
	snprintf(claims, sizeof(claims), "{\"exp\":%lld}", now - 61);
	cr_expect_eq(check(claims, NULL), EDDY_JWT_EXPIRED);
	snprintf(claims, sizeof(claims), "{\"exp\":%lld,\"nbf\":%lld}", now + 600, now + 120);
	cr_expect_eq(check(claims, NULL), EDDY_JWT_NOT_YET);
}

static const char *const one[] = { "api", NULL };
static const char *const two[] = { "api", "shop", NULL };
static const char *const none[] = { NULL };

static const struct {
	const char *claims;
	const char *issuer;
	const char *const *audiences;
	int fault;
} sides[] = {
	{ "{\"exp\":5000}", NULL, NULL, 0 },
	{ "{\"exp\":5000,\"iss\":\"joe\"}", NULL, NULL, 0 },
	{ "{\"exp\":5000,\"iss\":\"joe\"}", "joe", NULL, 0 },
	{ "{\"exp\":5000,\"iss\":\"\"}", "", NULL, 0 },
	{ "{\"exp\":5000,\"iss\":\"j\\u006fe\"}", "joe", NULL, 0 },
	{ "{\"exp\":5000}", "joe", NULL, EDDY_JWT_MISSING },
	{ "{\"exp\":5000,\"ISS\":\"joe\"}", "joe", NULL, EDDY_JWT_MISSING },
	{ "{\"exp\":5000,\"iss\":\"Joe\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\"joe/\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\" joe\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\"jo\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\"joes\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\"\"}", "joe", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":\"joe\"}", "", NULL, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"iss\":[\"joe\"]}", "joe", NULL, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"iss\":null}", "joe", NULL, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"iss\":null}", NULL, NULL, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"iss\":123}", NULL, NULL, EDDY_JWT_MALFORMED },

	{ "{\"exp\":5000,\"aud\":\"api\"}", NULL, one, 0 },
	{ "{\"exp\":5000,\"aud\":[\"api\"]}", NULL, one, 0 },
	{ "{\"exp\":5000,\"aud\":[\"x\",\"api\"]}", NULL, one, 0 },
	{ "{\"exp\":5000,\"aud\":[\"api\",\"api\"]}", NULL, one, 0 },
	{ "{\"exp\":5000,\"aud\":\"shop\"}", NULL, two, 0 },
	{ "{\"exp\":5000,\"aud\":[\"x\",\"shop\"]}", NULL, two, 0 },
	{ "{\"exp\":5000}", NULL, one, EDDY_JWT_MISSING },
	{ "{\"exp\":5000}", NULL, none, EDDY_JWT_MISSING },
	{ "{\"exp\":5000,\"aud\":\"shop\"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"API\"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"api \"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"api shop\"}", NULL, two, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"ap\"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"apis\"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"\"}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":[]}", NULL, one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":[\"x\",\"y\"]}", NULL, two, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"api\"}", NULL, none, EDDY_JWT_AUDIENCE },
	/* None is expected: whatever it is, it is meant for somebody else. */
	{ "{\"exp\":5000,\"aud\":\"api\"}", NULL, NULL, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":[]}", NULL, NULL, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":\"\"}", NULL, NULL, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"aud\":null}", NULL, NULL, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"aud\":123}", NULL, one, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"aud\":{\"api\":1}}", NULL, one, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"aud\":[\"api\",123]}", NULL, one, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"aud\":[[\"api\"]]}", NULL, one, EDDY_JWT_MALFORMED },
	{ "{\"exp\":5000,\"aud\":[\"api\",null]}", NULL, one, EDDY_JWT_MALFORMED },

	/* ---- which comes first ---- */
	{ "{\"iss\":\"x\",\"aud\":\"x\",\"nbf\":\"x\"}", "joe", one, EDDY_JWT_MALFORMED },
	{ "{\"exp\":1,\"aud\":1}", "joe", one, EDDY_JWT_MALFORMED },
	{ "{\"iss\":\"x\",\"aud\":\"x\",\"nbf\":9000}", "joe", one, EDDY_JWT_MISSING },
	{ "{\"exp\":1,\"iss\":\"x\",\"aud\":\"x\"}", "joe", one, EDDY_JWT_EXPIRED },
	{ "{\"exp\":5000,\"nbf\":9000,\"iss\":\"x\"}", "joe", one, EDDY_JWT_NOT_YET },
	{ "{\"exp\":5000,\"iss\":\"x\",\"aud\":\"x\"}", "joe", one, EDDY_JWT_ISSUER },
	{ "{\"exp\":5000,\"aud\":\"x\"}", "joe", one, EDDY_JWT_MISSING },
	{ "{\"exp\":5000,\"iss\":\"joe\",\"aud\":\"x\"}", "joe", one, EDDY_JWT_AUDIENCE },
	{ "{\"exp\":5000,\"iss\":\"joe\",\"aud\":\"api\"}", "joe", one, 0 },
};

Test(jwt_claims, is_of_the_right_issuer_for_the_right_audience)
{
	for (size_t i = 0; i < COUNT(sides); i++)
		cr_expect_eq(check(sides[i].claims,
				   &(struct eddy_jwt_options){ .now_ns = NOW,
							       .issuer = sides[i].issuer,
							       .audiences = sides[i].audiences }),
			     sides[i].fault, "%s for %s", sides[i].claims, sides[i].issuer);
}

Test(jwt_claims, says_when_it_expires)
{
	static const struct {
		const char *claims;
		uint64_t at;
	} rows[] = {
		{ "{\"exp\":1000}", 1000 * EDDY_SECOND },
		{ "{\"exp\":1000.5}", 1000 * EDDY_SECOND + EDDY_SECOND / 2 },
		{ "{\"exp\":18446744072}", 18446744072 * EDDY_SECOND },
		{ "{\"exp\":18446744073}", UINT64_MAX },
		{ "{\"exp\":18446744074}", UINT64_MAX },
		{ "{\"exp\":9223372036854775807}", UINT64_MAX },
		{ "{\"exp\":1e300}", UINT64_MAX },
		{ "{\"exp\":18446744073.0}", UINT64_MAX },
		{ "{\"exp\":18446744072.5}", 18446744072 * EDDY_SECOND + EDDY_SECOND / 2 },
		{ "{\"exp\":-1}", 0 },
		{ "{\"exp\":-1.5}", 0 },
		{ "{\"exp\":\"1\"}", 0 },
		{ "{}", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_jwt *token = token_with(rows[i].claims);

		cr_expect_eq(eddyi_jwt_expires(token), rows[i].at, "%s", rows[i].claims);
		eddy_jwt_unref(token);
	}
}

Test(jwt_claims, has_words_and_elements)
{
	static const struct {
		const char *claims, *text;
		bool has;
	} rows[] = {
		{ "{\"s\":\"read\"}", "read", true },
		{ "{\"s\":\"read write\"}", "read", true },
		{ "{\"s\":\"read write\"}", "write", true },
		{ "{\"s\":\"a read b\"}", "read", true },
		{ "{\"s\":\" read  write \"}", "write", true },
		{ "{\"s\":\"readwrite\"}", "read", false },
		{ "{\"s\":\"write-read\"}", "read", false },
		{ "{\"s\":\"READ\"}", "read", false },
		{ "{\"s\":\"read,write\"}", "read", false },
		{ "{\"s\":\"read\\twrite\"}", "read", false },
		{ "{\"s\":\"read write\"}", "read write", false },
		{ "{\"s\":\"rea\"}", "read", false },
		{ "{\"s\":\" \"}", "", false },
		{ "{\"s\":\"\"}", "", false },
		{ "{\"s\":\"a  b\"}", "", false },
		{ "{\"s\":[\"read\"]}", "read", true },
		{ "{\"s\":[\"write\",\"read\"]}", "read", true },
		{ "{\"s\":[1,null,[\"x\"],\"read\"]}", "read", true },
		{ "{\"s\":[\"read write\"]}", "read", false },
		{ "{\"s\":[\"read write\"]}", "read write", true },
		{ "{\"s\":[\"reads\"]}", "read", false },
		{ "{\"s\":[[\"read\"]]}", "read", false },
		{ "{\"s\":[\"\"]}", "", false },
		{ "{\"s\":[]}", "read", false },
		{ "{\"s\":{\"read\":1}}", "read", false },
		{ "{\"s\":1}", "1", false },
		{ "{\"s\":null}", "null", false },
		{ "{\"t\":\"read\"}", "read", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_jwt *token = token_with(rows[i].claims);

		cr_expect_eq(eddy_jwt_has(token, "s", eddy_str_from(rows[i].text)), rows[i].has,
			     "%s: %s", rows[i].claims, rows[i].text);
		eddy_jwt_unref(token);
	}
}
