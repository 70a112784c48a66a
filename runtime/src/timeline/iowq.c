#include "iowq.h"

#include "timeline_json.h"

#include <dirent.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>
#include <eddy/loop.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Get a worker's owner, whose thread id is in its name. Return: 0 for other threads. */
static pid_t owner_of(const char *tid)
{
	char name[32];
	int owner;

	eddyi_proc_read(name, sizeof(name), "/proc/self/task/%.20s/comm", tid);
	if (sscanf(name, "iou-wrk-%d", &owner) != 1)
		return 0;
	return owner;
}

static void describe(struct eddyi_iowq_worker *worker, const char *tid, pid_t owner)
{
	uint64_t busy_ns, waited_ns, turns;
	char line[96];

	*worker = (struct eddyi_iowq_worker){
		.tid = (pid_t)strtol(tid, NULL, 10),
		.owner = owner,
	};
	/* Missing if the kernel does not keep these statistics. */
	eddyi_proc_read(line, sizeof(line), "/proc/self/task/%.20s/schedstat", tid);
	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &busy_ns, &waited_ns, &turns) != 3)
		return;
	worker->busy_ns = busy_ns;
	worker->turns = turns;
}

size_t eddyi_iowq_look(struct eddyi_iowq_worker *workers, size_t max)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return 0;
	while (count < max && (entry = readdir(dir))) {
		pid_t owner = entry->d_name[0] == '.' ? 0 : owner_of(entry->d_name);

		if (!owner)
			continue;
		if (workers)
			describe(&workers[count], entry->d_name, owner);
		count++;
	}
	closedir(dir);
	return count;
}

/* ---- changes ---- */

#define WORKERS_MAX 1024
#define GROUPS_MAX 64
/* Limits the time of looks, if there are many threads, to this fraction of all time. */
#define LOOK_SHARE 100

/* In a PID namespace, owners' numbers match no thread, so all workers are in one group. */
struct group {
	uint32_t group;
	struct figures {
		uint64_t workers;        /* current number */
		uint64_t turns, busy_ns; /* since the last look */
	} now, told;
};

/* Invariants:
 * 1. `seen` holds the workers of the last look. Differences are computed for each worker: the sum
 *    of a ring would shrink when a worker ends.
 * 2. A group is listed while it has workers, or its last reported values are not all 0.
 */
static struct {
	struct eddyi_iowq_worker seen[WORKERS_MAX], now[WORKERS_MAX];
	size_t count; /* of `seen` */
	struct group groups[GROUPS_MAX];
	size_t group_count;
	uint64_t look_ns; /* time of the next look */
} all;

void eddyi_iowq_reset(void)
{
	all.count = eddyi_iowq_look(all.seen, WORKERS_MAX);
	all.group_count = 0;
	all.look_ns = 0;
}

/* Return: NULL if the table is full. */
static struct group *group_at(uint32_t number)
{
	for (size_t i = 0; i < all.group_count; i++)
		if (all.groups[i].group == number)
			return &all.groups[i];
	if (all.group_count == GROUPS_MAX)
		return NULL;
	all.groups[all.group_count] = (struct group){ .group = number };
	return &all.groups[all.group_count++];
}

/* Return: the worker as of the last look; all 0 if it is new. */
static struct eddyi_iowq_worker before(const struct eddyi_iowq_worker *worker)
{
	for (size_t i = 0; i < all.count; i++) {
		const struct eddyi_iowq_worker *seen = &all.seen[i];

		/* Thread ids are reused: a new worker has smaller values. */
		if (seen->tid == worker->tid && seen->owner == worker->owner &&
		    seen->busy_ns <= worker->busy_ns && seen->turns <= worker->turns)
			return *seen;
	}
	return (struct eddyi_iowq_worker){ 0 };
}

static void add(struct figures *figures, const struct eddyi_iowq_worker *worker)
{
	struct eddyi_iowq_worker seen = before(worker);

	figures->workers++;
	figures->turns += worker->turns - seen.turns;
	figures->busy_ns += worker->busy_ns - seen.busy_ns;
}

static void tell(struct eddyi_text *text, uint32_t group, uint64_t now, const char *name,
		 const char *unit, uint64_t value, uint64_t told)
{
	/* A counter keeps its value until the next one, so a return to 0 is written, too. */
	if (value || told)
		eddyi_timeline_json_counter(text, group, now, name, unit, value);
}

static void tell_group(struct eddyi_text *text, struct group *group, uint64_t now)
{
	struct figures *is = &group->now, *was = &group->told;

	if (is->workers != was->workers)
		tell(text, group->group, now, "io-wq workers", "threads", is->workers,
		     was->workers);
	tell(text, group->group, now, "io-wq turns", "turns", is->turns, was->turns);
	tell(text, group->group, now, "io-wq busy", "us", is->busy_ns / EDDY_US,
	     was->busy_ns / EDDY_US);
	*was = *is;
	*is = (struct figures){ 0 };
}

void eddyi_iowq_tell(struct eddyi_text *text, uint32_t (*group_of)(pid_t owner))
{
	uint64_t began = eddyi_clock_seen();
	size_t count;

	if (began < all.look_ns)
		return;
	count = eddyi_iowq_look(all.now, WORKERS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct group *group = group_at(group_of(all.now[i].owner));

		if (group)
			add(&group->now, &all.now[i]);
	}
	memcpy(all.seen, all.now, count * sizeof(all.now[0]));
	all.count = count;
	for (size_t i = all.group_count; i-- > 0;) {
		struct figures *told = &all.groups[i].told;

		tell_group(text, &all.groups[i], began);
		if (!told->workers && !told->turns && !told->busy_ns)
			all.groups[i] = all.groups[--all.group_count];
	}
	all.look_ns = began + LOOK_SHARE * (eddyi_clock_seen() - began);
}
