/* timeline_file.h: a file of trace events that is complete JSON after each write or failure. */
#ifndef EDDYI_TIMELINE_FILE_H
#define EDDYI_TIMELINE_FILE_H

#include <eddy/base.h>

/* Fixed size of the text after the events. */
#define EDDYI_TIMELINE_TAIL 256

struct eddyi_timeline_file {
	int fd;
	int error;        /* -errno of the first failed write; then writing stops */
	uint64_t size;    /* up to the last event */
	uint64_t max;     /* including the tail */
	uint64_t records; /* in the file */
	uint64_t dropped;
	unsigned sample;
	uint64_t began_ns; /* on the monotonic clock */
	bool is_recounted; /* the counts changed since the tail was written */
};

/* Create or truncate the file and write `first`, an event. "%p" in the path becomes the process id.
 * Return: 0; -EBUSY if another process writes it; -ESPIPE; errors of open(2) and write(2). */
int eddyi_timeline_file_open(struct eddyi_timeline_file *file, const char *path, uint64_t max,
			     unsigned sample, uint64_t began_ns, const char *first);

/* Close the file if it is open. */
void eddyi_timeline_file_close(struct eddyi_timeline_file *file);

/* Append all events for `records` records, each after a comma, or drop them all.
 * Return: 0; -errno of the first failure, also of an earlier call; -EFBIG if it is full. */
int eddyi_timeline_file_append(struct eddyi_timeline_file *file, const char *events, size_t len,
			       uint64_t records);

/* Get the remaining bytes for events. */
uint64_t eddyi_timeline_file_room(const struct eddyi_timeline_file *file);

void eddyi_timeline_file_drop(struct eddyi_timeline_file *file, uint64_t records);

/* Update the counts in the file. */
void eddyi_timeline_file_settle(struct eddyi_timeline_file *file);

#endif
