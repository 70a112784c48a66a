/* Tests of http/src/files/open_files.h: how many files are kept, for how long, and what they make room for. */
#include "files/incoming.h"
#include "kept.h"

#include "../on_valgrind.h"
#include "../runtime/failing.h"

#include <sys/resource.h>

static int wait_for_the_end(struct rig *rig)
{
	int before = open_descriptors();
	struct eddyi_found found;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0 && kept(rig, "b"));
	MUST(open_descriptors() == before + 2);
	while (open_descriptors() > before + 1)
		MUST(eddy_sleep(EDDY_MS) == 0);
	/* Not what is being sent. */
	MUST(fcntl(found.file.fd, F_GETFD) >= 0 && eddyi_open_file_of(&found.file)->refs == 1);
	eddyi_outgoing_close(&found.file);
	MUST(open_descriptors() == before);
	return 0;
}

Test(open_files_limits, are_closed_in_time)
{
	run_with(wait_for_the_end,
		 &(struct eddy_server_options){ .open_files_valid_ns = 10 * EDDY_MS });
}

/* Whether somebody beside the caller has it. */
static bool is_shared(const struct eddyi_found *found)
{
	return eddyi_open_file_of(&found->file)->refs > 1;
}

static int have_many(struct rig *rig)
{
	int before = open_descriptors();
	struct eddyi_found a, b, c, d;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &a) == 0);
	MUST(find_as(rig, "b", EDDY_CODING_IDENTITY, &b) == 0);
	MUST(kept(rig, "a") == eddyi_open_file_of(&a.file));
	MUST(find_as(rig, "c", EDDY_CODING_IDENTITY, &c) == 0);
	MUST(is_shared(&a) && !is_shared(&b) && is_shared(&c));
	MUST(find_as(rig, "d", EDDY_CODING_IDENTITY, &d) == 0);
	MUST(!is_shared(&a) && is_shared(&c) && is_shared(&d));
	MUST(open_descriptors() == before + 4);
	eddyi_outgoing_close(&a.file);
	eddyi_outgoing_close(&b.file);
	eddyi_outgoing_close(&c.file);
	eddyi_outgoing_close(&d.file);
	MUST(open_descriptors() == before + 2);
	return 0;
}

Test(open_files_limits, who_was_asked_for_last_stays)
{
	run_with(have_many, &(struct eddy_server_options){
				    .open_files_max = 2,
				    .open_files_valid_ns = EDDY_NEVER,
			    });
}

static void limit_descriptors(rlim_t count)
{
	struct rlimit limit;

	cr_assert(zero(int, getrlimit(RLIMIT_NOFILE, &limit)));
	limit.rlim_cur = count;
	cr_assert(zero(int, setrlimit(RLIMIT_NOFILE, &limit)));
}

static int have_a_share(struct rig *rig)
{
	int before = open_descriptors();
	char name[16];

	limit_descriptors(64);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		MUST(linkat(rig->dir, "a", rig->dir, name, 0) == 0);
	}
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		soon_kept(rig, name);
	}
	MUST(open_descriptors() == before + 64 / 8 / 2);
	return 0;
}

Test(open_files_limits, loops_share_an_eighth_of_the_descriptors)
{
	run_with(have_a_share, &(struct eddy_server_options){
				       .workers = 2,
				       .open_files_valid_ns = EDDY_NEVER,
			       });
}

static int run_out(struct rig *rig)
{
	int fds[1024], count = 0;
	const struct eddyi_open_file *b;
	struct eddyi_found found;
	int r, closed;

	MUST(kept(rig, "a"));
	limit_descriptors(256);
	while ((fds[count] = fcntl(rig->dir, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	b = kept(rig, "b");
	MUST(b);
	/* a has been let go of, and there is nothing else. */
	MUST(find_as(rig, "b", EDDY_CODING_IDENTITY, &found) == 0);
	r = find_as(rig, "c", EDDY_CODING_IDENTITY, &(struct eddyi_found){ 0 });
	closed = fcntl(found.file.fd, F_GETFD) < 0;
	eddyi_outgoing_close(&found.file);
	while (count)
		close(fds[--count]);
	MUST(r == -EMFILE && !closed);
	MUST(kept(rig, "c"));
	return 0;
}

Test(open_files_limits, go_first_where_descriptors_run_out)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind keeps the limit of descriptors to itself");
	run(run_out);
}

/* An upload takes what was kept, as a download does: on the loop's thread, and through the ring. */
static int make_way(struct rig *rig, int dir)
{
	int fds[1024], count = 0, first, second;
	struct eddyi_incoming incoming, more;
	bool kept_none;

	MUST(kept(rig, "a"));
	limit_descriptors(256);
	while ((fds[count] = fcntl(rig->dir, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	first = eddyi_incoming_open(&incoming, dir, NULL, 4, 4, NULL);
	kept_none = !eddyi_open_files_drop();
	second = eddyi_incoming_open(&more, dir, NULL, 4, 4, NULL);
	while (count)
		close(fds[--count]);
	MUST(first == 0 && kept_none && second == -EMFILE && more.fd < 0);
	MUST(eddyi_incoming_write(&incoming, "text", 4) == 0);
	eddyi_incoming_close(&incoming);
	return 0;
}

static int upload(struct rig *rig)
{
	return make_way(rig, rig->dir);
}

static int upload_to_memory(struct rig *rig)
{
	int dir = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	r = make_way(rig, dir);
	close(dir);
	return r;
}

Test(open_files_limits, make_way_for_an_upload)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind keeps the limit of descriptors to itself");
	run(upload);
	run(upload_to_memory);
}

static int lack_memory(struct rig *rig)
{
	int before = open_descriptors();

	/* For the table. */
	failing_at = 1;
	MUST(!kept(rig, "a") && failing_at == 0);
	MUST(open_descriptors() == before);
	MUST(kept(rig, "a"));
	/* For a file in it. */
	failing_at = 1;
	MUST(!kept(rig, "b") && failing_at == 0);
	MUST(open_descriptors() == before + 1);
	MUST(kept(rig, "b"));
	return 0;
}

Test(open_files_limits, are_not_kept_where_memory_is_out)
{
	run(lack_memory);
}

static int drop(struct rig *rig)
{
	int before = open_descriptors();

	MUST(!eddyi_open_files_drop());
	MUST(kept(rig, "a") && kept(rig, "b"));
	MUST(eddyi_open_files_drop());
	MUST(open_descriptors() == before);
	MUST(!eddyi_open_files_drop());
	MUST(kept(rig, "a"));
	return 0;
}

Test(open_files_limits, are_let_go_of)
{
	run(drop);
}
