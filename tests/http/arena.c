/* Tests of arena.h. */
#include "text/arena.h"

#include "../on_asan.h"
#include "../on_tsan.h"
#include "../on_valgrind.h"
#include "../runtime/debug.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <malloc.h>
#include <stdalign.h>

Test(arena, gives_out_what_is_asked_for)
{
	struct eddyi_arena arena = { 0 };
	char *last = NULL;

	for (size_t size = 0; size < 10000; size = size * 3 / 2 + 1) {
		char *memory = eddyi_arena_alloc(&arena, size);

		cr_assert(memory != NULL && memory != last);
		cr_expect(zero(sz, (uintptr_t)memory % alignof(max_align_t)), "%zu bytes", size);
		memset(memory, 'x', size);
		last = memory;
	}
	cr_expect(eddyi_arena_alloc(&arena, SIZE_MAX) == NULL);
	cr_expect(eddyi_arena_alloc(&arena, PTRDIFF_MAX) == NULL);
	eddyi_arena_deinit(&arena);
	cr_expect(arena.block == NULL && arena.at == NULL);
	eddyi_arena_trim();
}

Test(arena, copies_and_formats)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_str copy = eddyi_arena_dup(&arena, EDDY_STR("ab\0c")), empty, text;

	cr_expect(copy.len == 4 && memcmp(copy.ptr, "ab\0c", 5) == 0);
	empty = eddyi_arena_dup(&arena, eddy_str(NULL, 0));
	cr_expect(empty.ptr != NULL && empty.len == 0 && *empty.ptr == 0);
	text = eddyi_arena_printf(&arena, "%d-%s", 42, "x");
	cr_expect(text.len == 4 && strcmp(text.ptr, "42-x") == 0);
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

Test(arena, grows_a_run)
{
	struct eddyi_arena arena = { 0 };
	size_t capacity = 0, len = 0;
	char *bytes = NULL;

	for (int i = 0; i < 5000; i++) {
		char *before = bytes;
		size_t room = capacity;

		bytes = eddyi_arena_grow(&arena, bytes, len, &capacity, len + 1);
		cr_assert(bytes != NULL && capacity > len);
		if (before && len < room)
			cr_assert(bytes == before && capacity == room);
		bytes[len++] = (char)i;
	}
	cr_expect(eq(sz, capacity, 8192));
	for (int i = 0; i < 5000; i++)
		cr_assert(bytes[i] == (char)i);
	cr_expect(eddyi_arena_grow(&arena, bytes, len, &capacity, ((size_t)1 << 62) + 1) == NULL);
	cr_expect(eq(sz, capacity, 8192));
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

Test(arena, blocks_are_used_again)
{
#if RUNNING_ON_ASAN
	cr_skip_test("under AddressSanitizer they are not");
#endif
	struct eddyi_arena arena = { 0 };
	void *first = eddyi_arena_alloc(&arena, 100), *large;

	eddyi_arena_deinit(&arena);
	cr_expect(eddyi_arena_alloc(&arena, 100) == first);
	eddyi_arena_deinit(&arena);
	/* Those of the other size, with room for a small file, have a list of their own. */
	large = eddyi_arena_alloc(&arena, 9000);
	eddyi_arena_deinit(&arena);
	cr_expect(eddyi_arena_alloc(&arena, 100) == first);
	cr_expect(eddyi_arena_alloc(&arena, 9001) == large);
	memset(large, 'x', 9001);
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

Test(arena, formats_texts_of_any_length)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_str text;
	char want[600];

	for (int len = 0; len < (int)sizeof(want); len++) {
		memset(want, '-', (size_t)len);
		want[len] = 0;
		text = eddyi_arena_printf(&arena, "%s", want);
		cr_assert(eq(sz, text.len, (size_t)len));
		cr_assert(eq(str, (char *)text.ptr, want));
	}
	text = eddyi_arena_printf(&arena, "plain");
	cr_expect(eq(str, (char *)text.ptr, "plain"));
	text = eddyi_arena_printf(&arena, "100%%");
	cr_expect(eq(str, (char *)text.ptr, "100%"));
	eddyi_arena_deinit(&arena);
}

/* What would otherwise lie in the middle of a block: the end of a head, a request that has been answered. */
Test(arena, sanitizer_sees_who_goes_too_far)
{
#if RUNNING_ON_ASAN
	struct eddyi_arena arena = { 0 };
	char *one = eddyi_arena_alloc(&arena, 13), *two = eddyi_arena_alloc(&arena, 1);

	cr_expect(zero(ptr, __asan_region_is_poisoned(one, 13)));
	cr_expect(zero(int, __asan_address_is_poisoned(two)));
	cr_expect(__asan_address_is_poisoned(one + 13));
	cr_expect(__asan_address_is_poisoned(two + 1));
	eddyi_arena_deinit(&arena);
	cr_expect(__asan_address_is_poisoned(one) && __asan_address_is_poisoned(two));
#else
	cr_skip_test("needs AddressSanitizer");
#endif
}

/* With EDDY_DEBUG: what was freed is filled, and comes back late, and not all of it is kept. */
Test(arena, freed_memory_is_filled_and_rests)
{
	struct eddyi_arena arena = { 0 };
	char *freed[3], *memory;

	if (RUNNING_ON_ASAN)
		cr_skip_test("AddressSanitizer finds late uses itself");
	debug_begin();
	for (int i = 0; i < 3; i++) {
		freed[i] = eddyi_arena_alloc(&arena, 100 << (4 * i));
		memset(freed[i], 'x', 100 << (4 * i));
		eddyi_arena_deinit(&arena);
	}
	for (int i = 0; i < 20; i++) {
		memory = eddyi_arena_alloc(&arena, 100);
		for (int j = 0; j < 3; j++)
			cr_assert(ne(ptr, memory, freed[j]));
		eddyi_arena_deinit(&arena);
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 100 << (4 * i); j++)
			cr_assert(eq(u8, (unsigned char)freed[i][j], 0xdd));
	eddyi_arena_trim();
}

static void free_blocks(unsigned count, size_t size)
{
	struct eddyi_arena arena = { 0 };

	for (unsigned i = 0; i < count; i++) {
		cr_assert(eddyi_arena_alloc(&arena, size) != NULL);
		eddyi_arena_deinit(&arena);
	}
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

Test(arena, freed_memory_does_not_rest_for_ever)
{
	size_t before = allocated();

	if (RUNNING_ON_ASAN)
		cr_skip_test("AddressSanitizer finds late uses itself");
	if (RUNNING_ON_VALGRIND || RUNNING_ON_TSAN)
		cr_skip_test("this mallinfo2() counts nothing");
	debug_begin();
	free_blocks(64, EDDY_MIB / 2);
	cr_expect(gt(sz, allocated(), before + 3 * EDDY_MIB));
	cr_expect(lt(sz, allocated(), before + 5 * EDDY_MIB));
	/* Large ones do not rest at all. */
	free_blocks(1, 16 * EDDY_MIB);
	cr_expect(lt(sz, allocated(), before + 5 * EDDY_MIB));
}
