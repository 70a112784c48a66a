#include "iowq.h"

#include "timeline_json.h"

#include <dirent.h>
#include <eddy/loop.h>
#include <inttypes.h>
#include <stdio.h>

static bool read_line(const char *tid, const char *what, char *line, int size)
{
	char path[64];
	FILE *file;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/%s", tid, what);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(line, size, file);
	fclose(file);
	return is_read;
}

/* Workers are called after the thread that made the ring. Return: 0 for any other thread. */
static pid_t owner_of(const char *tid)
{
	char name[32];
	int owner;

	if (!read_line(tid, "comm", name, sizeof(name)) || sscanf(name, "iou-wrk-%d", &owner) != 1)
		return 0;
	return owner;
}

/* Return: the ring of that owner; NULL when there is no room for one more. */
static struct eddyi_iowq *ring_of(struct eddyi_iowq *rings, size_t max, size_t *count, pid_t owner)
{
	for (size_t i = 0; i < *count; i++)
		if (rings[i].owner == owner)
			return &rings[i];
	if (*count == max)
		return NULL;
	rings[*count] = (struct eddyi_iowq){ .owner = owner };
	return &rings[(*count)++];
}

static void add(struct eddyi_iowq *ring, const char *tid)
{
	uint64_t busy_ns, waited_ns, turns;
	char line[96];

	ring->workers++;
	/* Absent in kernels that keep no such account. */
	if (!read_line(tid, "schedstat", line, sizeof(line)) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &busy_ns, &waited_ns, &turns) != 3)
		return;
	ring->busy_ns += busy_ns;
	ring->turns += turns;
}

size_t eddyi_iowq_look(struct eddyi_iowq *rings, size_t max)
{
	DIR *dir = opendir("/proc/self/task");
	struct eddyi_iowq *ring;
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		pid_t owner = entry->d_name[0] == '.' ? 0 : owner_of(entry->d_name);

		if (owner && (ring = ring_of(rings, max, &count, owner)))
			add(ring, entry->d_name);
	}
	closedir(dir);
	return count;
}

/* ---- what has changed ---- */

#define RINGS_MAX 64
/* A look takes its time where there are many threads: this part of all time at most. */
#define LOOK_SHARE 100

static struct {
	struct {
		uint32_t group;
		struct eddyi_iowq iowq;
	} seen[RINGS_MAX];
	size_t count;
	uint64_t look_ns; /* when to look again */
} told;

void eddyi_iowq_reset(void)
{
	told.count = 0;
	told.look_ns = 0;
}

/* Return: what was seen of that group; NULL when there is no room for one more. */
static struct eddyi_iowq *seen_of(uint32_t group)
{
	for (size_t i = 0; i < told.count; i++)
		if (told.seen[i].group == group)
			return &told.seen[i].iowq;
	if (told.count == RINGS_MAX)
		return NULL;
	told.seen[told.count].group = group;
	told.seen[told.count].iowq = (struct eddyi_iowq){ 0 };
	return &told.seen[told.count++].iowq;
}

/* A worker that has ended takes its sums with it. */
static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void tell(struct eddyi_text *text, uint32_t group, const struct eddyi_iowq *before,
		 const struct eddyi_iowq *iowq, uint64_t now)
{
	if (iowq->workers != before->workers)
		eddyi_timeline_json_counter(text, group, now, "io-wq workers", "threads",
					    iowq->workers);
	if (iowq->turns == before->turns)
		return;
	eddyi_timeline_json_counter(text, group, now, "io-wq turns", "turns",
				    grown(before->turns, iowq->turns));
	eddyi_timeline_json_counter(text, group, now, "io-wq busy", "us",
				    grown(before->busy_ns, iowq->busy_ns) / EDDY_US);
}

void eddyi_iowq_tell(struct eddyi_text *text, uint32_t (*group_of)(pid_t owner))
{
	struct eddyi_iowq rings[RINGS_MAX];
	uint64_t began = eddy_now();
	size_t count;

	if (began < told.look_ns)
		return;
	count = eddyi_iowq_look(rings, RINGS_MAX);
	for (size_t i = 0; i < count; i++) {
		uint32_t group = group_of(rings[i].owner);
		struct eddyi_iowq *seen = seen_of(group);

		if (!seen)
			continue;
		tell(text, group, seen, &rings[i], began);
		*seen = rings[i];
	}
	told.look_ns = began + LOOK_SHARE * (eddy_now() - began);
}
