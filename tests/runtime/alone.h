/* alone.h: Criterion's words for a program that has nothing but the C library, as on a machine that is
 * only compiled for. A test file that includes this becomes a program of its own, which prints TAP.
 */
#ifndef EDDY_TESTS_ALONE_H
#define EDDY_TESTS_ALONE_H

#include "base/panic.h"
#include "core/switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IS_SLOW (EDDYI_ASAN || EDDYI_TSAN)

struct alone {
	const char *name;
	void (*run)(void);
	struct alone *next;
};

static struct alone *alone_first, **alone_last = &alone_first;
static const char *alone_skipped;
static int alone_failed;

#define Test(suite, test)                                                                          \
	static void suite##_##test(void);                                                          \
	__attribute__((constructor)) static void suite##_##test##_is_listed(void)                  \
	{                                                                                          \
		static struct alone self = { #suite "/" #test, suite##_##test, NULL };             \
                                                                                                   \
		*alone_last = &self;                                                               \
		alone_last = &self.next;                                                           \
	}                                                                                          \
	static void suite##_##test(void)

#define cr_expect(condition)                                                                       \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# line %d: %s\n", __LINE__, #condition);                           \
			alone_failed++;                                                            \
		}                                                                                  \
	} while (0)
#define cr_expect_eq(value, wanted) cr_expect((value) == (wanted))
#define cr_expect_str_eq(text, wanted) cr_expect(strcmp(text, wanted) == 0)
#define cr_skip_test(why)                                                                          \
	do {                                                                                       \
		alone_skipped = why;                                                               \
		return;                                                                            \
	} while (0)

/* In place of the runtime's, which has more to say than is here. */
void eddyi_panic_of(const char *where, const char *function, const char *format, ...)
{
	(void)function;
	printf("# panic at %s: %s\n", where, format);
	abort();
}

int main(void)
{
	int count = 0, failed = 0;

	for (struct alone *test = alone_first; test; test = test->next) {
		alone_skipped = NULL;
		alone_failed = 0;
		test->run();
		failed += alone_failed > 0;
		printf("%s %d - %s%s%s\n", alone_failed ? "not ok" : "ok", ++count, test->name,
		       alone_skipped ? " # SKIP " : "", alone_skipped ? alone_skipped : "");
		fflush(stdout);
	}
	printf("1..%d\n", count);
	return failed || !count;
}

#endif
