/* timeline_rig.h: a timeline in a folder of its own, and what stands in it: an event a line. */
#ifndef EDDY_TESTS_TIMELINE_RIG_H
#define EDDY_TESTS_TIMELINE_RIG_H

#include "capture.h"

#include <eddy/timeline.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A folder that is gone when the process ends. */
static char rig_folder[64];

static inline void rig_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", rig_folder);
	if (system(command) != 0)
		perror(command);
}

/* The path of a file of that name. */
static inline const char *rig_path(const char *name)
{
	static char path[4][128];
	static int count;
	char *now = path[count++ % 4];

	if (!rig_folder[0]) {
		snprintf(rig_folder, sizeof(rig_folder), "/tmp/eddy-timeline-XXXXXX");
		EXPECT(mkdtemp(rig_folder));
		atexit(rig_remove);
	}
	snprintf(now, sizeof(path[0]), "%.60s/%.60s", rig_folder, name);
	return now;
}

static inline const char *rig_file(void)
{
	return rig_path("out.json");
}

/* Take what stands in it: captured_lines() and EXPECT_LINE() look there. */
static inline void rig_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len;

	EXPECT(fd >= 0);
	if (fd < 0)
		return;
	capture_close(fd);
	len = strlen(captured);
	EXPECT(len > 0 && captured[len - 1] == '\n');
	EXPECT(eddy_str_starts(eddy_str_from(captured),
			       eddy_str_from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")));
}

/* The number behind `key` in the only line that matches the pattern; -1. */
static inline double rig_number(const char *pattern, const char *key)
{
	char *text = strdup(captured), *at = text, *line;
	double found = -1;
	regex_t regex;

	EXPECT_EQ(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	while ((line = strsep(&at, "\n"))) {
		const char *value = regexec(&regex, line, 0, NULL, 0) == 0 ? strstr(line, key) :
									     NULL;

		if (value)
			found = strtod(value + strlen(key), NULL);
	}
	regfree(&regex);
	free(text);
	return found;
}

/* The track of that name; -1. */
static inline int rig_track(const char *name)
{
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "thread_name.*\"name\":\"%s\"", name);
	return (int)rig_number(pattern, "\"tid\":");
}

/* How many events of a track there are of this phase that match. */
static inline int rig_events(int track, const char *phase, const char *pattern)
{
	char whole[300];

	snprintf(whole, sizeof(whole), "\"ph\":\"%s\",\"pid\":[0-9]+,\"tid\":%d,.*%s", phase, track,
		 pattern);
	return captured_lines(whole);
}

#endif
