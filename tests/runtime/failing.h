/* failing.h: the n-th allocation from now fails. The test program is linked so that what the runtime's
 * objects allocate (malloc, calloc, mmap, pipe2, eventfd, pthread_create) comes by here first.
 *
 *     failing_at = 2;     // the second from now, once
 *     r = eddy_scope_spawn(…);
 *     EXPECT_EQ(failing_at, 0);     // it came
 */
#ifndef EDDY_TESTS_FAILING_H
#define EDDY_TESTS_FAILING_H

/* Of this thread; 0: none fails. */
extern _Thread_local int failing_at;

#endif
