/* Tests of http/src/http1/conn.h: a receive that stays armed. The client is a task of the server's loop: while it does
 * not suspend, nobody else runs. */
#include "http1/conn.h"
#include "http1/http1.h"

#include "../on_valgrind.h"
#include "dial.h"
#include "exchange/exchange_state.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>

/* Longer where a request takes longer. */
#define IDLE_MS (RUNNING_ON_VALGRIND ? 2000 : 250)
#define REQUEST "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

/* Those of the connection that asked last. */
static struct eddyi_conns *conns;

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	conns = eddy_of(req->stream, struct eddyi_conn, stream)->parked.conns;
	return eddy_res_ok(res, "hello");
}

static struct {
	struct eddy_event begun, released;
	size_t kept;
} held;

static int hold(struct eddy_req *req, struct eddy_res *res)
{
	eddy_event_set(&held.begun);
	eddy_event_wait(&held.released);
	held.kept = eddyi_wire_pending(&eddy_of(req->stream, struct eddyi_conn, stream)->wire).len;
	return eddy_res_ok(res, "hello");
}

static int file_sent;

/* The file ends as an answer of hello() does. */
static int send_file(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	file_sent = memfd_create("file", MFD_CLOEXEC);
	if (write(file_sent, "\r\n\r\nhello", 9) != 9)
		return 500;
	return eddy_res_file(res, EDDY_STR("file"), file_sent, NULL);
}

static bool give(int fd, const char *bytes)
{
	return send(fd, bytes, strlen(bytes), MSG_NOSIGNAL) == (ssize_t)strlen(bytes);
}

static int talking;

/* More arrives than was asked for, while the last answer is made. */
static int interrupt(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return give(talking, REQUEST) ? eddy_res_ok(res, "hello") : -EIO;
}

static const struct {
	const char *path;
	int result;
} late_errors[] = {
	{ "/status", 500 }, { "/io", -EIO }, { "/size", -EMSGSIZE }, { "/bad", -EBADMSG }
};

/* Fail after a part of the body was sent. */
static int fail_late(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_write(res, "half", 4);

	return r < 0 ? r : (int)(intptr_t)eddy_req_route_data(req);
}

static int run(void *app)
{
	return eddy_app_run(app);
}

static int connect_to(const struct eddy_app *app)
{
	int fd = dial(eddy_app_port(app));

	/* What is given is there at once. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	return fd;
}

/* Wait for so many answers. Return: their length; 0 when there are fewer. */
static size_t answers(int fd, int count)
{
	static const char end[] = "\r\n\r\nhello";
	char buf[4096];
	size_t len = 0;

	while (count) {
		ssize_t r = eddy_recv(fd, buf + len, 1, 0);

		if (r <= 0 || len + 1 == sizeof(buf))
			return 0;
		len++;
		count -= len >= sizeof(end) - 1 &&
			 memcmp(buf + len - (sizeof(end) - 1), end, sizeof(end) - 1) == 0;
	}
	return len;
}

static size_t answer(int fd)
{
	return answers(fd, 1);
}

static size_t ask(int fd)
{
	return give(fd, REQUEST) ? answer(fd) : 0;
}

/* The others, and the ring, have so many turns. */
static void let_turn(int turns)
{
	uint64_t until = eddy_stats().loop.turns + (uint64_t)turns;

	while (eddy_stats().loop.turns < until)
		eddy_yield();
}

/* Its time is over by the time that anybody looks, and what has come since then comes with it. */
static void outstay(void)
{
	usleep((IDLE_MS + 10) * 1000);
}

/* A request that came in time: then the end of its receive, which has been cancelled, ends nothing. */
static int ask_at_the_end(int fd)
{
	if (!ask(fd))
		return 1;
	outstay();
	if (!ask(fd))
		return 2;
	return ask(fd) ? 0 : 3;
}

static bool has_ended(int fd)
{
	char byte;

	return eddy_recv(fd, &byte, 1, 0) == 0;
}

#define BEGUN "GET /hello HTTP/1.1\r\nHost: localhost\r\n"

/* Its time is up, and a part of a head is here that nobody has looked at: it was in time, and the rest may be on its way
 * as the receive is being cancelled. */
static bool ask_in_part(int fd, const char *part)
{
	if (!ask(fd))
		return false;
	outstay();
	if (!give(fd, part))
		return false;
	let_turn(1);
	return true;
}

/* Whether a multishot receive takes a limit (Linux 6.17). */
static bool has_recv_limit(void)
{
	struct utsname kernel;

	return uname(&kernel) == 0 && strverscmp(kernel.release, "6.17") >= 0;
}

static int ask_in_two_parts(int fd)
{
	/* Then it receives once, and nothing is on its way. */
	if (!has_recv_limit())
		return 0;
	if (!ask_in_part(fd, BEGUN))
		return 1;
	if (!give(fd, "\r\n") || !answer(fd))
		return 2;
	return ask(fd) ? 0 : 3;
}

/* More than one arming brings: the end of its receive is its own, and no cancellation's. */
static int ask_at_length(int fd)
{
	char part[12 * EDDY_KIB + 1] = BEGUN "X: ";

	memset(&part[strlen(part)], 'x', sizeof(part) - 1 - strlen(part));
	if (!ask_in_part(fd, part))
		return 1;
	if (!give(fd, "\r\n\r\n") || !answer(fd))
		return 2;
	return ask(fd) ? 0 : 3;
}

static int ask_in_one_part(int fd)
{
	char buf[1024] = "";

	if (!ask_in_part(fd, BEGUN))
		return 1;
	if (eddy_recv(fd, buf, sizeof(buf) - 1, 0) <= 0 || strncmp(buf, "HTTP/1.1 408 ", 13) != 0)
		return 2;
	return has_ended(fd) ? 0 : 3;
}

/* Room is needed, or the app ends: who has asked by then is answered. */
static int ask_as_it_is_evicted(int fd)
{
	if (!ask(fd) || eddyi_conns_evict(conns, &(uint64_t){ 0 }) < 0)
		return 1;
	return ask(fd) && has_ended(fd) ? 0 : 2;
}

static void evict(struct eddy_timer *timer)
{
	eddyi_conns_evict(conns, &(uint64_t){ 0 });
	timer->fire = NULL;
}

/* Evicted when a part has been received already, which nobody has looked at. */
static int ask_in_part_before_it_is_evicted(int fd)
{
	struct eddy_timer timer = { .fire = evict };

	if (!ask(fd))
		return 1;
	eddy_timer_arm(&timer, eddy_now());
	if (!give(fd, BEGUN))
		return 2;
	let_turn(1);
	if (timer.fire)
		return 3;
	if (!give(fd, "\r\n"))
		return 4;
	return answer(fd) && has_ended(fd) ? 0 : 5;
}

static void make_slow(struct eddyi_seat *seat)
{
	eddyi_holders_move(&conns->holders, seat, EDDYI_STANDING_SLOW);
}

/* The rest of a body that the response did not wait for has been received already, which nobody has looked at. */
static int be_evicted_as_the_body_ends(int fd)
{
	struct eddy_timer timer = { .fire = evict };

	if (!ask(fd) ||
	    !give(fd, "POST /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf") ||
	    !answer(fd))
		return 1;
	let_turn(2);
	eddyi_holders_each(&conns->holders, make_slow);
	eddy_timer_arm(&timer, eddy_now());
	if (!give(fd, " body."))
		return 2;
	let_turn(8);
	if (timer.fire || conns->counts.evicted[EDDYI_STANDING_SLOW] != 1)
		return 3;
	/* Its place is free at once. */
	if (conns->leaving || conns->count)
		return 4;
	return has_ended(fd) ? 0 : 5;
}

/* What a response holds is given up before the rest of the request's body is read. */
static int ask_with_a_slow_body(int fd)
{
	if (!give(fd, "POST /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf") ||
	    !answer(fd))
		return 1;
	let_turn(2);
	if (fcntl(file_sent, F_GETFD) >= 0)
		return 2;
	if (!give(fd, " body."))
		return 3;
	return ask(fd) ? 0 : 4;
}

/* Nothing came: it ends. */
static int ask_too_late(int fd)
{
	if (!ask(fd))
		return 1;
	outstay();
	return answer(fd) ? 2 : 0;
}

/* Blank lines look as if another request came behind: the answer is held for that one's, and is on its way by itself when
 * a request comes. */
static int ask_behind_blank_lines(int fd)
{
	if (!ask(fd))
		return 1;
	for (int turns = 0; turns < 8; turns++) {
		if (!give(fd, REQUEST "\r\n\r\n"))
			return 2;
		let_turn(turns);
		if (!give(fd, REQUEST) || !answers(fd, 2))
			return 10 + turns;
	}
	return 0;
}

/* Send requests until nothing has been taken for a while. Return: bytes. */
static size_t flood(int fd)
{
	size_t sent = 0;

	for (int quiet = 0; quiet < 20;) {
		size_t at = sent % strlen(REQUEST);
		ssize_t r =
			send(fd, &REQUEST[at], strlen(REQUEST) - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (r > 0) {
			sent += (size_t)r;
			quiet = 0;
		} else {
			eddy_sleep(EDDY_MS);
			quiet++;
		}
	}
	return sent;
}

/* What comes while a handler takes its time: some of it is kept, the rest waits in the sockets, and all that
 * was asked is answered. */
static int ask_while_busy(int fd)
{
	size_t sent, got = 0, len = ask(fd);
	char buf[4096];
	ssize_t r;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ 16 * EDDY_KIB }, sizeof(int));
	if (!len || !give(fd, "GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		return 1;
	eddy_event_wait(&held.begun);
	sent = flood(fd);
	eddy_event_set(&held.released);
	if (sent % strlen(REQUEST)) {
		if (eddy_send_all(fd, &REQUEST[sent % strlen(REQUEST)],
				  strlen(REQUEST) - sent % strlen(REQUEST), 0) < 0)
			return 2;
		sent += strlen(REQUEST);
	}
	shutdown(fd, SHUT_WR);
	while ((r = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
		got += (size_t)r;
	if (held.kept > EDDYI_INBOX_SIZE || (has_recv_limit() && held.kept < EDDYI_INBOX_SIZE / 2))
		return 3;
	return got == len * (1 + sent / strlen(REQUEST)) ? 0 : 4;
}

#define PROXIED "PROXY TCP4 192.0.2.7 "
#define REST "192.0.2.1 56324 443\r\n" REQUEST

static struct {
	struct eddy_op op;
	int fd;
} late;

static void give_rest(struct eddy_op *op, int result, unsigned flags)
{
	(void)op;
	(void)result;
	(void)flags;
	give(late.fd, REST);
}

/* Its time is up within its PROXY header. The rest of that, and a request, come between the end of its receive and the look at
 * that end: in front of it in the queue is the completion that sends them. */
static int introduce_itself_late(int fd)
{
	struct io_uring_sqe *sqe;
	struct eddyi_seat *seat;
	struct eddyi_conn *conn;
	int r;

	if (!give(fd, PROXIED REST) || !answer(fd))
		return 1;
	late.fd = connect_to(conns->app);
	if (!give(late.fd, PROXIED))
		return 2;
	let_turn(4);
	seat = eddyi_holders_first(&conns->holders, EDDYI_STANDING_HEAD);
	if (!seat)
		return 3;
	conn = eddy_of(seat, struct eddyi_conn, parked.seat);
	if (!conn->proxy_due || !conn->wire.inbox)
		return 4;
	sqe = eddy_op_begin(&late.op, give_rest);
	io_uring_prep_nop(sqe);
	eddy_op_start(&late.op, sqe);
	conn->wire.timeout.expire(&conn->wire.timeout);
	r = answer(late.fd) ? 0 : 5;
	close(late.fd);
	return r;
}

/* A reset could cost a client the answer that it has not read yet. */
static int ask_for_the_last_answer(int fd)
{
	static const char last[] =
		"GET /interrupt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

	talking = fd;
	if (!give(fd, last) || !answer(fd))
		return 1;
	return has_ended(fd) ? 0 : 2;
}

/* Without chunks, only a reset tells that a body is not complete. */
static int ask_for_half(int fd)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);

	getpeername(fd, (struct sockaddr *)&peer, &size);
	for (int i = 0; i < (int)(sizeof(late_errors) / sizeof(*late_errors)); i++) {
		int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		char buf[4096];
		ssize_t r;

		snprintf(buf, sizeof(buf), "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n",
			 late_errors[i].path);
		r = connect(other, (struct sockaddr *)&peer, size) == 0 && give(other, buf);
		while (r > 0)
			r = eddy_recv(other, buf, sizeof(buf), 0);
		close(other);
		if (r != -ECONNRESET)
			return i + 1;
	}
	return 0;
}

struct talk {
	struct eddy_app *app;
	int (*talk)(int fd);
};

static int serve(void *arg)
{
	const struct talk *talk = arg;
	struct eddy_scope scope;
	int fd, r = -1;

	eddy_event_init(&held.begun);
	eddy_event_init(&held.released);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run, talk->app);
	while (!eddy_app_port(talk->app))
		eddy_yield();
	fd = connect_to(talk->app);
	if (fd >= 0) {
		r = talk->talk(fd);
		close(fd);
	}
	eddy_app_shutdown(talk->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

static int talk_with(int (*fn)(int fd), const struct eddy_bind_options *options)
{
	static const char *const proxies[] = { "127.0.0.1", NULL };
	struct talk talk = { eddy_app_new(), fn };
	int r;

	eddy_app_add_bind(talk.app, "127.0.0.1:0", options);
	eddy_app_with_server(talk.app, &(struct eddy_server_options){
					       .idle_timeout_ns = IDLE_MS * EDDY_MS,
					       .trusted_proxies = proxies,
					       .workers = 1,
					       .no_signals = true,
				       });
	eddy_app_map_get(talk.app, "/hello", hello);
	eddy_app_map_get(talk.app, "/hold", hold);
	eddy_app_map_get(talk.app, "/interrupt", interrupt);
	eddy_app_map_post(talk.app, "/file", send_file);
	for (size_t i = 0; i < sizeof(late_errors) / sizeof(*late_errors); i++)
		eddy_route_with(eddy_app_map_get(talk.app, late_errors[i].path, fail_late),
				&(struct eddy_route_options){
					.data = (void *)(intptr_t)late_errors[i].result });
	r = eddy_run(NULL, serve, &talk);
	eddy_app_free(talk.app);
	return r;
}

static int talk(int (*fn)(int fd))
{
	return talk_with(fn, NULL);
}

Test(conn, is_served_when_its_time_ends_with_a_request)
{
	cr_expect(eq(int, talk(ask_at_the_end), 0));
}

Test(conn, is_served_when_its_time_ends_within_a_request)
{
	cr_expect(eq(int, talk(ask_in_two_parts), 0));
	cr_expect(eq(int, talk(ask_at_length), 0));
	cr_expect(eq(int, talk(ask_in_one_part), 0));
}

Test(conn, is_served_when_it_is_evicted_within_a_request)
{
	cr_expect(eq(int, talk(ask_as_it_is_evicted), 0));
	cr_expect(eq(int, talk(ask_in_part_before_it_is_evicted), 0));
}

Test(conn, ends_when_it_is_evicted_as_a_discarded_body_ends)
{
	cr_expect(eq(int, talk(be_evicted_as_the_body_ends), 0));
}

Test(conn, is_served_when_its_time_ends_within_a_proxy_header)
{
	const struct eddy_bind_options options = { .proxy_protocol = true };

	cr_expect(eq(int, talk_with(introduce_itself_late, &options), 0));
}

Test(conn, is_reset_when_its_answer_is_a_part)
{
	cr_expect(eq(int, talk(ask_for_half), 0));
}

Test(conn, is_not_reset_when_more_arrives_than_it_reads)
{
	cr_expect(eq(int, talk(ask_for_the_last_answer), 0));
}

Test(conn, ends_when_its_time_does)
{
	cr_expect(eq(int, talk(ask_too_late), 0));
}

Test(conn, finds_what_came_while_it_sent_what_it_had_held)
{
	cr_expect(eq(int, talk(ask_behind_blank_lines), 0));
}

Test(conn, gives_up_a_file_before_it_reads_the_rest)
{
	cr_expect(eq(int, talk(ask_with_a_slow_body), 0));
}

Test(conn, keeps_an_inbox_of_what_comes_while_it_is_busy)
{
	cr_expect(eq(int, talk(ask_while_busy), 0));
}
