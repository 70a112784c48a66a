/* Tests of wire.h: what has come and not been read. What goes over a socket is seen by the tests of conn.c. */
#include "wire/wire.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static char byte_at(size_t at)
{
	return (char)(at % 251);
}

/* Keep `len` bytes, which are the next ones. Return: whether they fit. */
static bool keep(struct eddyi_wire *wire, size_t *at, size_t len)
{
	char bytes[EDDYI_INBOX_SIZE + 1];

	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(*at + i);
	if (!eddyi_wire_keep(wire, eddy_str(bytes, len)))
		return false;
	*at += len;
	return true;
}

static void expect_pending(const struct eddyi_wire *wire, size_t from, size_t to)
{
	struct eddy_str pending = eddyi_wire_pending(wire);

	cr_assert(eq(sz, pending.len, to - from));
	for (size_t i = 0; i < pending.len; i++)
		cr_assert(pending.ptr[i] == byte_at(from + i), "byte %zu", i);
}

Test(wire, keeps_as_much_as_it_has_room_for)
{
	struct eddyi_wire wire = { 0 };
	size_t at = 0;

	expect_pending(&wire, 0, 0);
	cr_assert(keep(&wire, &at, 0));
	cr_assert(wire.inbox == NULL);
	cr_assert(keep(&wire, &at, 10000));
	eddyi_wire_consume(&wire, 9000);
	expect_pending(&wire, 9000, at);
	cr_assert(keep(&wire, &at, EDDYI_INBOX_SIZE - 10000));
	expect_pending(&wire, 9000, at);
	/* What has been read makes no room: the kernel may be writing what is behind it. */
	cr_assert(not(keep(&wire, &at, 1)));
	eddyi_wire_consume(&wire, EDDYI_INBOX_SIZE - 9000);
	cr_assert(wire.inbox == NULL);
	cr_assert(keep(&wire, &at, EDDYI_INBOX_SIZE));
	expect_pending(&wire, EDDYI_INBOX_SIZE, at);
	eddyi_wire_consume(&wire, EDDYI_INBOX_SIZE);
	cr_assert(wire.inbox == NULL);
	expect_pending(&wire, at, at);
}
