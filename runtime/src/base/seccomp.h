/* seccomp.h: advice on how to allow io_uring in a seccomp filter. */
#ifndef EDDYI_SECCOMP_H
#define EDDYI_SECCOMP_H

/* Get the setting that helps, judged by this process's environment. Return: a static string. */
const char *eddyi_seccomp_remedy(void);

#endif
