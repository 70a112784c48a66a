/* Tests of auth/src/guard/verified.h: tokens that were good, and are found again. */
#include "guard/verified.h"

#include "freed.h"
#include "tokens.h"

#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>

/* Since 1970. */
#define NOW (1000 * EDDY_SECOND)

/* A token whose claim n says which one it is. It is good for ten seconds. */
static struct eddy_jwt *token_number(int n)
{
	char claims[64];

	snprintf(claims, sizeof(claims), "{\"n\":%d,\"exp\":1010}", n);
	return token_with(claims);
}

static void put(struct eddyi_verified *verified, int n, unsigned version)
{
	struct eddy_jwt *token = token_number(n);

	eddyi_verified_put(verified, token, NOW, version);
	eddy_jwt_unref(token);
}

/* Return: the version that it was put with, 0 when it is not found. */
static unsigned version_of(struct eddyi_verified *verified, int n)
{
	struct eddy_jwt *token = token_number(n), *found;
	unsigned version = 0;

	found = eddyi_verified_find(verified, token->text, NOW, &version);
	if (found && json_integer_value(json_object_get(eddy_jwt_claims(found), "n")) != n)
		version = 1000;
	eddy_jwt_unref(found);
	eddy_jwt_unref(token);
	return version;
}

static int by_text(void *arg)
{
	struct eddyi_verified *verified = eddyi_verified_here(1, 64);
	/* Longer than what is hashed of it. */
	struct eddy_jwt *found,
		*token = token_with("{\"exp\":1010,\"long\":\"0123456789012345678901234"
				    "56789012345678901234567890123456789\"}");
	struct eddy_str text = token->text;
	char other[256];
	unsigned version;
	int r = 0;

	(void)arg;
	eddyi_verified_put(verified, token, NOW, 3);
	found = eddyi_verified_find(verified, text, NOW, &version);
	if (found != token || version != 3)
		r = -EBADMSG;
	eddy_jwt_unref(found);
	/* What differs in one byte, or ends sooner or later, is another. */
	for (size_t i = 0; i < text.len; i++) {
		memcpy(other, text.ptr, text.len);
		other[i] ^= 1;
		if (eddyi_verified_find(verified, eddy_str(other, text.len), NOW, &version) ||
		    eddyi_verified_find(verified, eddy_str(text.ptr, i), NOW, &version))
			r = -EBADMSG;
	}
	memcpy(other, text.ptr, text.len);
	other[text.len] = 'A';
	if (eddyi_verified_find(verified, eddy_str(other, text.len + 1), NOW, &version))
		r = -EBADMSG;
	eddy_jwt_unref(token);
	return r;
}

Test(verified, finds_a_token_by_all_of_its_text)
{
	cr_expect(zero(int, eddy_run(NULL, by_text, NULL)));
}

static bool is_found(struct eddyi_verified *verified, struct eddy_str text, uint64_t now_ns)
{
	unsigned version;
	struct eddy_jwt *found = eddyi_verified_find(verified, text, now_ns, &version);

	eddy_jwt_unref(found);
	return found;
}

static int in_time(void *arg)
{
	struct eddyi_verified *verified = eddyi_verified_here(1, 64);
	struct eddy_jwt *token = token_number(7);
	struct eddy_str text = token->text;
	int r = 0;

	(void)arg;
	eddyi_verified_put(verified, token, NOW, 1);
	if (!is_found(verified, text, NOW) ||
	    !is_found(verified, text, NOW + 10 * EDDY_SECOND - 1) ||
	    is_found(verified, text, NOW + 10 * EDDY_SECOND) || is_found(verified, text, NOW - 1))
		r = -EBADMSG;
	eddy_jwt_unref(token);
	return r;
}

Test(verified, finds_none_that_has_expired)
{
	cr_expect(zero(int, eddy_run(NULL, in_time, NULL)));
}

static int make_room(void *arg)
{
	struct eddyi_verified *verified = eddyi_verified_here(1, 4);

	(void)arg;
	for (int n = 1; n <= 4; n++)
		put(verified, n, (unsigned)n);
	/* Of these 2 was not asked for longest. */
	if (version_of(verified, 1) != 1 || version_of(verified, 3) != 3 ||
	    version_of(verified, 4) != 4)
		return -EBADMSG;
	put(verified, 5, 5);
	if (version_of(verified, 2) || version_of(verified, 1) != 1 ||
	    version_of(verified, 3) != 3 || version_of(verified, 4) != 4 ||
	    version_of(verified, 5) != 5)
		return -EBADMSG;
	/* One that is put again takes its own place. */
	put(verified, 5, 6);
	return version_of(verified, 5) == 6 && version_of(verified, 1) == 1 ? 0 : -EBADMSG;
}

Test(verified, makes_room_for_the_newest)
{
	cr_expect(zero(int, eddy_run(NULL, make_room, NULL)));
}

static int of_apps(void *arg)
{
	struct eddyi_verified *first = eddyi_verified_here(10, 64);

	(void)arg;
	put(first, 1, 1);
	if (version_of(eddyi_verified_here(11, 64), 1) ||
	    version_of(eddyi_verified_here(10, 64), 1) != 1)
		return -EBADMSG;
	/* There is room for those of four. */
	for (unsigned app = 12; app < 14; app++)
		eddyi_verified_here(app, 64);
	if (version_of(eddyi_verified_here(10, 64), 1) != 1)
		return -EBADMSG;
	eddyi_verified_here(14, 64);
	return version_of(eddyi_verified_here(10, 64), 1) ? -EBADMSG : 0;
}

Test(verified, belongs_to_an_app)
{
	cr_expect(zero(int, eddy_run(NULL, of_apps, NULL)));
}

static int fill(void *arg)
{
	struct eddyi_verified *verified = eddyi_verified_here(1, 100);
	int found = 0;

	(void)arg;
	for (int n = 0; n < 1000; n++)
		put(verified, n, 1);
	for (int n = 0; n < 1000; n++)
		found += version_of(verified, n) == 1;
	/* The power of two that holds 100, and no more; hardly any set is left empty. */
	return found > 110 && found <= 128 ? 0 : -ERANGE;
}

Test(verified, holds_no_more_than_it_is_told)
{
	cr_expect(zero(int, eddy_run(NULL, fill, NULL)));
}

static int keep_one(void *arg)
{
	struct eddy_jwt *token = arg;

	eddyi_verified_put(eddyi_verified_here(1, 4), token, NOW, 1);
	eddy_jwt_unref(token);
	return 0;
}

Test(verified, leaves_nothing_in_memory)
{
	struct eddy_jwt *token = token_number(77);

	/* The beginning of its claims. */
	freed_watch(NULL, eddy_str_from("eyJuIjo3Nywi"));
	cr_expect(zero(int, eddy_run(NULL, keep_one, token)));
	cr_expect_not(freed_with_secret);
	freed_watch(NULL, eddy_str(NULL, 0));
}
