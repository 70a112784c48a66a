/* Tests of http/src/files/incoming.h, and of the cleaning of what it may leave behind. */
#include "files/incoming.h"

#include "../folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int dir;

/* What the system is like. */
static bool without_proc; /* so that every file is hidden instead of unnamed */
static bool without_locks;
static bool without_empty_paths; /* a kernel before 6.10, and no privilege */
static int links_by_descriptor, links_by_path;
/* Somebody who cleans up at just the wrong instant, so many times: */
static int removals; /* before the lock is asked for */
static int holds;    /* meanwhile */
static int holder = -1;

int access(const char *path, int mode)
{
	if (without_proc && strncmp(path, "/proc", 5) == 0) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

/* What the loop's own thread calls, which is in memory only. */
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (without_empty_paths && (flags & AT_EMPTY_PATH)) {
		errno = ENOENT;
		return -1;
	}
	*(flags & AT_EMPTY_PATH ? &links_by_descriptor : &links_by_path) += 1;
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

/* The hidden file that is there; its name lies in `name`. */
static bool find_hidden(char name[NAME_MAX + 1])
{
	struct dirent *entry;
	bool found = false;
	DIR *list = opendir(folder);

	while (!found && (entry = readdir(list))) {
		found = strncmp(entry->d_name, EDDYI_HIDDEN_PREFIX, 6) == 0;
		if (found)
			strcpy(name, entry->d_name);
	}
	closedir(list);
	return found;
}

int flock(int fd, int operation)
{
	char name[NAME_MAX + 1];

	if (without_locks) {
		errno = ENOLCK;
		return -1;
	}
	if (removals && find_hidden(name)) {
		removals--;
		unlinkat(dir, name, 0);
	}
	if (holds && find_hidden(name)) {
		holds--;
		holder = openat(dir, name, O_RDWR | O_CLOEXEC);
		syscall(SYS_flock, holder, LOCK_EX);
		unlinkat(dir, name, 0);
	}
	return (int)syscall(SYS_flock, fd, operation);
}

static void open_folder_in(const char *parent)
{
	make_folder_in(parent);
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void set_up(void)
{
	open_folder_in("/tmp");
}

/* The suite's own has been before it. */
static void set_up_in_memory(void)
{
	remove_folder();
	close(dir);
	open_folder_in("/dev/shm");
}

static void tear_down(void)
{
	remove_folder();
	close(dir);
}

TestSuite(incoming, .init = set_up, .fini = tear_down);

static int count_files(void)
{
	struct dirent *entry;
	int count = -2; /* . and .. */
	DIR *list = opendir(folder);

	while ((entry = readdir(list)))
		count++;
	closedir(list);
	return count;
}

static bool holds_text(const char *name, const char *text)
{
	char buf[64];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	return len >= 0 && eddy_str_eq_z(eddy_str(buf, (size_t)len), text);
}

struct upload {
	const char *name;
	const char *text;
	bool no_replace;
	bool abandoned;
	bool is_here;       /* all that it becomes */
	const char *freed;  /* between opening and publishing */
	const char *linked; /* to the name, likewise */
	bool replaced;
};

static int upload(void *arg)
{
	struct upload *upload = arg;
	struct eddyi_incoming incoming;
	int r = eddyi_incoming_open(&incoming, dir, NULL, 0, EDDY_NEVER,
				    upload->is_here ? upload->name : NULL);

	if (r == 0)
		r = eddyi_incoming_write(&incoming, upload->text, strlen(upload->text));
	if (upload->freed)
		unlinkat(dir, upload->freed, 0);
	if (upload->linked && linkat(dir, upload->linked, dir, upload->name, 0) < 0)
		r = -errno;
	if (r == 0 && !upload->abandoned)
		r = eddyi_incoming_sync(&incoming);
	if (r == 0 && !upload->abandoned)
		r = eddyi_incoming_publish(&incoming, upload->name, upload->no_replace,
					   &upload->replaced);
	eddyi_incoming_close(&incoming);
	return r;
}

static int run_upload(const char *name, const char *text)
{
	return eddy_run(NULL, upload, &(struct upload){ .name = name, .text = text });
}

static void check_all_ways(void)
{
	struct upload once = { .name = "a", .text = "three", .no_replace = true };
	struct upload again = { .name = "a", .text = "two" };
	struct upload none = { .name = "b", .text = "none", .abandoned = true };

	cr_expect(eq(int, run_upload("a", "one"), 0));
	cr_expect(holds_text("a", "one"));
	cr_expect(eq(int, eddy_run(NULL, upload, &again), 0));
	cr_expect(again.replaced);
	cr_expect(eq(int, eddy_run(NULL, upload, &once), -EEXIST));
	cr_expect(holds_text("a", "two"));
	cr_expect(eq(int, eddy_run(NULL, upload, &none), 0));
	cr_expect(eq(int, count_files(), 1));
}

Test(incoming, unnamed)
{
	check_all_ways();
}

Test(incoming, hidden)
{
	without_proc = true;
	check_all_ways();
}

Test(incoming, named_by_its_descriptor, .init = set_up_in_memory)
{
	struct stat st;

	cr_assert(eq(int, run_upload("a", "one"), 0));
	if (links_by_descriptor == 0)
		cr_skip("this kernel lets nobody do that without privilege");
	/* Once that was seen, /proc is not asked for. */
	without_proc = true;
	unlinkat(dir, "a", 0);
	check_all_ways();
	cr_expect(eq(int, links_by_path, 0));
	cr_assert(eq(int, fstatat(dir, "a", &st, 0), 0));
	cr_expect(eq(u32, st.st_nlink, 1));
}

/* Where all of it is there, the name is looked at once, and one that is taken is renamed over without a link. */
Test(incoming, here_already, .init = set_up_in_memory)
{
	struct upload first = { .name = "a", .text = "one", .is_here = true };
	struct upload again = { .name = "a", .text = "two", .is_here = true };
	struct upload once = { .name = "a", .text = "no", .is_here = true, .no_replace = true };
	struct upload none = { .name = "a", .text = "no", .is_here = true, .abandoned = true };
	struct stat st;
	int links;

	cr_expect(eq(int, eddy_run(NULL, upload, &first), 0));
	cr_expect(not(first.replaced));
	links = links_by_descriptor + links_by_path;
	cr_expect(eq(int, eddy_run(NULL, upload, &again), 0));
	cr_expect(again.replaced);
	cr_expect(eq(int, links_by_descriptor + links_by_path, links));
	cr_expect(eq(int, eddy_run(NULL, upload, &once), -EEXIST));
	cr_expect(eq(int, eddy_run(NULL, upload, &none), 0));
	cr_expect(holds_text("a", "two"));
	cr_expect(eq(int, count_files(), 1));
	cr_assert(eq(int, fstatat(dir, "a", &st, 0), 0));
	cr_expect(eq(u32, st.st_nlink, 1));
}

Test(incoming, name_that_changes_hands, .init = set_up_in_memory)
{
	struct upload freed = { .name = "a", .text = "two", .is_here = true, .freed = "a" };
	struct upload taken = { .name = "c", .text = "four", .is_here = true, .linked = "b" };

	run_upload("a", "one");
	run_upload("b", "three");
	cr_expect(eq(int, eddy_run(NULL, upload, &freed), 0));
	cr_expect(holds_text("a", "two"));
	cr_expect(eq(int, eddy_run(NULL, upload, &taken), 0));
	cr_expect(taken.replaced);
	cr_expect(holds_text("c", "four"));
	cr_expect(holds_text("b", "three"));
	cr_expect(eq(int, count_files(), 3));
}

Test(incoming, named_through_proc, .init = set_up_in_memory)
{
	without_empty_paths = true;
	check_all_ways();
	cr_expect(eq(int, links_by_descriptor, 0));
	cr_expect(gt(int, links_by_path, 0));
}

/* The first name finds the folder gone by the descriptor and by the path. */
Test(incoming, in_a_folder_that_is_gone, .init = set_up_in_memory)
{
	rmdir(folder);
	cr_expect(eq(int, run_upload("a", "one"), -ENOENT));
	mkdir(folder, 0700);
}

Test(incoming, no_locks)
{
	without_locks = true;
	check_all_ways();
}

Test(incoming, no_locks_and_hidden)
{
	without_locks = true;
	without_proc = true;
	check_all_ways();
}

/* Between its creation and its lock a hidden file looks like litter. */
Test(incoming, removed_before_it_was_locked)
{
	without_proc = true;
	removals = 3;
	cr_expect(eq(int, run_upload("a", "one"), 0));
	cr_expect(eq(int, removals, 0));
	cr_expect(holds_text("a", "one"));
	cr_expect(eq(int, count_files(), 1));
}

Test(incoming, locked_by_who_removes_it)
{
	without_proc = true;
	holds = 2;
	cr_expect(eq(int, run_upload("a", "one"), 0));
	cr_expect(eq(int, holds, 0));
	cr_expect(holds_text("a", "one"));
	cr_expect(eq(int, count_files(), 1));
	close(holder);
}

/* A file of this name, not locked. */
static void make(const char *name)
{
	close(openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

#define LITTER EDDYI_HIDDEN_PREFIX "0123456789abcdef"

Test(incoming, cleaning)
{
	int held;

	make(LITTER);
	make(EDDYI_HIDDEN_PREFIX "1123456789abcdef");
	make(EDDYI_HIDDEN_PREFIX "short");
	make("plain");
	held = openat(dir, EDDYI_HIDDEN_PREFIX "1123456789abcdef", O_RDWR | O_CLOEXEC);
	flock(held, LOCK_EX);
	cr_expect(eq(int, eddy_upload_clean(dir), 1));
	cr_expect(eq(int, count_files(), 3));
	close(held);
	cr_expect(eq(int, eddy_upload_clean(dir), 1));
	cr_expect(eq(int, count_files(), 2));
	cr_expect(eq(int, eddy_upload_clean(-1), -EBADF));
}

Test(incoming, cleaning_without_locks)
{
	make(LITTER);
	without_locks = true;
	cr_expect(eq(int, eddy_upload_clean(dir), 0));
	cr_expect(eq(int, count_files(), 1));
}

/* Between its hidden name and its own it is no litter, either. */
static int replace_while_cleaning(void *arg)
{
	struct eddyi_incoming incoming;
	int r = eddyi_incoming_open(&incoming, dir, NULL, 0, EDDY_NEVER, NULL), removed;

	(void)arg;
	if (r == 0)
		r = eddyi_incoming_hide(&incoming);
	if (r < 0)
		return r;
	removed = eddy_upload_clean(dir);
	eddyi_incoming_close(&incoming);
	return removed;
}

Test(incoming, cleaning_leaves_what_was_hidden_alone)
{
	cr_expect(eq(int, eddy_run(NULL, replace_while_cleaning, NULL), 0));
	cr_expect(eq(int, count_files(), 0));
}

static int upload_while_cleaning(void *arg)
{
	struct eddyi_incoming incoming;
	int r = eddyi_incoming_open(&incoming, dir, NULL, 0, EDDY_NEVER, NULL), removed;

	(void)arg;
	if (r < 0)
		return r;
	removed = eddy_upload_clean(dir);
	eddyi_incoming_close(&incoming);
	return removed;
}

Test(incoming, cleaning_leaves_work_alone)
{
	without_proc = true;
	cr_expect(eq(int, eddy_run(NULL, upload_while_cleaning, NULL), 0));
	cr_expect(eq(int, count_files(), 0));
}

static int ask_for_space(void *arg)
{
	struct eddyi_incoming incoming;
	int r = eddyi_incoming_open(&incoming, dir, NULL, *(uint64_t *)arg, EDDY_NEVER, NULL);

	eddyi_incoming_close(&incoming);
	return r;
}

Test(incoming, asks_for_space_first)
{
	uint64_t too_much = EDDY_NEVER / 2, little = 1;

	cr_expect(eq(int, eddy_run(NULL, ask_for_space, &too_much), -ENOSPC));
	cr_expect(eq(int, eddy_run(NULL, ask_for_space, &little), 0));
}

static int exceed(void *arg)
{
	struct eddyi_incoming incoming;
	int r = eddyi_incoming_open(&incoming, dir, NULL, 0, 3, NULL);

	(void)arg;
	if (r == 0)
		r = eddyi_incoming_write(&incoming, "abc", 3);
	if (r == 0)
		r = eddyi_incoming_write(&incoming, "d", 1);
	eddyi_incoming_close(&incoming);
	return r;
}

Test(incoming, limit)
{
	cr_expect(eq(int, eddy_run(NULL, exceed, NULL), -EFBIG));
	cr_expect(eq(int, count_files(), 0));
}
