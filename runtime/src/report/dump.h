/* dump.h: functions shared by reports on loops. */
#ifndef EDDYI_DUMP_H
#define EDDYI_DUMP_H

#include "base/out.h"

struct eddy_loop;

/* Append a descriptor's number and description: `7 (tcp 127.0.0.1:80 with 127.0.0.1:4012)`. */
void eddyi_dump_fd(struct eddyi_out *out, int fd);

/* Append a dump of one loop: this thread's, or one that sleeps and is kept from waking. */
void eddyi_dump_loop(struct eddyi_out *out, struct eddy_loop *loop);

#endif
