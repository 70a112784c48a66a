/* timeline_writer.h: the thread that writes all tapes to the timeline's file. */
#ifndef EDDYI_TIMELINE_WRITER_H
#define EDDYI_TIMELINE_WRITER_H

#include "tape.h"

struct eddyi_timeline_settings {
	const char *path;
	unsigned sample;
	size_t buffer;
	uint64_t file_max;
};

/* Open the file and start the thread, for tapes of this generation. Return: 0, -errno. */
int eddyi_timeline_writer_start(const struct eddyi_timeline_settings *settings,
				unsigned generation);

/* Write the remaining marks and end the thread. */
void eddyi_timeline_writer_stop(void);

bool eddyi_timeline_writer_is_self(void);

uint64_t eddyi_timeline_writer_dropped(void);

/* Reset in a forked child, which has no such thread; the file is the parent's. */
void eddyi_timeline_writer_in_child(void);

#endif
