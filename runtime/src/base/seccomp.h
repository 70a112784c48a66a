/* seccomp.h: advice on how to allow io_uring in a seccomp filter. */
#ifndef EDDYI_SECCOMP_H
#define EDDYI_SECCOMP_H

/* Get the option or setting that helps, judged by the environment of this process. Return: a string
 * that is never freed. */
const char *eddyi_seccomp_remedy(void);

#endif
