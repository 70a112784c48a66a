/* Tests of http/src/client/client_download.c, against servers of raw bytes. tests/e2e/test_get.py
 * has real ones. */
#include "turns.h"

#include "../folder.h"

#include <eddy/client_transfer.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define PART "HTTP/1.1 206 Partial\r\netag: \"e\"\r\n"
#define WHOLE(length) OK "etag: \"e\"\r\naccept-ranges: bytes\r\ncontent-length: " length "\r\n\r\n"

static struct eddy_client_download download;
static struct eddy_client_downloaded done;
static struct eddy_client_progress seen; /* the last one of a running download */
static unsigned waits;
static int dir;

static void begin(void)
{
	make_folder();
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(dir >= 0);
}

static void end(void)
{
	close(dir);
	remove_folder();
}

static void watch(void *data, const struct eddy_client_progress *progress)
{
	(void)data;
	waits += progress->waits_for && progress->retries != seen.retries;
	seen = *progress;
}

static char problem[512];

/* By a client of its own, for which each talk has the same URL. */
static int ask_download(struct talk *talk)
{
	const char *address = talk->base + strlen("http://");
	struct eddy_client *client =
		eddy_client_new(&(struct eddy_client_options){ .connect = address });
	int r;

	download.progress = watch;
	download.retry.delay_ns = EDDY_MS;
	done = (struct eddy_client_downloaded){ 0 };
	r = eddy_client_download(client, "http://a.example/a/x?y", dir, &download, &done);
	snprintf(problem, sizeof(problem), "%s", eddy_client_error(client));
	eddy_client_free(client);
	return r;
}

/* Whether the folder's file has these bytes; NULL: there is none. */
static bool has(const char *name, const char *want)
{
	char text[4096];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return !want;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return want && strcmp(text, want) == 0;
}

static void put_file(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void expect_clean(void)
{
	cr_expect(has(".x.eddy-part", NULL));
	cr_expect(has(".x.eddy-state", NULL));
}

static struct talk talk_of(const struct turn *turns)
{
	waits = 0;
	seen = (struct eddy_client_progress){ 0 };
	return (struct talk){ .turns = turns, .ask = ask_download };
}

/* Run it, and expect success with these bytes. */
static struct talk expect_file(const struct turn *turns, const char *name, const char *want)
{
	struct talk talk = talk_of(turns);

	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", problem);
	cr_expect(has(name, want), "%s", name);
	cr_expect_str_eq(done.name, name);
	cr_expect(eq(u64, done.size, strlen(want)));
	expect_clean();
	return talk;
}

static void expect_failure(const struct turn *turns, int r, const char *text)
{
	struct talk talk = talk_of(turns);

	have_talk(&talk);
	cr_expect(eq(int, talk.result, r), "%s: %s", text, problem);
	cr_expect(strstr(problem, text) != NULL, "%s: %s", text, problem);
}

Test(client_download, names_files, .init = begin, .fini = end)
{
	static const struct {
		const char *disposition, *name, *want;
	} rows[] = {
		{ "", NULL, "x" },
		{ "content-disposition: attachment; filename=\"b\"\r\n", NULL, "b" },
		{ "content-disposition: attachment; filename=\"../../.c\"\r\n", NULL, "c" },
		{ "content-disposition: attachment; filename=\"..\"\r\n", NULL, "x" },
		{ "content-disposition: attachment; filename=\"b\"\r\n", "own", "own" },
		{ "content-disposition: nonsense =\r\n", NULL, "x" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char answer[512];
		struct turn turns[] = { { NULL, answer, STAY }, { 0 } };

		snprintf(answer, sizeof(answer), OK "%scontent-length: 5\r\n\r\nhello",
			 rows[i].disposition);
		download = (struct eddy_client_download){ .name = rows[i].name };
		expect_file(turns, rows[i].want, "hello");
		cr_expect(done.replaced == (i == 3 || i == 5), "%zu", i);
	}
	download = (struct eddy_client_download){ .name = "../x" };
	expect_failure((struct turn[]){ { 0 } }, -EINVAL, "the name of the file is not valid");
}

Test(client_download, continues_after_a_break, .init = begin, .fini = end)
{
	const struct turn turns[] = {
		{ NULL, WHOLE("11") "hello", CLOSE },
		{ NULL, "HTTP/1.1 503 No\r\nretry-after: 0\r\ncontent-length: 2\r\n\r\nno", STAY },
		/* A reset could take along what the client has not yet read. */
		{ NULL, PART "content-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n wor",
		  CLOSE },
		{ NULL, PART "content-range: bytes 9-10/11\r\ncontent-length: 2\r\n\r\nld", STAY },
		{ 0 }
	};
	struct talk talk;

	download = (struct eddy_client_download){ 0 };
	talk = expect_file(turns, "x", "hello world");
	cr_expect(strstr(talk.log, "range: bytes=5-10\r\nif-range: \"e\"\r\n") != NULL, "%s",
		  talk.log);
	cr_expect(strstr(talk.log, "range: bytes=9-10\r\nif-range: \"e\"\r\n") != NULL, "%s",
		  talk.log);
	cr_expect(eq(u64, done.received, 11));
	cr_expect(eq(u64, done.resumed, 0));
	cr_expect(eq(uint, done.retries, 3));
	cr_expect(eq(uint, waits, 3));
	cr_expect(eq(u64, seen.bytes, 11));
	cr_expect(eq(u64, seen.total, 11));
}

/* A weak tag, no validator, or a date beside a tag, names no bytes: the download begins again. */
Test(client_download, begins_again_without_a_validator, .init = begin, .fini = end)
{
	static const char *const fields[] = {
		"",
		"etag: W/\"e\"\r\n",
		"etag: W/\"e\"\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
		"date: Sun, 06 Nov 1994 08:49:47 GMT\r\n",
		"last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
		"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
		"last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		char answer[512];
		struct turn turns[] = { { NULL, answer, CLOSE }, { NULL, HELLO, STAY }, { 0 } };
		struct talk talk;

		snprintf(answer, sizeof(answer), OK "%scontent-length: 5\r\n\r\nhal", fields[i]);
		download = (struct eddy_client_download){ 0 };
		talk = expect_file(turns, "x", "hello");
		cr_expect(strstr(talk.log, "range:") == NULL, "%s", talk.log);
		cr_expect(eq(u64, done.received, 8));
	}
}

Test(client_download, continues_by_date, .init = begin, .fini = end)
{
#define DATES                                                                                      \
	"last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ndate: Sun, 06 Nov 1994 08:49:38 GMT\r\n"
	const struct turn turns[] = {
		{ NULL, OK DATES "content-length: 5\r\n\r\nhel", CLOSE },
		{ "GMT\r\n\r\n",
		  "HTTP/1.1 206 P\r\ncontent-range: bytes 3-4/5\r\ncontent-length: 2\r\n\r\nlo",
		  STAY },
		{ 0 }
	};
	struct talk talk;

	download = (struct eddy_client_download){ 0 };
	talk = expect_file(turns, "x", "hello");
	cr_expect(strstr(talk.log, "if-range: Sun, 06 Nov 1994 08:49:37 GMT\r\n") != NULL, "%s",
		  talk.log);
}

/* Of a server that ignores if-range, by its date. */
Test(client_download, mixes_no_dates, .init = begin, .fini = end)
{
	const struct turn turns[] = {
		{ NULL, OK DATES "content-length: 5\r\n\r\nhel", CLOSE },
		{ NULL,
		  "HTTP/1.1 206 P\r\nlast-modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n"
		  "content-range: bytes 3-4/5\r\ncontent-length: 2\r\n\r\nld",
		  CLOSE },
		{ NULL, OK "content-length: 5\r\n\r\nworld", STAY },
		{ 0 }
	};

	download = (struct eddy_client_download){ 0 };
	expect_file(turns, "x", "world");
}

Test(client_download, begins_again_when_the_file_changes, .init = begin, .fini = end)
{
	static const char *const changed[] = {
		OK "etag: \"f\"\r\ncontent-length: 5\r\n\r\nworld",
		"HTTP/1.1 206 P\r\netag: \"f\"\r\ncontent-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n world",
		PART "content-range: bytes 5-6/7\r\ncontent-length: 2\r\n\r\n w",
		"HTTP/1.1 416 No\r\ncontent-range: bytes */5\r\ncontent-length: 0\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(changed) / sizeof(*changed); i++) {
		const struct turn turns[] = {
			{ NULL, WHOLE("11") "hello", CLOSE },
			{ NULL, changed[i], i ? CLOSE : STAY },
			{ NULL, OK "etag: \"f\"\r\ncontent-length: 5\r\n\r\nworld", STAY },
			{ 0 }
		};

		download = (struct eddy_client_download){ 0 };
		expect_file(turns, "x", "world");
	}
}

Test(client_download, gives_up_on_a_file_that_never_stays, .init = begin, .fini = end)
{
	const struct turn turns[] = {
		{ NULL, OK "etag: \"1\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"2\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"3\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"4\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"5\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"6\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ NULL, OK "etag: \"7\"\r\ncontent-length: 5\r\n\r\nh", CLOSE },
		{ 0 }
	};

	download = (struct eddy_client_download){ 0 };
	expect_failure(turns, -ESTALE, "changed again and again");
	cr_expect(has("x", NULL));
}

/* While nothing has been received, nothing begins again. */
Test(client_download, waits_for_the_first_byte, .init = begin, .fini = end)
{
	static const char *const fields[] = { "etag: \"e\"\r\ncontent-length: 5\r\n\r\n",
					      "content-length: 5\r\n\r\n",
					      "etag: \"e\"\r\ntransfer-encoding: chunked\r\n\r\n" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct turn turns[10] = { 0 };
		char answer[512];

		snprintf(answer, sizeof(answer), OK "%s", fields[i]);
		for (int at = 0; at < 8; at++)
			turns[at] = (struct turn){ NULL, answer, CLOSE };
		download = (struct eddy_client_download){ .retry.max = 7 };
		expect_failure(turns, -ECONNRESET, "before the end of the body");
		cr_expect(eq(int, seen.can_resume, 0));
		expect_clean();
		turns[7] = (struct turn){ NULL, HELLO, STAY };
		expect_file(turns, "x", "hello");
		cr_expect(eq(uint, done.retries, 7));
		unlinkat(dir, "x", 0);
	}
}

/* Each answer to the first request, and to one for the rest. */
Test(client_download, refuses, .init = begin, .fini = end)
{
	static const struct {
		const char *answer;
		int r;
		const char *text;
	} rows[] = {
		{ "HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", -ENOENT,
		  "the server answered 404 Not Found" },
		{ "HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", -EACCES, "401 Unauthorized" },
		{ "HTTP/1.1 302 No\r\nlocation: /\r\ncontent-length: 0\r\n\r\n", -EREMOTEIO,
		  "302 Found" },
		{ "HTTP/1.1 204 No\r\n\r\n", -EREMOTEIO, "204 No Content" },
		{ "HTTP/1.1 503 No\r\nretry-after: 301\r\ncontent-length: 0\r\n\r\n", -EAGAIN,
		  "503 Service" },
		{ PART "content-range: bytes 4-10/11\r\ncontent-length: 7\r\n\r\n", -EBADMSG,
		  "another range" },
		{ PART "content-range: bytes 5-11/12\r\ncontent-length: 7\r\n\r\n", -EBADMSG,
		  "another range" },
		{ PART "content-length: 7\r\n\r\n", -EBADMSG, "another range" },
		{ PART "content-range: bytes 5-10/11\r\ncontent-length: 7\r\n\r\n", -EBADMSG,
		  "the content-length differs from the content-range" },
		{ PART "content-range: bytes 5-10/11\r\ntransfer-encoding: chunked\r\n\r\n"
		       "7\r\n world!\r\n0\r\n\r\n",
		  -EBADMSG, "longer than announced" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct turn turns[] = { { NULL, WHOLE("11") "hello", CLOSE },
					      { NULL, rows[i].answer, HANG },
					      { 0 } };

		download = (struct eddy_client_download){ 0 };
		if (i < 5)
			expect_failure(turns + 1, rows[i].r, rows[i].text);
		cr_expect(has(".x.eddy-part", NULL), "%zu", i);
		expect_failure(turns, rows[i].r, rows[i].text);
		cr_expect(has("x", NULL));
		cr_expect(has(".x.eddy-part", i == 9 ? "hello world" : "hello"), "%zu", i);
		cr_expect(seen.can_resume);
		unlinkat(dir, ".x.eddy-part", 0);
	}
}

Test(client_download, limits_retries, .init = begin, .fini = end)
{
	const struct turn turns[] = { { NULL, WHOLE("11") "hello", CLOSE },
				      { NULL, NULL, CLOSE },
				      { NULL, NULL, CLOSE },
				      { NULL, NULL, CLOSE },
				      { 0 } };
	struct talk talk = talk_of(turns);

	download = (struct eddy_client_download){ .retry.max = 2 };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECONNRESET), "%s", problem);
	cr_expect(eq(uint, talk.answers, 3));
	talk = talk_of(turns);
	unlinkat(dir, ".x.eddy-part", 0);
	download = (struct eddy_client_download){ .retry.none = true };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECONNRESET), "%s", problem);
	cr_expect(eq(uint, talk.answers, 1));
}

/* A later call asks for the rest alone; if the file has changed, it takes the new one. */
Test(client_download, continues_what_an_earlier_call_left, .init = begin, .fini = end)
{
	const struct turn broken[] = { { NULL, WHOLE("11") "hello", CLOSE }, { 0 } };
	const struct turn rest[] = {
		{ NULL, PART "content-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n world",
		  STAY },
		{ 0 }
	};
	const struct turn changed[] = {
		{ NULL, OK "etag: \"f\"\r\ncontent-length: 3\r\n\r\nnew", STAY }, { 0 }
	};
	struct talk talk;

	download = (struct eddy_client_download){ .retry.none = true };
	expect_failure(broken, -ECONNRESET, "before the end of the body");
	talk = expect_file(rest, "x", "hello world");
	cr_expect(strstr(talk.log, "if-range: \"e\"\r\n") != NULL);
	cr_expect(eq(u64, done.resumed, 5));
	cr_expect(eq(u64, done.received, 6));

	expect_failure(broken, -ECONNRESET, "before the end of the body");
	expect_file(changed, "x", "new");
	cr_expect(eq(u64, done.resumed, 0));
	cr_expect(done.replaced);

	expect_failure(broken, -ECONNRESET, "before the end of the body");
	download.start_again = true;
	talk = expect_file(changed, "x", "new");
	cr_expect(strstr(talk.log, "range:") == NULL);
}

/* The name of the server, which the file that is kept does not have. */
Test(client_download, names_a_continued_file, .init = begin, .fini = end)
{
	const struct turn broken[] = { { NULL, WHOLE("11") "hello", CLOSE }, { 0 } };
	const struct turn rest[] = {
		{ NULL,
		  PART "content-disposition: attachment; filename=b\r\n"
		       "content-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n world",
		  STAY },
		{ 0 }
	};

	download = (struct eddy_client_download){ .retry.none = true };
	expect_failure(broken, -ECONNRESET, "before the end of the body");
	expect_file(rest, "b", "hello world");
	put_file("b", "old");
	download.no_replace = true;
	expect_failure(broken, -ECONNRESET, "before the end of the body");
	expect_failure(rest, -EEXIST, "a file of this name exists");
	cr_expect(has("b", "old"));
}

/* Neither bytes that another program left, nor those of another URL. */
Test(client_download, continues_nothing_else, .init = begin, .fini = end)
{
	const struct turn broken[] = { { NULL, WHOLE("11") "hello", CLOSE }, { 0 } };
	const struct turn hello[] = { { NULL, HELLO, STAY }, { 0 } };
	char state[2048];
	struct talk talk;
	ssize_t len;
	int fd;

	put_file(".x.eddy-part", "other");
	download = (struct eddy_client_download){ .retry.none = true };
	talk = expect_file(hello, "x", "hello");
	cr_expect(strstr(talk.log, "range:") == NULL);

	/* A state that was damaged, and one that belongs to another file. */
	for (int i = 0; i < 2; i++) {
		expect_failure(broken, -ECONNRESET, "before the end of the body");
		if (i == 0) {
			fd = openat(dir, ".x.eddy-state", O_RDWR | O_CLOEXEC);
			len = read(fd, state, sizeof(state));
			cr_assert(len > 100);
			state[len / 2] ^= 1;
			cr_assert(pwrite(fd, state, (size_t)len, 0) == len);
			close(fd);
		} else {
			put_file("copy", "hello");
			renameat(dir, "copy", dir, ".x.eddy-part");
		}
		talk = expect_file(hello, "x", "hello");
		cr_expect(strstr(talk.log, "range:") == NULL, "%d", i);
	}
}

Test(client_download, replaces_or_not, .init = begin, .fini = end)
{
	const struct turn hello[] = { { NULL, HELLO, STAY }, { 0 } };

	put_file("x", "old");
	download = (struct eddy_client_download){ .no_replace = true };
	expect_failure(hello, -EEXIST, "a file of this name exists");
	cr_expect(has("x", "old"));
	expect_clean();
	download = (struct eddy_client_download){ .sync = true };
	expect_file(hello, "x", "hello");
	cr_expect(done.replaced);
}

/* Through a link it would write elsewhere. */
Test(client_download, follows_no_links, .init = begin, .fini = end)
{
	const struct turn none[] = { { 0 } };

	put_file("other", "old");
	download = (struct eddy_client_download){ 0 };
	symlinkat("other", dir, ".x.eddy-part");
	expect_failure(none, -EEXIST, "can't write the file");
	unlinkat(dir, ".x.eddy-part", 0);
	linkat(dir, "other", dir, ".x.eddy-part", 0);
	expect_failure(none, -EEXIST, "can't write the file");
	cr_expect(has("other", "old"));
}

Test(client_download, limits_sizes, .init = begin, .fini = end)
{
	const struct turn announced[] = { { NULL, HELLO, STAY }, { 0 } };
	const struct turn chunked[] = {
		{ NULL, OK "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", STAY },
		{ 0 }
	};

	download = (struct eddy_client_download){ .size_max = 4 };
	expect_failure(announced, -EFBIG, "larger than allowed");
	expect_failure(chunked, -EFBIG, "larger than allowed");
	expect_clean();
	download.size_max = 5;
	expect_file(announced, "x", "hello");
	expect_file(chunked, "x", "hello");
}

Test(client_download, takes_bodies_of_unknown_length, .init = begin, .fini = end)
{
	const struct turn until_close[] = { { NULL, OK "\r\nhello", CLOSE }, { 0 } };
	const struct turn chunked[] = {
		{ NULL, OK "etag: \"e\"\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n w",
		  RESET },
		{ NULL, PART "content-range: bytes 7-10/*\r\ncontent-length: 4\r\n\r\norld", STAY },
		{ 0 }
	};
	const struct turn empty[] = { { NULL, OK "content-length: 0\r\n\r\n", STAY }, { 0 } };
	struct talk talk;

	download = (struct eddy_client_download){ 0 };
	expect_file(until_close, "x", "hello");
	talk = expect_file(chunked, "x", "hello world");
	cr_expect(strstr(talk.log, "range: bytes=7-\r\n") != NULL, "%s", talk.log);
	expect_file(empty, "x", "");
	download.connections = 4;
	expect_file(
		(struct turn[]){
			{ NULL,
			  "HTTP/1.1 416 No\r\ncontent-range: bytes */0\r\ncontent-length: 0\r\n\r\n",
			  STAY },
			{ NULL, OK "content-length: 0\r\n\r\n", STAY },
			{ 0 } },
		"x", "");
	expect_file((struct turn[]){ { NULL,
				       PART
				       "content-range: bytes 0--1/0\r\ncontent-length: 0\r\n\r\n",
				       STAY },
				     { NULL, OK "content-length: 0\r\n\r\n", STAY },
				     { 0 } },
		    "x", "");
}

static char taken[64];

static int take(void *data, struct eddy_str bytes)
{
	(void)data;
	if (eddy_str_eq_z(bytes, "refuse"))
		return -EDOM;
	strncat(taken, bytes.ptr, bytes.len);
	return 0;
}

Test(client_download, gives_bytes_away, .init = begin, .fini = end)
{
	const struct turn turns[] = {
		{ NULL, WHOLE("11") "hello", CLOSE },
		{ NULL, PART "content-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n world",
		  STAY },
		{ 0 }
	};
	const struct turn changed[] = { { NULL, WHOLE("11") "hello", CLOSE },
					{ NULL, HELLO, STAY },
					{ 0 } };
	const struct turn unknown[] = { { NULL, OK "content-length: 11\r\n\r\nhello", CLOSE },
					{ 0 } };
	const struct turn refused[] = { { NULL, OK "content-length: 6\r\n\r\nrefuse", STAY },
					{ 0 } };
	struct talk talk = talk_of(turns);

	download = (struct eddy_client_download){ .take = take, .connections = 4 };
	taken[0] = 0;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", problem);
	cr_expect_str_eq(taken, "hello world");
	expect_failure(changed, -ESTALE, "the file changed during the download");
	expect_failure(unknown, -ECONNRESET, "before the end of the body");
	expect_failure(refused, -EDOM, "the bytes can't be taken");
	cr_expect(has("x", NULL));
	expect_clean();
}

static int cancel(void *arg)
{
	struct eddy_scope *scope = arg;

	while (seen.bytes < 5)
		if (eddy_sleep(EDDY_MS) < 0)
			return 0;
	eddy_scope_cancel(scope);
	return 0;
}

static int ask_cancelled(struct talk *talk)
{
	struct eddy_scope scope, inner;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_spawn(&scope, "cancel", cancel, &inner);
	r = ask_download(talk);
	eddy_scope_end(&inner);
	eddy_scope_end(&scope);
	return r;
}

Test(client_download, keeps_what_it_has_when_it_is_cancelled, .init = begin, .fini = end)
{
	const struct turn hanging[] = { { NULL, WHOLE("11") "hello", HANG }, { 0 } };
	const struct turn rest[] = {
		{ NULL, PART "content-range: bytes 5-10/11\r\ncontent-length: 6\r\n\r\n world",
		  STAY },
		{ 0 }
	};
	struct talk talk = talk_of(hanging);

	download = (struct eddy_client_download){ 0 };
	talk.ask = ask_cancelled;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECANCELED), "%s", problem);
	cr_expect(has(".x.eddy-part", "hello"));
	expect_file(rest, "x", "hello world");
	cr_expect(eq(u64, done.resumed, 5));
}

static int locked;

static int cancel_later(void *arg)
{
	eddy_sleep(50 * EDDY_MS);
	eddy_scope_cancel(arg);
	return 0;
}

static int ask_cancelled_later(struct talk *talk)
{
	struct eddy_scope scope, inner;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_begin(&inner, NULL);
	eddy_scope_spawn(&scope, "cancel", cancel_later, &inner);
	r = ask_download(talk);
	eddy_scope_end(&inner);
	eddy_scope_end(&scope);
	return r;
}

static int unlock(void *arg)
{
	(void)arg;
	eddy_sleep(50 * EDDY_MS);
	return close(locked);
}

static int ask_locked(struct talk *talk)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "unlock", unlock, NULL);
	r = ask_download(talk);
	eddy_scope_end(&scope);
	return r;
}

/* The lock of a process that was killed lasts for a moment. */
Test(client_download, one_at_a_time, .init = begin, .fini = end)
{
	const struct turn none[] = { { 0 } }, hello[] = { { NULL, HELLO, STAY }, { 0 } };
	struct talk talk = talk_of(hello);

	locked = openat(dir, ".x.eddy-part", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(flock(locked, LOCK_EX) == 0);
	download = (struct eddy_client_download){ 0 };
	expect_failure(none, -EBUSY, "another call downloads");
	talk.ask = ask_cancelled_later;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -ECANCELED), "%s", problem);
	talk = talk_of(hello);
	talk.ask = ask_locked;
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0), "%s", problem);
	cr_expect(has("x", "hello"));
}
