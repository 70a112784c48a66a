/* How a timeline is asked for, and what it says when it can't be had. */
#include "../on_tsan.h"
#include "timeline_rig.h"

#include "failing.h"

#include <eddy/log.h>
#include <sys/file.h>
#include <sys/wait.h>

static int nothing(__attribute__((unused)) void *arg)
{
	return 0;
}

Test(timeline_start, says_what_is_wrong_with_its_options)
{
	struct eddy_trace_options options = { .path = rig_file(), .sample = 1000001 };
	char long_path[5000];
	int fd;

	cr_expect_eq(eddy_trace_start(&options), -EINVAL);
	options = (struct eddy_trace_options){ .path = rig_file(), .buffer = 1000 };
	cr_expect_eq(eddy_trace_start(&options), -EINVAL);
	options = (struct eddy_trace_options){ .path = rig_file(), .file_max = 1000 };
	cr_expect_eq(eddy_trace_start(&options), -EINVAL);
	options = (struct eddy_trace_options){ .path = rig_path("none/there") };
	cr_expect_eq(eddy_trace_start(&options), -ENOENT);
	options.path = rig_folder;
	cr_expect_eq(eddy_trace_start(&options), -EISDIR);
	memset(long_path, 'x', sizeof(long_path));
	long_path[sizeof(long_path) - 1] = '\0';
	options.path = long_path;
	cr_expect_eq(eddy_trace_start(&options), -ENAMETOOLONG);
	options.path = "/dev/full";
	cr_expect_eq(eddy_trace_start(&options), -ENOSPC);
	options.path = rig_path("fifo");
	cr_assert_eq(mkfifo(options.path, 0600), 0);
	cr_expect_eq(eddy_trace_start(&options), -ENXIO);
	fd = open(options.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_expect_eq(eddy_trace_start(&options), -ESPIPE);
	close(fd);
	/* Another one writes it; nothing of its is lost. */
	options.path = rig_file();
	fd = open(options.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(write(fd, "mine", 4), 4);
	cr_expect_eq(eddy_trace_start(&options), -EBUSY);
	cr_expect_eq(lseek(fd, 0, SEEK_END), 4);
	close(fd);
	cr_expect_eq(eddy_trace_start(&options), 0);
	cr_expect_eq(eddy_trace_start(&options), -EBUSY);
	eddy_trace_stop();
	eddy_trace_stop();
}

/* Each allocation of a start fails in its turn, and the thread. */
Test(timeline_start, starts_or_says_why)
{
	struct eddy_trace_options options = { .path = rig_file() };
	int failures = 0, r = -1, before;

	rig_path("");
	before = open_descriptors();
	for (int at = 1; at < 20; at++) {
		failing_at = at;
		r = eddy_trace_start(&options);
		if (failing_at)
			break;
		cr_expect(r == -ENOMEM || r == -EAGAIN, "%d: %d", at, r);
		cr_expect_eq(open_descriptors(), before, "%d", at);
		cr_expect(!eddy_trace_is_on());
		failures++;
	}
	failing_at = 0;
	cr_expect_eq(r, 0);
	cr_expect_geq(failures, 3);
	eddy_trace_stop();
}

Test(timeline_start, the_environment_asks_for_it)
{
	char name[64];

	cr_assert_eq(eddy_log_subscribe(rig_listen, NULL), 0);
	setenv("EDDY_TRACE", rig_path("of-%p.json"), 1);
	expect_run(NULL, nothing, NULL);
	eddy_log_unsubscribe();
	cr_expect(strstr(rig_said, "INFO: recording a timeline to "), "%s", rig_said);
	cr_expect(eddy_trace_is_on());
	snprintf(name, sizeof(name), "of-%d.json", (int)getpid());
	rig_read(rig_path(name));
	EXPECT_LINE("thread_name.*main");
	/* A later loop is in it as well. */
	expect_run(NULL, nothing, NULL);
	rig_read(rig_path(name));
	EXPECT_EQ(captured_lines("thread_name.*main"), 2);
	expect_report();
}

/* The program goes on without. */
static void refused_by(const char *name, const char *value, const char *why)
{
	cr_assert_eq(eddy_log_subscribe(rig_listen, NULL), 0);
	setenv("EDDY_TRACE", rig_file(), 1);
	setenv(name, value, 1);
	expect_run(NULL, nothing, NULL);
	cr_expect(strstr(rig_said, why), "%s", rig_said);
	cr_expect(strncmp(rig_said, "ERROR: ", 7) == 0, "%s", rig_said);
	cr_expect(!eddy_trace_is_on());
	eddy_log_unsubscribe();
}

Test(timeline_start, a_path_that_is_none_is_told)
{
	refused_by("EDDY_TRACE", rig_path("none/there"), "/none/there: No such file");
}

Test(timeline_start, a_sample_that_is_none_is_told)
{
	refused_by("EDDY_TRACE_SAMPLE", "0",
		   "EDDY_TRACE_SAMPLE=\"0\": expected a number from 1 to 1000000");
}

Test(timeline_start, a_size_that_is_none_is_told)
{
	refused_by("EDDY_TRACE_MAX", "1M", "EDDY_TRACE_MAX=\"1M\"");
}

Test(timeline_start, an_empty_variable_asks_for_nothing)
{
	setenv("EDDY_TRACE", "", 1);
	setenv("EDDY_TRACE_SAMPLE", "nonsense", 1);
	expect_run(NULL, nothing, NULL);
	cr_expect(!eddy_trace_is_on());
}

/* It has no thread that writes, and the file is its parent's. */
Test(timeline_start, a_forked_child_has_none)
{
	int status = 0;
	pid_t child;

	need_threads_in_a_child();
	rig_start();
	expect_run(NULL, nothing, NULL);
	child = fork();
	if (child == 0) {
		alarm(20);
		if (eddy_trace_is_on() || eddy_run(NULL, nothing, NULL) != 0)
			_exit(1);
		_exit(eddy_trace_start(
			      &(struct eddy_trace_options){ .path = rig_path("child.json") }) < 0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
	expect_run(NULL, nothing, NULL);
	rig_stop();
	EXPECT_EQ(captured_lines("thread_name.*main"), 2);
	expect_report();
}
