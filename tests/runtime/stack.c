#include "expect.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/stack.h"

#define SIZE (64 * EDDY_KIB)

static int probe[2];

static void probe_init(void)
{
	cr_assert_eq(pipe(probe), 0);
}

/* Whether the byte can be read: the kernel looks, so that nothing here faults. */
static bool readable(const void *address)
{
	char byte;

	if (write(probe[1], address, 1) != 1)
		return false;
	return read(probe[0], &byte, 1) == 1;
}

Test(stack, has_its_size_and_a_guard, .init = probe_init)
{
	struct eddyi_stacks stacks;
	char *low;

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind reports the bytes that are tried");
	eddyi_stacks_init(&stacks, SIZE - 100);
	cr_expect_eq(stacks.size, SIZE, "rounded up to pages");
	for (int i = 0; i < 5; i++) {
		low = eddyi_stacks_take(&stacks);
		cr_assert(low);
		memset(low, 0x5a, SIZE);
		cr_expect(readable(low));
		cr_expect(!readable(low - 1));
		cr_expect(!readable(low - 38 * EDDY_KIB), "a frame without probes lands here");
		cr_expect(!readable(low - 64 * EDDY_KIB));
	}
	eddyi_stacks_deinit(&stacks);
	cr_expect(!readable(low));
}

static int maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	int lines = 0;

	for (int c; (c = getc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static bool kernel_has_guards(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r = madvise(page, 4096, 102);

	munmap(page, 4096);
	return r == 0;
}

Test(stack, thousands_need_few_mappings)
{
	struct eddyi_stacks stacks;
	int before;

	if (!kernel_has_guards())
		cr_skip_test("needs MADV_GUARD_INSTALL, Linux 6.13");
	eddyi_stacks_init(&stacks, 256 * EDDY_KIB);
	before = maps();
	for (int i = 0; i < 2000; i++)
		cr_assert(eddyi_stacks_take(&stacks));
	cr_expect_lt(maps() - before, 30);
	eddyi_stacks_deinit(&stacks);
	if (!EDDYI_TSAN)
		cr_expect_leq(maps() - before, 2, "all is unmapped");
}

/* A kernel before 6.13. */
static void forbid_guards(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

Test(stack, guard_is_made_by_mprotect_on_older_kernels, .init = probe_init)
{
	struct eddyi_stacks stacks;

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind reports the bytes that are tried");
	forbid_guards();
	cr_assert(!kernel_has_guards());
	eddyi_stacks_init(&stacks, SIZE);
	for (int i = 0; i < 5; i++) {
		char *low = eddyi_stacks_take(&stacks);

		cr_assert(low);
		memset(low, 0x5a, SIZE);
		cr_expect(!readable(low - 1));
		cr_expect(!readable(low - 64 * EDDY_KIB));
	}
	eddyi_stacks_deinit(&stacks);
}

Test(stack, guard_is_found_by_address)
{
	struct eddyi_stacks stacks;
	static char *lows[1000];
	void *stack;

	eddyi_stacks_init(&stacks, 256 * EDDY_KIB);
	for (int i = 0; i < 1000; i++)
		lows[i] = eddyi_stacks_take(&stacks);
	for (int i = 0; i < 1000; i++) {
		stack = NULL;
		cr_expect(eddyi_stacks_find_guard(&stacks, lows[i] - 1, &stack));
		cr_expect_eq(stack, lows[i]);
		stack = NULL;
		cr_expect(eddyi_stacks_find_guard(&stacks, lows[i] - 64 * EDDY_KIB, &stack));
		cr_expect_eq(stack, lows[i]);
		cr_expect(!eddyi_stacks_find_guard(&stacks, lows[i], &stack));
		cr_expect(!eddyi_stacks_find_guard(&stacks, lows[i] + stacks.size - 1, &stack));
	}
	cr_expect(!eddyi_stacks_find_guard(&stacks, NULL, &stack));
	cr_expect(!eddyi_stacks_find_guard(&stacks, &stacks, &stack));
	eddyi_stacks_deinit(&stacks);
	cr_expect(!eddyi_stacks_find_guard(&stacks, lows[0] - 1, &stack));
}

static size_t resident(char *low, size_t size)
{
	unsigned char pages[64];
	size_t count = 0;

	cr_assert_eq(mincore(low, size, pages), 0);
	for (size_t i = 0; i < size / 4096; i++)
		count += pages[i] & 1;
	return count;
}

Test(stack, gives_pages_back)
{
	struct eddyi_stacks stacks;
	char *low;

	eddyi_stacks_init(&stacks, SIZE);
	low = eddyi_stacks_take(&stacks);
	memset(low, 0x5a, SIZE);
	cr_expect_eq(resident(low, SIZE), SIZE / 4096);
	eddyi_stack_give_back(low, low + SIZE - 8192);
	cr_expect_eq(resident(low, SIZE), 2);
	cr_expect_eq(low[0], 0);
	cr_expect_eq(low[SIZE - 8193], 0);
	cr_expect_eq(low[SIZE - 8192], 0x5a);
	eddyi_stacks_deinit(&stacks);
}

Test(stack, no_memory_is_said)
{
	struct eddyi_stacks stacks;

	eddyi_stacks_init(&stacks, (size_t)1 << 60);
	cr_expect_null(eddyi_stacks_take(&stacks));
	eddyi_stacks_deinit(&stacks);
}
