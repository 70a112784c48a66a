/* arena.h: memory that is freed as a whole: of a request, an app, a client. Allocation is
 * sequential, and there is no free of single allocations. */
#ifndef EDDYI_ARENA_H
#define EDDYI_ARENA_H

#include <eddy/str.h>
#include <stdarg.h>

struct eddyi_arena_block;

/* Zero bytes are an empty arena. */
struct eddyi_arena {
	struct eddyi_arena_block *block; /* the newest; links to older ones */
	char *at;                        /* next free byte of `block` */
	char *end;
};

/* Free the blocks that this thread keeps for reuse. A loop calls it at its end. */
void eddyi_arena_trim(void);

void eddyi_arena_deinit(struct eddyi_arena *arena);

/* Allocate `size` bytes, aligned for any type. Return: NULL on allocation failure. */
void *eddyi_arena_alloc(struct eddyi_arena *arena, size_t size);

/* Make room for `need` bytes in a buffer of `*capacity` bytes (0: none yet), of which `len` are
 * used and kept. The capacity doubles. Return: the buffer; NULL on allocation failure. */
char *eddyi_arena_grow(struct eddyi_arena *arena, char *bytes, size_t len, size_t *capacity,
		       size_t need);

/* Copy `str` into the arena, with a NUL. Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_arena_dup(struct eddyi_arena *arena, struct eddy_str str);

/* Format into the arena. Return: .ptr NULL on allocation failure. */
EDDY_PRINTF(2, 3)
struct eddy_str eddyi_arena_printf(struct eddyi_arena *arena, const char *format, ...);

EDDY_PRINTF(2, 0)
struct eddy_str eddyi_arena_vprintf(struct eddyi_arena *arena, const char *format, va_list args);

#endif
