/* turns.h: a server of raw bytes, which answers one request after the other as a table says, and a client
 * that asks it. Both are tasks of one loop. */
#ifndef EDDY_TESTS_TURNS_H
#define EDDY_TESTS_TURNS_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum after {
	STAY,
	CLOSE,
	RESET,
	HANG, /* until the client ends */
	DOZE, /* without a look at it, until the client is done */
};

/* A request, and what it is answered. A turn behind the end of a connection accepts the next one. */
struct turn {
	const char
		*until; /* the request is read so far; default the end of its head; "" not at all */
	const char *answer;
	enum after after;
};

struct talk {
	const struct turn *turns; /* up to one that is all zero */
	const struct eddy_client_options *options;
	int (*ask)(struct talk *talk);

	struct eddy_client *client;
	char base[64];  /* "http://127.0.0.1:PORT" */
	char log[8192]; /* what the server has read */
	size_t log_len;
	unsigned connections;
	unsigned answers; /* turns that were finished */
	int listener;
	int result; /* of `ask` */
	char error[512];
};

static inline int read_until(struct talk *talk, int fd, const char *until)
{
	size_t begin = talk->log_len;

	while (!strstr(talk->log + begin, until)) {
		ssize_t r = eddy_recv(fd, talk->log + talk->log_len,
				      sizeof(talk->log) - 1 - talk->log_len, 0);

		if (r <= 0)
			return r < 0 ? (int)r : -ENODATA;
		talk->log_len += (size_t)r;
		talk->log[talk->log_len] = 0;
	}
	return 0;
}

static inline void end_turn(int fd, enum after after)
{
	struct linger linger = { .l_onoff = 1 };
	char bytes[4096];

	if (after == DOZE)
		eddy_sleep(100 * EDDY_SECOND);
	while (after == HANG && eddy_recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	if (after == RESET)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	eddy_close(fd);
}

static inline int take_turns(void *arg)
{
	struct talk *talk = arg;
	const struct turn *turn = talk->turns;
	int fd = -1, r = 0;

	for (; r == 0 && (turn->until || turn->answer || turn->after); turn++) {
		if (fd < 0)
			fd = eddy_accept(talk->listener, NULL, NULL);
		if (fd < 0)
			return fd;
		if (talk->connections < talk->answers + 1)
			talk->connections += turn == talk->turns || turn[-1].after != STAY;
		r = read_until(talk, fd, turn->until ? turn->until : "\r\n\r\n");
		if (r == 0 && turn->answer)
			r = eddy_send_all(fd, turn->answer, strlen(turn->answer), 0);
		if (r == 0)
			talk->answers++;
		if (turn->after != STAY) {
			end_turn(fd, turn->after);
			fd = -1;
		}
	}
	if (fd >= 0)
		end_turn(fd, HANG);
	return 0;
}

static inline int run_talk(void *arg)
{
	struct talk *talk = arg;
	struct eddy_listeners listeners;
	struct eddy_scope scope;

	if (eddy_listen("127.0.0.1:0", NULL, &listeners) < 0)
		return -EADDRNOTAVAIL;
	talk->listener = listeners.fds[0];
	snprintf(talk->base, sizeof(talk->base), "http://127.0.0.1:%u", listeners.port);
	talk->client = eddy_client_new(talk->options);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "server", take_turns, talk);
	talk->result = talk->ask(talk);
	snprintf(talk->error, sizeof(talk->error), "%s", eddy_client_error(talk->client));
	eddy_client_free(talk->client);
	eddy_scope_end(&scope);
	eddy_listeners_close(&listeners);
	return 0;
}

/* Run it. */
static inline void have_talk(struct talk *talk)
{
	cr_assert(eq(int, eddy_run(NULL, run_talk, talk), 0));
}

/* The URL of a path on the server. */
static inline const char *url_of(const struct talk *talk, const char *path)
{
	static char url[256];

	snprintf(url, sizeof(url), "%s%s", talk->base, path);
	return url;
}

/* Ask, read all of the body, and write "STATUS BODY". Return: 0, -errno. */
static inline int ask_for(struct talk *talk, const char *path,
			  const struct eddy_client_request *request, char *got, size_t size)
{
	struct eddy_response *response = NULL;
	struct eddy_str body;
	int r = eddy_client_send(talk->client, url_of(talk, path), request, &response);

	got[0] = 0;
	if (r == 0) {
		r = eddy_response_body(response, &body);
		if (r == 0)
			snprintf(got, size, "%d %.*s", eddy_response_status(response),
				 EDDY_FMT(body));
	}
	eddy_response_free(response);
	return r;
}

/* ---- what most tests share ---- */

#define OK "HTTP/1.1 200 OK\r\n"
#define HELLO OK "content-length: 5\r\n\r\nhello"
#define TO(status, location)                                                                       \
	"HTTP/1.1 " status " Moved\r\nlocation: " location "\r\ncontent-length: 2\r\n\r\nto"

/* Answers, and what calls returned. */
extern char got[8][4096];
extern int results[8];

/* What ask_asked() asks. */
extern struct eddy_client_request asked;

static inline int ask_once(struct talk *talk)
{
	return ask_for(talk, "/x?y", NULL, got[0], sizeof(got[0]));
}

static inline int ask_asked(struct talk *talk)
{
	return ask_for(talk, "/x?y", &asked, got[0], sizeof(got[0]));
}

/* A body of a function's: `data` counts what has been given. */
static inline ssize_t pull_three(void *data, void *buf, size_t len)
{
	static const char *const pieces[] = { "he", "llo", "!" };
	unsigned *count = data;

	(void)len;
	if (*count == 3)
		return 0;
	memcpy(buf, pieces[*count], strlen(pieces[*count]));
	return (ssize_t)strlen(pieces[(*count)++]);
}

#endif
