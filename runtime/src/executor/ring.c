/* The executor that is the kernel: io_uring. */
#include "core/executor.h"
#include "core/loop.h"

#include "config.h"
#include "ring_confine.h"
#include "base/feature.h"

#include <unistd.h>
#if EDDYI_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

/* Completions can arrive in bursts (a multishot accept, many receives) before one is handled. */
#define CQ_ENTRIES_FACTOR 8

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
	r = loop->confined ? eddyi_ring_confine(ring) : 0;
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
		if (timeout_ns > EDDY_MS)
			usleep(1000);
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
	.has_ring = true,
	.begin = ring_begin,
	.end = ring_end,
	.enter = ring_enter,
	.wait = ring_wait,
	.limit_workers = ring_limit_workers,
	.add_buffers = ring_add_buffers,
	.remove_buffers = ring_remove_buffers,
};
