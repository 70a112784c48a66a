/* Tests of http/src/files/open_files.h. How many are kept, and for how long, is in open_files_limits.c; what a client sees of it in
 * tests/e2e/test_open_files.py. */
#include "hex.h"
#include "kept.h"

#include "../runtime/failing.h"

/* ---- what is kept ---- */

static int find_again(struct rig *rig)
{
	struct eddyi_found first, second;
	char byte;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &first) == 0);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &second) == 0);
	MUST(eddyi_open_file_of(&first.file) &&
	     eddyi_open_file_of(&first.file) == eddyi_open_file_of(&second.file));
	MUST(first.file.fd == second.file.fd && second.st.st_size == 4);
	MUST(eddyi_open_file_of(&first.file)->refs == 3);
	eddyi_outgoing_close(&first.file);
	MUST(first.file.fd == -1 && !eddyi_open_file_of(&first.file));
	MUST(pread(second.file.fd, &byte, 1, 0) == 1 && byte == 't');
	eddyi_outgoing_close(&second.file);
	MUST(kept(rig, "a")->refs == 1);
	return 0;
}

Test(open_files, stay_open)
{
	run(find_again);
}

static int keep_apart(struct rig *rig)
{
	struct rig other = { .folder = eddyi_folder_new(rig->app, rig->dir) };
	struct eddyi_found found;
	const struct eddyi_open_file *a = kept(rig, "a");

	MUST(kept(rig, "b") != a);
	MUST(kept(&other, "a") != a);
	MUST(find_as(rig, "a", EDDY_CODING_GZIP, &found) == 0);
	MUST(eddyi_open_file_of(&found.file) != a);
	eddyi_outgoing_close(&found.file);
	MUST(kept(rig, "a") == a);
	return 0;
}

Test(open_files, are_kept_by_folder_name_and_coding)
{
	run(keep_apart);
}

static int find_others(struct rig *rig)
{
	char path[2000];
	struct eddyi_found found;

	MUST(mkdirat(rig->dir, "folder", 0755) == 0 && mkfifoat(rig->dir, "fifo", 0644) == 0);
	MUST(find_as(rig, "folder", EDDY_CODING_IDENTITY, &found) == -EISDIR);
	MUST(find_as(rig, "fifo", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	MUST(find_as(rig, "none", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	MUST(find_as(rig, "../a", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	/* Not this one either: somebody else chose it. */
	memset(path, '/', sizeof(path));
	memcpy(path, ".", 1);
	memcpy(path + sizeof(path) - 2, "a", 2);
	MUST(find_as(rig, path, EDDY_CODING_IDENTITY, &found) == 0 &&
	     !eddyi_open_file_of(&found.file));
	eddyi_outgoing_close(&found.file);
	return 0;
}

Test(open_files, are_regular)
{
	run(find_others);
}

static int follow_links(struct rig *rig)
{
	struct eddyi_found found;
	char text[5] = "";

	MUST(symlinkat("a", rig->dir, "link") == 0);
	MUST(find_as(rig, "link", EDDY_CODING_IDENTITY, &found) == 0 &&
	     !eddyi_open_file_of(&found.file));
	eddyi_outgoing_close(&found.file);
	write_file(rig, "b", "else");
	MUST(unlinkat(rig->dir, "link", 0) == 0 && symlinkat("b", rig->dir, "link") == 0);
	MUST(find_as(rig, "link", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(pread(found.file.fd, text, 4, 0) == 4 && strcmp(text, "else") == 0);
	eddyi_outgoing_close(&found.file);
	MUST(symlinkat("loop", rig->dir, "loop") == 0);
	MUST(find_as(rig, "loop", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	return 0;
}

Test(open_files, links_are_followed_each_time)
{
	run(follow_links);
}

static int keep_none(struct rig *rig)
{
	int before = open_descriptors();

	/* Long enough that it could be. */
	MUST(eddy_sleep(40 * EDDY_MS) == 0);
	MUST(!kept(rig, "a"));
	MUST(open_descriptors() == before);
	return 0;
}

Test(open_files, none)
{
	run_with(keep_none, &(struct eddy_server_options){ .no_open_files = true });
}

static int keep_later(struct rig *rig)
{
	uint64_t before = eddy_now();
	const struct eddyi_open_file *file;

	write_file(rig, "e", "text");
	file = kept(rig, "e");
	/* A machine may be busy. */
	MUST(!file || eddy_now() - before > 20 * EDDY_MS);
	soon_kept(rig, "e");
	return 0;
}

Test(open_files, not_yet_what_has_only_just_been_changed)
{
	run(keep_later);
}

/* Where it has been opened and is about to be looked at. The linker's names (--wrap). */
int __real_fstat64(int fd, struct stat *ret_st);
int __wrap_fstat64(int fd, struct stat *ret_st);
static struct rig *replaced_meanwhile;

int __wrap_fstat64(int fd, struct stat *ret_st)
{
	struct rig *rig = replaced_meanwhile;

	replaced_meanwhile = NULL;
	if (rig) {
		renameat(rig->dir, "new", rig->dir, "a");
		usleep(30 * 1000); /* others of this loop took their time */
	}
	return __real_fstat64(fd, ret_st);
}

static int replace_meanwhile(struct rig *rig)
{
	struct eddyi_found found;

	MUST(linkat(rig->dir, "a", rig->dir, "another", 0) == 0);
	write_file(rig, "new", "replaced");
	MUST(eddy_sleep(40 * EDDY_MS) == 0);
	replaced_meanwhile = rig;
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(!replaced_meanwhile && found.st.st_size == 4 && !eddyi_open_file_of(&found.file));
	eddyi_outgoing_close(&found.file);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0 && found.st.st_size == 8);
	eddyi_outgoing_close(&found.file);
	return 0;
}

Test(open_files, not_what_is_replaced_before_it_is_looked_at)
{
	run(replace_meanwhile);
}

/* ---- their bytes ---- */

static int load_bytes(struct rig *rig)
{
	static const char zeros[8 * EDDY_KIB + 1];
	struct eddyi_found found;
	int fd;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0 && !found.file.bytes);
	failing_at = 1;
	found.file.verbs->load(&found.file);
	MUST(failing_at == 0 && !found.file.bytes);
	found.file.verbs->load(&found.file);
	MUST(found.file.bytes && memcmp(found.file.bytes, "text", 4) == 0);
	eddyi_outgoing_close(&found.file);
	/* At hand. */
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(found.file.bytes && memcmp(found.file.bytes, "text", 4) == 0);
	eddyi_outgoing_close(&found.file);

	write_file(rig, "a", "else");
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	soon_kept(rig, "a");
	eddyi_outgoing_close(&found.file);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0 && !found.file.bytes);
	found.file.verbs->load(&found.file);
	MUST(found.file.bytes && memcmp(found.file.bytes, "else", 4) == 0);
	eddyi_outgoing_close(&found.file);

	fd = openat(rig->dir, "large", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	MUST(pwrite(fd, zeros, sizeof(zeros), 0) == (ssize_t)sizeof(zeros));
	close(fd);
	soon_kept(rig, "large");
	MUST(find_as(rig, "large", EDDY_CODING_IDENTITY, &found) == 0);
	found.file.verbs->load(&found.file);
	MUST(!found.file.bytes);
	eddyi_outgoing_close(&found.file);
	return 0;
}

Test(open_files, bytes_of_small_ones_are_kept)
{
	run(load_bytes);
}

static int load_less(struct rig *rig)
{
	struct eddyi_found found;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	write_file(rig, "a", "t");
	found.file.verbs->load(&found.file);
	MUST(!found.file.bytes);
	eddyi_outgoing_close(&found.file);
	return 0;
}

Test(open_files, bytes_that_are_gone)
{
	run(load_less);
}

static int send_a(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_file_at(res, (int)(intptr_t)eddy_req_context(req), EDDY_STR("a"));
}

static void encode(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)data;
	(void)req;
	eddy_res_code(res, &hex, hex_new(false));
}

static int encoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_on_head(res, encode, NULL);

	return r < 0 ? r : eddy_next(next, req, res);
}

/* Whether a request has loaded the bytes: then the next one has them. */
static bool loads(struct rig *rig, const char *line, const char *range, const char *want)
{
	struct eddyi_folder folder = eddyi_folder_of(rig->app, rig->dir);
	const struct eddy_header headers[] = { { "range", range }, { 0 } };
	const struct eddy_client_request request = { .headers = range ? headers : NULL };
	struct eddy_response *response;
	struct eddyi_found found;
	struct eddy_str body;
	bool is_loaded;

	cr_assert(eq(int, eddy_app_test(rig->app, line, &request, &response), 0));
	cr_assert(eq(int, eddy_response_body(response, &body), 0));
	if (want)
		cr_expect(eddy_str_eq_z(body, want), "%s: %.*s", line, EDDY_FMT(body));
	eddy_response_free(response);
	cr_assert(eq(int,
		     eddyi_folder_find(&folder, NULL, EDDY_STR("a"), EDDY_CODING_IDENTITY, &found),
		     0));
	cr_expect(eddyi_open_file_of(&found.file) != NULL);
	is_loaded = found.file.bytes;
	eddyi_outgoing_close(&found.file);
	return is_loaded;
}

static int load_what_is_sent(struct rig *rig)
{
	eddy_app_keep_files_open(rig->app, rig->dir);
	eddy_app_set_context(rig->app, (void *)(intptr_t)rig->dir);
	eddy_app_map_get(rig->app, "/a", send_a);
	eddy_app_add_filter(eddy_app_map_get(rig->app, "/coded", send_a), encoding, NULL);
	MUST(!loads(rig, "GET /coded", NULL, "74657874"));
	MUST(!loads(rig, "HEAD /a", NULL, ""));
	MUST(!loads(rig, "GET /a", "bytes=9-", NULL));
	MUST(!loads(rig, "GET /a", "bytes=0-0,2-3", NULL));
	MUST(loads(rig, "GET /a", "bytes=1-2", "ex"));
	MUST(loads(rig, "GET /a", NULL, "text"));
	MUST(loads(rig, "GET /coded", NULL, "74657874"));
	return 0;
}

Test(open_files, bytes_are_read_only_to_be_sent_as_they_are)
{
	run(load_what_is_sent);
}

/* ---- what is not the same any more ---- */

static int change(struct rig *rig)
{
	struct eddyi_found found, old;

	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &old) == 0);
	write_file(rig, "a", "longer text");
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(found.file.fd != old.file.fd && found.st.st_size == 11);
	eddyi_outgoing_close(&found.file);
	/* Who sends it has it still. */
	MUST(fcntl(old.file.fd, F_GETFD) >= 0 && eddyi_open_file_of(&old.file)->refs == 1);
	eddyi_outgoing_close(&old.file);

	soon_kept(rig, "a");
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &old) == 0);
	MUST(fchmodat(rig->dir, "a", 0600, 0) == 0);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(found.file.fd != old.file.fd && (found.st.st_mode & 0777) == 0600);
	eddyi_outgoing_close(&found.file);
	eddyi_outgoing_close(&old.file);

	soon_kept(rig, "a");
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &old) == 0);
	MUST(linkat(rig->dir, "a", rig->dir, "another", 0) == 0);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0);
	MUST(found.file.fd != old.file.fd && found.st.st_nlink == 2);
	eddyi_outgoing_close(&found.file);
	eddyi_outgoing_close(&old.file);
	return 0;
}

Test(open_files, a_file_that_was_changed)
{
	run(change);
}

static int rename_and_remove(struct rig *rig)
{
	struct eddyi_found found;

	MUST(kept(rig, "a"));
	write_file(rig, "new", "replaced");
	MUST(renameat(rig->dir, "new", rig->dir, "a") == 0);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == 0 && found.st.st_size == 8);
	eddyi_outgoing_close(&found.file);
	soon_kept(rig, "a");
	MUST(renameat(rig->dir, "a", rig->dir, "elsewhere") == 0);
	MUST(find_as(rig, "a", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	MUST(kept(rig, "b"));
	MUST(unlinkat(rig->dir, "b", 0) == 0);
	MUST(find_as(rig, "b", EDDY_CODING_IDENTITY, &found) == -ENOENT);
	return 0;
}

Test(open_files, a_file_that_was_renamed_or_removed)
{
	run(rename_and_remove);
}

static int rename_above(struct rig *rig)
{
	struct eddyi_found found;
	off_t size = 4;

	MUST(mkdirat(rig->dir, "in", 0755) == 0 && mkdirat(rig->dir, "next", 0755) == 0);
	write_file(rig, "in/f", "text");
	write_file(rig, "next/f", "another text");
	soon_kept(rig, "in/f");
	MUST(renameat2(rig->dir, "in", rig->dir, "next", RENAME_EXCHANGE) == 0);
	while (size == 4) {
		MUST(find_as(rig, "in/f", EDDY_CODING_IDENTITY, &found) == 0);
		size = found.st.st_size;
		eddyi_outgoing_close(&found.file);
		MUST(eddy_yield() == 0);
	}
	MUST(size == 12);
	return 0;
}

Test(open_files, a_folder_above_shows_in_time)
{
	run_with(rename_above,
		 &(struct eddy_server_options){ .open_files_valid_ns = 20 * EDDY_MS });
}

/* ---- folders ---- */

Test(open_files, folders)
{
	struct eddy_app *app = eddy_app_new();
	int one = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), other = dup(one);

	eddy_app_keep_files_open(app, one);
	cr_expect(not(eddyi_app_report_mistakes(app)));
	cr_expect(eq(ptr, (void *)eddyi_folder_of(app, one).app, app));
	cr_expect(eq(int, eddyi_folder_of(app, one).dir, one));
	cr_expect(eq(ptr, (void *)eddyi_folder_of(app, other).app, NULL));
	cr_expect(eq(int, eddyi_folder_of(app, other).dir, other));
	close(one);
	close(other);
	eddy_app_free(app);
}

Test(open_files, mistakes)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const int dirs[] = { -1, 1000, file };

	for (size_t i = 0; i < 3; i++) {
		struct eddy_app *app = eddy_app_new();

		eddy_app_keep_files_open(app, dirs[i]);
		cr_expect(eddyi_app_report_mistakes(app));
		eddy_app_free(app);
	}
	close(file);
}
