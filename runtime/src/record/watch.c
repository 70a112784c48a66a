#include "watch.h"

#include "base/op_name.h"
#include "base/out.h"
#include "core/loop.h"
#include "core/op.h"
#include "core/task.h"
#include "core/wait.h"
#include "report/dump.h"

#include <eddy/internal/outside.h>
#include <eddy/str.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#define FD_MIN 900
#define SHOWN 60   /* bytes of a text */
#define TEXT_MIN 4 /* bytes by which memory is known as text */
#define LLU(x) ((unsigned long long)(x))

struct eddyi_replay eddyi_replay;

static int print_fd = -1;
static bool keeps_pace, shows_bytes;
static uint64_t pace_began_ns;                        /* on the real clock */
static __thread struct eddyi_out line = { .fd = -1 }; /* of the current event */
static __thread const char *current_call;
static __thread bool in_entry;     /* the arguments of the call have been written */
static __thread unsigned argument; /* written so far */

/* Do something that is no event itself. */
#define UNSEEN(...)                                                                                \
	do {                                                                                       \
		struct eddyi_track *track_ = eddyi_track;                                          \
                                                                                                   \
		eddyi_track = NULL;                                                                \
		__VA_ARGS__;                                                                       \
		eddyi_track = track_;                                                              \
	} while (0)

/* Append to the line, which is written when it is full. */
#define ADD(...) UNSEEN(eddyi_out(&line, __VA_ARGS__))

/* ---- what is asked for ---- */

/* Parse a time after the begin: "1.5s", "20ms", "300us". */
static int parse_time(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 } };
	char *unit;
	double value = strtod(text, &unit);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) != 0 || unit == text)
			continue;
		value *= units[i].ns;
		if (!(value >= 0 && value < 1e18))
			return -EINVAL;
		*ret_ns = (uint64_t)value + 1;
		return 0;
	}
	return -EINVAL;
}

static int parse_until(const char *text)
{
	const struct eddy_str request = EDDY_STR("request ");
	struct eddy_str rest = eddy_str_from(text);

	if (eddy_str_to_u64(rest, &eddyi_replay.until_event) == 0 && eddyi_replay.until_event)
		return 0;
	if (rest.len > request.len && memcmp(text, request.ptr, request.len) == 0) {
		rest = eddy_str(text + request.len, rest.len - request.len);
		return eddy_str_to_u64(rest, &eddyi_replay.until_request) == 0 &&
				       eddyi_replay.until_request ?
			       0 :
			       -EINVAL;
	}
	return parse_time(text, &eddyi_replay.until_ns);
}

/* Open the file of the list; "-": stdout, and what the program prints there goes to stderr. */
static int open_list(const char *path)
{
	bool is_stdout = strcmp(path, "-") == 0;
	int fd = is_stdout ? STDOUT_FILENO :
			     open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* Above those that the program had. */
	print_fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
	if (is_stdout)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	else
		close(fd);
	return print_fd;
}

const char *eddyi_watch_start(void)
{
	const char *print = getenv("EDDY_REPLAY_PRINT"), *until = getenv("EDDY_REPLAY_UNTIL");

	keeps_pace = getenv("EDDY_REPLAY_PACE") != NULL;
	shows_bytes = getenv("EDDY_REPLAY_BYTES") != NULL;
	if (until && *until && parse_until(until) < 0)
		return "EDDY_REPLAY_UNTIL";
	if (print && *print && open_list(print) < 0)
		return "EDDY_REPLAY_PRINT";
	eddyi_replay.is_watched = keeps_pace || (until && *until) || print_fd >= 0;
	return NULL;
}

/* ---- the list ---- */

static void name_task(struct eddyi_out *out, const struct eddy_task *task)
{
	eddyi_out(out, "task %llu \"", LLU(task->id));
	eddyi_out_name(out, task->name);
	eddyi_out(out, "\"");
}

/* Where it is: `event 17 of 2907, after 31 ms: task 3 "conn": recv`. */
static void say_place(struct eddyi_out *out)
{
	const struct eddy_loop *loop = eddyi_this_loop;

	eddyi_out(out, "event %llu", LLU(eddyi_replay.events));
	if (eddyi_replay.last)
		eddyi_out(out, " of %llu", LLU(eddyi_replay.last));
	eddyi_out(out, ", after ");
	eddyi_out_duration(out, eddyi_replay.now_ns - eddyi_replay.began_ns);
	eddyi_out(out, ": ");
	if (loop && loop->running)
		name_task(out, loop->running);
	else
		eddyi_out(out, loop ? "the loop" : "a thread without a loop");
	eddyi_out(out, ": %s", current_call);
}

static void print_begin(unsigned thread)
{
	uint64_t ns = eddyi_replay.now_ns - eddyi_replay.began_ns;
	const struct eddy_loop *loop = eddyi_this_loop;
	char at[64];

	snprintf(at, sizeof(at), "%8llu %4llu.%06llu ", LLU(eddyi_replay.events),
		 LLU(ns / EDDY_SECOND), LLU(ns % EDDY_SECOND / 1000));
	ADD("%s", at);
	if (thread)
		ADD("thread %u ", thread);
	if (loop && loop->running) {
		UNSEEN(name_task(&line, loop->running));
		ADD(" ");
	}
	ADD("%s(", current_call);
	in_entry = false;
	argument = 0;
}

void eddyi_watch_number(uint64_t number)
{
	char text[32];

	if (line.fd < 0 || in_entry)
		return;
	/* Descriptors and the like are sign-extended. */
	snprintf(text, sizeof(text), "%lld", (long long)number);
	ADD(argument++ ? ", %s" : "%s", text);
}

void eddyi_watch_text(const char *text)
{
	char shown[SHOWN + 1];

	if (line.fd < 0)
		return;
	snprintf(shown, sizeof(shown), "%s", text ? text : "");
	ADD(argument++ || in_entry ? ", \"" : "\"");
	UNSEEN(eddyi_out_name(&line, shown));
	ADD("\"");
}

/* Show the text that memory begins with. */
void eddyi_watch_bytes(const void *bytes, size_t len)
{
	const char *at = bytes;
	char shown[SHOWN + 1];
	size_t count = 0;

	if (line.fd < 0 || !shows_bytes || !bytes)
		return;
	for (; count < MIN(len, SHOWN) && (at[count] >= ' ' || isspace((unsigned char)at[count]));)
		count++;
	if (count < MIN(len, TEXT_MIN))
		return;
	memcpy(shown, bytes, count);
	shown[count] = 0;
	ADD(" \"");
	UNSEEN(eddyi_out_name(&line, shown));
	ADD(count < len ? "…\"" : "\"");
}

void eddyi_watch_result(int64_t result)
{
	const char *name = result < 0 && result > -4096 ? strerrorname_np((int)-result) : NULL;
	char text[32];

	if (line.fd < 0)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)result);
	ADD(in_entry ? " = %s" : ") = %s", name ? name : text);
	in_entry = true;
}

void eddyi_watch_entry(const char *what, const struct io_uring_sqe *sqe)
{
	const struct eddy_op *op;

	if (line.fd < 0)
		return;
	if (!in_entry)
		ADD(")");
	in_entry = true;
	ADD("\n\t%s", what);
	if (!sqe)
		return;
	op = (const void *)(uintptr_t)(sqe->user_data & ~(uint64_t)7);
	ADD(" %s", eddyi_op_name(sqe->opcode));
	if (sqe->fd >= 0)
		ADD(" of descriptor %d", sqe->fd);
	if (sqe->len)
		ADD(", %u", sqe->len);
	if ((sqe->user_data & 7) < EDDYI_OP_TAG_WAKE && op->waiter) {
		ADD(", for ");
		UNSEEN(name_task(&line, op->waiter->task));
	}
}

void eddyi_watch_end(void)
{
	if (line.fd < 0)
		return;
	ADD(in_entry ? "\n" : ")\n");
	UNSEEN(eddyi_out_flush(&line));
}

/* ---- stops ---- */

bool eddyi_watch_is_waiting(void)
{
	return eddyi_replay.until_event || eddyi_replay.until_request || eddyi_replay.until_ns;
}

static void dump_loops(void *arg)
{
	struct eddy_node *loops = eddyi_registry_lock();

	/* The other loops wait for their turn. */
	for (struct eddy_node *node = loops->next; node != loops; node = node->next)
		eddyi_dump_loop(arg, eddy_of(node, struct eddy_loop, registered));
	eddyi_registry_unlock();
}

static bool is_traced(void)
{
	char text[4096] = "";
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	const char *tracer;

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		*text = 0;
	close(fd);
	tracer = strstr(text, "TracerPid:\t");
	return tracer && tracer[strlen("TracerPid:\t")] != '0';
}

/* Stop here: under a debugger by a signal, and else with a list of all tasks. */
static void stop(void)
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_out out = { .fd = STDERR_FILENO };
	bool goes_on;

	eddyi_replay.until_event = eddyi_replay.until_request = eddyi_replay.until_ns = 0;
	eddyi_replay.is_watched = print_fd >= 0 || keeps_pace;
	eddyi_track = NULL;
	goes_on = is_traced();
	eddyi_out(&out, "eddy: the replay stops at ");
	say_place(&out);
	eddyi_out(&out, "\n");
	eddyi_out_flush(&out);
	if (goes_on) {
		raise(SIGTRAP);
		eddyi_track = track;
		return;
	}
	if (eddyi_this_loop)
		eddy_on_loop_stack(dump_loops, &out);
	else
		dump_loops(&out);
	eddyi_out_flush(&out);
	_exit(EXIT_SUCCESS);
}

void eddyi_watch_begin(unsigned thread, const char *call)
{
	uint64_t ns = eddyi_replay.now_ns - eddyi_replay.began_ns;

	current_call = call;
	line.fd = print_fd;
	if (print_fd >= 0)
		print_begin(thread);
	if (eddyi_replay.events == eddyi_replay.until_event ||
	    (eddyi_replay.until_ns && eddyi_replay.began_ns && ns >= eddyi_replay.until_ns - 1))
		stop();
}

void eddyi_request_recorded(struct eddy_str method, struct eddy_str path)
{
	uint64_t number;

	if (!eddyi_replays)
		return;
	number = atomic_fetch_add(&eddyi_replay.requests, 1) + 1;
	if (print_fd >= 0) {
		struct eddyi_out out = { .fd = print_fd };

		eddyi_out(&out, "request %llu: ", LLU(number));
		if (eddyi_this_loop->running)
			name_task(&out, eddyi_this_loop->running);
		for (size_t i = 0; i < 2; i++) {
			struct eddy_str part = i ? path : method;
			char shown[SHOWN + 1];

			snprintf(shown, sizeof(shown), "%.*s", EDDY_FMT(part));
			eddyi_out(&out, i ? " " : ": ");
			eddyi_out_name(&out, shown);
		}
		eddyi_out(&out, "\n");
		UNSEEN(eddyi_out_flush(&out));
	}
	if (number == eddyi_replay.until_request)
		stop();
}

/* ---- pace ---- */

static void keep_pace(void)
{
	struct eddyi_track *track = eddyi_track;
	uint64_t until;
	struct timespec at;

	eddyi_track = NULL;
	if (!pace_began_ns)
		pace_began_ns = eddyi_clock(CLOCK_MONOTONIC);
	until = pace_began_ns + (eddyi_replay.now_ns - eddyi_replay.began_ns);
	at = (struct timespec){ (time_t)(until / EDDY_SECOND), (long)(until % EDDY_SECOND) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
	eddyi_track = track;
}

void eddyi_watch_clock(uint64_t now_ns)
{
	if (!eddyi_replay.began_ns)
		eddyi_replay.began_ns = now_ns;
	eddyi_replay.now_ns = now_ns;
	if (keeps_pace)
		keep_pace();
}
