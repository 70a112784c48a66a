/* leap.h: time that passes at once. The test program is linked so that what asks for the monotonic clock comes by
 * here first: a loop sees at its next turn which of its timers are over.
 */
#ifndef EDDY_TESTS_LEAP_H
#define EDDY_TESTS_LEAP_H

#include <stdint.h>

/* Have the clock go ahead, for all threads. */
void leap(uint64_t duration_ns);

#endif
