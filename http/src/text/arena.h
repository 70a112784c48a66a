/* arena.h: memory that is given back as a whole: that of a request, an app, a client. Blocks are given out front to
 * back and are all returned at once; there is no single free. */
#ifndef EDDYI_ARENA_H
#define EDDYI_ARENA_H

#include <eddy/str.h>
#include <stdarg.h>

struct eddyi_arena_block;

/* All zero bytes: empty and ready. */
struct eddyi_arena {
	struct eddyi_arena_block *block; /* the newest; older ones follow it */
	char *at;                        /* next free byte of `block` */
	char *end;
};

/* Give back the blocks that this thread keeps for reuse; a loop calls it as it ends. */
void eddyi_arena_trim(void);

void eddyi_arena_deinit(struct eddyi_arena *arena);

/* Give out `size` bytes aligned for any type. Return: NULL when memory is out. */
void *eddyi_arena_alloc(struct eddyi_arena *arena, size_t size);

/* Make room for `need` bytes in a run that has `*capacity` (0: there is none yet), of which `len` are used and come along.
 * It doubles, so that what is gathered in pieces is copied once or twice. Return: the run; NULL when memory is out. */
char *eddyi_arena_grow(struct eddyi_arena *arena, char *bytes, size_t len, size_t *capacity,
		       size_t need);

/* Copy `str` into the arena with a NUL behind it. Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_arena_dup(struct eddyi_arena *arena, struct eddy_str str);

/* Format into the arena. Return: .ptr NULL when memory is out. */
EDDY_PRINTF(2, 3)
struct eddy_str eddyi_arena_printf(struct eddyi_arena *arena, const char *format, ...);

EDDY_PRINTF(2, 0)
struct eddy_str eddyi_arena_vprintf(struct eddyi_arena *arena, const char *format, va_list args);

#endif
