/* leap.h: time that passes at once. The test program is linked so that what asks for the monotonic clock, or since
 * 1970, comes by here first: a loop sees at its next turn which of its timers are over. time() does not.
 */
#ifndef EDDY_TESTS_LEAP_H
#define EDDY_TESTS_LEAP_H

#include <stdint.h>

/* Have the clocks go ahead, for all threads. */
void leap(uint64_t duration_ns);

#endif
