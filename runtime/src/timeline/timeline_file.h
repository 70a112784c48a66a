/* timeline_file.h: a file of trace events that is whole JSON after every write, also where the disk is full. */
#ifndef EDDYI_TIMELINE_FILE_H
#define EDDYI_TIMELINE_FILE_H

#include <eddy/base.h>

/* What stands behind the events, and is always as long. */
#define EDDYI_TIMELINE_TAIL 256

struct eddyi_timeline_file {
	int fd;
	int error;        /* the first -errno of a write: nothing more is written */
	uint64_t size;    /* up to the last event */
	uint64_t max;     /* with the tail */
	uint64_t records; /* that are in the file */
	uint64_t dropped;
	unsigned sample;
	uint64_t began_ns; /* by the monotonic clock */
	bool is_recounted; /* since the tail was written */
};

/* Make or empty the file and write `first` into it, an event. "%p" in the path is the process's number.
 * Return: 0; -EBUSY when another one writes it; -ESPIPE; those of open(2) and write(2). */
int eddyi_timeline_file_open(struct eddyi_timeline_file *file, const char *path, uint64_t max,
			     unsigned sample, uint64_t began_ns, const char *first);

/* Close, where it is open. */
void eddyi_timeline_file_close(struct eddyi_timeline_file *file);

/* Write events that are so many records, each with a comma before it: all of them, or they are dropped.
 * Return: 0; -errno: the first failure, also that of an earlier call; -EFBIG at the end of what it may hold. */
int eddyi_timeline_file_append(struct eddyi_timeline_file *file, const char *events, size_t len,
			       uint64_t records);

/* How many bytes of events it still takes. */
uint64_t eddyi_timeline_file_room(const struct eddyi_timeline_file *file);

/* Count records that were dropped. */
void eddyi_timeline_file_drop(struct eddyi_timeline_file *file, uint64_t records);

/* Bring the counts in the file up to date. */
void eddyi_timeline_file_settle(struct eddyi_timeline_file *file);

#endif
