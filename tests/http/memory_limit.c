/* Tests of http/src/server/memory_limit.h: with files of control groups that are made up. */
#include "server/memory_limit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char root[] = "/tmp/eddy-memory-XXXXXX";

/* `path` is below the root. */
static void write_file(const char *path, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s && mkdir -p $(dirname %s) && echo '%s' >%s", root,
		 path, text, path);
	cr_assert(zero(int, system(command)));
}

static void init(void)
{
	cr_assert(ne(ptr, mkdtemp(root), NULL));
}

static void fini(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_expect(zero(int, system(command)));
}

TestSuite(memory_limit, .init = init, .fini = fini);

static uint64_t machine(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

Test(memory_limit, no_group)
{
	cr_expect(eq(u64, eddyi_memory_limit(root), machine()));
	write_file("proc/self/cgroup", "0::/a/b");
	cr_expect(eq(u64, eddyi_memory_limit(root), machine()));
	write_file("sys/fs/cgroup/a/b/memory.max", "max");
	cr_expect(eq(u64, eddyi_memory_limit(root), machine()));
}

Test(memory_limit, version_2)
{
	write_file("proc/self/cgroup", "0::/a/b");
	write_file("sys/fs/cgroup/a/b/memory.max", "67108864");
	cr_expect(eq(u64, eddyi_memory_limit(root), 64 * EDDY_MIB));
	/* Of one above it. */
	write_file("sys/fs/cgroup/a/memory.max", "33554432");
	cr_expect(eq(u64, eddyi_memory_limit(root), 32 * EDDY_MIB));
	/* In a container its own group is the root. */
	write_file("proc/self/cgroup", "0::/not/to/be/seen");
	write_file("sys/fs/cgroup/memory.max", "16777216");
	cr_expect(eq(u64, eddyi_memory_limit(root), 16 * EDDY_MIB));
}

Test(memory_limit, version_1)
{
	write_file("proc/self/cgroup", "5:cpu,memory:/a/b");
	write_file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "67108864");
	cr_expect(eq(u64, eddyi_memory_limit(root), 64 * EDDY_MIB));
	write_file("proc/self/cgroup", "5:cpu:/a/b");
	cr_expect(eq(u64, eddyi_memory_limit(root), machine()));
}

Test(memory_limit, shares)
{
	cr_expect(eq(u64, eddyi_memory_connections(EDDY_GIB, false), 4096));
	cr_expect(eq(u64, eddyi_memory_connections(EDDY_GIB, true), 910));
	cr_expect(eq(u64, eddyi_memory_connections(1000, true), 1));
	cr_expect(eq(u64, eddyi_memory_share(EDDY_GIB), 256 * EDDY_MIB));
}
