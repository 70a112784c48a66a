#include "arena.h"

#include <eddy/internal/debug.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_CHECKED 1
#endif
#endif

#define ALIGNMENT _Alignof(max_align_t)

/* Let AddressSanitizer detect overflows and use after the request: a gap follows each allocation,
 * other bytes are poisoned, and no block is reused. */
#ifdef IS_CHECKED
#include <sanitizer/asan_interface.h>
#define GAP ALIGNMENT
#else
#define IS_CHECKED 0
#define GAP ((size_t)0)
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/* With EDDY_DEBUG, freed memory is filled with this byte and not reused for a while. */
#define FREED 0xdd
#define RESTING_MAX (4 * EDDY_MIB)
#define RESTING_BLOCK_MAX EDDY_MIB

/* Defined if the program has AddressSanitizer and eddy does not: free() then detects late uses. */
extern void __asan_poison_memory_region(const volatile void *at, size_t size) __attribute__((weak));

struct eddyi_arena_block {
	struct eddyi_arena_block *older;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

#define GROWN_FIRST 1024

/* Each thread keeps a few blocks of common sizes, so that a request seldom calls malloc(). Most are
 * of the first size; the second fits a small file after its head. */
static const struct size {
	size_t bytes;
	unsigned kept_max;
} sizes[] = {
	{ 4 * EDDY_KIB - sizeof(struct eddyi_arena_block), 64 },
	{ 12 * EDDY_KIB - sizeof(struct eddyi_arena_block), 8 },
};

#define SIZES (sizeof(sizes) / sizeof(*sizes))

static _Thread_local struct {
	struct eddyi_arena_block *first;
	unsigned count;
} spare[SIZES];

/* Freed blocks, the oldest first, of all threads. */
static struct {
	pthread_mutex_t lock;
	struct eddyi_arena_block *oldest, *newest;
	size_t bytes;
} resting = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void rest(struct eddyi_arena_block *block)
{
	memset(block->bytes, FREED, block->size);
	if (block->size > RESTING_BLOCK_MAX) {
		free(block);
		return;
	}
	block->older = NULL;
	pthread_mutex_lock(&resting.lock);
	if (resting.oldest)
		resting.newest->older = block;
	else
		resting.oldest = block;
	resting.newest = block;
	resting.bytes += block->size;
	while (resting.bytes > RESTING_MAX) {
		struct eddyi_arena_block *oldest = resting.oldest;

		resting.oldest = oldest->older;
		resting.bytes -= oldest->size;
		free(oldest);
	}
	pthread_mutex_unlock(&resting.lock);
}

static struct eddyi_arena_block *block_new(size_t size)
{
	struct eddyi_arena_block *block;

	for (size_t i = 0; i < SIZES; i++) {
		if (size > sizes[i].bytes)
			continue;
		size = sizes[i].bytes;
		block = spare[i].first;
		if (!block)
			break;
		spare[i].first = block->older;
		spare[i].count--;
		return block;
	}
	/* gcc 14 treats poisoning of uninitialized memory as a read. */
	block = IS_CHECKED ? calloc(1, sizeof(*block) + size) : malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	ASAN_POISON_MEMORY_REGION(block->bytes, size);
	return block;
}

static void block_free(struct eddyi_arena_block *block)
{
	if (!IS_CHECKED && __asan_poison_memory_region) {
		free(block);
		return;
	}
	if (!IS_CHECKED && eddyi_debug_checking()) {
		rest(block);
		return;
	}
	for (size_t i = 0; i < SIZES && !IS_CHECKED; i++) {
		if (block->size != sizes[i].bytes || spare[i].count == sizes[i].kept_max)
			continue;
		block->older = spare[i].first;
		spare[i].first = block;
		spare[i].count++;
		return;
	}
	free(block);
}

void eddyi_arena_trim(void)
{
	for (size_t i = 0; i < SIZES; i++) {
		while (spare[i].first) {
			struct eddyi_arena_block *block = spare[i].first;

			spare[i].first = block->older;
			free(block);
		}
		spare[i].count = 0;
	}
}

void eddyi_arena_deinit(struct eddyi_arena *arena)
{
	while (arena->block) {
		struct eddyi_arena_block *block = arena->block;

		arena->block = block->older;
		block_free(block);
	}
	*arena = (struct eddyi_arena){ 0 };
}

void *eddyi_arena_alloc(struct eddyi_arena *arena, size_t size)
{
	struct eddyi_arena_block *block;
	size_t taken;
	void *memory;

	if (size > PTRDIFF_MAX - 2 * ALIGNMENT - GAP - sizeof(*block))
		return NULL;
	/* A size of 0 is valid: NULL is an allocation failure. */
	taken = (((size ? size : 1) + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) + GAP;
	if (taken > (size_t)(arena->end - arena->at)) {
		block = block_new(taken);
		if (!block)
			return NULL;
		block->older = arena->block;
		arena->block = block;
		arena->at = block->bytes;
		arena->end = block->bytes + block->size;
	}
	memory = arena->at;
	arena->at += taken;
	ASAN_UNPOISON_MEMORY_REGION(memory, size);
	return memory;
}

char *eddyi_arena_grow(struct eddyi_arena *arena, char *bytes, size_t len, size_t *capacity,
		       size_t need)
{
	size_t room = *capacity ? *capacity : GROWN_FIRST;
	char *grown;

	if (bytes && need <= *capacity)
		return bytes;
	while (room < need)
		room *= 2;
	grown = eddyi_arena_alloc(arena, room);
	if (!grown)
		return NULL;
	if (len)
		memcpy(grown, bytes, len);
	*capacity = room;
	return grown;
}

struct eddy_str eddyi_arena_dup(struct eddyi_arena *arena, struct eddy_str str)
{
	char *copy = eddyi_arena_alloc(arena, str.len + 1);

	if (!copy)
		return eddy_str(NULL, 0);
	if (str.len)
		memcpy(copy, str.ptr, str.len);
	copy[str.len] = 0;
	return eddy_str(copy, str.len);
}

/* Most texts are short and formatted once; a format without directives is only copied. */
struct eddy_str eddyi_arena_vprintf(struct eddyi_arena *arena, const char *format, va_list args)
{
	char brief[256], *text;
	va_list again;
	int len;

	if (!strchr(format, '%'))
		return eddyi_arena_dup(arena, eddy_str_from(format));
	va_copy(again, args);
	len = vsnprintf(brief, sizeof(brief), format, again);
	va_end(again);
	if (len < 0)
		return eddy_str(NULL, 0);
	if ((size_t)len < sizeof(brief))
		return eddyi_arena_dup(arena, eddy_str(brief, (size_t)len));
	text = eddyi_arena_alloc(arena, (size_t)len + 1);
	if (!text)
		return eddy_str(NULL, 0);
	vsnprintf(text, (size_t)len + 1, format, args);
	return eddy_str(text, (size_t)len);
}

struct eddy_str eddyi_arena_printf(struct eddyi_arena *arena, const char *format, ...)
{
	struct eddy_str text;
	va_list args;

	va_start(args, format);
	text = eddyi_arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}
