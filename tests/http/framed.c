/* Tests of http/src/http1/framed.h: a body on a wire, partly in its inbox, partly still in the socket. */
#include "http1/framed.h"

#include "wire/wire.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct eddyi_clocks clocks;
static struct eddyi_wire wire;
static struct eddyi_framed_body framed;
static int peer;

/* Begin a body of which `here` is in the inbox, and `there` in the socket. */
static void begin(enum eddyi_framing framing, uint64_t length, const char *here, const char *there)
{
	int fds[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
	eddyi_clocks_init(&clocks,
			  &(struct eddy_server_options){ .body_timeout_ns = EDDY_SECOND,
							 .write_timeout_ns = EDDY_SECOND },
			  0);
	wire = (struct eddyi_wire){ .clocks = &clocks, .fd = fds[0] };
	peer = fds[1];
	cr_assert(eddyi_wire_keep(&wire, eddy_str_from(here)));
	cr_assert(eq(int, (int)write(peer, there, strlen(there)), (int)strlen(there)));
	eddyi_framed_begin(&framed, framing, length);
}

static void end(void)
{
	free(wire.inbox);
	close(wire.fd);
	close(peer);
	eddyi_clocks_deinit(&clocks);
}

static void expect_read(const char *want)
{
	char buf[64];
	ssize_t len = eddyi_framed_read(&framed, &wire, buf, sizeof(buf));

	cr_assert_eq(len, (ssize_t)strlen(want), "got %zd bytes, not %s", len, want);
	cr_expect_arr_eq(buf, want, (size_t)len);
}

static void expect_error(int error)
{
	char byte;

	cr_expect_eq(eddyi_framed_read(&framed, &wire, &byte, 1), error);
	/* It stays. */
	cr_expect_eq(eddyi_framed_read(&framed, &wire, &byte, 1), error);
	cr_expect_eq(framed.body.error, error);
	cr_expect(not(eddyi_framed_can_drain(&framed)));
}

static void expect_pending(const char *want)
{
	cr_expect(eddy_str_eq_z(eddyi_wire_pending(&wire), want));
}

static void run(eddy_task_fn *fn)
{
	cr_assert_eq(eddy_run(NULL, fn, NULL), 0);
}

static int read_length(void *arg)
{
	char rest[16];

	(void)arg;
	begin(EDDYI_BODY_LENGTH, 8, "hello", "abcdef");
	expect_read("hello");
	/* Not more is taken from the socket than belongs to the body. */
	expect_read("abc");
	cr_expect(framed.body.ended);
	cr_expect_eq(framed.body.took, 8);
	expect_read("");
	cr_expect_eq(read(wire.fd, rest, sizeof(rest)), 3);
	end();
	begin(EDDYI_BODY_LENGTH, 2, "hiGET", "");
	expect_read("hi");
	expect_read("");
	expect_pending("GET");
	end();
	begin(EDDYI_BODY_LENGTH, 0, "GET", "");
	expect_read("");
	end();
	begin(EDDYI_BODY_NONE, 0, "GET", "");
	expect_read("");
	expect_pending("GET");
	end();
	return 0;
}

Test(framed, ends_at_its_length)
{
	run(read_length);
}

static int read_chunks(void *arg)
{
	(void)arg;
	begin(EDDYI_BODY_CHUNKED, 0, "3\r\nabc\r\n2\r\nde\r\n1", "\r\nf\r\n0\r\n\r\nGET");
	/* Small chunks come in one read, as far as they have arrived. */
	expect_read("abcde");
	expect_read("f");
	expect_read("");
	cr_expect_eq(framed.body.took, 6);
	expect_pending("GET");
	end();
	begin(EDDYI_BODY_CHUNKED, 0, "3\r\nabcd\r\n", "");
	expect_read("abc");
	expect_error(-EBADMSG);
	end();
	return 0;
}

Test(framed, ends_with_its_last_chunk)
{
	run(read_chunks);
}

static int exceed(void *arg)
{
	(void)arg;
	/* What is known to follow counts at once. */
	begin(EDDYI_BODY_LENGTH, 5, "", "");
	eddyi_body_limit(&framed.body, 4);
	expect_error(-EFBIG);
	end();
	begin(EDDYI_BODY_CHUNKED, 0, "3\r\nabc\r\n", "2\r\nde\r\n");
	eddyi_body_limit(&framed.body, 4);
	/* A higher limit does not raise it. */
	eddyi_body_limit(&framed.body, 100);
	expect_read("abc");
	expect_error(-EFBIG);
	end();
	return 0;
}

Test(framed, has_a_limit)
{
	run(exceed);
}

static int lose(void *arg)
{
	(void)arg;
	begin(EDDYI_BODY_LENGTH, 8, "", "abc");
	shutdown(peer, SHUT_WR);
	expect_read("abc");
	expect_error(-ECONNRESET);
	end();
	begin(EDDYI_BODY_CHUNKED, 0, "8\r\nabc", "");
	shutdown(peer, SHUT_WR);
	expect_read("abc");
	expect_error(-ECONNRESET);
	end();
	return 0;
}

Test(framed, is_not_complete_at_the_end_of_the_connection)
{
	run(lose);
}

static int expect_continue(void *arg)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	char got[64];

	(void)arg;
	begin(EDDYI_BODY_LENGTH, 5, "", "ab");
	framed.expects = true;
	cr_expect(not(eddyi_framed_can_drain(&framed)));
	expect_read("ab");
	cr_assert_eq(read(peer, got, sizeof(got)), (ssize_t)sizeof(go_on) - 1);
	cr_expect_arr_eq(got, go_on, sizeof(go_on) - 1);
	/* It is sent once. */
	cr_assert_eq(write(peer, "cde", 3), 3);
	expect_read("cde");
	cr_expect_eq(read(peer, got, sizeof(got)), -1);
	end();
	/* A body that has begun to arrive needs none. */
	begin(EDDYI_BODY_LENGTH, 2, "ab", "");
	framed.expects = true;
	expect_read("ab");
	cr_expect_eq(read(peer, got, sizeof(got)), -1);
	end();
	return 0;
}

Test(framed, lets_a_client_go_on_that_waits_for_it)
{
	run(expect_continue);
}

static int drain(void *arg)
{
	(void)arg;
	begin(EDDYI_BODY_LENGTH, EDDYI_DRAIN_MAX + 1, "", "");
	cr_expect(not(eddyi_framed_can_drain(&framed)));
	end();
	begin(EDDYI_BODY_CHUNKED, 0, "3\r\nabc\r\n", "2\r\nde\r\n0\r\n\r\nGET");
	cr_expect(eddyi_framed_can_drain(&framed));
	cr_expect_eq(eddyi_framed_drain(&framed, &wire), 0);
	cr_expect(framed.body.ended);
	expect_pending("GET");
	cr_expect(eddyi_framed_can_drain(&framed));
	cr_expect_eq(eddyi_framed_drain(&framed, &wire), 0);
	end();
	return 0;
}

Test(framed, is_discarded_to_keep_the_connection)
{
	run(drain);
}
