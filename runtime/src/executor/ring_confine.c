#include "ring_confine.h"

#include "base/uapi.h"

#include <errno.h>
#include <liburing.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int eddyi_ring_confine(struct io_uring *ring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
	int r = probe ? restrict_to(ring, probe) : -ENOMEM;

	io_uring_free_probe(probe);
	return r < 0 ? r : do_register(ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}
