#include "issuer_rig.h"
#include "guard/oauth.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- notes ---- */

static void append(char *text, size_t size, const char *format, va_list args)
{
	size_t len = strlen(text);

	vsnprintf(text + len, size - len, format, args);
}

void rig_note(struct rig *rig, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(rig->noted, sizeof(rig->noted) - 1, format, args);
	va_end(args);
	strcat(rig->noted, " ");
}

static void note_keys(struct rig *rig, int r, struct eddy_keyset *set, unsigned version)
{
	char kids[64] = "";

	if (r < 0) {
		rig_note(rig, "%s#%u", strerrorname_np(-r), rig->looks);
		return;
	}
	for (size_t i = 0; i < eddy_keyset_count(set); i++) {
		struct eddy_str kid = eddy_jwk_kid(eddy_keyset_at(set, i));

		strncat(kids, kid.ptr, kid.len);
	}
	rig_note(rig, "v%u[%s]#%u", version, kids, rig->looks);
	eddy_keyset_unref(set);
}

int rig_keys(struct rig *rig)
{
	struct eddy_keyset *set = NULL;
	unsigned version = 0;
	int r = eddyi_issuer_keys(rig->issuer, &set, &version);

	note_keys(rig, r, set, version);
	return r;
}

int rig_newer(struct rig *rig, unsigned version)
{
	struct eddy_keyset *set = NULL;
	unsigned newer = 0;
	int r = eddyi_issuer_newer_keys(rig->issuer, version, &set, &newer);

	note_keys(rig, r, set, newer);
	return r;
}

int rig_await_waiters(const struct rig *rig, uint64_t count)
{
	int r = 0;

	while (r == 0 && eddy_oauth_stats().waited - rig->waited_before < count)
		r = eddy_sleep(EDDY_MS);
	return r;
}

/* Records of other threads come as well. */
static void take_record(const struct eddy_record *record, void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct rig *rig = arg;
	size_t len;

	if (strcmp(record->target, "eddy::auth") != 0 && record->level != EDDY_LOG_ERROR)
		return;
	pthread_mutex_lock(&lock);
	len = strlen(rig->said);
	snprintf(rig->said + len, sizeof(rig->said) - len, "%s %.*s\n",
		 eddy_log_level_name(record->level), EDDY_FMT(record->message));
	pthread_mutex_unlock(&lock);
}

unsigned rig_count_said(const struct rig *rig, const char *level)
{
	unsigned count = 0;

	for (const char *at = rig->said; (at = strstr(at, level)); at++)
		count++;
	return count;
}

/* ---- the issuer ---- */

void rig_answer(struct rig *rig, const struct answer *answers)
{
	size_t count = 0;

	do {
		rig->changed[count] = answers[count];
	} while (answers[count++].path && count < ANSWERS_MAX);
	rig->answers = rig->changed;
}

/* Read a head. Return: its path; NULL when the connection is over. */
static const char *read_path(int fd, char head[2048])
{
	size_t len = 0;
	ssize_t n;
	char *end;

	do {
		n = eddy_recv(fd, head + len, 2047 - len, 0);
		if (n <= 0)
			return NULL;
		len += (size_t)n;
		head[len] = '\0';
	} while (!strstr(head, "\r\n\r\n") && len < 2047);
	if (strncmp(head, "GET ", 4) != 0)
		return NULL;
	end = strchr(head + 4, ' ');
	*end = '\0';
	return head + 4;
}

/* The response to send, `$` replaced. */
static size_t make_response(const struct rig *rig, const char *text, char *out, size_t size)
{
	static const char head[] = "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n%s";
	char body[16384];
	size_t len = 0;

	for (; *text && len < sizeof(body) - sizeof(rig->origin); text++) {
		if (*text == '$')
			len += (size_t)sprintf(body + len, "%s", rig->origin);
		else
			body[len++] = *text;
	}
	body[len] = '\0';
	if (strncmp(body, "HTTP", 4) == 0)
		return (size_t)snprintf(out, size, "%s", body);
	return (size_t)snprintf(out, size, head, len, body);
}

static int flood(int fd)
{
	static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
	char bytes[4096];
	int r = eddy_send_all(fd, head, strlen(head), 0);

	memset(bytes, ' ', sizeof(bytes));
	while (r == 0)
		r = eddy_send_all(fd, bytes, sizeof(bytes), 0);
	return r;
}

static int drip(int fd, const char *text, size_t len)
{
	int r = 0;

	for (size_t i = 0; i < len && r == 0; i++) {
		r = eddy_send_all(fd, text + i, 1, 0);
		if (r == 0)
			r = eddy_sleep(10 * EDDY_MS);
	}
	return r;
}

static int respond(struct rig *rig, int fd, const struct answer *answer)
{
	char text[20000];
	size_t len = make_response(rig, answer->text ? answer->text : "", text, sizeof(text));
	int r = 0;

	switch (answer->how) {
	case OK:
		break;
	case HOLD:
		r = eddy_event_wait(&rig->let_go);
		break;
	case HANG:
		return eddy_sleep(1000 * EDDY_SECOND);
	case DRIP:
		return drip(fd, text, len);
	case FLOOD:
		return flood(fd);
	case CUT:
		return -ECONNRESET;
	}
	return r == 0 ? eddy_send_all(fd, text, len, 0) : r;
}

static const struct answer *find(const struct rig *rig, const char *path)
{
	const struct answer *answer = rig->answers;

	while (answer->path && strcmp(answer->path, path) != 0)
		answer++;
	return answer;
}

static int serve(int fd, void *arg)
{
	struct rig *rig = arg;
	char head[2048];
	const char *path;
	int r = 0;

	rig->connections++;
	while (r == 0 && (path = read_path(fd, head))) {
		size_t len = strlen(rig->asked);

		rig->looks += strncmp(path, OAUTH, strlen(OAUTH)) == 0;
		snprintf(rig->asked + len, sizeof(rig->asked) - len, "%s%s", len ? " " : "", path);
		r = respond(rig, fd, find(rig, path));
	}
	return 0;
}

static int serve_all(void *arg)
{
	struct rig *rig = arg;

	return eddy_serve(&rig->listeners, NULL, serve, rig);
}

/* ---- the app ---- */

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	struct rig *rig = eddy_req_context(req);
	int r = rig->scenario(rig);

	return r < 0 ? r : eddy_res_ok(res, "done");
}

static void make_app(struct rig *rig)
{
	struct eddy_oauth_options options = rig->options;

	snprintf(rig->origin, sizeof(rig->origin), "%s://127.0.0.1:%u",
		 rig->scheme ? rig->scheme : "http", rig->listeners.port);
	snprintf(rig->url, sizeof(rig->url), "%s%s", rig->origin, rig->path ? rig->path : "");
	if (!options.issuer)
		options.issuer = rig->url;
	options.allow_http |= !rig->scheme;
	/* On a machine that is busy as well. */
	if (!options.timeout_ns)
		options.timeout_ns = 30 * EDDY_SECOND;
	rig->app = eddy_app_new();
	eddy_app_set_context(rig->app, rig);
	eddy_app_map_get(rig->app, "/", handle);
	eddy_app_with_oauth(rig->app, &options);
	eddy_app_use_oauth(rig->app);
	rig->issuer = eddyi_oauth_of(rig->app)->issuer;
	if (rig->build)
		rig->build(rig);
}

static int test_app(struct rig *rig)
{
	struct eddy_response *response = NULL;
	int r = eddy_app_test(rig->app, "GET /", NULL, &response);

	if (r == 0 && eddy_response_status(response) != 200)
		r = -EPROTO;
	eddy_response_free(response);
	return r;
}

static int run(void *arg)
{
	struct rig *rig = arg;
	struct eddy_scope scope;
	int r = eddy_listen("127.0.0.1:0", NULL, &rig->listeners);

	if (r < 0)
		return r;
	make_app(rig);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "issuer", serve_all, rig);
	for (unsigned i = 0; i < (rig->times ? rig->times : 1) && r == 0; i++) {
		eddy_event_init(&rig->let_go);
		r = rig->is_bare ? rig->scenario(rig) : test_app(rig);
	}
	eddy_scope_end(&scope);
	eddy_listeners_close(&rig->listeners);
	return r;
}

void rig_run(struct rig *rig)
{
	cr_assert(eq(int, eddy_log_subscribe(take_record, rig), 0));
	eddy_log_set_filter("debug");
	rig->waited_before = eddy_oauth_stats().waited;
	rig->result = eddy_run(NULL, run, rig);
	eddy_log_unsubscribe();
	eddy_app_free(rig->app);
}
