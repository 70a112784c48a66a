#include "feature.h"

#include "panic.h"
#include "uapi.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct eddyi_feature_info infos[EDDYI_FEATURES] = {
	[EDDYI_FEATURE_MSG_RING] = { "IORING_OP_MSG_RING", "5.18",
				     "loops wake one another by an eventfd" },
	[EDDYI_FEATURE_FUTEX] = { "IORING_OP_FUTEX_WAIT", "6.7",
				  "sleeping loops are woken by an eventfd" },
	[EDDYI_FEATURE_FTRUNCATE] = { "IORING_OP_FTRUNCATE", "6.9",
				      "eddy_ftruncate() takes a thread of the offload pool" },
	[EDDYI_FEATURE_GUARD_INSTALL] = { "MADV_GUARD_INSTALL", "6.13",
					  "stacks are guarded by mprotect, two maps a task" },
	[EDDYI_FEATURE_PIPE] = { "IORING_OP_PIPE", "6.16", "eddy_pipe() is a plain system call" },
	[EDDYI_FEATURE_RECV_LIMIT] = { "limits of a multishot receive", "6.17",
				       "eddy_buffers_prep_recv_some() is of one shot" },
};

/* A bit for each feature, and one that says that the others are valid. */
#define KNOWN ((uint64_t)1 << 63)
static _Atomic(uint64_t) known;

static uint64_t bit(enum eddyi_feature feature, bool is_there)
{
	return (uint64_t)is_there << feature;
}

static uint64_t probe_ops(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	uint64_t found = 0;

	if (!probe)
		return 0;
#define OP(feature, op) found |= bit(EDDYI_FEATURE_##feature, io_uring_opcode_supported(probe, op))
	OP(MSG_RING, IORING_OP_MSG_RING);
	OP(FUTEX, EDDYI_OP_FUTEX_WAIT);
	OP(FTRUNCATE, EDDYI_OP_FTRUNCATE);
	OP(PIPE, EDDYI_OP_PIPE);
#undef OP
	io_uring_free_probe(probe);
	return found;
}

/* The kernel checks the fields before the descriptor: -EBADF means that it has the limit. */
static bool has_recv_limit(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	bool has;

	io_uring_prep_recv_multishot(sqe, -1, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->file_index = 1;
	if (io_uring_submit_and_wait(ring, 1) < 0 || io_uring_peek_cqe(ring, &cqe) < 0)
		return false;
	has = cqe->res == -EBADF;
	io_uring_cqe_seen(ring, cqe);
	return has;
}

static bool has_guards(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool has;

	if (memory == MAP_FAILED)
		return false;
	has = madvise(memory, page, EDDYI_MADV_GUARD_INSTALL) == 0;
	munmap(memory, page);
	return has;
}

void eddyi_feature_probe(struct io_uring *ring)
{
	uint64_t found;

	/* Two loops may probe at the same time, with the same result. */
	if (atomic_load(&known))
		return;
	found = probe_ops(ring);
	found |= bit(EDDYI_FEATURE_GUARD_INSTALL, has_guards());
	found |= bit(EDDYI_FEATURE_RECV_LIMIT, has_recv_limit(ring));
	atomic_store(&known, found | KNOWN);
}

bool eddyi_feature_is_there(enum eddyi_feature feature)
{
	eddyi_assert(feature < EDDYI_FEATURES, "there is no feature %d", feature);
	if (!atomic_load_explicit(&known, memory_order_acquire)) {
		struct io_uring ring;
		int r = io_uring_queue_init(1, &ring, 0);

		if (r == 0) {
			eddyi_feature_probe(&ring);
			io_uring_queue_exit(&ring);
		} else if (r == -EPERM || r == -EACCES || r == -ENOSYS) {
			/* Rings are refused, now and later. */
			atomic_store(&known,
				     bit(EDDYI_FEATURE_GUARD_INSTALL, has_guards()) | KNOWN);
		} else {
			return feature == EDDYI_FEATURE_GUARD_INSTALL && has_guards();
		}
	}
	return atomic_load_explicit(&known, memory_order_relaxed) >> feature & 1;
}

const struct eddyi_feature_info *eddyi_feature_info(enum eddyi_feature feature)
{
	eddyi_assert(feature < EDDYI_FEATURES, "there is no feature %d", feature);
	return &infos[feature];
}

/* Make two polls of a ring like a loop's ready in order. Return: whether they complete in order. */
static bool ask_for_order(struct io_uring *ring, const int fds[2])
{
	const uint64_t one = 1;
	struct io_uring_cqe *cqe;

	for (int i = 0; i < 2; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

		io_uring_prep_poll_add(sqe, fds[i], POLLIN);
		io_uring_sqe_set_data64(sqe, (uint64_t)i);
	}
	if (io_uring_submit(ring) != 2)
		return true;
	for (int i = 0; i < 2; i++)
		if (write(fds[i], &one, sizeof(one)) != sizeof(one))
			return true;
	return io_uring_wait_cqe(ring, &cqe) < 0 || cqe->user_data == 0;
}

static bool completes_in_order(void)
{
	int fds[2] = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	bool is = true;
	struct io_uring ring;

	if (fds[0] >= 0 && fds[1] >= 0 &&
	    io_uring_queue_init(2, &ring,
				IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) == 0) {
		is = ask_for_order(&ring, fds);
		io_uring_queue_exit(&ring);
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return is;
}

enum { UNKNOWN, YES, NO };
static atomic_int order; /* one of these */

bool eddyi_feature_completes_in_order(void)
{
	/* Two loops may test this at the same time, with the same result. */
	if (atomic_load_explicit(&order, memory_order_relaxed) == UNKNOWN)
		atomic_store(&order, completes_in_order() ? YES : NO);
	return atomic_load_explicit(&order, memory_order_relaxed) == YES;
}

/* A bit of the answer of eddyi_feature_completes_in_order(), above those of the features. */
#define IN_ORDER ((uint64_t)1 << 62)

uint64_t eddyi_feature_all(void)
{
	eddyi_feature_is_there(EDDYI_FEATURE_MSG_RING);
	return atomic_load(&known) | (eddyi_feature_completes_in_order() ? IN_ORDER : 0);
}

void eddyi_feature_assume(uint64_t all)
{
	/* Memory is this kernel's. */
	all &= ~bit(EDDYI_FEATURE_GUARD_INSTALL, true);
	all |= bit(EDDYI_FEATURE_GUARD_INSTALL, has_guards()) | KNOWN;
	atomic_store(&known, all & ~IN_ORDER);
	atomic_store(&order, all & IN_ORDER ? YES : NO);
}

bool eddyi_feature_set(enum eddyi_feature feature, bool is_there)
{
	bool before = eddyi_feature_is_there(feature);

	if (is_there)
		atomic_fetch_or(&known, bit(feature, true));
	else
		atomic_fetch_and(&known, ~bit(feature, true));
	return before;
}
