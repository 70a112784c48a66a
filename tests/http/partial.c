/* Tests of http/src/files/partial.h: states, holding, expiry, and what fails on the way. */
#include "files/partial.h"

#include "../folder.h"
#include "../on_valgrind.h"

#include <dirent.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>

static struct eddyi_partials all;

/* The system's answers. */
static int rename_fails, mkdir_fails, unlink_fails;
static void (*before_look)(void);

int fstatat(int dir, const char *path, struct stat *ret_st, int flags)
{
	void (*before)(void) = before_look;

	before_look = NULL;
	if (before)
		before();
	return (int)syscall(SYS_newfstatat, dir, path, ret_st, flags);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (rename_fails) {
		errno = rename_fails;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

int unlinkat(int dir, const char *path, int flags)
{
	if (unlink_fails) {
		errno = unlink_fails;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, dir, path, flags);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	if (mkdir_fails) {
		errno = mkdir_fails;
		return -1;
	}
	return (int)syscall(SYS_mkdirat, dir, path, mode);
}

static int open_folder(void)
{
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void set_up(void)
{
	make_folder();
	eddyi_partials_init(&all, open_folder(), 2, EDDY_SECOND * 3600, false);
}

static void tear_down(void)
{
	eddyi_partials_deinit(&all);
	remove_folder();
}

TestSuite(partial, .init = set_up, .fini = tear_down);

static void need_openat2(void)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind has no openat2()");
}

static int create(struct eddyi_partial *partial, const char *path)
{
	return eddyi_partial_create(partial, &all, NULL, all.dir,
				    json_pack("{s:s, s:i}", "path", path, "length", 6));
}

static int find(struct eddyi_partial *partial, const char *id)
{
	char copy[EDDYI_PARTIAL_ID_LEN + 1]; /* it may be in `partial` */

	snprintf(copy, sizeof(copy), "%s", id);
	return eddyi_partial_find(partial, &all, NULL, eddy_str_from(copy));
}

/* Of all of the uploads. */
static int count_files(void)
{
	char path[64];
	int count = -2;
	DIR *list;

	snprintf(path, sizeof(path), "%s/" EDDYI_PARTIAL_FOLDER, folder);
	list = opendir(path);
	if (!list)
		return 0;
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

static int states(void *arg)
{
	struct eddyi_partial partial;
	char id[sizeof(partial.id)];
	bool replaced = true;

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	memcpy(id, partial.id, sizeof(id));
	cr_expect_eq(eddyi_partial_length(&partial), 6);
	cr_expect(eddy_str_eq_z(eddyi_partial_text(&partial, "path"), "x"));
	cr_expect(eddyi_partial_text(&partial, "other").ptr == NULL);
	cr_expect_eq(write(partial.fd, "abcdef", 6), 6);
	json_object_set_new(partial.state, "other", json_string("kept"));
	cr_expect_eq(eddyi_partial_save(&partial), 0);
	eddyi_partial_close(&partial);

	cr_assert_eq(find(&partial, id), 0);
	cr_expect_eq(partial.offset, 6);
	cr_expect(eddy_str_eq_z(eddyi_partial_text(&partial, "other"), "kept"));
	cr_expect_eq(all.count, 1);
	cr_expect_eq(eddyi_partial_publish(&partial, all.dir, "x", false, &replaced), 0);
	cr_expect_not(replaced);
	cr_expect_eq(all.count, 0);
	eddyi_partial_close(&partial);

	cr_assert_eq(find(&partial, id), 0);
	cr_expect_eq(partial.fd, -1);
	cr_expect_eq(partial.offset, 6);
	cr_expect_eq(eddyi_partial_length(&partial), 6);
	eddyi_partial_remove(&partial);
	eddyi_partial_close(&partial);
	cr_expect_eq(find(&partial, id), -ENOENT);
	eddyi_partial_close(&partial);
	cr_expect_eq(count_files(), 0);
	return 0;
}

Test(partial, state_is_kept_until_it_is_removed)
{
	need_openat2();
	cr_assert_eq(eddy_run(NULL, states, NULL), 0);
}

static void expect_offset(const char *id, uint64_t offset)
{
	struct eddyi_partial partial;

	cr_expect_eq(find(&partial, id), 0);
	cr_expect_eq(partial.offset, offset);
	eddyi_partial_close(&partial);
}

static int savepoints(void *arg)
{
	struct eddyi_partial partial;
	char id[sizeof(partial.id)];

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	memcpy(id, partial.id, sizeof(id));
	cr_expect_eq(write(partial.fd, "ab", 2), 2);
	partial.offset = 2;
	cr_expect_eq(eddyi_partial_savepoint(&partial), 0);
	cr_expect_eq(write(partial.fd, "cd", 2), 2);
	/* As after a kill. */
	eddyi_partial_close(&partial);
	expect_offset(id, 2);

	cr_assert_eq(find(&partial, id), 0);
	cr_expect_eq(eddyi_partial_savepoint(&partial), 0);
	cr_expect_eq(pwrite(partial.fd, "cd", 2, 2), 2);
	cr_expect_eq(eddyi_partial_commit(&partial), 0);
	eddyi_partial_close(&partial);
	expect_offset(id, 4);

	cr_assert_eq(find(&partial, id), 0);
	cr_expect_eq(eddyi_partial_savepoint(&partial), 0);
	cr_expect_eq(pwrite(partial.fd, "ef", 2, 4), 2);
	/* Bytes of a failed commit don't count either. */
	rename_fails = ENOSPC;
	cr_expect_eq(eddyi_partial_commit(&partial), -ENOSPC);
	rename_fails = 0;
	cr_expect_eq(eddyi_partial_roll_back(&partial), 0);
	cr_expect_eq(partial.offset, 4);
	/* Bytes without a savepoint stay. */
	cr_expect_eq(pwrite(partial.fd, "e", 1, 4), 1);
	eddyi_partial_close(&partial);
	expect_offset(id, 5);
	/* After a power failure there may be fewer than the state says. */
	cr_assert_eq(find(&partial, id), 0);
	cr_expect_eq(eddyi_partial_savepoint(&partial), 0);
	cr_expect_eq(ftruncate(partial.fd, 1), 0);
	eddyi_partial_close(&partial);
	expect_offset(id, 1);
	return 0;
}

Test(partial, bytes_behind_a_savepoint_count_once_they_are_committed)
{
	cr_assert_eq(eddy_run(NULL, savepoints, NULL), 0);
}

static int roll_back_cancelled(void *arg)
{
	struct eddyi_partial *partial = arg;

	while (eddy_sleep(EDDY_MS) == 0) {}
	return eddyi_partial_roll_back(partial);
}

static int cancelled(void *arg)
{
	struct eddyi_partial partial;
	struct eddy_scope scope;

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	cr_expect_eq(eddyi_partial_savepoint(&partial), 0);
	cr_expect_eq(write(partial.fd, "ab", 2), 2);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "cancelled", roll_back_cancelled, &partial);
	eddy_sleep(2 * EDDY_MS);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	cr_expect_eq(lseek(partial.fd, 0, SEEK_END), 0);
	eddyi_partial_close(&partial);
	return 0;
}

Test(partial, rolling_back_is_not_cancelled)
{
	cr_assert_eq(eddy_run(NULL, cancelled, NULL), 0);
}

/* Complete "x", and replace it by another file with the inode number that the state has. */
static int replaced_target(void *arg)
{
	struct eddyi_partial partial;
	char id[sizeof(partial.id)], path[96];
	bool replaced;
	struct stat st;
	int fd;

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	memcpy(id, partial.id, sizeof(id));
	snprintf(path, sizeof(path), "%s/x", folder);
	cr_expect_eq(eddyi_partial_publish(&partial, all.dir, "x", false, &replaced), 0);
	eddyi_partial_close(&partial);
	expect_offset(id, 0);
	unlink(path);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	cr_assert_eq(fstat(fd, &st), 0);
	close(fd);
	eddy_sleep(20 * EDDY_MS); /* longer than a tick of the clock of files */
	cr_assert_eq(create(&partial, "y"), 0);
	json_object_set_new(partial.state, "path", json_string("x"));
	json_object_set_new(partial.state, "inode", json_integer((json_int_t)st.st_ino));
	memcpy(id, partial.id, sizeof(id));
	cr_expect_eq(eddyi_partial_save(&partial), 0);
	snprintf(path, sizeof(path), "%s/" EDDYI_PARTIAL_FOLDER "/%s", folder, id);
	unlink(path);
	eddyi_partial_close(&partial);
	cr_expect_eq(find(&partial, id), -ENOENT);
	eddyi_partial_close(&partial);
	return 0;
}

Test(partial, target_is_known_by_the_time_it_was_made)
{
	need_openat2();
	cr_assert_eq(eddy_run(NULL, replaced_target, NULL), 0);
}

static int failures(void *arg)
{
	struct eddyi_partial partial;
	char name[sizeof(partial.id) + 8];

	(void)arg;
	mkdir_fails = EROFS;
	cr_expect_eq(create(&partial, "x"), -EROFS);
	eddyi_partial_close(&partial);
	mkdir_fails = 0;
	rename_fails = ENOSPC;
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(create(&partial, "x"), -ENOSPC);
		eddyi_partial_close(&partial);
	}
	rename_fails = 0;
	cr_expect_eq(count_files(), 0);
	cr_expect_eq(all.count, 0);
	cr_expect_eq(find(&partial, "0123456789abcdef0123456789abcdef"), -ENOENT);
	eddyi_partial_close(&partial);
	cr_expect_eq(find(&partial, "../x"), -ENOENT);
	eddyi_partial_close(&partial);
	cr_assert_eq(create(&partial, "x"), 0);
	eddyi_partial_close(&partial);
	/* A state that can't be read now is not one that does not exist. */
	snprintf(name, sizeof(name), "%s.json", partial.id);
	cr_expect_eq(renameat(all.folder, name, all.folder, "other"), 0);
	cr_expect_eq(mkdirat(all.folder, name, 0700), 0);
	cr_expect_eq(find(&partial, partial.id), -EISDIR);
	eddyi_partial_close(&partial);
	cr_expect_eq(unlinkat(all.folder, name, AT_REMOVEDIR), 0);
	cr_expect_eq(renameat(all.folder, "other", all.folder, name), 0);
	expect_offset(partial.id, 0);
	/* One that can't be removed stays as it is. */
	cr_assert_eq(find(&partial, partial.id), 0);
	unlink_fails = EROFS;
	cr_expect_eq(eddyi_partial_remove(&partial), -EROFS);
	unlink_fails = 0;
	eddyi_partial_close(&partial);
	expect_offset(partial.id, 0);
	return 0;
}

Test(partial, that_can_not_be_created_leaves_nothing)
{
	cr_assert_eq(eddy_run(NULL, failures, NULL), 0);
}

static int renewal(void *arg)
{
	struct eddyi_partial partial;
	char id[sizeof(partial.id)], command[96];

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	memcpy(id, partial.id, sizeof(id));
	eddyi_partial_close(&partial);
	snprintf(command, sizeof(command), "rm -r '%s/" EDDYI_PARTIAL_FOLDER "'", folder);
	cr_assert_eq(system(command), 0);
	cr_expect_eq(find(&partial, id), -ENOENT);
	eddyi_partial_close(&partial);
	cr_expect_eq(create(&partial, "y"), 0);
	memcpy(id, partial.id, sizeof(id));
	eddyi_partial_close(&partial);
	cr_expect_eq(find(&partial, id), 0);
	eddyi_partial_remove(&partial);
	eddyi_partial_close(&partial);
	cr_expect_eq(count_files(), 0);
	return 0;
}

Test(partial, folder_that_was_removed_is_made_again)
{
	cr_assert_eq(eddy_run(NULL, renewal, NULL), 0);
}

static int limit(void *arg)
{
	struct eddyi_partial partials[3];

	(void)arg;
	cr_expect_eq(create(&partials[0], "a"), 0);
	cr_expect_eq(create(&partials[1], "b"), 0);
	cr_expect_eq(create(&partials[2], "c"), -EDQUOT);
	eddyi_partial_close(&partials[2]);
	eddyi_partial_remove(&partials[0]);
	cr_expect_eq(create(&partials[2], "c"), 0);
	for (int i = 0; i < 3; i++)
		eddyi_partial_close(&partials[i]);
	return 0;
}

Test(partial, number_is_limited)
{
	cr_assert_eq(eddy_run(NULL, limit, NULL), 0);
}

/* ---- holding ---- */

static char held_id[EDDYI_PARTIAL_ID_LEN + 1];
static int order;

static int hold_until_wanted(void *arg)
{
	struct eddyi_partial partial;
	int *ended = arg;

	if (create(&partial, "x") < 0)
		return -EIO;
	memcpy(held_id, partial.id, sizeof(held_id));
	while (!eddyi_partial_is_wanted(&partial))
		eddy_sleep(EDDY_MS);
	*ended = ++order;
	eddyi_partial_close(&partial);
	return 0;
}

static int want(void *arg)
{
	struct eddyi_partial partial;
	int *began = arg;

	while (!held_id[0])
		eddy_sleep(EDDY_MS);
	cr_expect_eq(find(&partial, held_id), 0);
	*began = ++order;
	eddyi_partial_close(&partial);
	return 0;
}

static int holders(void *arg)
{
	struct eddy_scope scope;
	int ended = 0, began[3] = { 0 };

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "holder", hold_until_wanted, &ended);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "other", want, &began[i]);
	cr_expect_eq(eddy_scope_join(&scope), 0);
	eddy_scope_end(&scope);
	cr_expect_eq(ended, 1);
	cr_expect_eq(began[0] + began[1] + began[2], 2 + 3 + 4);
	return 0;
}

Test(partial, others_wait_for_the_holder)
{
	cr_assert_eq(eddy_run(NULL, holders, NULL), 0);
}

static int unlock_later(void *arg)
{
	eddy_sleep(30 * EDDY_MS);
	close(*(int *)arg);
	return 0;
}

static int locked(void *arg)
{
	struct eddyi_partial partial;
	char path[128], id[sizeof(partial.id)];
	struct eddy_scope scope;
	int fd;

	(void)arg;
	cr_assert_eq(create(&partial, "x"), 0);
	memcpy(id, partial.id, sizeof(id));
	eddyi_partial_close(&partial);
	snprintf(path, sizeof(path), "%s/" EDDYI_PARTIAL_FOLDER "/%s", folder, id);
	/* As another process does. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 30 * EDDY_MS });
	cr_expect_eq(find(&partial, id), -ECANCELED);
	eddyi_partial_close(&partial);
	cr_expect_eq(eddy_scope_end(&scope), -ETIMEDOUT);
	/* That of a killed process goes away. */
	eddy_scope_begin(&scope, NULL);
	cr_expect_eq(eddy_scope_spawn(&scope, "unlock later", unlock_later, &fd), 0);
	cr_expect_eq(find(&partial, id), 0);
	eddyi_partial_close(&partial);
	cr_expect_eq(eddy_scope_end(&scope), 0);
	return 0;
}

Test(partial, of_another_process_is_waited_for)
{
	cr_assert_eq(eddy_run(NULL, locked, NULL), 0);
}

static struct eddyi_partial raced;

/* As another process does, which held it when it was opened here. */
static void publish_raced(void)
{
	char from[128], to[128];

	snprintf(from, sizeof(from), "%s/" EDDYI_PARTIAL_FOLDER "/%s", folder, raced.id);
	snprintf(to, sizeof(to), "%s/x", folder);
	cr_expect_eq(rename(from, to), 0);
}

static int published(void *arg)
{
	struct eddyi_partial partial;
	const bool *by_link = arg;

	cr_assert_eq(create(&raced, "x"), 0);
	cr_expect_eq(write(raced.fd, "abc", 3), 3);
	/* As of a backup. */
	cr_expect_eq(linkat(all.folder, raced.id, all.dir, "backup", 0), 0);
	eddyi_partial_close(&raced);
	expect_offset(raced.id, 3);
	cr_expect_eq(find(&raced, raced.id), 0);
	if (*by_link)
		cr_expect_eq(linkat(all.folder, raced.id, all.dir, "x", 0), 0);
	else
		before_look = publish_raced;
	eddyi_partial_close(&raced);
	cr_expect_eq(find(&partial, raced.id), 0);
	cr_expect(partial.is_complete);
	cr_expect_eq(partial.fd, -1);
	cr_expect_eq(partial.offset, 3);
	eddyi_partial_close(&partial);
	cr_expect_eq(count_files(), 1);
	return 0;
}

Test(partial, published_by_another_process_meanwhile_is_complete)
{
	need_openat2();
	cr_assert_eq(eddy_run(NULL, published, &(bool){ false }), 0);
}

/* Where a rename can't refuse to replace; the process ended before it unlinked the bytes. */
Test(partial, published_by_a_link_is_complete)
{
	need_openat2();
	cr_assert_eq(eddy_run(NULL, published, &(bool){ true }), 0);
}

/* ---- the sweep ---- */

static void count_expired(void *arg, const json_t *state)
{
	cr_expect_str_eq(json_string_value(json_object_get(state, "path")), "old");
	++*(int *)arg;
}

static int sweep(void *arg)
{
	struct eddyi_partial old, recent, held;
	const struct timespec long_ago[2] = { { 0 } };
	int expired = 0;

	(void)arg;
	cr_expect_eq(eddyi_partials_sweep(&all, NULL, NULL), 0);
	all.count_max = 3;
	create(&old, "old");
	create(&recent, "recent");
	create(&held, "held");
	futimens(old.fd, long_ago);
	futimens(held.fd, long_ago);
	eddyi_partial_close(&old);
	eddyi_partial_close(&recent);
	cr_expect_eq(eddyi_partials_sweep(&all, count_expired, &expired), 0);
	cr_expect_eq(expired, 1);
	cr_expect_eq(all.count, 2);
	cr_expect_eq(count_files(), 4);
	cr_expect_eq(find(&old, old.id), -ENOENT);
	eddyi_partial_close(&old);
	eddyi_partial_close(&held);
	cr_expect_eq(eddyi_partials_sweep(&all, NULL, NULL), 0);
	cr_expect_eq(count_files(), 2);
	return 0;
}

Test(partial, expired_ones_are_swept_unless_they_are_held)
{
	cr_assert_eq(eddy_run(NULL, sweep, NULL), 0);
}

static int crowd(void *arg)
{
	struct eddyi_partial small, begun, fresh;
	struct timespec times[2];

	(void)arg;
	create(&small, "small");
	create(&begun, "begun");
	cr_expect_eq(write(small.fd, "x", 1), 1);
	cr_expect_eq(ftruncate(begun.fd, (off_t)EDDY_MIB), 0);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= 61;
	times[1] = times[0];
	futimens(small.fd, times);
	futimens(begun.fd, times);
	eddyi_partial_close(&small);
	eddyi_partial_close(&begun);
	all.count_max = 3;
	cr_expect_not(eddyi_partials_want_sweep(&all));
	cr_expect_eq(eddyi_partials_sweep(&all, NULL, NULL), 0);
	cr_expect_eq(all.count, 2);
	all.count_max = 2;
	all.swept = 0;
	cr_expect(eddyi_partials_want_sweep(&all));
	cr_expect_eq(eddyi_partials_sweep(&all, NULL, NULL), 0);
	cr_expect_eq(all.count, 1);
	expect_offset(begun.id, EDDY_MIB);
	/* The next one comes a while later. */
	cr_expect_eq(create(&fresh, "fresh"), 0);
	eddyi_partial_close(&fresh);
	cr_expect_not(eddyi_partials_want_sweep(&all));
	return 0;
}

Test(partial, small_ones_make_room_if_there_are_too_many)
{
	cr_assert_eq(eddy_run(NULL, crowd, NULL), 0);
}
