/* timeline_rig.h: a timeline in a folder of its own, and what stands in it: an event a line. */
#ifndef EDDY_TESTS_TIMELINE_RIG_H
#define EDDY_TESTS_TIMELINE_RIG_H

#include "capture.h"

#include <eddy/log.h>
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

/* The last record of the timeline's, and how many there were. */
static char rig_said[500];
static int rig_said_times;

/* A subscriber of eddy/log.h that keeps them. */
static inline void rig_listen(const struct eddy_record *record, void *arg)
{
	(void)arg;
	if (strcmp(record->target, "eddy::timeline") != 0)
		return;
	rig_said_times++;
	snprintf(rig_said, sizeof(rig_said), "%s: %.*s", eddy_log_level_name(record->level),
		 EDDY_FMT(record->message));
}

#define RIG_EVENTS_MAX 4000

static struct rig_event {
	char phase;
	bool is_name; /* of its track */
	int group, track;
	double begin_us, end_us;
	unsigned long long id;
} rig_all[RIG_EVENTS_MAX];

static inline double rig_after(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Return: how many there are in what was captured. */
static inline int rig_parse(void)
{
	char *text = strdup(captured), *at = text, *line;
	int count = 0;

	while ((line = strsep(&at, "\n")) && count < RIG_EVENTS_MAX) {
		struct rig_event *event = &rig_all[count];
		const char *id = strstr(line, "\"id\":\"");

		*event = (struct rig_event){ 0 };
		if (sscanf(line, "{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", &event->phase,
			   &event->group, &event->track) != 3)
			continue;
		event->is_name = strstr(line, "\"name\":\"thread_name\"");
		event->begin_us = rig_after(line, "\"ts\":");
		event->end_us = event->begin_us + rig_after(line, "\"dur\":");
		event->id = id ? strtoull(id + strlen("\"id\":\""), NULL, 16) : 0;
		count++;
	}
	free(text);
	return count;
}

/* How many others there are of that phase and id, not before it in time. */
static inline int rig_pairs(const struct rig_event *event, int count, char phase)
{
	int found = 0;

	for (int i = 0; i < count; i++)
		found += rig_all[i].phase == phase && rig_all[i].id == event->id &&
			 (phase == 'b' || phase == 's' ? rig_all[i].begin_us <= event->begin_us :
							 rig_all[i].begin_us >= event->begin_us);
	return found;
}

/* What comes before it on its track is over. */
static inline void rig_check_track(const struct rig_event *event)
{
	const struct rig_event *before = NULL;

	for (const struct rig_event *other = rig_all; other < event; other++)
		if (other->phase == 'X' && other->group == event->group &&
		    other->track == event->track)
			before = other;
	/* A double has that many digits. */
	if (before && before->end_us > event->begin_us + 0.0005)
		expect_note(__LINE__, "a slice begins inside another, of track", event->track);
}

static inline void rig_check_name(const struct rig_event *event, int count)
{
	for (int i = 0; i < count; i++)
		if (rig_all[i].is_name && rig_all[i].group == event->group &&
		    rig_all[i].track == event->track)
			return;
	expect_note(__LINE__, "no name of track", event->track);
}

/* Each begin has one end, each arrow both of its own, each track a name, and its slices stand in their order. */
static inline void rig_check(void)
{
	static const char pairs[][2] = { { 'b', 'e' }, { 'e', 'b' }, { 's', 'f' }, { 'f', 's' } };
	int count = rig_parse();

	for (const struct rig_event *event = rig_all; event < rig_all + count; event++) {
		for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
			if (event->phase == pairs[i][0])
				EXPECT_EQ(rig_pairs(event, count, pairs[i][1]), 1);
		if (event->phase == 'X')
			rig_check_track(event);
		if (strchr("Xbesf", event->phase))
			rig_check_name(event, count);
	}
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
	EXPECT(len > 3 && strcmp(captured + len - 3, "}}\n") == 0);
	EXPECT(eddy_str_starts(eddy_str_from(captured),
			       eddy_str_from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")));
	/* Where something was dropped it may have been a name. */
	if (rig_number("otherData", "\"dropped\":") == 0)
		rig_check();
}

static inline void rig_start(void)
{
	EXPECT_EQ(eddy_trace_start(&(struct eddy_trace_options){ .path = rig_file() }), 0);
}

/* Stop, and read what was recorded: all of it. */
static inline void rig_stop(void)
{
	eddy_trace_stop();
	EXPECT_EQ(eddy_trace_dropped(), 0);
	rig_read(rig_file());
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
