/* Tests of compress/src/cache.h: the cache alone. What a server does with it is in compression.c. */
#include "cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct eddyi_cache_key key_of(uint64_t ino, uint64_t size)
{
	struct eddyi_cache_key key;

	memset(&key, 0, sizeof(key));
	key.ino = ino;
	key.size = size;
	return key;
}

/* Make an entry of `len` bytes. Return: whether that was possible. */
static bool make(struct eddyi_cache *cache, uint64_t ino, size_t len)
{
	struct eddyi_cache_key key = key_of(ino, 10000);
	struct eddyi_cached *cached = eddyi_cache_begin(cache, &key);
	char bytes[10000];

	memset(bytes, (int)ino, sizeof(bytes));
	if (!cached || !eddyi_cache_add(cached, bytes, len))
		return false;
	eddyi_cache_end(cached, true);
	return true;
}

/* Return: its length, 0 when there is none. */
static uint64_t find(struct eddyi_cache *cache, uint64_t ino)
{
	struct eddyi_cache_key key = key_of(ino, 10000);
	uint64_t len = 0;
	char byte;
	int fd;

	if (!eddyi_cache_find(cache, &key, &fd, &len))
		return 0;
	cr_assert_eq(pread(fd, &byte, 1, (off_t)len - 1), 1);
	cr_assert_eq(byte, (char)ino);
	cr_assert_eq(pread(fd, &byte, 1, (off_t)len), 0);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	return len;
}

Test(cache, finds_what_was_made)
{
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cr_expect_eq(find(&cache, 1), 0);
	cr_assert(make(&cache, 1, 100));
	cr_assert(make(&cache, 2, 200));
	cr_expect_eq(find(&cache, 1), 100);
	cr_expect_eq(find(&cache, 2), 200);
	cr_expect_eq(cache.size, 300);
	cr_expect_eq(cache.count, 2);
	eddyi_cache_deinit(&cache);
}

/* Each member of the key tells files apart. */
Test(cache, one_state_of_one_file_in_one_coding)
{
	struct eddyi_cache cache;
	struct eddyi_cache_key other[6];
	uint64_t len;
	int fd;

	eddyi_cache_init(&cache);
	cr_assert(make(&cache, 1, 100));
	for (size_t i = 0; i < 6; i++)
		other[i] = key_of(1, 10000);
	other[0].dev = 1;
	other[1].ino = 2;
	other[2].size = 10001;
	other[3].sec = 1;
	other[4].nsec = 1;
	other[5].coding = 1;
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(eddyi_cache_find(&cache, &other[i], &fd, &len), 0, "%zu", i);
	eddyi_cache_deinit(&cache);
}

Test(cache, two_that_make_the_same)
{
	struct eddyi_cache_key key = key_of(1, 10000);
	struct eddyi_cached *first;
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	first = eddyi_cache_begin(&cache, &key);
	cr_assert_not_null(first);
	cr_expect_null(eddyi_cache_begin(&cache, &key));
	cr_assert(eddyi_cache_add(first, "abc", 3));
	cr_expect_eq(find(&cache, 1), 0, "half of it was found");
	eddyi_cache_end(first, true);
	cr_expect_null(eddyi_cache_begin(&cache, &key));
	eddyi_cache_deinit(&cache);
}

Test(cache, what_is_not_whole_is_given_up)
{
	struct eddyi_cache_key key = key_of(1, 10000);
	struct eddyi_cached *cached;
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cached = eddyi_cache_begin(&cache, &key);
	cr_assert(eddyi_cache_add(cached, "abc", 3));
	eddyi_cache_end(cached, false);
	cr_expect_eq(cache.count, 0);
	cr_expect_eq(cache.size, 0);
	cr_expect(make(&cache, 1, 5));
	eddyi_cache_deinit(&cache);
}

Test(cache, what_grew_is_given_up)
{
	struct eddyi_cache_key key = key_of(1, 10);
	struct eddyi_cached *cached;
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cached = eddyi_cache_begin(&cache, &key);
	cr_assert(eddyi_cache_add(cached, "0123456789", 10));
	cr_expect(not(eddyi_cache_add(cached, "0", 1)));
	cr_expect_eq(cache.count, 0);
	eddyi_cache_deinit(&cache);
}

Test(cache, forgets_what_was_used_least_lately)
{
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cache.size_max = 10000;
	cr_assert(make(&cache, 1, 4000));
	cr_assert(make(&cache, 2, 4000));
	cr_assert_eq(find(&cache, 1), 4000);
	cr_assert(make(&cache, 3, 4000));
	cr_expect_eq(find(&cache, 2), 0);
	cr_expect_eq(find(&cache, 1), 4000);
	cr_expect_eq(find(&cache, 3), 4000);
	cr_expect_eq(cache.size, 8000);
	cr_assert(make(&cache, 4, 10000));
	cr_expect_eq(cache.count, 1);
	cr_expect_eq(cache.size, 10000);
	eddyi_cache_deinit(&cache);
}

Test(cache, holds_so_many)
{
	struct eddyi_cached *half[EDDYI_CACHE_ENTRIES];
	struct eddyi_cache_key key;
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	for (uint64_t i = 1; i <= EDDYI_CACHE_ENTRIES + 10; i++)
		cr_assert(make(&cache, i, 10));
	cr_expect_eq(cache.count, EDDYI_CACHE_ENTRIES);
	cr_expect_eq(find(&cache, 10), 0);
	cr_expect_eq(find(&cache, 11), 10);
	/* Those that are being made are not dropped. */
	for (uint64_t i = 0; i < EDDYI_CACHE_ENTRIES; i++) {
		key = key_of(1000 + i, 10000);
		half[i] = eddyi_cache_begin(&cache, &key);
		cr_assert_not_null(half[i]);
	}
	cr_expect_eq(cache.size, 0);
	key = key_of(5, 10000);
	cr_expect_null(eddyi_cache_begin(&cache, &key));
	for (uint64_t i = 0; i < EDDYI_CACHE_ENTRIES; i++)
		eddyi_cache_end(half[i], true);
	cr_expect_eq(cache.count, EDDYI_CACHE_ENTRIES);
	eddyi_cache_deinit(&cache);
}

Test(cache, too_large_for_it)
{
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cache.size_max = 9999;
	cr_expect(not(make(&cache, 1, 10)));
	cache.size_max = 0;
	cr_expect(not(make(&cache, 1, 10)));
	cr_expect_eq(cache.count, 0);
	eddyi_cache_deinit(&cache);
}

/* Two small ones that were let in together may be too much when they are done. */
Test(cache, room_is_made_at_the_end)
{
	struct eddyi_cache_key one = key_of(1, 9000), two = key_of(2, 9000);
	struct eddyi_cached *first, *second;
	struct eddyi_cache cache;
	char bytes[9000] = { 0 };

	eddyi_cache_init(&cache);
	cache.size_max = 10000;
	first = eddyi_cache_begin(&cache, &one);
	second = eddyi_cache_begin(&cache, &two);
	cr_assert(eddyi_cache_add(first, bytes, 9000));
	eddyi_cache_end(first, true);
	cr_assert(eddyi_cache_add(second, bytes, 9000));
	eddyi_cache_end(second, true);
	cr_expect_eq(cache.size, 9000);
	cr_expect_eq(cache.count, 1);
	eddyi_cache_deinit(&cache);
}

/* Clients that take their time with many files at once do not hold more than that. */
Test(cache, what_is_being_made_has_a_limit)
{
	struct eddyi_cached *making[3];
	struct eddyi_cache_key key;
	struct eddyi_cache cache;
	char bytes[6000] = { 0 };

	eddyi_cache_init(&cache);
	cache.size_max = 10000;
	cr_assert(make(&cache, 9, 8000));
	for (uint64_t i = 0; i < 3; i++) {
		key = key_of(1 + i, 10000);
		making[i] = eddyi_cache_begin(&cache, &key);
		cr_assert_not_null(making[i]);
	}
	cr_assert(eddyi_cache_add(making[0], bytes, 6000));
	cr_assert(eddyi_cache_add(making[1], bytes, 4000));
	cr_expect_eq(cache.making, 10000);
	cr_expect(not(eddyi_cache_add(making[2], bytes, 1)));
	cr_expect_eq(cache.count, 3);
	cr_expect_eq(find(&cache, 9), 8000, "it gave way to what may never be whole");
	eddyi_cache_end(making[1], false);
	cr_expect_eq(cache.making, 6000);
	eddyi_cache_end(making[0], true);
	cr_expect_eq(cache.making, 0);
	cr_expect_eq(cache.size, 6000);
	cr_expect(make(&cache, 3, 4000));
	eddyi_cache_deinit(&cache);
}

Test(cache, is_without_descriptors)
{
	struct rlimit few, before;
	struct eddyi_cache cache;

	eddyi_cache_init(&cache);
	cr_assert(make(&cache, 1, 10));
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 1, before.rlim_max };
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	cr_expect_eq(find(&cache, 1), 0);
	cr_expect(not(make(&cache, 2, 10)));
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect_eq(find(&cache, 1), 10);
	cr_expect(make(&cache, 2, 10));
	cr_expect_eq(cache.count, 2);
	eddyi_cache_deinit(&cache);
}

/* A file whose clock may stand still for a moment could change without showing it. */
Test(cache, knows_the_state_of_a_file)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct eddyi_cache_key key, same;
	struct timespec times[2] = { { 0 } };

	cr_assert_eq(ftruncate(fd, 1024), 0);
	cr_expect(not(eddyi_cache_key(fd, 1, &key)), "it is new");
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 3;
	cr_assert_eq(futimens(fd, times), 0);
	usleep(40000);
	cr_assert(eddyi_cache_key(fd, 1, &key));
	cr_assert(eddyi_cache_key(fd, 1, &same));
	cr_expect_eq(memcmp(&key, &same, sizeof(key)), 0);
	cr_expect_eq(key.size, 1024);
	cr_expect_eq(key.sec, times[1].tv_sec);
	cr_expect_eq(key.nsec, times[1].tv_nsec);
	cr_expect_eq(key.coding, 1);
	cr_assert_eq(futimens(fd, times), 0);
	usleep(40000);
	cr_assert(eddyi_cache_key(fd, 1, &same));
	cr_expect_neq(memcmp(&key, &same, sizeof(key)), 0, "only its ctime is another one");
	times[1].tv_sec += 3600;
	cr_assert_eq(futimens(fd, times), 0);
	cr_expect(not(eddyi_cache_key(fd, 1, &key)), "it is of the future");
	times[1].tv_sec = 1;
	cr_assert_eq(ftruncate(fd, 1023), 0);
	cr_assert_eq(futimens(fd, times), 0);
	cr_expect(not(eddyi_cache_key(fd, 1, &key)), "it is small");
	close(fd);
	cr_expect(not(eddyi_cache_key(-1, 1, &key)));
}
