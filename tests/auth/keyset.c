/* Tests of eddy/keyset.h. */
#include "keys.h"
#include "rfc.h"

#include "../runtime/failing.h"
#include "lacking.h"

#include <errno.h>
#include <stdio.h>

static int parse(const char *text, struct eddy_keyset **ret_set)
{
	char *json = keys_json(text);
	int r = eddy_keyset_parse(eddy_str_from(json), ret_set);

	free(json);
	return r;
}

static struct eddy_keyset *set_of(const char *text)
{
	struct eddy_keyset *set = NULL;

	cr_assert(zero(int, parse(text, &set)), "%s", text);
	return set;
}

static struct eddy_jwk *find(const struct eddy_keyset *set, const char *kid, enum eddy_jws_alg alg)
{
	return eddyi_keyset_find(set, eddy_str_from(kid), alg);
}

Test(keyset, keys_of_no_use_are_skipped)
{
	struct eddy_keyset *set =
		set_of("{'keys':["
		       "{" RFC_RSA_PUBLIC ",'kid':'a'},"
		       "{" RFC_RSA_PUBLIC ",'kid':'b','use':'enc'},"
		       "{" RFC_RSA_PUBLIC ",'kid':'c','key_ops':['sign']},"
		       "{" RFC_RSA_PUBLIC ",'kid':'d','alg':'RSA-OAEP'},"
		       "{" RFC_SECRET ",'kid':'e'},"
		       "{'kty':'RSA','n':'" RFC_RSA_N "','e':'AQ','kid':'f'},"
		       "{'kty':'new','kid':'g'},"
		       "{'kid':'h'},null,7,[],"
		       "{'kty':'EC','crv':'secp256k1','x':'AA','y':'AA','kid':'i'},"
		       "{" RFC_P256_PUBLIC ",'kid':'j'}"
		       "],'more':true}");

	cr_expect(eq(sz, eddy_keyset_count(set), 2));
	cr_expect(eq(sz, eddyi_keyset_skipped(set), 11));
	cr_expect(eq(ptr, find(set, "a", EDDY_JWS_RS256), eddy_keyset_at(set, 0)));
	cr_expect(eq(ptr, find(set, "j", EDDY_JWS_ES256), eddy_keyset_at(set, 1)));
	cr_expect(zero(ptr, (void *)eddy_keyset_at(set, 2)));
	for (const char *kid = "bcdefghi"; *kid; kid++)
		for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++)
			cr_expect(zero(ptr, (void *)eddyi_keyset_find(set, eddy_str(kid, 1),
								      (enum eddy_jws_alg)alg)),
				  "%s %u", kid, alg);
	eddy_keyset_unref(set);
}

Test(keyset, of_private_keys_the_public_half_is_kept)
{
	/* Its private number is not its own: nobody looks. */
	struct eddy_keyset *set = set_of("{'keys':[{" RFC_P256_PRIVATE ",'kid':'a'},"
					 "{" RFC_ED25519_PUBLIC ",'d':'AA','kid':'b'},"
					 "{" RFC_P521_PRIVATE ",'kid':'c','key_ops':['sign']},"
					 "{" RFC_RSA_PRIVATE
					 ",'kid':'d','key_ops':['sign','verify']}]}");

	cr_expect(eq(sz, eddy_keyset_count(set), 3));
	for (size_t i = 0; i < 3; i++)
		cr_expect(not(eddy_jwk_is_private(eddy_keyset_at(set, i))));
	cr_expect(find(set, "d", EDDY_JWS_RS256) != NULL);
	cr_expect(zero(ptr, (void *)find(set, "c", EDDY_JWS_ES512)), "it must not verify");
	eddy_keyset_unref(set);
}

Test(keyset, is_none)
{
	static const struct {
		int r;
		const char *json;
	} rows[] = {
		{ -EBADMSG, "" },
		{ -EBADMSG, "<html>" },
		{ -EBADMSG, "[]" },
		{ -EBADMSG, "{}" },
		{ -EBADMSG, "{'keys':{}}" },
		{ -EBADMSG, "{'keys':[{" RFC_P256_PUBLIC "}]" },
		{ -EBADMSG, "{'keys':[{" RFC_P256_PUBLIC "}],'keys':[]}" },
		{ -EBADMSG, "{'keys':[{" RFC_P256_PUBLIC ",'kty':'EC'}]}" },
		{ -EBADMSG, "{" RFC_P256_PUBLIC "}" },
		{ -EBADMSG, "{'keys':[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]}" },
		{ -ENOKEY, "{'keys':[]}" },
		{ -ENOKEY, "{'keys':[{" RFC_SECRET "}]}" },
		{ -ENOKEY, "{'keys':[null]}" },
	};
	struct eddy_keyset *set = (struct eddy_keyset *)&rows;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(int, parse(rows[i].json, &set), rows[i].r), "%s", rows[i].json);
	cr_expect(eq(ptr, set, (void *)&rows));
}

Test(keyset, kid_and_alg_choose)
{
	struct eddy_keyset *set = set_of("{'keys':[{" RFC_RSA_PUBLIC ",'kid':'same','alg':'RS256'},"
					 "{" RFC_P256_PUBLIC ",'kid':'same'},"
					 "{" RFC_ED25519_PUBLIC ",'kid':'same'},"
					 "{" RFC_RSA_PUBLIC ",'kid':'other'},"
					 "{" RFC_P521_PUBLIC "},"
					 "{'kty':'OKP','crv':'Ed25519','kid':'same','x':"
					 "'AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}]}");
	struct eddy_str none = eddy_str(NULL, 0);

	cr_assert(eq(sz, eddy_keyset_count(set), 6));
	cr_expect(eq(ptr, find(set, "same", EDDY_JWS_RS256), eddy_keyset_at(set, 0)));
	cr_expect(eq(ptr, find(set, "same", EDDY_JWS_ES256), eddy_keyset_at(set, 1)));
	cr_expect(eq(ptr, find(set, "same", EDDY_JWS_EDDSA), eddy_keyset_at(set, 2)), "the first");
	cr_expect(zero(ptr, (void *)find(set, "same", EDDY_JWS_RS384)));
	cr_expect(eq(ptr, find(set, "other", EDDY_JWS_RS384), eddy_keyset_at(set, 3)));
	cr_expect(zero(ptr, (void *)find(set, "Same", EDDY_JWS_ES256)));
	cr_expect(zero(ptr, (void *)find(set, "", EDDY_JWS_ES512)), "an empty kid is not none");
	cr_expect(zero(ptr, (void *)find(set, "x", EDDY_JWS_ES512)),
		  "a key without a name answers to none");
	/* Without a kid it must be clear which. */
	cr_expect(eq(ptr, eddyi_keyset_find(set, none, EDDY_JWS_ES256), eddy_keyset_at(set, 1)));
	cr_expect(eq(ptr, eddyi_keyset_find(set, none, EDDY_JWS_ES512), eddy_keyset_at(set, 4)));
	cr_expect(eq(ptr, eddyi_keyset_find(set, none, EDDY_JWS_PS256), eddy_keyset_at(set, 3)));
	cr_expect(zero(ptr, (void *)eddyi_keyset_find(set, none, EDDY_JWS_RS256)));
	cr_expect(zero(ptr, (void *)eddyi_keyset_find(set, none, EDDY_JWS_EDDSA)));
	cr_expect(zero(ptr, (void *)eddyi_keyset_find(set, none, EDDY_JWS_HS256)));
	eddy_keyset_unref(set);
}

Test(keyset, of_one_key)
{
	static const struct {
		const char *json;
		const char *kid; /* NULL: that every kid finds */
	} rows[] = {
		{ "{" RFC_SECRET ",'alg':'HS256'}", NULL },
		{ "{" RFC_SECRET ",'alg':'HS256','kid':'mine'}", "mine" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_jwk *key = keys_parse(rows[i].json);
		struct eddy_keyset *set = eddy_keyset_of(key);

		eddy_jwk_unref(key);
		cr_assert(eq(sz, eddy_keyset_count(set), 1));
		cr_expect(zero(sz, eddyi_keyset_skipped(set)));
		cr_expect(eq(ptr, find(set, "mine", EDDY_JWS_HS256), key));
		cr_expect(
			eq(ptr, find(set, "x", EDDY_JWS_HS256), rows[i].kid ? NULL : (void *)key));
		cr_expect(eq(ptr, eddyi_keyset_find(set, eddy_str(NULL, 0), EDDY_JWS_HS256), key));
		cr_expect(zero(ptr, (void *)find(set, "mine", EDDY_JWS_HS512)));
		cr_expect(eq(ptr, eddy_keyset_ref(set), set));
		eddy_keyset_unref(set);
		cr_expect(eq(sz, eddy_keyset_count(set), 1), "it is still there");
		eddy_keyset_unref(set);
	}
	eddy_keyset_unref(NULL);
	cr_expect(zero(ptr, (void *)eddy_keyset_ref(NULL)));
}

Test(keyset, what_may_only_sign_is_not_found)
{
	struct eddy_jwk *key = keys_parse("{" RFC_SECRET ",'key_ops':['sign']}");
	struct eddy_keyset *set = eddy_keyset_of(key);

	cr_expect(zero(ptr, (void *)eddyi_keyset_find(set, eddy_str(NULL, 0), EDDY_JWS_HS256)));
	cr_expect(zero(ptr, (void *)find(set, "x", EDDY_JWS_HS256)));
	eddy_keyset_unref(set);
	eddy_jwk_unref(key);
}

Test(keyset, has_a_limit)
{
	static const char one[] = "{" RFC_ED25519_PUBLIC "},", bad[] = "null,";
	size_t room = 400 * (sizeof(one) + sizeof(bad)) + 100, len;
	struct eddy_keyset *set;
	char *json = malloc(room);

	len = (size_t)snprintf(json, room, "{'keys':[");
	for (int i = 0; i < 300; i++)
		len += (size_t)snprintf(json + len, room - len, "%s%s", one, i < 100 ? bad : "");
	snprintf(json + len, room - len, "null]}");
	set = set_of(json);
	cr_expect(eq(sz, eddy_keyset_count(set), EDDY_KEYSET_MAX - 100));
	cr_expect(eq(sz, eddyi_keyset_skipped(set), 401 - (EDDY_KEYSET_MAX - 100)));
	eddy_keyset_unref(set);
	free(json);
}

/* What takes two bytes of a text takes a hundred times that of memory. */
Test(keyset, has_no_more_values_than_keys_could_need)
{
	static const char begin[] = "{\"keys\":[", end[] = "0]}";
	struct eddy_keyset *set = NULL;
	/* Those, the object, its array and the last one. */
	size_t few = 16384 - 3;

	for (size_t zeros = few; zeros <= few + 1; zeros++) {
		size_t len = strlen(begin) + 2 * zeros + strlen(end);
		char *json = malloc(len + 1), *at = stpcpy(json, begin);

		for (size_t i = 0; i < zeros; i++)
			at = stpcpy(at, "0,");
		strcpy(at, end);
		cr_expect(eq(int, eddy_keyset_parse(eddy_str(json, len), &set),
			     zeros == few ? -ENOKEY : -EBADMSG),
			  "%zu", zeros);
		free(json);
	}
}

/* A key that there was no memory for is not skipped: the set would lack it until it is fetched again. Where only its verifier has none,
 * wolfCrypt verifies. */
Test(keyset, is_whole_or_not_there)
{
	char *json = keys_json("{'keys':[{" RFC_P256_PUBLIC "},{" RFC_ED25519_PUBLIC "}]}");
	int at = 0, was = 0;

	while (was == 0) {
		struct eddy_keyset *set = NULL;
		int r;

		failing_at = ++at;
		r = eddy_keyset_parse(eddy_str_from(json), &set);
		was = failing_at;
		failing_at = 0;
		cr_expect(r == 0 || (!was && r == -ENOMEM), "%d: %d", at, r);
		cr_expect(eq(sz, set ? eddy_keyset_count(set) : 0, r == 0 ? 2 : 0), "%d", at);
		eddy_keyset_unref(set);
	}
	cr_expect(gt(int, at, 5), "the set, and two for each key");
	free(json);
}

Test(keyset, survives_a_lack_of_memory)
{
	char *json = keys_json("{'keys':[{" RFC_P256_PUBLIC "},{" RFC_ED25519_PUBLIC "}]}");
	struct eddy_jwk *key = keys_parse("{" RFC_SECRET "}");
	int taken = 0, whole = 0;

	lacking_in_libraries();
	for (int at = 1, was = 0; was == 0; at++) {
		struct eddy_keyset *set = NULL;
		int r;

		failing_at = at;
		r = eddy_keyset_parse(eddy_str_from(json), &set);
		was = failing_at;
		failing_at = 0;
		cr_expect(was ? r == 0 : r == 0 || LACKING(r), "%d: %d", at, r);
		/* A key that jansson spoiled (lacking.h) is skipped. */
		whole += r == 0 && eddy_keyset_count(set) == 2;
		eddy_keyset_unref(set);
		taken += !was && r == -ENOMEM;
	}
	cr_expect(gt(int, taken, 5));
	cr_expect(gt(int, whole, 0));
	failing_at = 1;
	cr_expect(zero(ptr, (void *)eddy_keyset_of(key)));
	cr_expect(zero(int, failing_at));
	eddy_jwk_unref(key);
	free(json);
}
