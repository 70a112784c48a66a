/* Values, clocks, random bytes and direct system calls of outside.h, on a thread with a track. */
#include "track.h"

#include "entries.h"
#include "redirect.h"
#include "watch.h"

#include "core/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/param.h>
#include <sys/un.h>

/* Make a call of the system itself, as the program's references lead here (redirect.c). */
#define DIRECTLY(...)                                                                              \
	do {                                                                                       \
		eddyi_track = NULL;                                                                \
		__VA_ARGS__;                                                                       \
		eddyi_track = track;                                                               \
	} while (0)

static bool is_file(struct eddyi_track *track, int fd)
{
	struct stat st;
	int r;

	DIRECTLY(r = fstat(fd, &st));
	return r == 0 && S_ISREG(st.st_mode);
}

/* Whether a call may take long, or wait for another thread: a job lets others run meanwhile. */
static bool gives_turn(struct eddyi_track *track)
{
	/* A thread that spins waits for another one: in jansson, for the seed of its hash. */
	if (track->kind == EDDYI_EVENT_sched_yield)
		return true;
	if (eddyi_this_loop)
		return false;
	switch (track->kind) {
	case EDDYI_EVENT_poll:
	case EDDYI_EVENT_connect:
	case EDDYI_EVENT_accept4:
	case EDDYI_EVENT_splice:
	case EDDYI_EVENT_send:
	case EDDYI_EVENT_sendmsg:
	case EDDYI_EVENT_sendto:
	case EDDYI_EVENT_accept:
	case EDDYI_EVENT_recv:
	case EDDYI_EVENT_recvfrom:
	case EDDYI_EVENT_select:
	case EDDYI_EVENT_ppoll:
	case EDDYI_EVENT_system:
	case EDDYI_EVENT_flock:
	case EDDYI_EVENT_fsync:
	case EDDYI_EVENT_fdatasync:
	case EDDYI_EVENT_waitid:
	case EDDYI_EVENT_nanosleep:
	case EDDYI_EVENT_getaddrinfo:
		return true;
	case EDDYI_EVENT_read:
	case EDDYI_EVENT_readv:
	case EDDYI_EVENT_write:
	case EDDYI_EVENT_writev:
	case EDDYI_EVENT_sendfile:
		return eddyi_learn(track, !eddyi_replays && !is_file(track, (int)track->first));
	default:
		return false;
	}
}

/* The same, which a replay leaves out. */
#define OUTSIDE(...)                                                                               \
	do {                                                                                       \
		bool gives = gives_turn(track);                                                    \
		int error = errno;                                                                 \
                                                                                                   \
		if (gives)                                                                         \
			eddyi_turn_give(track);                                                    \
		if (!eddyi_replays)                                                                \
			DIRECTLY(__VA_ARGS__; error = errno);                                      \
		if (gives)                                                                         \
			eddyi_turn_take(track);                                                    \
		errno = error;                                                                     \
	} while (0)

int64_t eddyi_value_recorded(const char *what, int64_t value)
{
	struct eddyi_track *track = eddyi_track;

	eddyi_event_begin(track, EDDYI_EVENT_VALUE);
	eddyi_issue_text(track, what);
	value = eddyi_learn_signed(track, value);
	eddyi_event_end(track);
	return value;
}

uint64_t eddyi_clock_recorded(int clock)
{
	struct eddyi_track *track = eddyi_track;
	uint64_t now;

	eddyi_event_begin(track, EDDYI_EVENT_CLOCK);
	eddyi_issue(track, (unsigned)clock);
	now = eddyi_learn_clock(track, clock);
	eddyi_event_end(track);
	return now;
}

uint64_t eddyi_clock_seen_recorded(void)
{
	struct eddyi_track *track = eddyi_track;
	uint64_t now;

	if (eddyi_replays)
		return eddyi_replay.now_ns;
	DIRECTLY(now = eddyi_clock(CLOCK_MONOTONIC));
	return now;
}

int eddyi_random_recorded(void *bytes, size_t len, unsigned flags)
{
	struct eddyi_track *track = eddyi_track;
	int r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_RANDOM);
	eddyi_issue(track, len);
	if (!eddyi_replays)
		DIRECTLY(r = eddyi_random(bytes, len, flags));
	r = (int)eddyi_learn_signed(track, r);
	if (r == 0)
		eddyi_learn_bytes(track, bytes, len);
	eddyi_event_end(track);
	return r;
}

/* ---- direct system calls ---- */

/* An error without a number, as of sysconf(3). */
#define NO_ERRNO 4096

/* Learn the result and its error, in one number as the kernel returns them. */
static int64_t learn_result(struct eddyi_track *track, int64_t r)
{
	r = eddyi_learn_signed(track, r >= 0 ? r : errno ? -errno : -NO_ERRNO);
	if (r >= 0)
		return r;
	errno = r == -NO_ERRNO ? 0 : (int)-r;
	return -1;
}

/* Learn memory of which there is room for `room` bytes, and whose length the call has updated. */
static void learn_some(struct eddyi_track *track, void *bytes, socklen_t *len, size_t room)
{
	if (!len)
		return;
	*len = (socklen_t)eddyi_learn(track, *len);
	if (bytes)
		eddyi_learn_bytes(track, bytes, MIN(*len, room));
}

/* Memory of a job that a call may write before the thread has its turn again: bytes take its place until then. */
struct into {
	void **parameter, *memory, *bytes;
	size_t len;
};

static void into_begin(struct into *into, void **parameter, size_t len)
{
	if (eddyi_replays || eddyi_this_loop)
		return;
	*into = (struct into){ parameter, *parameter, malloc(len), len };
	if (into->bytes)
		*parameter = into->bytes;
}

static void into_end(struct into *into, int64_t r)
{
	if (!into->bytes)
		return;
	if (r > 0)
		memcpy(into->memory, into->bytes, MIN((size_t)r, into->len));
	*into->parameter = into->memory;
	free(into->bytes);
}

#define PAGE getauxval(AT_PAGESZ)
#define NUM(x) eddyi_issue(track, (uint64_t)(x));
#define TEXT(s) eddyi_issue_text(track, s);
#define BYTES(p, n) eddyi_issue_bytes(track, p, n);
#define PARTS(parts, n) eddyi_issue_parts(track, parts, (size_t)(n));
#define MESSAGE(message) eddyi_issue_message(track, message);
#define ROOM(len)                                                                                  \
	room = (len) ? *(len) : 0;                                                                 \
	eddyi_issue(track, room);
#define INTO(p, n) into_begin(&into, &(p), n);
#define OUT(p, n)                                                                                  \
	if (p)                                                                                     \
		eddyi_learn_bytes(track, p, (size_t)(n));
#define OUT_PARTS(parts, n) eddyi_learn_parts(track, parts, (size_t)(n), (size_t)r);
#define OUT_SOME(p, len) learn_some(track, p, len, room);

#define RECORDED(type, call, params, direct, issued, learned)                                      \
	__attribute__((cold)) type eddyi_##call##_recorded params                                  \
	{                                                                                          \
		struct eddyi_track *track = eddyi_track;                                           \
		__attribute__((unused)) size_t room = 0;                                           \
		struct into into = { 0 };                                                          \
		int64_t r = 0;                                                                     \
                                                                                                   \
		eddyi_event_begin(track, EDDYI_EVENT_##call);                                      \
		issued OUTSIDE(r = direct);                                                        \
		r = learn_result(track, r);                                                        \
		into_end(&into, r);                                                                \
		if (r >= 0) {                                                                      \
			learned                                                                    \
		}                                                                                  \
		eddyi_event_end(track);                                                            \
		return (type)r;                                                                    \
	}
#define NOW(type, call, params, args, issued, learned)                                             \
	RECORDED(type, call, params, call args, issued, learned)
#define SYSCALL(type, call, params, args, direct, issued, learned)                                 \
	RECORDED(type, call, params, syscall direct, issued, learned)
#define BY_HAND(type, call, params, args)
#define OTHER NOW
#include <eddy/internal/outside_calls.h>

/* ---- calls with something special ---- */

void eddyi_replay_print(int fd, const void *bytes, int64_t len)
{
	struct eddyi_track *track = eddyi_track;

	for (const char *at = bytes; len > 0;) {
		ssize_t r;

		DIRECTLY(r = write(fd, at, (size_t)len));

		if (r < 0 && errno != EINTR)
			return;
		at += r > 0 ? r : 0;
		len -= r > 0 ? r : 0;
	}
}

/* A replay prints. */
ssize_t eddyi_write_recorded(int fd, const void *buf, size_t len)
{
	bool prints = fd == STDOUT_FILENO || fd == STDERR_FILENO;
	struct eddyi_track *track = eddyi_track;
	int64_t r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_write);
	eddyi_issue(track, (uint64_t)fd);
	eddyi_issue_bytes(track, buf, len);
	OUTSIDE(r = write(fd, buf, len));
	r = learn_result(track, r);
	if (prints && eddyi_replays)
		eddyi_replay_print(fd, buf, r);
	eddyi_event_end(track);
	return r;
}

int eddyi_nanosleep_recorded(const struct timespec *time, struct timespec *ret_left)
{
	struct eddyi_track *track = eddyi_track;
	struct timespec left = { 0 };
	int64_t r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_nanosleep);
	eddyi_issue(track, (uint64_t)time->tv_sec);
	eddyi_issue(track, (uint64_t)time->tv_nsec);
	OUTSIDE(r = nanosleep(time, &left));
	r = learn_result(track, r);
	if (r < 0 && errno == EINTR) {
		eddyi_learn_bytes(track, &left, sizeof(left));
		if (ret_left)
			*ret_left = left;
	}
	eddyi_event_end(track);
	return (int)r;
}

char *eddyi_realpath_recorded(const char *path, char *ret_path)
{
	struct eddyi_track *track = eddyi_track;
	char *found = NULL;
	size_t len;
	int64_t r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_realpath);
	eddyi_issue_text(track, path);
	if (!eddyi_replays) {
		DIRECTLY(found = realpath(path, ret_path));
		r = found ? (int64_t)strlen(found) : -1;
	}
	r = learn_result(track, r);
	if (r >= 0) {
		len = (size_t)r + 1;
		if (!found)
			found = ret_path ? ret_path : malloc(len);
		if (found)
			eddyi_learn_bytes(track, found, len);
	}
	eddyi_event_end(track);
	return found;
}

void *eddyi_mmap_recorded(void *at, size_t len, int access, int flags, int fd, off_t offset)
{
	struct eddyi_track *track = eddyi_track;
	void *found = NULL;

	eddyi_event_begin(track, EDDYI_EVENT_mmap);
	eddyi_issue(track, len);
	eddyi_issue(track, (uint64_t)fd);
	eddyi_issue(track, (uint64_t)offset);
	if (!eddyi_replays)
		DIRECTLY(found = mmap(at, len, access, flags, fd, offset));
	if (learn_result(track, found == MAP_FAILED ? -1 : 0) < 0)
		found = MAP_FAILED;
	else if (!found)
		DIRECTLY(found = mmap(at, len, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	eddyi_event_end(track);
	return found;
}

/* A folder that is listed in a replay. */
struct listed {
	struct dirent entry;
};

static DIR *learn_list(struct eddyi_track *track, DIR *dir)
{
	if (learn_result(track, dir || eddyi_replays ? 0 : -1) < 0)
		dir = NULL;
	else if (!dir)
		dir = calloc(1, sizeof(struct listed));
	eddyi_event_end(track);
	return dir;
}

DIR *eddyi_opendir_recorded(const char *path)
{
	struct eddyi_track *track = eddyi_track;
	DIR *dir = NULL;

	eddyi_event_begin(track, EDDYI_EVENT_opendir);
	eddyi_issue_text(track, path);
	if (!eddyi_replays)
		DIRECTLY(dir = opendir(path));
	return learn_list(track, dir);
}

DIR *eddyi_fdopendir_recorded(int fd)
{
	struct eddyi_track *track = eddyi_track;
	DIR *dir = NULL;

	eddyi_event_begin(track, EDDYI_EVENT_fdopendir);
	eddyi_issue(track, (uint64_t)fd);
	if (!eddyi_replays)
		DIRECTLY(dir = fdopendir(fd));
	return learn_list(track, dir);
}

struct dirent *eddyi_readdir_recorded(DIR *dir)
{
	struct eddyi_track *track = eddyi_track;
	bool is_replayed;
	struct dirent *entry = NULL;
	int before = errno;
	int64_t r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_readdir);
	is_replayed = eddyi_replays;
	if (is_replayed) {
		entry = &((struct listed *)dir)->entry;
	} else {
		errno = 0;
		DIRECTLY(entry = readdir(dir));
		r = entry ? (int64_t)strlen(entry->d_name) :
		    errno ? -1 :
			    (int64_t)sizeof(entry->d_name);
		if (!errno)
			errno = before;
	}
	/* Without an entry it is the size of a name, that none has. */
	r = learn_result(track, r);
	if (r < 0 || (size_t)r >= sizeof(entry->d_name)) {
		entry = NULL;
	} else {
		entry->d_ino = eddyi_learn(track, entry->d_ino);
		entry->d_type = (unsigned char)eddyi_learn(track, entry->d_type);
		eddyi_learn_bytes(track, entry->d_name, (size_t)r);
		if (eddyi_replays)
			entry->d_name[r] = 0;
	}
	eddyi_event_end(track);
	return entry;
}

int eddyi_closedir_recorded(DIR *dir)
{
	struct eddyi_track *track = eddyi_track;
	int r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_closedir);
	if (eddyi_replays)
		free(dir);
	else
		DIRECTLY(r = closedir(dir));
	r = (int)learn_result(track, r);
	eddyi_event_end(track);
	return r;
}

/* As getaddrinfo(3) allocates it, for freeaddrinfo(3). */
struct found {
	struct addrinfo info;
	struct sockaddr_storage addr;
};

static struct addrinfo *learn_found(struct eddyi_track *track, const struct addrinfo *info)
{
	struct found *found = NULL, ours = { 0 };

	if (info) {
		ours.info = *info;
		memcpy(&ours.addr, info->ai_addr, MIN(info->ai_addrlen, sizeof(ours.addr)));
	}
	ours.info.ai_family = (int)eddyi_learn_signed(track, ours.info.ai_family);
	ours.info.ai_socktype = (int)eddyi_learn_signed(track, ours.info.ai_socktype);
	ours.info.ai_protocol = (int)eddyi_learn_signed(track, ours.info.ai_protocol);
	ours.info.ai_addrlen = (socklen_t)eddyi_learn(track, ours.info.ai_addrlen);
	eddyi_learn_bytes(track, &ours.addr, MIN(ours.info.ai_addrlen, sizeof(ours.addr)));
	if (info || !(found = malloc(sizeof(*found))))
		return NULL;
	*found = ours;
	found->info.ai_addr = (struct sockaddr *)&found->addr;
	return &found->info;
}

int eddyi_getaddrinfo_recorded(const char *host, const char *port, const struct addrinfo *hints,
			       struct addrinfo **ret_found)
{
	struct eddyi_track *track = eddyi_track;
	struct addrinfo *info = NULL, **last = ret_found;
	bool is_replayed;
	uint64_t count = 0;
	int r = 0;

	eddyi_event_begin(track, EDDYI_EVENT_getaddrinfo);
	is_replayed = eddyi_replays;
	eddyi_issue_text(track, host);
	eddyi_issue_text(track, port);
	OUTSIDE(r = getaddrinfo(host, port, hints, ret_found));
	r = (int)eddyi_learn_signed(track, r);
	errno = (int)eddyi_learn(track, r == EAI_SYSTEM ? (uint64_t)errno : 0);
	if (r == 0 && !is_replayed)
		for (info = *ret_found; info; info = info->ai_next)
			count++;
	count = r == 0 ? eddyi_learn(track, count) : 0;
	info = is_replayed || r ? NULL : *ret_found;
	for (uint64_t i = 0; i < count; i++) {
		struct addrinfo *found = learn_found(track, info);

		if (!is_replayed) {
			info = info->ai_next;
		} else if (found) {
			*last = found;
			last = &found->ai_next;
			*last = NULL;
		}
	}
	eddyi_event_end(track);
	return r;
}
