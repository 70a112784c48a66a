/* eddy/internal/outside.h: what a loop learns from outside other than by completions of its ring
 * and by messages; for eddy's own layers.
 *
 * Clocks, random bytes, direct system calls and facts of the process pass one of these
 * functions, on the thread that uses them. Each tests whether the thread
 * has a track, to which a recording writes these values, and from which a replay reads them
 * (runtime/src/record). Without one, each function is the plain call. `./dev test style` finds
 * these calls elsewhere in the libraries, and lists the places that may make them.
 * docs/decisions/0045 says why.
 *
 * Any thread may call these functions; none suspends. A signal handler sets eddyi_track to NULL while
 * it runs.
 */
#ifndef EDDY_INTERNAL_OUTSIDE_H
#define EDDY_INTERNAL_OUTSIDE_H

#include <eddy/base.h>
#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddyi_track;

/* The track of this thread; NULL without a recording or replay. */
extern EDDY_API __thread struct eddyi_track *eddyi_track __attribute__((tls_model("initial-exec")));

/* Defined by a build with recordings. */
#ifdef EDDYI_RECORD
#define EDDYI_CAN_RECORD 1
#define EDDYI_RECORDED EDDY_API
#else
#define EDDYI_CAN_RECORD 0
#define EDDYI_RECORDED
#endif

#define EDDYI_HAS_TRACK (EDDYI_CAN_RECORD && __builtin_expect(eddyi_track != NULL, 0))

/* Whether this process replays a recording, and must not act on the system. */
extern EDDY_API bool eddyi_replays;
#define eddyi_is_replay() (EDDYI_CAN_RECORD && __builtin_expect(eddyi_replays, 0))

/* The recorded form of the functions below, for threads with a track. */
EDDYI_RECORDED int64_t eddyi_value_recorded(const char *what, int64_t value);
EDDYI_RECORDED uint64_t eddyi_clock_recorded(int clock);
EDDYI_RECORDED int eddyi_random_recorded(void *bytes, size_t len, unsigned flags);

/* Number a request, which a replay can be stopped at. Only for threads with a track. */
EDDYI_RECORDED void eddyi_request_recorded(struct eddy_str method, struct eddy_str path);

/* Learn a value that came from outside in another way. `what` names it. Return: the value. */
static inline int64_t eddyi_outside_value(const char *what, int64_t value)
{
	return EDDYI_HAS_TRACK ? eddyi_value_recorded(what, value) : value;
}

/* The same for the value of an expression that acts on the system, which a replay leaves out. The
 * clocks and calls inside of it are not recorded. */
#define eddyi_outside_act(what, expression)                                                        \
	__extension__({                                                                            \
		struct eddyi_track *track_ = eddyi_track;                                          \
		int64_t value_ = 0;                                                                \
		eddyi_track = NULL;                                                                \
		if (!eddyi_is_replay())                                                            \
			value_ = (int64_t)(expression);                                            \
		eddyi_track = track_;                                                              \
		eddyi_outside_value(what, value_);                                                 \
	})

/* The system's headers declare some of the calls with _GNU_SOURCE only. */
#ifdef _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* Read a clock in nanoseconds. */
static inline uint64_t eddyi_clock(clockid_t clock)
{
	struct timespec now;

	if (EDDYI_HAS_TRACK)
		return eddyi_clock_recorded(clock);
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * EDDY_SECOND + (uint64_t)now.tv_nsec;
}

/* Read the monotonic clock for an observer: no event of a recording, and in a replay the last time that
 * any thread has read. */
EDDYI_RECORDED uint64_t eddyi_clock_seen_recorded(void);
static inline uint64_t eddyi_clock_seen(void)
{
	return EDDYI_HAS_TRACK || eddyi_is_replay() ? eddyi_clock_seen_recorded() :
						      eddyi_clock(CLOCK_MONOTONIC);
}

/* Read the time in seconds since 1970. Faster than eddyi_clock(), and may lag by a tick. */
static inline time_t eddyi_clock_seconds(void)
{
	if (EDDYI_HAS_TRACK)
		return (time_t)(eddyi_clock_recorded(CLOCK_REALTIME_COARSE) / EDDY_SECOND);
	return time(NULL);
}

/* Fill memory with random bytes. `flags` are those of getrandom(2). Return: 0, -errno. */
static inline int eddyi_random(void *bytes, size_t len, unsigned flags)
{
	size_t done = 0;

	if (EDDYI_HAS_TRACK)
		return eddyi_random_recorded(bytes, len, flags);
	while (done < len) {
		ssize_t r = getrandom((char *)bytes + done, len - done, flags);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0)
			done += (size_t)r;
	}
	return 0;
}

/* Read the environment, which a replay finds as it was. */
static inline char *eddyi_getenv_now(const char *name)
{
	return getenv(name);
}

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* Linux 6.5 */
#endif

/* Define eddyi_CALL_now(), which makes the call of that name at once and directly, not through the
 * ring. It returns what the call returns, and sets errno. */
#define EDDYI_NOW(type, call, params, args, direct)                                                \
	EDDYI_RECORDED type eddyi_##call##_recorded params;                                        \
	static inline __attribute__((always_inline)) type eddyi_##call##_now params                \
	{                                                                                          \
		return EDDYI_HAS_TRACK ? eddyi_##call##_recorded args : (type)direct;              \
	}
#define NOW(type, call, params, args, issued, learned)                                             \
	EDDYI_NOW(type, call, params, args, call args)
#define SYSCALL(type, call, params, args, direct, issued, learned)                                 \
	EDDYI_NOW(type, call, params, args, syscall direct)
#define BY_HAND(type, call, params, args) EDDYI_NOW(type, call, params, args, call args)
#include <eddy/internal/outside_calls.h>
#undef NOW
#undef SYSCALL
#undef BY_HAND

#endif

EDDY_END_DECLS

#endif
