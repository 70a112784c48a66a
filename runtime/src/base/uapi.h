/* uapi.h: numbers of io_uring's that the oldest liburing we build with does not know. Newer headers have
 * them as enumerators, so they have names of our own. */
#ifndef EDDYI_UAPI_H
#define EDDYI_UAPI_H

#include <stdint.h>

enum {
	EDDYI_OP_READ_MULTISHOT = 49,
	EDDYI_OP_WAITID = 50,
	EDDYI_OP_FUTEX_WAIT = 51,
	EDDYI_OP_FUTEX_WAKE = 52,
	EDDYI_OP_FUTEX_WAITV = 53,
	EDDYI_OP_FIXED_FD_INSTALL = 54,
	EDDYI_OP_FTRUNCATE = 55,
	EDDYI_OP_BIND = 56,
	EDDYI_OP_LISTEN = 57,
	EDDYI_OP_PIPE = 62,
};

/* Bits of io_uring_params.features. */
#define EDDYI_FEAT_BUNDLE (1U << 14)
#define EDDYI_FEAT_MIN_WAIT (1U << 15)

/* Of a SEND_ZC entry, and in the result of its notification (Linux 6.2). */
#define EDDYI_SEND_ZC_REPORT_USAGE (1U << 3)
#define EDDYI_NOTIF_ZC_COPIED (1U << 31)

#define EDDYI_SETUP_NO_SQARRAY (1U << 16)

#define EDDYI_UNREGISTER_NAPI 28

/* As io_uring_buf_reg, whose `flags` are named `pad` in older headers. */
struct eddyi_buf_reg {
	uint64_t ring_addr;
	uint32_t ring_entries;
	uint16_t group;
	uint16_t flags;
	uint64_t reserved[3];
};
#define EDDYI_BUF_RING_MMAP 1
#define EDDYI_BUF_RING_INCREMENTAL 2

/* Of futexes: a word of 32 bits, of this process alone. */
#define EDDYI_FUTEX_U32 2
#define EDDYI_FUTEX_PRIVATE 128

#define EDDYI_MADV_GUARD_INSTALL 102

#endif
