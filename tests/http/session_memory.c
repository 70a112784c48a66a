/* Tests of http/src/filters/session_memory.h. */
#include "filters/session_memory.h"

#include "exchange/exchange.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/base.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR (3600 * EDDY_SECOND)

static struct eddyi_session_memory memory;

static struct eddy_str key_of(unsigned number)
{
	static __thread char keys[2][32];
	static __thread unsigned next;
	char *key = keys[next++ % 2];

	memset(key, 0, sizeof(keys[0]));
	memcpy(key, &number, sizeof(number));
	return eddy_str(key, sizeof(keys[0]));
}

/* In place of `old`; 0: a new one. */
static int save(unsigned number, const char *text, uint64_t lasts_ns, unsigned old)
{
	return eddyi_session_memory.save(&memory, NULL, key_of(number), eddy_str_from(text),
					 lasts_ns, old ? key_of(old) : (struct eddy_str){ 0 });
}

static int drop(unsigned number)
{
	return eddyi_session_memory.remove(&memory, NULL, key_of(number));
}

/* Load, and compare. */
static int load(unsigned number, const char *want)
{
	struct eddy_req *req = eddyi_req_new(NULL, NULL, sizeof(*req));
	struct eddy_str bytes;
	uint64_t left_ns;
	int r = eddyi_session_memory.load(&memory, req, key_of(number), &bytes, &left_ns);

	if (r == 0) {
		cr_expect(eddy_str_eq_z(bytes, want), "%.*s", EDDY_FMT(bytes));
		/* Another thread may have saved it after this one has read the clock. */
		cr_expect(left_ns && left_ns <= HOUR + 60 * EDDY_SECOND);
	}
	eddyi_req_free(req);
	return r;
}

Test(session_memory, saves_and_loads)
{
	cr_assert(eq(int, eddyi_session_memory_init(&memory, 4, EDDY_MIB), 0));
	cr_expect(eq(int, load(1, ""), -ENOENT));
	cr_expect(eq(int, save(1, "one", HOUR, 0), 0));
	/* In the same bucket. */
	cr_expect(eq(int, save(5, "five", HOUR, 0), 0));
	cr_expect(eq(int, load(1, "one"), 0));
	cr_expect(eq(int, load(5, "five"), 0));
	cr_expect(eq(int, save(1, "another one", HOUR, 1), 0));
	cr_expect(eq(int, load(1, "another one"), 0));
	cr_expect(eq(int, drop(1), 0));
	cr_expect(eq(int, drop(1), 0));
	cr_expect(eq(int, load(1, ""), -ENOENT));
	cr_expect(eq(int, load(5, "five"), 0));
	/* Under another key. */
	cr_expect(eq(int, save(9, "renewed", HOUR, 5), 0));
	cr_expect(eq(int, load(5, ""), -ENOENT));
	cr_expect(eq(int, load(9, "renewed"), 0));
	cr_expect(eq(int, save(13, "renewed", HOUR, 5), -ENOENT));
	cr_expect(eq(int, load(13, ""), -ENOENT));
	cr_expect(eq(sz, memory.count, 1));
	/* What has ended does not come back. */
	cr_expect(eq(int, save(1, "late", HOUR, 1), -ENOENT));
	cr_expect(eq(int, load(1, ""), -ENOENT));
	eddyi_session_memory_deinit(&memory);
	cr_expect(eq(sz, memory.count, 0));
	cr_expect(eq(sz, memory.size, 0));
}

Test(session_memory, forgets_what_has_expired)
{
	cr_assert(eq(int, eddyi_session_memory_init(&memory, 4, EDDY_MIB), 0));
	cr_expect(eq(int, save(1, "short", 1, 0), 0));
	cr_expect(eq(int, save(2, "short", 1, 0), 0));
	cr_expect(eq(int, save(3, "long", HOUR, 0), 0));
	nanosleep(&(struct timespec){ .tv_nsec = EDDY_MS }, NULL);
	cr_expect(eq(int, load(1, ""), -ENOENT));
	cr_expect(eq(int, save(2, "late", HOUR, 2), -ENOENT));
	cr_expect(eq(sz, memory.count, 1));
	cr_expect(eq(int, save(1, "short", 1, 0), 0));
	nanosleep(&(struct timespec){ .tv_nsec = EDDY_MS }, NULL);
	/* Behind a longer one it waits for its turn, or for someone who asks. */
	cr_expect(eq(int, save(4, "long", HOUR, 0), 0));
	cr_expect(eq(sz, memory.count, 3));
	cr_expect(eq(int, drop(3), 0));
	cr_expect(eq(int, save(3, "long", HOUR, 0), 0));
	cr_expect(eq(sz, memory.count, 2));
	eddyi_session_memory_deinit(&memory);
}

Test(session_memory, evicts_the_oldest)
{
	char big[601] = "";

	cr_assert(eq(int, eddyi_session_memory_init(&memory, 3, 1000), 0));
	for (unsigned i = 1; i <= 3; i++)
		cr_expect(eq(int, save(i, "x", HOUR, 0), 0));
	cr_expect(eq(int, save(1, "y", HOUR, 1), 0));
	cr_expect(eq(int, save(4, "x", HOUR, 0), 0));
	cr_expect(eq(int, load(2, ""), -ENOENT));
	cr_expect(eq(int, load(1, "y"), 0));
	cr_expect(eq(sz, memory.count, 3));
	/* By bytes. */
	memset(big, 'b', 600);
	cr_expect(eq(int, save(5, big, HOUR, 0), 0));
	cr_expect(eq(int, load(3, ""), -ENOENT));
	cr_expect(eq(int, save(6, big, HOUR, 0), 0));
	cr_expect(eq(int, load(5, ""), -ENOENT));
	cr_expect(eq(int, load(6, big), 0));
	cr_expect(le(sz, memory.size, 1000));
	eddyi_session_memory_deinit(&memory);
	/* More than all of it. */
	cr_assert(eq(int, eddyi_session_memory_init(&memory, 3, 500), 0));
	cr_expect(eq(int, save(1, "x", HOUR, 0), 0));
	cr_expect(eq(int, save(2, big, HOUR, 0), -ENOSPC));
	cr_expect(eq(int, load(1, "x"), 0));
	eddyi_session_memory_deinit(&memory);
}

static int extend(unsigned number, uint64_t lasts_ns)
{
	return eddyi_session_memory.extend(&memory, NULL, key_of(number), lasts_ns);
}

Test(session_memory, extends)
{
	cr_assert(eq(int, eddyi_session_memory_init(&memory, 2, EDDY_MIB), 0));
	cr_expect(eq(int, save(1, "one", HOUR, 0), 0));
	cr_expect(eq(int, save(2, "two", HOUR, 0), 0));
	cr_expect(eq(int, extend(1, HOUR), 0));
	cr_expect(eq(int, extend(3, HOUR), 0));
	cr_expect(eq(int, load(3, ""), -ENOENT));
	/* The other one is the oldest now. */
	cr_expect(eq(int, save(3, "three", HOUR, 0), 0));
	cr_expect(eq(int, load(2, ""), -ENOENT));
	cr_expect(eq(int, load(1, "one"), 0));
	cr_expect(eq(int, extend(1, 1), 0));
	nanosleep(&(struct timespec){ .tv_nsec = EDDY_MS }, NULL);
	cr_expect(eq(int, extend(1, HOUR), 0));
	cr_expect(eq(int, load(1, ""), -ENOENT));
	eddyi_session_memory_deinit(&memory);
}

#define THREADS 4
#define KEYS 50

static void *use(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 3000; i++) {
		unsigned number = (seed = seed * 1103515245 + 12345) >> 8;
		int r;

		switch (number >> 8 & 3) {
		case 0:
			r = save(number % KEYS, "x", number & 0x10000 ? HOUR : 1, 0);
			break;
		case 1:
			r = save(number % KEYS, "x", HOUR, (number >> 17) % KEYS);
			break;
		case 2:
			r = number & 0x10000 ? drop(number % KEYS) : extend(number % KEYS, HOUR);
			break;
		default:
			r = load(number % KEYS, "x");
		}
		if (r != 0 && r != -ENOENT)
			return arg;
	}
	eddyi_arena_trim();
	return NULL;
}

Test(session_memory, is_shared)
{
	pthread_t threads[THREADS];
	void *failed;

	cr_assert(eq(int, eddyi_session_memory_init(&memory, 30, EDDY_MIB), 0));
	for (size_t i = 0; i < THREADS; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, use, (void *)(i + 1)), 0));
	for (size_t i = 0; i < THREADS; i++) {
		cr_assert(eq(int, pthread_join(threads[i], &failed), 0));
		cr_expect(failed == NULL);
	}
	cr_expect(le(sz, memory.count, 30));
	eddyi_session_memory_deinit(&memory);
	cr_expect(eq(sz, memory.size, 0));
}
