#include <eddy/rwlock.h>

#include "expect.h"

#include <eddy/event.h>

#include <string.h>

static struct eddy_rwlock lock;
static struct eddy_event go;
static char entered[32]; /* who is let in, in that order */
static int results[128], readers, writers;

/* The argument is a letter: lower case reads, upper case writes. */
static int uses(void *arg)
{
	int self = (int)(intptr_t)arg;
	bool writes = self < 'a';
	int r = writes ? eddy_rwlock_write_lock(&lock) : eddy_rwlock_read_lock(&lock);

	results[self] = r;
	if (r < 0)
		return 0;
	entered[strlen(entered)] = (char)self;
	if (writes) {
		writers++;
		EXPECT(lock.writer == eddy_task_self());
	} else {
		readers++;
	}
	EXPECT(lock.readers >= (size_t)readers);
	EXPECT(writers == 0 || (writers == 1 && readers == 0));
	eddy_event_wait(&go);
	if (writes) {
		writers--;
		eddy_rwlock_write_unlock(&lock);
	} else {
		readers--;
		eddy_rwlock_read_unlock(&lock);
	}
	return 0;
}

static void begin(struct eddy_scope *scope)
{
	eddy_rwlock_init(&lock);
	eddy_event_init(&go);
	memset(entered, 0, sizeof(entered));
	memset(results, 1, sizeof(results));
	eddy_scope_begin(scope, NULL);
}

static void spawn(struct eddy_scope *scope, const char *names)
{
	for (; *names; names++)
		EXPECT_EQ(eddy_scope_spawn(scope, "uses", uses, (void *)(intptr_t)*names), 0);
	expect_turns(1);
}

#define EXPECT_ENTERED(wanted) EXPECT_EQ(strcmp(entered, wanted), 0)

TASK_TEST(rwlock, many_readers_or_one_writer_in_order)
{
	struct eddy_scope scope;

	begin(&scope);
	/* The readers d and e came after a writer: they wait behind it. */
	spawn(&scope, "abCdeFGh");
	EXPECT_ENTERED("ab");
	EXPECT_EQ(eddy_rwlock_try_read_lock(&lock), -EBUSY);
	EXPECT_EQ(eddy_rwlock_try_write_lock(&lock), -EBUSY);
	eddy_event_set(&go);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_ENTERED("abCdeFGh");
	EXPECT(!lock.writer && !lock.readers);
	return eddy_scope_end(&scope);
}

TASK_TEST(rwlock, try_lock)
{
	struct eddy_scope scope;

	begin(&scope);
	EXPECT_EQ(eddy_rwlock_try_read_lock(&lock), 0);
	EXPECT_EQ(eddy_rwlock_try_read_lock(&lock), 0);
	EXPECT_EQ(lock.readers, 2);
	EXPECT_EQ(eddy_rwlock_try_write_lock(&lock), -EBUSY);
	eddy_rwlock_read_unlock(&lock);
	EXPECT_EQ(eddy_rwlock_try_write_lock(&lock), -EBUSY);
	eddy_rwlock_read_unlock(&lock);
	EXPECT_EQ(eddy_rwlock_try_write_lock(&lock), 0);
	EXPECT(lock.writer == eddy_task_self());
	eddy_rwlock_write_unlock(&lock);
	EXPECT_EQ(eddy_rwlock_write_lock(&lock), 0);
	eddy_rwlock_write_unlock(&lock);
	spawn(&scope, "A");
	EXPECT_EQ(eddy_rwlock_try_read_lock(&lock), -EBUSY);
	eddy_event_set(&go);
	return eddy_scope_end(&scope);
}

/* Nothing changes the lock but that the writer at the front is gone. */
TASK_TEST(rwlock, cancelled_writer_lets_readers_in)
{
	struct eddy_scope scope, inner;

	begin(&scope);
	spawn(&scope, "a");
	eddy_scope_begin(&inner, NULL);
	spawn(&inner, "B");
	spawn(&scope, "cdE");
	EXPECT_ENTERED("a");
	EXPECT_EQ(eddy_scope_end(&inner), 0);
	EXPECT_EQ(results['B'], -ECANCELED);
	expect_turns(1);
	EXPECT_ENTERED("acd");
	eddy_event_set(&go);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_ENTERED("acdE");
	return eddy_scope_end(&scope);
}

TASK_TEST(rwlock, what_was_handed_over_beats_cancellation)
{
	struct eddy_scope scope;

	begin(&scope);
	EXPECT_EQ(eddy_rwlock_write_lock(&lock), 0);
	spawn(&scope, "abCD");
	eddy_rwlock_write_unlock(&lock);
	EXPECT_EQ(lock.readers, 2);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_rwlock_read_lock(&lock), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_ENTERED("ab");
	EXPECT_EQ(results['C'], -ECANCELED);
	EXPECT_EQ(results['D'], -ECANCELED);
	EXPECT(!lock.writer && !lock.readers);
	return 0;
}

TASK_TEST(rwlock, waiters_say_what_they_wait_for)
{
	struct eddy_scope scope;
	struct eddyi_waiter *waiter;

	begin(&scope);
	EXPECT_EQ(eddy_rwlock_write_lock(&lock), 0);
	spawn(&scope, "Ab");
	waiter = eddy_of(scope.tasks.next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "rwlock write"), 0);
	EXPECT(waiter->on == &lock);
	waiter = eddy_of(scope.tasks.next->next->next, struct eddy_task, inside)->waiter;
	EXPECT_EQ(strcmp(waiter->what, "rwlock read"), 0);
	eddy_rwlock_write_unlock(&lock);
	return eddy_scope_end(&scope);
}

static unsigned seed;

static int works(void *arg)
{
	int *done = arg;

	for (int i = 0; i < 200; i++) {
		bool writes;

		seed = seed * 1103515245 + 12345;
		writes = seed >> 16 & 1;
		if (writes ? eddy_rwlock_write_lock(&lock) : eddy_rwlock_read_lock(&lock))
			break;
		*(writes ? &writers : &readers) += 1;
		EXPECT(writers == 0 || (writers == 1 && readers == 0));
		for (seed = seed * 5 + 1; seed >> 29; seed /= 2)
			eddy_yield();
		*(writes ? &writers : &readers) -= 1;
		if (writes)
			eddy_rwlock_write_unlock(&lock);
		else
			eddy_rwlock_read_unlock(&lock);
		++*done;
	}
	return 0;
}

TASK_TEST(rwlock, never_a_writer_beside_another)
{
	for (unsigned i = 0; i < 20; i++) {
		struct eddy_scope scope, inner;
		int done = 0;

		seed = i;
		eddy_rwlock_init(&lock);
		eddy_scope_begin(&scope, NULL);
		eddy_scope_begin(&inner, NULL);
		for (int n = 0; n < 8; n++)
			eddy_scope_spawn(n % 2 ? &scope : &inner, "works", works, &done);
		for (unsigned n = 0; n < 10 * i; n++)
			eddy_yield();
		eddy_scope_end(&inner);
		EXPECT_EQ(eddy_scope_join(&scope), 0);
		EXPECT(done >= 4 * 200);
		EXPECT(!lock.writer && !lock.readers && eddy_list_is_empty(&lock.waiters));
		EXPECT_EQ(eddy_scope_end(&scope), 0);
	}
	return 0;
}
