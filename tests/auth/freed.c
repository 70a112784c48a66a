#include "freed.h"

#include "../on_asan.h"

#include <malloc.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(at, size) ((void)(at), (void)(size))
#endif

int freed_count;
bool freed_with_secret;

static const void *watched;
static struct eddy_str looked_for;

/* The linker's names (--wrap). */
void __real_free(void *at);
void __wrap_free(void *at);

void freed_watch(const void *at, struct eddy_str secret)
{
	watched = at;
	looked_for = secret;
	freed_count = 0;
	freed_with_secret = false;
}

void __wrap_free(void *at)
{
	if (at && looked_for.len && (!watched || at == watched)) {
		/* Part of what is freed may not be touched: a request's memory. */
		ASAN_UNPOISON_MEMORY_REGION(at, malloc_usable_size(at));
		/* Nor was all of it written to. */
		VALGRIND_MAKE_MEM_DEFINED(at, malloc_usable_size(at));
		freed_count++;
		freed_with_secret |=
			memmem(at, malloc_usable_size(at), looked_for.ptr, looked_for.len) != NULL;
	}
	__real_free(at);
}
