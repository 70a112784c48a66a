/* on_tsan.h: RUNNING_ON_TSAN, and a word for tests that it can't run. */
#ifndef EDDY_TESTS_ON_TSAN_H
#define EDDY_TESTS_ON_TSAN_H

#include <criterion/criterion.h>

#if defined(__SANITIZE_THREAD__)
#define RUNNING_ON_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RUNNING_ON_TSAN 1
#endif
#endif
#ifndef RUNNING_ON_TSAN
#define RUNNING_ON_TSAN 0
#endif

static inline void need_threads_in_a_child(void)
{
	if (RUNNING_ON_TSAN)
		cr_skip_test("ThreadSanitizer starts no threads in a child");
}

#endif
