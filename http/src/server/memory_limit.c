#include "memory_limit.h"

#include <eddy/internal/outside.h>
#include <eddy/str.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Return: the file's text; "" if there is no file. */
static struct eddy_str read_file(const char *path, char *buf, size_t size)
{
	int fd = eddyi_open_now(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t len = fd < 0 ? 0 : eddyi_read_now(fd, buf, size);

	if (fd >= 0)
		eddyi_close_now(fd);
	return eddy_str(buf, len > 0 ? (size_t)len : 0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Get the lowest limit of a group and its visible ancestors; a container may see none. */
static uint64_t limit_of(const char *root, const char *tree, struct eddy_str group,
			 const char *file)
{
	uint64_t limit = UINT64_MAX, found;
	char path[PATH_MAX], text[32];
	struct eddy_str content, line;

	for (;;) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%.*s/%s", root, tree,
			 EDDY_FMT(group), file);
		content = read_file(path, text, sizeof(text));
		/* "max" is not a number. */
		if (eddy_str_split(&content, '\n', &line) && eddy_str_to_u64(line, &found) == 0)
			limit = least(limit, found);
		if (!group.len)
			return limit;
		while (group.len && group.ptr[group.len - 1] != '/')
			group.len--;
		if (group.len)
			group.len--;
	}
}

/* Parse a line of /proc/self/cgroup: "0::/group" of version 2, "7:memory:/group" of version 1. */
static uint64_t limit_by(const char *root, struct eddy_str line)
{
	struct eddy_str number, controllers, name;

	if (!eddy_str_split(&line, ':', &number) || !eddy_str_split(&line, ':', &controllers))
		return UINT64_MAX;
	if (!controllers.len)
		return limit_of(root, "", line, "memory.max");
	while (eddy_str_split(&controllers, ',', &name))
		if (eddy_str_eq_z(name, "memory"))
			return limit_of(root, "/memory", line, "memory.limit_in_bytes");
	return UINT64_MAX;
}

uint64_t eddyi_memory_limit(const char *root)
{
	uint64_t memory = (uint64_t)eddyi_sysconf_now(_SC_PHYS_PAGES) *
			  (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE);
	char path[PATH_MAX], text[4096];
	struct eddy_str lines, line;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	lines = read_file(path, text, sizeof(text));
	while (eddy_str_split(&lines, '\n', &line))
		memory = least(memory, limit_by(root, line));
	return memory;
}

uint64_t eddyi_memory_share(uint64_t memory)
{
	return memory / 4;
}

uint64_t eddyi_memory_connections(uint64_t memory, bool tls)
{
	uint64_t most = eddyi_memory_share(memory) / ((tls ? 288 : 64) * EDDY_KIB);

	return most ? most : 1;
}
