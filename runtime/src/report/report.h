/* report.h: what a loop calls of the reports, in the order of its life. */
#ifndef EDDYI_REPORT_H
#define EDDYI_REPORT_H

#include <eddy/internal/debug.h>
#include <signal.h>

struct eddy_loop;

/* Read EDDY_DEBUG, once a process. If it is set, these checks begin. */
void eddyi_debug_begin(void);
extern const struct eddyi_debug eddyi_debug_checks;

/* Answer SIGQUIT on this loop by a dump of all loops, unless another loop or the program uses it, or
 * it is blocked. */
void eddyi_dump_signal_begin(struct eddy_loop *loop);

/* Watch this thread's loop: log a WARN if a task blocks it for over `stall_ns` (0: off). */
void eddyi_stall_begin(struct eddy_loop *loop, uint64_t stall_ns);

/* Get the `stall_ns` of a loop, which must not end meanwhile; 0: off. Any thread may call it. */
uint64_t eddyi_stall_limit(const struct eddy_loop *loop);

/* Check for a deadlock, and abort if there is one. Called if a loop without ops of the program is
 * about to sleep.
 * Return: when to call this again if nothing happens; EDDY_NEVER if the loop can be woken. */
uint64_t eddyi_deadlock_look(struct eddy_loop *loop);

/* Stop watching. Afterwards the watching thread no longer accesses the loop. */
void eddyi_stall_end(struct eddy_loop *loop);

/* Add the counters of an ending loop to the sums of eddy_stats(). The registry must be locked. */
void eddyi_stats_keep(const struct eddy_loop *loop);

/* Restore the default action of SIGQUIT, if this loop answers it. */
void eddyi_dump_signal_end(const struct eddy_loop *loop);

/* Whether this is the handler of SIGQUIT; for the detection of deadlocks. */
bool eddyi_dump_signal_is_handler(const struct sigaction *action);

#endif
