/* uapi.h: io_uring constants missing from the oldest supported liburing. Newer headers have them as
 * enumerators, hence the different names. */
#ifndef EDDYI_UAPI_H
#define EDDYI_UAPI_H

#include <stdint.h>

enum {
	EDDYI_OP_WAITID = 50,
	EDDYI_OP_FUTEX_WAIT = 51,
	EDDYI_OP_FUTEX_WAKE = 52,
	EDDYI_OP_FUTEX_WAITV = 53,
	EDDYI_OP_FTRUNCATE = 55,
	EDDYI_OP_PIPE = 62,
};

/* A flag of a SEND_ZC entry, and one in the result of its notification (Linux 6.2). */
#define EDDYI_SEND_ZC_REPORT_USAGE (1U << 3)
#define EDDYI_NOTIF_ZC_COPIED (1U << 31)

#define EDDYI_MADV_GUARD_INSTALL 102

/* A flag of reads and writes (Linux 6.14, per file system). */
#define EDDYI_RWF_DONTCACHE 0x80

#endif
