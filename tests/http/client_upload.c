/* Tests of http/src/client/client_upload.c, against servers of raw bytes. tests/e2e/test_put.py has
 * real ones. */
#include "turns.h"

#include <eddy/client_transfer.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define H104 "HTTP/1.1 104 Upload Resumption Supported\r\n"
#define AT H104 "location: /u/1\r\n"
#define CREATED "HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok"
#define EMPTY "content-length: 0\r\n\r\n"
#define OFFSET(n) "HTTP/1.1 204 No Content\r\nupload-complete: ?0\r\nupload-offset: " n "\r\n\r\n"

static struct eddy_client_upload upload;
static int file;
static struct eddy_client_uploaded done;
static char problem[512], body[64], upload_url[128];
static struct eddy_client_progress seen;

static void watch(void *data, const struct eddy_client_progress *progress)
{
	(void)data;
	seen = *progress;
	snprintf(upload_url, sizeof(upload_url), "%s",
		 progress->upload_url ? progress->upload_url : "");
}

static int ask_upload(struct talk *talk)
{
	struct eddy_response *response = NULL;
	struct eddy_str text;
	int r;

	upload.retry.delay_ns = EDDY_MS;
	upload.progress = watch;
	done = (struct eddy_client_uploaded){ 0 };
	body[0] = 0;
	r = eddy_client_upload(talk->client, url_of(talk, "/a/x"), file, &upload, &done, &response);
	snprintf(problem, sizeof(problem), "%s", eddy_client_error(talk->client));
	if (r == 0 && eddy_response_body(response, &text) == 0)
		snprintf(body, sizeof(body), "%.*s", EDDY_FMT(text));
	eddy_response_free(response);
	return r;
}

static struct talk upload_to(const struct turn *turns)
{
	struct talk talk = { .turns = turns, .ask = ask_upload };
	int fd = memfd_create("file", MFD_CLOEXEC);

	cr_assert(write(fd, "hello world", 11) == 11);
	file = fd;
	have_talk(&talk);
	close(fd);
	return talk;
}

static struct talk expect_upload(const struct turn *turns, int status)
{
	struct talk talk = upload_to(turns);

	cr_expect(eq(int, talk.result, 0), "%s", problem);
	cr_expect(eq(int, done.status, status));
	cr_expect(eq(u64, done.size, 11));
	cr_expect(eq(u64, seen.bytes, 11));
	return talk;
}

static void expect_failure(const struct turn *turns, int r, const char *text)
{
	struct talk talk = upload_to(turns);

	cr_expect(eq(int, talk.result, r), "%s: %s", text, problem);
	cr_expect(strstr(problem, text) != NULL, "%s: %s", text, problem);
}

/* Whether the server has read these texts in this order. */
static bool has_read(const struct talk *talk, const char *const *texts)
{
	const char *at = talk->log;

	for (; *texts; texts++) {
		at = strstr(at, *texts);
		if (!at) {
			cr_log_error("no %s in %s", *texts, talk->log);
			return false;
		}
		at += strlen(*texts);
	}
	return true;
}

Test(client_upload, at_once)
{
	const struct eddy_header headers[] = { { "content-type", "text/plain" }, { 0 } };
	const struct turn turns[] = { { "hello world",
					AT "upload-limit: max-size=11\r\n\r\n" H104
					   "upload-offset: 5\r\n\r\n" CREATED,
					STAY },
				      { 0 } };
	struct talk talk;

	upload = (struct eddy_client_upload){ .headers = headers };
	talk = expect_upload(turns, 201);
	cr_expect(has_read(
		&talk, EDDY_LIST("PUT /a/x HTTP/1.1\r\n", "content-type: text/plain\r\n",
				 "upload-draft-interop-version: 8\r\nupload-complete: ?1\r\n"
				 "upload-length: 11\r\ncontent-length: 11\r\n\r\nhello world")));
	cr_expect_str_eq(body, "ok");
	cr_expect(done.could_resume);
	cr_expect(eq(u64, done.sent, 11));
}

Test(client_upload, by_a_plain_request)
{
	const struct turn turns[] = { { "hello world", CREATED, STAY }, { 0 } };
	struct talk talk;

	upload = (struct eddy_client_upload){ .method = "POST", .plain = true };
	talk = expect_upload(turns, 201);
	cr_expect(has_read(&talk, EDDY_LIST("POST /a/x")));
	cr_expect(strstr(talk.log, "upload-") == NULL);
	cr_expect(done.could_resume == false);
}

Test(client_upload, continues)
{
	const struct eddy_header headers[] = { { "content-type", "text/plain" },
					       { "if-none-match", "*" },
					       { "authorization", "secret" },
					       { 0 } };
	const struct turn turns[] = {
		{ "hello", AT "\r\n", CLOSE },
		{ NULL, "HTTP/1.1 503 No\r\n" EMPTY, STAY },
		{ NULL, OFFSET("5"), STAY },
		{ " world",
		  "HTTP/1.1 200 OK\r\nupload-complete: ?1\r\ncontent-length: 4\r\n\r\ndone", STAY },
		{ 0 }
	};
	struct talk talk;

	upload = (struct eddy_client_upload){ .method = "POST", .headers = headers };
	talk = expect_upload(turns, 200);
	cr_expect(has_read(
		&talk,
		EDDY_LIST("POST /a/x", "if-none-match", "HEAD /u/1 HTTP/1.1\r\n",
			  "authorization: secret\r\n", "upload-draft-interop-version: 8\r\n\r\n",
			  "HEAD /u/1 ", "PATCH /u/1 HTTP/1.1\r\n", "authorization: secret\r\n",
			  "upload-complete: ?1\r\nupload-offset: 5\r\ncontent-type: "
			  "application/partial-upload\r\ncontent-length: 6\r\n\r\n world")));
	cr_expect(strstr(strstr(talk.log, "HEAD"), "text/plain") == NULL);
	cr_expect(strstr(strstr(talk.log, "HEAD"), "if-none-match") == NULL);
	cr_expect_str_eq(body, "done");
	cr_expect(eq(uint, done.retries, 2));
}

/* Offsets may come as long as the upload takes, but not without end at once. */
Test(client_upload, limits_interim_responses)
{
	static char many[20000], flood[200000];
	struct turn turns[] = { { "hello world", many, STAY }, { 0 } };
	char *at = many;

	for (int i = 0; i < 12; i++)
		at = stpcpy(at, H104 "upload-offset: 5\r\n\r\n");
	stpcpy(at, CREATED);
	upload = (struct eddy_client_upload){ 0 };
	expect_upload(turns, 201);
	at = flood;
	for (int i = 0; i < 2000; i++)
		at = stpcpy(at, H104 "upload-offset: 5\r\n\r\n");
	turns[0] = (struct turn){ "hello world", flood, HANG };
	expect_failure(turns, -EBADMSG, "too many interim (1xx) responses");
}

/* The response to the last bytes was lost. */
Test(client_upload, learns_that_it_is_complete)
{
	const struct turn turns[] = {
		{ "hello world", AT "\r\n", RESET },
		{ NULL, "HTTP/1.1 204 No\r\nupload-complete: ?1\r\nupload-offset: 11\r\n\r\n",
		  STAY },
		{ 0 }
	};

	upload = (struct eddy_client_upload){ 0 };
	expect_upload(turns, 204);
}

/* An offset that equals the length does not complete an upload. */
Test(client_upload, completes_with_an_empty_request)
{
	const struct turn turns[] = {
		{ "hello world", AT "\r\n", RESET },
		{ NULL, OFFSET("11"), STAY },
		{ NULL, "HTTP/1.1 201 Created\r\nupload-complete: ?1\r\n" EMPTY, STAY },
		{ 0 }
	};
	struct talk talk;

	upload = (struct eddy_client_upload){ 0 };
	talk = expect_upload(turns, 201);
	cr_expect(has_read(&talk,
			   EDDY_LIST("PATCH /u/1", "upload-complete: ?1\r\nupload-offset: 11\r\n",
				     "content-length: 0\r\n\r\n")));
}

Test(client_upload, repeats_without_resumption)
{
	const struct turn turns[] = { { "hello", NULL, RESET },
				      { "hello world", "HTTP/1.1 500 No\r\n" EMPTY, STAY },
				      { "hello world", CREATED, STAY },
				      { 0 } };
	const struct turn busy[] = { { "hello world", "HTTP/1.1 429 No\r\nretry-after: 0\r\n" EMPTY,
				       STAY },
				     { "hello world", CREATED, STAY },
				     { 0 } };

	struct talk talk;

	upload = (struct eddy_client_upload){ 0 };
	talk = expect_upload(turns, 201);
	cr_expect(eq(uint, done.retries, 2));
	/* Later requests wait for an interim response, which may name a URL to continue at. */
	cr_expect(has_read(&talk,
			   EDDY_LIST("\r\n\r\nhello", "expect: 100-continue\r\n", "hello world",
				     "expect: 100-continue\r\n", "hello world")));
	cr_expect(strstr(talk.log, "expect:") > strstr(talk.log, "hello"));
	/* A POST could then be executed twice. */
	upload.method = "POST";
	expect_failure(turns, -ECONNRESET, "without a response");
	expect_failure(turns + 1, -EREMOTEIO, "500 Internal Server Error");
	expect_upload(busy, 201);
}

Test(client_upload, goes_in_pieces)
{
	const struct turn limited[] = {
		{ "upload-complete: ?1",
		  AT "upload-limit: max-append-size=4, min-append-size=2, new=?1\r\n\r\n", HANG },
		{ NULL, OFFSET("3"), STAY },
		{ "\r\n\r\nlo w", "HTTP/1.1 204 No\r\nupload-complete: ?0\r\n\r\n", STAY },
		{ "\r\n\r\norld", CREATED, STAY },
		{ 0 }
	};
	const struct turn too_large[] = {
		{ "hello world", "HTTP/1.1 413 No\r\nupload-limit: max-append-size=6\r\n" EMPTY,
		  STAY },
		{ "hello ", "HTTP/1.1 201 Created\r\nlocation: u/2\r\n" EMPTY, STAY },
		{ "\r\n\r\nworld", CREATED, STAY },
		{ 0 }
	};
	struct talk talk;

	upload = (struct eddy_client_upload){ 0 };
	talk = expect_upload(limited, 201);
	cr_expect(has_read(&talk, EDDY_LIST("PUT", "HEAD /u/1", "PATCH /u/1",
					    "upload-complete: ?0\r\nupload-offset: 3\r\n", "PATCH",
					    "upload-complete: ?1\r\nupload-offset: 7\r\n")));
	cr_expect(eq(uint, done.retries, 0));
	talk = expect_upload(too_large, 201);
	cr_expect(has_read(&talk,
			   EDDY_LIST("PUT", "PUT", "upload-complete: ?0\r\nupload-length: 11\r\n",
				     "hello ", "PATCH /a/u/2", "upload-offset: 6\r\n")));
}

/* A malformed field counts as absent. */
Test(client_upload, ignores_malformed_limits)
{
	static const char *const limits[] = { "max-size=1, max-append-size=\"1\"",
					      "max-size=", "max-append-size=1;a=", "max-size=-1",
					      "max-append-size" };

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		char answer[512];
		struct turn turns[] = { { "hello world", answer, STAY }, { 0 } };

		snprintf(answer, sizeof(answer), AT "upload-limit: %s\r\n\r\n" CREATED, limits[i]);
		upload = (struct eddy_client_upload){ 0 };
		expect_upload(turns, 201);
	}
}

Test(client_upload, respects_the_largest_size)
{
	const struct turn turns[] = { { "upload-complete: ?1",
					AT "upload-limit: max-size=10\r\n\r\n", HANG },
				      { NULL, "HTTP/1.1 204 No\r\n\r\n", STAY },
				      { 0 } };
	const struct turn refused[] = { { "hello world", "HTTP/1.1 413 No\r\n" EMPTY, STAY },
					{ 0 } };
	struct talk talk;

	upload = (struct eddy_client_upload){ 0 };
	talk = upload_to(turns);
	cr_expect(eq(int, talk.result, -EFBIG), "%s", problem);
	cr_expect(has_read(&talk, EDDY_LIST("PUT", "DELETE /u/1")));
	expect_failure(refused, -EFBIG, "413");
}

Test(client_upload, takes_another_offset)
{
	const struct turn turns[] = { { "hello", AT "\r\n", CLOSE },
				      { NULL, OFFSET("5"), STAY },
				      { " world", "HTTP/1.1 409 No\r\nupload-offset: 7\r\n" EMPTY,
					STAY },
				      { "\r\n\r\norld", CREATED, STAY },
				      { 0 } };

	upload = (struct eddy_client_upload){ 0 };
	expect_upload(turns, 201);
}

/* By the URL that the last report of an earlier call had. */
Test(client_upload, continues_an_earlier_call)
{
	const struct turn broken[] = { { "hello", AT "\r\n", CLOSE }, { 0 } };
	const struct turn rest[] = {
		{ NULL,
		  "HTTP/1.1 204 No\r\nupload-offset: 5\r\nupload-complete: ?0\r\n"
		  "upload-length: 11\r\n\r\n",
		  STAY },
		{ "\r\n\r\n world", CREATED, STAY },
		{ 0 }
	};
	const struct turn lost[] = { { NULL, "HTTP/1.1 410 No\r\n" EMPTY, STAY },
				     { "hello world", CREATED, STAY },
				     { 0 } };
	const struct turn longer[] = {
		{ NULL, "HTTP/1.1 204 No\r\nupload-offset: 5\r\nupload-length: 12\r\n\r\n", STAY },
		{ "hello world", CREATED, STAY },
		{ 0 }
	};
	const struct turn complete[] = {
		{ NULL, "HTTP/1.1 204 No\r\nupload-complete: ?1\r\n\r\n", STAY }, { 0 }
	};
	struct talk talk;

	upload = (struct eddy_client_upload){ .method = "POST", .retry.none = true };
	talk = upload_to(broken);
	cr_expect(eq(int, talk.result, -ECONNRESET), "%s", problem);
	cr_expect(seen.can_resume);
	cr_expect(strstr(upload_url, "/u/1") != NULL, "%s", upload_url);
	upload.resume_url = "/u/1";
	talk = expect_upload(rest, 201);
	cr_expect(has_read(&talk, EDDY_LIST("HEAD /u/1 ", "PATCH /u/1 ", "upload-offset: 5\r\n")));
	cr_expect(eq(u64, done.resumed, 5));
	cr_expect(eq(u64, done.sent, 6));
	talk = expect_upload(lost, 201);
	cr_expect(has_read(&talk, EDDY_LIST("HEAD /u/1 ", "POST /a/x ")));
	cr_expect(eq(u64, done.resumed, 0));
	talk = expect_upload(longer, 201);
	cr_expect(has_read(&talk, EDDY_LIST("HEAD /u/1 ", "POST /a/x ")));
	expect_upload(complete, 204);
	cr_expect(eq(u64, done.resumed, 11));
	cr_expect(eq(u64, seen.resumed, 11));
	upload.resume_url = "ftp://a.example/";
	expect_failure(rest, -EBADMSG, "the URL of the upload is malformed");
}

/* The response to a complete upload is final, whatever its status. Unless that is 400, a later call
 * may still find the upload. */
Test(client_upload, accepts_a_final_refusal)
{
	static const char *const answers[] = {
		"HTTP/1.1 409 No\r\nupload-offset: 11\r\nupload-complete: ?1\r\n" EMPTY,
		"HTTP/1.1 404 No\r\nupload-complete: ?1;a=1\r\n" EMPTY,
		"HTTP/1.1 503 No\r\nupload-complete: ?1\r\n" EMPTY,
		"HTTP/1.1 400 No\r\nupload-complete: ?1\r\n" EMPTY,
		"HTTP/1.1 413 No\r\n" EMPTY,
	};
	static const int errors[] = { -EREMOTEIO, -ENOENT, -EAGAIN, -EREMOTEIO, -EFBIG };

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		const struct turn turns[] = { { "hello", AT "\r\n", CLOSE },
					      { NULL, OFFSET("5"), STAY },
					      { " world", answers[i], CLOSE },
					      { NULL, "HTTP/1.1 404 No\r\n" EMPTY, STAY },
					      { "hello world", CREATED, STAY },
					      { 0 } };

		upload = (struct eddy_client_upload){ 0 };
		expect_failure(turns, errors[i], "the server answered");
		cr_expect(eq(int, upload_url[0] != 0, i < 3), "%zu", i);
	}
}

/* Refusals of the first request, after the server has named the upload: it may be repeated. */
Test(client_upload, keeps_a_refused_upload)
{
	static const char *const statuses[] = { "401", "403", "404", "410", "507" };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		char answer[512];
		const struct turn turns[] = { { "hello world", answer, STAY }, { 0 } };

		snprintf(answer, sizeof(answer), AT "\r\nHTTP/1.1 %s No\r\n" EMPTY, statuses[i]);
		upload = (struct eddy_client_upload){ 0 };
		expect_failure(turns, i < 2 ? -EACCES : i < 4 ? -ENOENT : -EREMOTEIO, statuses[i]);
		cr_expect(strstr(upload_url, "/u/1") != NULL, "%s", statuses[i]);
	}
}

/* A 404 of an append is that of the upload, or of its target, of which HEAD tells. */
Test(client_upload, asks_what_is_missing)
{
	const struct turn lost[] = { { "hello", AT "\r\n", CLOSE },
				     { NULL, OFFSET("5"), STAY },
				     { " world", "HTTP/1.1 404 No\r\n" EMPTY, STAY },
				     { NULL, "HTTP/1.1 404 No\r\n\r\n", STAY },
				     { "hello world", CREATED, STAY },
				     { 0 } };
	const struct turn no_folder[] = { { "hello", AT "\r\n", CLOSE },
					  { NULL, OFFSET("5"), STAY },
					  { " world", "HTTP/1.1 404 No\r\n" EMPTY, STAY },
					  { NULL, "HTTP/1.1 503 No\r\n\r\n", STAY },
					  { NULL, OFFSET("11"), STAY },
					  { 0 } };

	upload = (struct eddy_client_upload){ 0 };
	expect_upload(lost, 201);
	expect_failure(no_folder, -ENOENT, "the server answered 404 Not Found");
	cr_expect(strstr(upload_url, "/u/1") != NULL);
}

static int ask_cancel(struct talk *talk)
{
	int r = eddy_client_upload_cancel(talk->client, url_of(talk, "/a/x"), &upload);

	snprintf(problem, sizeof(problem), "%s", eddy_client_error(talk->client));
	return r;
}

Test(client_upload, is_cancelled)
{
	static const struct {
		const char *answer;
		int r;
	} rows[] = {
		{ "HTTP/1.1 204 No\r\n\r\n", 0 },
		{ "HTTP/1.1 404 No\r\n" EMPTY, 0 },
		{ "HTTP/1.1 410 No\r\n" EMPTY, 0 },
		{ "HTTP/1.1 403 No\r\n" EMPTY, -EACCES },
	};
	const struct eddy_header headers[] = { { "if-none-match", "*" },
					       { "authorization", "secret" },
					       { 0 } };
	struct talk talk;

	upload = (struct eddy_client_upload){ .headers = headers, .resume_url = "/u/1" };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct turn turns[] = { { NULL, rows[i].answer, STAY }, { 0 } };

		talk = (struct talk){ .turns = turns, .ask = ask_cancel };
		have_talk(&talk);
		cr_expect(eq(int, talk.result, rows[i].r), "%zu: %s", i, problem);
		cr_expect(has_read(&talk, EDDY_LIST("DELETE /u/1 HTTP/1.1\r\n",
						    "authorization: secret\r\n",
						    "upload-draft-interop-version: 8\r\n")));
		cr_expect(strstr(talk.log, "if-none-match") == NULL);
	}
	upload.resume_url = NULL;
	talk = (struct talk){ .turns = (struct turn[]){ { 0 } }, .ask = ask_cancel };
	have_talk(&talk);
	cr_expect(eq(int, talk.result, 0));
}

Test(client_upload, begins_again_if_it_was_lost)
{
	const struct turn turns[] = { { "hello", AT "\r\n", CLOSE },
				      { NULL, "HTTP/1.1 404 No\r\n\r\n", STAY },
				      { "hello world", CREATED, STAY },
				      { 0 } };

	upload = (struct eddy_client_upload){ 0 };
	expect_upload(turns, 201);
}

Test(client_upload, refuses)
{
	static const struct {
		const char *answer;
		int r;
		const char *text;
	} rows[] = {
		{ "HTTP/1.1 405 No\r\n" EMPTY, -EREMOTEIO,
		  "the server answered 405 Method Not Allowed" },
		{ "HTTP/1.1 500 No\r\nupload-complete: ?1\r\n" EMPTY, -EREMOTEIO, "500" },
		{ H104 "location: ftp://a/\r\n\r\n", -EBADMSG,
		  "the URL of the upload is malformed" },
		{ H104 "location: http://user@a/\r\n\r\n", -EBADMSG, "malformed" },
		{ "HTTP/1.1 201 C\r\nupload-complete: ?0\r\n" EMPTY, -EBADMSG, "named no URL" },
	};
	static const struct {
		const char *answer;
		int r;
		const char *text;
	} offsets[] = {
		{ "HTTP/1.1 204 No\r\n\r\n", -EBADMSG, "no valid offset" },
		{ OFFSET("12"), -EBADMSG, "no valid offset" },
		{ OFFSET("-1"), -EBADMSG, "no valid offset" },
		{ OFFSET("1.0"), -EBADMSG, "no valid offset" },
		{ "HTTP/1.1 403 No\r\n\r\n", -EACCES, "403" },
		{ "HTTP/1.1 204 No\r\nupload-offset: 5\r\nupload-limit: max-append-size=2, "
		  "min-append-size=3\r\n\r\n",
		  -EREMOTEIO, "exclude each other" },
	};

	upload = (struct eddy_client_upload){ 0 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_failure((struct turn[]){ { "hello world", rows[i].answer, HANG }, { 0 } },
			       rows[i].r, rows[i].text);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		expect_failure((struct turn[]){ { "hello", AT "\r\n", CLOSE },
						{ NULL, offsets[i].answer, HANG },
						{ 0 } },
			       offsets[i].r, offsets[i].text);
}

static char elsewhere[128];

static int ask_elsewhere(struct talk *talk)
{
	static const struct turn turns[] = { { NULL, OFFSET("5"), STAY },
					     { " world", CREATED, STAY },
					     { 0 } };
	struct talk other = { .turns = turns };
	struct eddy_listeners listeners;
	struct eddy_scope scope;
	int r;

	cr_assert(eddy_listen("127.0.0.1:0", NULL, &listeners) == 0);
	other.listener = listeners.fds[0];
	snprintf(elsewhere, sizeof(elsewhere), H104 "location: http://127.0.0.1:%u/u\r\n\r\n",
		 listeners.port);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "other", take_turns, &other);
	r = ask_upload(talk);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	cr_expect(strstr(other.log, "PATCH /u") != NULL);
	cr_expect(strstr(other.log, "secret") == NULL);
	return r;
}

Test(client_upload, gives_no_credentials_to_another_origin)
{
	const struct eddy_header headers[] = { { "authorization", "secret" }, { 0 } };
	const struct turn turns[] = { { "hello", elsewhere, CLOSE }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_elsewhere };

	upload = (struct eddy_client_upload){ .headers = headers };
	file = memfd_create("file", MFD_CLOEXEC);
	cr_assert(write(file, "hello world", 11) == 11);
	have_talk(&talk);
	close(file);
	cr_expect(eq(int, talk.result, 0), "%s", problem);
	cr_expect(strstr(talk.log, "secret") != NULL);
}

static int change_file(void *arg)
{
	(void)arg;
	while (!seen.waits_for)
		if (eddy_sleep(EDDY_MS) < 0)
			return 0;
	return write(file, "!", 1) == 1 ? 0 : -EIO;
}

static int ask_changed(struct talk *talk)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "change", change_file, NULL);
	r = ask_upload(talk);
	eddy_scope_end(&scope);
	return r;
}

Test(client_upload, sends_one_file)
{
	const struct turn turns[] = { { "hello", "HTTP/1.1 503 No\r\n" EMPTY, CLOSE }, { 0 } };
	struct talk talk = { .turns = turns, .ask = ask_changed };

	seen = (struct eddy_client_progress){ 0 };
	upload = (struct eddy_client_upload){ 0 };
	file = memfd_create("file", MFD_CLOEXEC);
	upload.retry.delay_ns = 50 * EDDY_MS;
	cr_assert(write(file, "hello world", 11) == 11);
	have_talk(&talk);
	close(file);
	cr_expect(eq(int, talk.result, -ESTALE), "%s", problem);
}

Test(client_upload, sends_regular_files)
{
	struct talk talk = { .turns = (struct turn[]){ { 0 } }, .ask = ask_upload };
	int pipe[2];

	cr_assert(pipe2(pipe, O_CLOEXEC) == 0);
	upload = (struct eddy_client_upload){ 0 };
	file = pipe[0];
	have_talk(&talk);
	cr_expect(eq(int, talk.result, -EINVAL));
	cr_expect(strstr(problem, "only regular files") != NULL);
	close(pipe[0]);
	close(pipe[1]);
}
