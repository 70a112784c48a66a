#include "timeline_rig.h"

#include <eddy/io.h>
#include <eddy/log.h>
#include <sys/resource.h>

static void many_turns(int count)
{
	while (count--)
		eddy_sleep(0);
}

TASK_TEST(timeline_file, has_an_end)
{
	const struct eddy_trace_options options = { .path = rig_file(), .file_max = 64 * EDDY_KIB };
	struct stat stat_of;

	EXPECT_EQ(eddy_trace_start(&options), 0);
	many_turns(1000);
	eddy_trace_stop();
	EXPECT(eddy_trace_dropped() > 100);
	EXPECT_EQ(stat(rig_file(), &stat_of), 0);
	EXPECT(stat_of.st_size <= 64 * (off_t)EDDY_KIB);
	EXPECT(stat_of.st_size > 60 * (off_t)EDDY_KIB);
	rig_read(rig_file());
	EXPECT(rig_number("otherData", "\"dropped\":") == (double)eddy_trace_dropped());
	return 0;
}

/* What a full disk is as well: a write that does not get all of its bytes. */
TASK_TEST(timeline_file, a_full_disk_is_told_once_and_the_file_stays_whole)
{
	struct rlimit limit = { 100 * EDDY_KIB, RLIM_INFINITY };

	EXPECT_EQ(eddy_log_subscribe(rig_listen, NULL), 0);
	rig_start();
	EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	many_turns(1000);
	eddy_trace_stop();
	limit.rlim_cur = RLIM_INFINITY;
	EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	eddy_log_unsubscribe();
	EXPECT(eddy_trace_dropped() > 100);
	EXPECT(strstr(rig_said, "WARN: the timeline ends here") &&
	       strstr(rig_said, "File too large"));
	EXPECT_EQ(rig_said_times, 1);
	rig_read(rig_file());
	EXPECT_LINE("^\\],\"otherData\":");
	EXPECT(rig_number("otherData", "\"dropped\":") == (double)eddy_trace_dropped());
	EXPECT(rig_number("otherData", "\"records\":") > 10);
	return 0;
}
