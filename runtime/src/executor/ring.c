/* The executor that is the kernel: io_uring. */
#include "core/executor.h"
#include "core/loop.h"

#include "config.h"
#include "base/feature.h"
#include "base/uapi.h"

#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>
#if EDDYI_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* Completions can arrive in bursts (a multishot accept, many receives) before one is handled. */
#define CQ_ENTRIES_FACTOR 8
/* The last registration operation of Linux 6.1. */
#define REGISTER_LAST IORING_REGISTER_FILE_ALLOC_RANGE
#define OPS_LAST EDDYI_OP_PIPE
#define FLAGS                                                                                      \
	(IOSQE_FIXED_FILE | IOSQE_IO_DRAIN | IOSQE_IO_LINK | IOSQE_IO_HARDLINK | IOSQE_ASYNC |     \
	 IOSQE_BUFFER_SELECT | IOSQE_CQE_SKIP_SUCCESS)

/* Landlock checks ring operations like system calls, but these not at all or only in part: as
 * system calls, the seccomp filter checks them. */
static bool is_refused(unsigned op)
{
	switch (op) {
	case IORING_OP_SOCKET:
	case IORING_OP_SETXATTR:
	case IORING_OP_GETXATTR:
	case IORING_OP_URING_CMD:
		return true;
	default:
		return false;
	}
}

/* liburing declares functions for these, but the shared library of 2.3 does not export them. */
static int do_register(struct io_uring *ring, unsigned what, const void *arg, unsigned count)
{
	return syscall(SYS_io_uring_register, ring->ring_fd, what, arg, count) < 0 ? -errno : 0;
}

static int restrict_to(struct io_uring *ring, const struct io_uring_probe *probe)
{
	struct io_uring_restriction all[OPS_LAST + REGISTER_LAST + 3] = {
		{ .opcode = IORING_RESTRICTION_SQE_FLAGS_ALLOWED, .sqe_flags = FLAGS },
	};
	unsigned count = 1;

	for (unsigned op = 0; op <= OPS_LAST && op <= probe->last_op; op++)
		if (!is_refused(op))
			all[count++] = (struct io_uring_restriction){
				.opcode = IORING_RESTRICTION_SQE_OP,
				.sqe_op = (uint8_t)op,
			};
	for (unsigned what = 0; what <= REGISTER_LAST; what++) {
		/* A personality from before the sandbox would escape it. */
		if (what == IORING_REGISTER_PERSONALITY)
			continue;
		all[count++] = (struct io_uring_restriction){
			.opcode = IORING_RESTRICTION_REGISTER_OP,
			.register_op = (uint8_t)what,
		};
	}
	return do_register(ring, IORING_REGISTER_RESTRICTIONS, all, count);
}

/* Permanently restrict a ring that is still disabled, for a process in a sandbox, then enable it. Return: 0, -errno. */
static int confine(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	int r = probe ? restrict_to(ring, probe) : -ENOMEM;

	io_uring_free_probe(probe);
	return r < 0 ? r : do_register(ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}

static int ring_begin(struct eddy_loop *loop, unsigned entries)
{
	struct io_uring *ring = &loop->ring;
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE |
			 (loop->confined ? IORING_SETUP_R_DISABLED : 0),
		.cq_entries = entries * CQ_ENTRIES_FACTOR,
	};
	int r;

	/* Probe first, on an unrestricted ring of its own. */
	if (loop->confined)
		eddyi_feature_is_there(EDDYI_FEATURE_MSG_RING);
	r = io_uring_queue_init_params(entries, ring, &params);
	if (r < 0)
		return r;
	r = loop->confined ? confine(ring) : 0;
	if (r < 0) {
		io_uring_queue_exit(ring);
		return r;
	}
	/* Optional: errors only cost speed. */
	io_uring_register_ring_fd(ring);
	eddyi_feature_probe(ring);
	return 0;
}

static void ring_end(struct eddy_loop *loop)
{
	io_uring_queue_exit(&loop->ring);
}

static int ring_enter(struct eddy_loop *loop)
{
	return io_uring_submit_and_get_events(&loop->ring);
}

static int ring_wait(struct eddy_loop *loop, uint64_t timeout_ns)
{
	struct __kernel_timespec timeout = {
		.tv_sec = (int64_t)(timeout_ns / EDDY_SECOND),
		.tv_nsec = (long long)(timeout_ns % EDDY_SECOND),
	};
	struct io_uring_cqe *cqe;

#if EDDYI_HAVE_VALGRIND
	/* Valgrind thinks that io_uring_enter(2) does not block, and would run no other thread. */
	if (RUNNING_ON_VALGRIND) {
		usleep(timeout_ns < EDDY_MS ? (useconds_t)(timeout_ns / 1000) : 1000);
		return ring_enter(loop);
	}
#endif
	if (timeout_ns == EDDY_NEVER)
		return io_uring_submit_and_wait(&loop->ring, 1);
	return io_uring_submit_and_wait_timeout(&loop->ring, &cqe, 1, &timeout, NULL);
}

static int ring_limit_workers(struct eddy_loop *loop, unsigned max)
{
	unsigned workers[2] = { max, max };
	int r = io_uring_register_iowq_max_workers(&loop->ring, workers);

	/* The first call returned the previous limits. Read the actual ones, which RLIMIT_NPROC may
	 * have reduced; zeros change nothing. */
	workers[0] = workers[1] = 0;
	if (r == 0)
		r = io_uring_register_iowq_max_workers(&loop->ring, workers);
	if (r == 0)
		__atomic_store_n(&loop->stats.io_workers_max, (uint64_t)workers[0] + workers[1],
				 __ATOMIC_RELAXED);
	return r;
}

static int ring_add_buffers(struct eddy_loop *loop, struct io_uring_buf_reg *group)
{
	return io_uring_register_buf_ring(&loop->ring, group, 0);
}

static void ring_remove_buffers(struct eddy_loop *loop, int group)
{
	io_uring_unregister_buf_ring(&loop->ring, group);
}

const struct eddyi_executor eddyi_executor_ring = {
	.name = "ring",
	.call = "io_uring_enter",
	.has_ring = true,
	.begin = ring_begin,
	.end = ring_end,
	.enter = ring_enter,
	.wait = ring_wait,
	.limit_workers = ring_limit_workers,
	.add_buffers = ring_add_buffers,
	.remove_buffers = ring_remove_buffers,
};
