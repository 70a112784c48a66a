/* Tests of runtime/src/accelerator/keys.c: the cache of keys, and making one. */
#include "accelerator/keys.h"

#include <criterion/criterion.h>
#include <openssl/ec.h>
#include <string.h>

#define KEPT 8

static EVP_PKEY *new_key(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	cr_assert(key);
	return key;
}

/* Keep a key for the id, of one byte. */
static void keep(EVP_PKEY *key, unsigned char id)
{
	eddyi_keys_keep(key, &id, 1, eddyi_keys_generation());
}

static bool is_kept(const EVP_PKEY *key, unsigned char id)
{
	EVP_PKEY *found = eddyi_keys_find(&id, 1);

	EVP_PKEY_free(found);
	return found && found == key;
}

Test(keys, are_found_by_the_whole_id)
{
	const unsigned char id[] = "some id";
	EVP_PKEY *key = new_key(), *found;

	cr_expect(!eddyi_keys_find(id, sizeof(id)));
	eddyi_keys_keep(key, id, sizeof(id), eddyi_keys_generation());
	/* The cache and who finds it have references of their own. */
	EVP_PKEY_free(key);
	found = eddyi_keys_find(id, sizeof(id));
	cr_expect_eq(found, key);
	EVP_PKEY_free(found);
	cr_expect(!eddyi_keys_find(id, sizeof(id) - 1));
	cr_expect(!eddyi_keys_find((const unsigned char *)"Some id", sizeof(id)));
	eddyi_keys_forget();
}

Test(keys, the_oldest_is_replaced)
{
	EVP_PKEY *key = new_key();

	for (unsigned char id = 0; id < KEPT; id++)
		keep(key, id);
	/* Once more, which takes no room. */
	keep(key, KEPT - 1);
	for (unsigned char id = 0; id < KEPT; id++)
		cr_expect(is_kept(key, id), "%d", id);
	keep(key, KEPT);
	cr_expect(!is_kept(key, 0));
	for (unsigned char id = 1; id <= KEPT; id++)
		cr_expect(is_kept(key, id), "%d", id);
	eddyi_keys_forget();
	EVP_PKEY_free(key);
}

Test(keys, are_forgotten_also_while_one_is_made)
{
	EVP_PKEY *key = new_key();
	unsigned generation;

	keep(key, 1);
	generation = eddyi_keys_generation();
	eddyi_keys_forget();
	cr_expect(!is_kept(key, 1));
	eddyi_keys_keep(key, (const unsigned char[]){ 2 }, 1, generation);
	cr_expect(!is_kept(key, 2));
	keep(key, 2);
	cr_expect(is_kept(key, 2));
	eddyi_keys_forget();
	EVP_PKEY_free(key);
}

Test(keys, of_long_ids_are_not_kept)
{
	unsigned char id[EDDYI_KEY_ID_MAX + 1] = { 1 };
	EVP_PKEY *key = new_key(), *found;

	eddyi_keys_keep(key, id, EDDYI_KEY_ID_MAX + 1, eddyi_keys_generation());
	cr_expect(!eddyi_keys_find(id, EDDYI_KEY_ID_MAX + 1));
	eddyi_keys_keep(key, id, EDDYI_KEY_ID_MAX, eddyi_keys_generation());
	found = eddyi_keys_find(id, EDDYI_KEY_ID_MAX);
	cr_expect_eq(found, key);
	EVP_PKEY_free(found);
	eddyi_keys_forget();
	EVP_PKEY_free(key);
}

static EVP_PKEY *make(const char *algorithm, const unsigned char *point, size_t len)
{
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();

	cr_assert(OSSL_PARAM_BLD_push_utf8_string(builder, "group", "P-256", 0));
	cr_assert(OSSL_PARAM_BLD_push_octet_string(builder, "pub", point, len));
	return eddyi_keys_make(algorithm, EVP_PKEY_PUBLIC_KEY, builder);
}

Test(keys, are_made_of_parts_that_are_one)
{
	unsigned char point[65];
	EVP_PKEY *key = new_key(), *made;
	size_t len;

	cr_assert(EVP_PKEY_get_octet_string_param(key, "encoded-pub-key", point, sizeof(point),
						  &len));
	made = make("EC", point, len);
	cr_assert(made);
	cr_expect_eq(EVP_PKEY_eq(key, made), 1);
	EVP_PKEY_free(made);
	cr_expect(!make("RSA", point, len));
	cr_expect(!make("no such algorithm", point, len));
	point[len - 1] ^= 1;
	cr_expect(!make("EC", point, len));
	EVP_PKEY_free(key);
}
