#include "freed.h"

#include <malloc.h>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(at, size) ((void)(at), (void)(size))
#endif

/* Part of what is freed may not be touched: a request's memory. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_CHECKED 1
#endif
#endif
#ifdef IS_CHECKED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
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
		ASAN_UNPOISON_MEMORY_REGION(at, malloc_usable_size(at));
		/* Nor was all of it written to. */
		VALGRIND_MAKE_MEM_DEFINED(at, malloc_usable_size(at));
		freed_count++;
		freed_with_secret |=
			memmem(at, malloc_usable_size(at), looked_for.ptr, looked_for.len) != NULL;
	}
	__real_free(at);
}
