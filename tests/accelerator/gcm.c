/* Records of AES-GCM: those of wolfSSL itself are what they are held against. */
#include "sealed.h"

#include <pthread.h>
#include <stdlib.h>

/* What one seals the other opens, with and without a connection. */
static void exchange(unsigned seed, word32 key_len, word32 len)
{
	static struct sealed plain, one, other;
	Aes ours, theirs;

	open_key(&ours, eddyi_accelerator_id(), seed, key_len);
	open_key(&theirs, INVALID_DEVID, seed, key_len);
	fill(&plain, seed);
	one = other = plain;
	cr_assert_eq(seal(&ours, &one, len), 0);
	cr_assert_eq(seal(&theirs, &other, len), 0);
	cr_expect_arr_eq(one.text, other.text, len);
	cr_expect_arr_eq(one.tag, other.tag, TAG);
	cr_expect_eq(memcmp(one.text + len, plain.text + len, TAG), 0,
		     "nothing is written behind it");
	cr_expect_eq(open_sealed(&ours, &other, len), 0);
	cr_expect_arr_eq(other.text, plain.text, len);
	cr_expect_eq(open_sealed(&theirs, &one, len), 0);
	cr_expect_arr_eq(one.text, plain.text, len);
	wc_AesFree(&ours);
	wc_AesFree(&theirs);
}

static void exchange_all(void)
{
	static const word32 lens[] = { 1, 2, 15, 16, 17, 255, 4096, 16383, 16384, 16401, TEXT_MAX };

	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		exchange(i, 16, lens[i]);
		exchange(i, 32, lens[i]);
	}
}

Test(gcm, seals_and_opens_what_wolfssl_does, .init = prepare)
{
	struct eddyi_schedules schedules = { { NULL } };

	exchange_all();
	eddyi_accelerator_enter(&schedules);
	exchange_all();
	eddyi_accelerator_enter(NULL);
	cr_expect(schedules.of[0] && schedules.of[1]);
	eddyi_accelerator_forget(&schedules);
	cr_expect(!schedules.of[0] && !schedules.of[1]);
}

Test(gcm, opens_nothing_that_was_changed, .init = prepare)
{
	static struct sealed good, bad;
	unsigned char *const places[] = { bad.text, bad.text + 99, bad.iv,
					  bad.head, bad.tag,       bad.tag + TAG - 1 };
	Aes aes;

	open_key(&aes, eddyi_accelerator_id(), 5, 16);
	fill(&good, 5);
	cr_assert_eq(seal(&aes, &good, 100), 0);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		bad = good;
		*places[i] ^= 1;
		cr_expect_eq(open_sealed(&aes, &bad, 100), AES_GCM_AUTH_E);
		for (size_t at = 0; at < 100; at++)
			cr_expect_eq(bad.text[at], 0, "no plaintext is left");
	}
	cr_expect_eq(open_sealed(&aes, &good, 100), 0, "and the next one is opened");
	wc_AesFree(&aes);
}

/* wolfSSL sets keys anew without telling. With KeyUpdates a peer can make it do so for ever. */
Test(gcm, goes_on_with_other_keys, .init = prepare)
{
	static struct sealed plain, one, other;
	struct eddyi_schedules schedules = { { NULL } };
	Aes ours, theirs;

	open_key(&ours, eddyi_accelerator_id(), 0, 16);
	open_key(&theirs, INVALID_DEVID, 0, 16);
	eddyi_accelerator_enter(&schedules);
	for (unsigned i = 0; i < 1000; i++) {
		word32 len = i % 3 ? 16 : 32;

		set_key(&ours, i, len);
		set_key(&theirs, i, len);
		fill(&plain, i);
		one = other = plain;
		cr_assert_eq(seal(&ours, &one, 50), 0);
		cr_assert_eq(seal(&theirs, &other, 50), 0);
		cr_assert_arr_eq(one.text, other.text, 50);
	}
	eddyi_accelerator_enter(NULL);
	eddyi_accelerator_forget(&schedules);
	wc_AesFree(&ours);
	wc_AesFree(&theirs);
}

/* More connections than schedules: those that were used longest ago are made again. */
Test(gcm, has_many_connections, .init = prepare)
{
	enum { CONNECTIONS = 300 };
	static struct sealed plain, one;
	struct eddyi_schedules *schedules = calloc(CONNECTIONS, sizeof(*schedules));
	unsigned kept = 0;
	Aes *keys = calloc(CONNECTIONS, sizeof(*keys));

	fill(&plain, 3);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		open_key(&keys[i], eddyi_accelerator_id(), i, i % 2 ? 16 : 32);
	for (unsigned i = 0; i < 20 * CONNECTIONS; i++) {
		unsigned at = i * 7919 % CONNECTIONS;

		eddyi_accelerator_enter(&schedules[at]);
		one = plain;
		cr_assert_eq(seal(&keys[at], &one, 40), 0);
		cr_assert_eq(open_sealed(&keys[at], &one, 40), 0);
		cr_assert_arr_eq(one.text, plain.text, 40);
		eddyi_accelerator_enter(NULL);
	}
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		kept += !!schedules[i].of[0] + !!schedules[i].of[1];
		eddyi_accelerator_forget(&schedules[i]);
		wc_AesFree(&keys[i]);
	}
	cr_expect_eq(kept, 64);
	free(schedules);
	free(keys);
}

static void *seal_one(void *arg)
{
	struct eddyi_schedules *schedules = arg;
	struct sealed sealed;
	Aes aes;

	eddyi_accelerator_enter(schedules);
	open_key(&aes, eddyi_accelerator_id(), 9, 16);
	fill(&sealed, 9);
	cr_expect_eq(seal(&aes, &sealed, 64), 0);
	wc_AesFree(&aes);
	return NULL;
}

/* A thread that ends takes its schedules along. */
Test(gcm, threads_end, .init = prepare)
{
	for (int i = 0; i < 8; i++) {
		struct eddyi_schedules schedules = { { NULL } };
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, seal_one, i % 2 ? &schedules : NULL), 0);
		pthread_join(thread, NULL);
		cr_expect(!schedules.of[0] && !schedules.of[1]);
	}
}

/* Keys of no connection, and of one that has ended, are nowhere. */
Test(gcm, wipes_keys, .init = prepare)
{
	struct eddyi_schedules schedules = { { NULL } };
	static struct sealed sealed;
	const unsigned char *left;
	Aes aes;

	open_key(&aes, eddyi_accelerator_id(), 77, 32);
	fill(&sealed, 1);
	eddyi_accelerator_enter(&schedules);
	cr_assert_eq(seal(&aes, &sealed, 10), 0);
	eddyi_accelerator_enter(NULL);
	left = (const unsigned char *)schedules.of[1];
	cr_assert(memmem(left, 256, aes.devKey, 32));
	eddyi_accelerator_forget(&schedules);
	cr_expect(!memmem(left, 256, aes.devKey, 32));
	wc_AesFree(&aes);
}

Test(gcm, leaves_other_sorts_to_wolfssl, .init = prepare)
{
	unsigned char tag[12], text[16] = "something else", iv[16] = "a long nonce";
	Aes ours, theirs;
	unsigned char out[2][16], tags[2][12];

	open_key(&ours, eddyi_accelerator_id(), 1, 24);
	open_key(&theirs, INVALID_DEVID, 1, 24);
	cr_expect_eq(wc_AesGcmEncrypt(&ours, out[0], text, 16, iv, 16, tags[0], 12, NULL, 0), 0);
	cr_expect_eq(wc_AesGcmEncrypt(&theirs, out[1], text, 16, iv, 16, tags[1], 12, NULL, 0), 0);
	cr_expect_arr_eq(out[0], out[1], 16);
	cr_expect_arr_eq(tags[0], tags[1], 12);
	(void)tag;
	wc_AesFree(&ours);
	wc_AesFree(&theirs);
}
