/* Tests of http/src/tls/tls_buffers.h. */
#include "tls/tls_buffers.h"

#include <criterion/criterion.h>
#include <eddy/base.h>
#include <stdlib.h>
#include <string.h>

/* Receive as many bytes, which begin with `head`. */
static void receive(struct eddyi_tls_buffers *buffers, const char *head, size_t head_len,
		    size_t len)
{
	char *room;

	cr_assert_geq(eddyi_tls_buffers_room(buffers, &room), (ssize_t)len);
	memset(room, 0, len);
	memcpy(room, head, head_len);
	eddyi_tls_buffers_received(buffers, len);
}

Test(tls_buffers, give_whole_records_one_at_a_time)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char taken[64];

	receive(&buffers, "\x17\3\3\0\3", 5, 8);
	receive(&buffers, "\x16\3\3\0\0", 5, 5);
	receive(&buffers, "\x17\3\3\0\3", 5, 7);
	cr_assert(eddyi_tls_buffers_has_record(&buffers));
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 0);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 8);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, 5), 5);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 0);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 3);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 0);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 5);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, 4), 4);
	/* A receive in the middle of a record moves what is left to the front. */
	receive(&buffers, "", 0, 0);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 1);
	cr_assert_not(eddyi_tls_buffers_has_record(&buffers));
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 0);
	cr_assert_eq(eddyi_tls_buffers_in(&buffers).len, 7);
	receive(&buffers, "x", 1, 1);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).bytes[7], 'x');
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 8);
	eddyi_tls_buffers_trim(&buffers);
	cr_assert_null(buffers.in);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 0);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 0);
}

Test(tls_buffers, drop_records)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char taken[16];

	receive(&buffers, "\x17\3\3\0\3", 5, 8);
	receive(&buffers, "\x16\3\3\0\1", 5, 6);
	receive(&buffers, "\x17\3\3\0\3", 5, 8);
	receive(&buffers, "\x17\3\3\0\3", 5, 7);
	cr_assert_eq(eddyi_tls_buffers_next_record(&buffers).len, 8);
	eddyi_tls_buffers_drop_record(&buffers);
	cr_assert_eq(eddyi_tls_buffers_next_record(&buffers).bytes[0], 22);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 6);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, 5), 5);
	cr_assert_eq(eddyi_tls_buffers_next_record(&buffers).len, 0);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 1);
	eddyi_tls_buffers_drop_record(&buffers);
	cr_assert_eq(eddyi_tls_buffers_next_record(&buffers).len, 0);
	receive(&buffers, "x", 1, 1);
	eddyi_tls_buffers_drop_record(&buffers);
	cr_assert_null(buffers.in);
	cr_assert_eq(eddyi_tls_buffers_next_record(&buffers).len, 0);
}

Test(tls_buffers, give_what_is_no_record_as_it_is)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char taken[16];

	receive(&buffers, "GET", 3, 3);
	cr_assert(eddyi_tls_buffers_has_record(&buffers));
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 3);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 3);
	eddyi_tls_buffers_deinit(&buffers);
}

Test(tls_buffers, are_full_before_room_runs_out)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char *room, *taken = malloc(64 * EDDY_KIB);
	size_t len = 0;

	/* A record that claims to be longer than any may be. */
	receive(&buffers, "\x17\3\3\xff\xff", 5, 5);
	for (; !eddyi_tls_buffers_is_full(&buffers); len++)
		receive(&buffers, "", 0, 8 * EDDY_KIB);
	cr_assert_gt(len * 8 * EDDY_KIB, 16 * EDDY_KIB);
	cr_assert_geq(eddyi_tls_buffers_room(&buffers, &room), 0);
	cr_assert_not(eddyi_tls_buffers_has_record(&buffers));
	cr_assert_gt(eddyi_tls_buffers_begin_record(&buffers).len, 0);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, 64 * EDDY_KIB),
		     len * 8 * EDDY_KIB + 5);
	free(taken);
	eddyi_tls_buffers_deinit(&buffers);
}

Test(tls_buffers, take_what_there_is_room_for)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char piece[10 * EDDY_KIB];
	size_t len = 0;
	ssize_t r;

	memset(piece, 'a', sizeof(piece));
	while ((r = eddyi_tls_buffers_put(&buffers, piece, sizeof(piece))) > 0)
		len += (size_t)r;
	cr_assert_eq(r, 0);
	cr_assert_not(eddyi_tls_buffers_has_room(&buffers));
	cr_assert_eq(eddyi_tls_buffers_unsent(&buffers).len, len);
	eddyi_tls_buffers_sent(&buffers, len - 1);
	cr_assert_eq(eddyi_tls_buffers_unsent(&buffers).len, 1);
	eddyi_tls_buffers_sent(&buffers, 1);
	cr_assert_eq(eddyi_tls_buffers_unsent(&buffers).len, 0);
	cr_assert(eddyi_tls_buffers_has_room(&buffers));
	cr_assert_null(buffers.out);
}

Test(tls_buffers, have_more_room_for_those_who_fill_it)
{
	struct eddyi_tls_buffers buffers = { 0 };
	char taken[8], *room;
	size_t first = (size_t)eddyi_tls_buffers_room(&buffers, &room);

	/* A record, and the largest part of another. */
	receive(&buffers, "\x17\3\3\0\3", 5, 8);
	receive(&buffers, "\x17\3\3\x40\0x", 6, first - 8);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).len, 8);
	cr_assert_eq(eddyi_tls_buffers_take(&buffers, taken, sizeof(taken)), 8);
	cr_assert_gt((size_t)eddyi_tls_buffers_room(&buffers, &room), 2 * first);
	cr_assert_eq(eddyi_tls_buffers_in(&buffers).len, first - 8);
	cr_assert_eq(eddyi_tls_buffers_begin_record(&buffers).bytes[5], 'x');
	eddyi_tls_buffers_drop_record(&buffers);
	/* A receive that fills half of it keeps it. */
	receive(&buffers, "\x17\3\3\0\3", 5, first);
	cr_assert_gt((size_t)eddyi_tls_buffers_room(&buffers, &room), 2 * first);
	receive(&buffers, "", 0, 0);
	eddyi_tls_buffers_deinit(&buffers);
	buffers = (struct eddyi_tls_buffers){ 0 };
	cr_assert_eq((size_t)eddyi_tls_buffers_room(&buffers, &room), first);
	eddyi_tls_buffers_deinit(&buffers);
}
