#include "failing.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

_Thread_local int failing_at;

static bool fails(void)
{
	return failing_at && --failing_at == 0;
}

/* The linker's names (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__real_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __real_pipe2(int fds[2], int flags);
int __real_eventfd(unsigned count, int flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_pipe2(int fds[2], int flags);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg);

void *__wrap_malloc(size_t size)
{
	if (fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	if (fails()) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(count, size);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(at, size, prot, flags, fd, offset);
}

/* The same by its name where offsets have 64 bits on every machine. */
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap64(at, size, prot, flags, fd, offset);
}

int __wrap_pipe2(int fds[2], int flags)
{
	if (fails()) {
		errno = EMFILE;
		return -1;
	}
	return __real_pipe2(fds, flags);
}

int __wrap_eventfd(unsigned count, int flags)
{
	if (fails()) {
		errno = EMFILE;
		return -1;
	}
	return __real_eventfd(count, flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			  void *arg)
{
	return fails() ? EAGAIN : __real_pthread_create(thread, attr, fn, arg);
}
