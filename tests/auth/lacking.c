#include "jwt/jws.h"

#include "lacking.h"

#include <jansson.h>
#include <stdlib.h>
#include <wolfssl/wolfcrypt/memory.h>

/* Called here they are the linker's. */
static void *allocate(size_t size)
{
	return malloc(size);
}

static void release(void *at)
{
	free(at);
}

static void *reallocate(void *at, size_t size)
{
	return realloc(at, size);
}

void lacking_in_libraries(void)
{
	json_set_alloc_funcs(allocate, release);
	wolfSSL_SetAllocators(allocate, release, reallocate);
}
