/* redirect.h: direct calls of the program and of other libraries become recorded ones. */
#ifndef EDDYI_REDIRECT_H
#define EDDYI_REDIRECT_H

#include <eddy/internal/outside.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>

/* The recorded form of calls that eddy does not make. */
#define NOW(...)
#define SYSCALL(...)
#define BY_HAND(...)
#define OTHER(type, call, params, ...) type eddyi_##call##_recorded params;
#include <eddy/internal/outside_calls.h>
#undef NOW
#undef SYSCALL
#undef BY_HAND

/* Redirect them, once a process, before other threads exist. */
void eddyi_redirect(void);

#endif
