/* seccomp.h: how a filter of system calls is opened for io_uring, by whoever has set it. */
#ifndef EDDYI_SECCOMP_H
#define EDDYI_SECCOMP_H

/* What to type, as far as it can be seen where this process runs. Return: a string that is never freed. */
const char *eddyi_seccomp_remedy(void);

#endif
