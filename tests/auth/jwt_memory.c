/* Tests of eddy/jwt.h where memory is out: each allocation fails in its turn, those of jansson as well. Leaks are
 * AddressSanitizer's to find. */
#include "../runtime/failing.h"
#include "keys.h"
#include "rfc.h"
#include "tokens.h"

#include <errno.h>

#define ALL (EDDY_JWS_SECRET | EDDY_JWS_PUBLIC)

struct job {
	struct eddy_jwk *key;
	struct eddy_keyset *set;
	json_t *claims;
	struct eddy_str text;
	char *made;
	struct eddy_jwt *token;
};

static int parse(struct job *job)
{
	return eddy_jwt_parse(job->text, ALL, &job->token);
}

static int verify(struct job *job)
{
	return eddy_jwt_verify(job->token, job->set,
			       &(struct eddy_jwt_options){ .now_ns = EDDY_SECOND });
}

static int sign(struct job *job)
{
	return eddy_jwt_sign(job->key, EDDY_JWS_HS256, NULL, job->claims, &job->made);
}

/* Return: how often it said so. */
static int try_each(int (*fn)(struct job *job), struct job *job)
{
	int r = -ENOMEM, left = 0, failures = 0;

	for (int at = 1; !left; at++) {
		failing_at = at;
		r = fn(job);
		left = failing_at;
		failing_at = 0;
		/* None goes by unnoticed; jansson takes a string without memory for a bad one. */
		cr_assert(left ? r == 0 : r == -ENOMEM || r == EDDY_JWT_MALFORMED, "%d: %d", at, r);
		failures += r == -ENOMEM;
	}
	return failures;
}

Test(jwt_memory, where_there_is_none_it_is_said)
{
	struct job job = { .key = keys_parse("{" RFC_SECRET ",'kid':'k'}") };

	json_set_alloc_funcs(malloc, free);
	job.set = eddy_keyset_of(job.key);
	job.claims = json_pack("{s:i,s:[s,{s:n}],s:f}", "exp", 9, "roles", "admin", "x", "n", 1.5);
	cr_expect_geq(try_each(sign, &job), 5);
	job.text = eddy_str_from(job.made);
	cr_expect_geq(try_each(parse, &job), 10);
	/* A claim takes none; the first signature may take a context of libcrypto's. */
	cr_expect_leq(try_each(verify, &job), 1);
	eddy_jwt_unref(job.token);
	free(job.made);
	json_decref(job.claims);
	eddy_keyset_unref(job.set);
	eddy_jwk_unref(job.key);
}
