/* Tests of wire/sender.h over a socket pair. That bytes go through TLS is seen by the tests of
 * client_ws.c. */
#include "wire/sender.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEN ((size_t)EDDY_MIB)

static char bytes[LEN], got[LEN];

struct owner {
	struct eddyi_sender sender;
	struct eddyi_wire wire;
	struct eddy_str left;
	unsigned ended;
	int error;
};

static struct owner *owner_of(struct eddyi_sender *sender)
{
	return eddy_of(sender, struct owner, sender);
}

static struct eddy_str next(struct eddyi_sender *sender)
{
	return owner_of(sender)->left;
}

static void take(struct eddyi_sender *sender, size_t len)
{
	owner_of(sender)->left = eddy_str_skip(owner_of(sender)->left, len);
}

static void ended(struct eddyi_sender *sender, int error)
{
	struct owner *owner = owner_of(sender);

	owner->ended++;
	owner->error = error;
	if (error == 0)
		eddyi_sender_flow(sender);
}

static const struct eddyi_sender_verbs verbs = { next, take, ended };

/* Return: the other end. */
static int begin(struct owner *owner)
{
	int fds[2];

	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0));
	*owner = (struct owner){ .wire.fd = fds[0] };
	owner->sender.verbs = &verbs;
	owner->sender.wire = &owner->wire;
	for (size_t i = 0; i < LEN; i++)
		bytes[i] = (char)(i % 251);
	return fds[1];
}

static void receive(int fd, size_t from, size_t to)
{
	for (ssize_t r; from < to; from += (size_t)r) {
		r = eddy_recv(fd, got + from, to - from, 0);
		cr_assert(gt(sz, r, 0));
	}
}

static int send_at_once(void *arg)
{
	struct owner owner;
	int fd = begin(&owner);
	struct iovec pieces[] = { { bytes, 10 }, { bytes + 10, 20 } };

	(void)arg;
	cr_expect(eq(sz, eddyi_sender_try(&owner.sender, pieces, 2), 30));
	cr_expect(eq(sz, eddyi_sender_try(&owner.sender, &(struct iovec){ bytes + 30, 5 }, 1), 5));
	/* Bytes of the owner precede these. */
	owner.left = eddy_str(bytes + 35, 5);
	cr_expect(eq(sz, eddyi_sender_try(&owner.sender, &(struct iovec){ bytes + 40, 5 }, 1), 0));
	eddyi_sender_flow(&owner.sender);
	cr_expect(not(eddyi_sender_is_busy(&owner.sender)));
	cr_expect(eq(u64, eddyi_sender_stalled_ns(&owner.sender), 0));
	receive(fd, 0, 40);
	cr_expect(eq(int, memcmp(got, bytes, 40), 0));
	close(owner.wire.fd);
	close(fd);
	return 0;
}

Test(sender, sends_at_once)
{
	cr_assert(eq(int, eddy_run(NULL, send_at_once, NULL), 0));
}

static int send_rest(void *arg)
{
	struct owner owner;
	int fd = begin(&owner);
	size_t gone = eddyi_sender_try(&owner.sender, &(struct iovec){ bytes, LEN }, 1);

	(void)arg;
	cr_assert(gone > 0 && gone < LEN);
	owner.left = eddy_str(bytes + gone, LEN - gone);
	eddyi_sender_flow(&owner.sender);
	cr_expect(eddyi_sender_is_busy(&owner.sender));
	cr_expect(eq(sz, eddyi_sender_try(&owner.sender, &(struct iovec){ bytes, 1 }, 1), 0));
	eddy_sleep(20 * EDDY_MS);
	cr_expect(ge(u64, eddyi_sender_stalled_ns(&owner.sender), 20 * EDDY_MS));
	cr_expect(eq(uint, owner.ended, 0));
	receive(fd, 0, LEN);
	eddy_sleep(EDDY_MS);
	cr_expect(ge(uint, owner.ended, 1));
	cr_expect(eq(int, owner.error, 0));
	cr_expect(not(eddyi_sender_is_busy(&owner.sender)));
	cr_expect(eq(int, memcmp(got, bytes, LEN), 0));
	close(owner.wire.fd);
	close(fd);
	return 0;
}

Test(sender, sends_the_rest_by_ops)
{
	cr_assert(eq(int, eddy_run(NULL, send_rest, NULL), 0));
}

static int fail(void *arg)
{
	struct owner owner;
	int fd = begin(&owner);

	(void)arg;
	close(fd);
	/* Not at once, so that no caller has to expect it. */
	owner.left = eddy_str(bytes, 10);
	eddyi_sender_flow(&owner.sender);
	cr_expect(eq(uint, owner.ended, 0));
	eddy_sleep(EDDY_MS);
	cr_expect(eq(uint, owner.ended, 1));
	cr_expect(eq(int, owner.error, -EPIPE));
	cr_expect(eq(sz, owner.left.len, 10));
	close(owner.wire.fd);
	return 0;
}

Test(sender, tells_of_failures_later)
{
	cr_assert(eq(int, eddy_run(NULL, fail, NULL), 0));
}
