/* Tests of http/src/parked/holders.h. */
#include "parked/holders.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

#define IDLE EDDYI_STANDING_IDLE
#define HEAD EDDYI_STANDING_HEAD
#define SLOW EDDYI_STANDING_SLOW
#define BUSY EDDYI_STANDING_BUSY
#define SEATS 300

static struct eddyi_holders holders;
static struct eddyi_seat seats[SEATS];

static void init(void)
{
	eddyi_holders_init(&holders);
	cr_assert(zero(int, eddyi_holders_open(&holders, SEATS)));
}

static void fini(void)
{
	for (int i = 0; i < SEATS; i++)
		if (seats[i].holder)
			eddyi_holders_unseat(&holders, &seats[i]);
	eddyi_holders_deinit(&holders);
}

TestSuite(holders, .init = init, .fini = fini);

static struct eddyi_ip ip_of(const char *text)
{
	struct eddyi_ip ip;

	cr_assert(zero(int, eddyi_ip_parse(eddy_str_from(text), &ip)));
	return ip;
}

/* Seat number `i` from an address, with a standing. */
static void seat(int i, const char *text, enum eddyi_standing standing)
{
	struct eddyi_ip ip = text ? ip_of(text) : (struct eddyi_ip){ { 0 } };

	cr_assert(eddyi_holders_seat(&holders, &seats[i], text ? &ip : NULL));
	eddyi_holders_move(&holders, &seats[i], standing);
}

/* Return: the number of the one that goes first; -1 for none. */
static int first(enum eddyi_standing standing)
{
	const struct eddyi_seat *found = eddyi_holders_first(&holders, standing);

	return found ? (int)(found - seats) : -1;
}

static void unseat(int i)
{
	eddyi_holders_unseat(&holders, &seats[i]);
	seats[i].holder = NULL;
}

Test(holders, none_of_a_standing)
{
	cr_expect(eq(int, first(IDLE), -1));
	seat(0, "192.0.2.1", BUSY);
	seat(1, "192.0.2.1", HEAD);
	cr_expect(eq(int, first(IDLE), -1));
	cr_expect(eq(int, first(SLOW), -1));
	cr_expect(eq(int, first(HEAD), 1));
	eddyi_holders_move(&holders, &seats[1], BUSY);
	cr_expect(eq(int, first(HEAD), -1));
}

/* All that it holds counts, not only what could go. */
Test(holders, the_address_that_holds_most)
{
	seat(0, "192.0.2.1", IDLE);
	seat(1, "192.0.2.2", BUSY);
	seat(2, "192.0.2.2", BUSY);
	seat(3, "192.0.2.2", IDLE);
	seat(4, "192.0.2.2", IDLE);
	seat(5, "192.0.2.3", IDLE);
	seat(6, "192.0.2.3", IDLE);
	for (int i = 3; i < 5; i++) {
		cr_expect(eq(int, first(IDLE), i));
		unseat(i);
	}
	/* Two addresses hold two now, of which one has none that is idle. */
	cr_expect(eq(int, first(IDLE), 5));
	unseat(5);
	cr_expect(eq(int, first(IDLE), 0));
	seat(7, "192.0.2.3", BUSY);
	cr_expect(eq(int, first(IDLE), 6));
}

Test(holders, the_longest_idle_among_equals)
{
	for (int i = 0; i < 3; i++)
		seat(i, (const char *[]){ "192.0.2.1", "192.0.2.2", "192.0.2.3" }[i], IDLE);
	cr_expect(eq(int, first(IDLE), 0));
	eddyi_holders_move(&holders, &seats[0], BUSY);
	eddyi_holders_move(&holders, &seats[0], IDLE);
	cr_expect(eq(int, first(IDLE), 1));
	/* One that stays keeps its place. */
	eddyi_holders_move(&holders, &seats[1], IDLE);
	cr_expect(eq(int, first(IDLE), 1));
	seat(3, "192.0.2.2", IDLE);
	cr_expect(eq(int, first(IDLE), 1));
}

Test(holders, counts_near_a_word)
{
	for (int i = 0; i < 65; i++)
		seat(i, "192.0.2.1", IDLE);
	for (int i = 100; i < 164; i++)
		seat(i, "192.0.2.2", IDLE);
	cr_expect(eq(int, first(IDLE), 0));
	unseat(0);
	unseat(1);
	cr_expect(eq(int, first(IDLE), 100));
	for (int i = 100; i < 164; i++)
		unseat(i);
	cr_expect(eq(int, first(IDLE), 2));
}

/* More than were expected, as at the end, when all that have been accepted are taken. */
Test(holders, more_than_there_is_room_for)
{
	eddyi_holders_deinit(&holders);
	cr_assert(zero(int, eddyi_holders_open(&holders, 2)));
	for (int i = 0; i < 5; i++)
		seat(i, "192.0.2.1", IDLE);
	seat(5, "192.0.2.2", IDLE);
	for (int i = 0; i < 4; i++) {
		cr_expect(eq(int, first(IDLE), i));
		unseat(i);
	}
	/* Now they hold as many. */
	cr_expect(eq(int, first(IDLE), 5));
}

Test(holders, ipv6_by_64_bits)
{
	seat(0, "192.0.2.1", IDLE);
	seat(1, "2001:db8:0:1::1", IDLE);
	seat(2, "2001:db8:0:1:ffff::2", IDLE);
	seat(3, "192.0.2.2", IDLE);
	seat(4, "2001:db8:0:2::1", IDLE);
	cr_expect(eq(ptr, seats[1].holder, seats[2].holder));
	cr_expect(ne(ptr, seats[1].holder, seats[4].holder));
	cr_expect(ne(ptr, seats[0].holder, seats[3].holder));
	cr_expect(eq(int, first(IDLE), 1));
}

/* Proxies and unix sockets go last, however many they are. */
Test(holders, those_who_are_not_counted)
{
	for (int i = 0; i < 10; i++)
		seat(i, NULL, IDLE);
	seat(10, "192.0.2.1", IDLE);
	cr_expect(eq(int, first(IDLE), 10));
	unseat(10);
	cr_expect(eq(int, first(IDLE), 0));
}

static int met;

static void meet(struct eddyi_seat *each)
{
	met++;
	eddyi_holders_move(&holders, each, BUSY);
}

Test(holders, each)
{
	seat(0, NULL, HEAD);
	seat(1, "192.0.2.1", IDLE);
	seat(2, "192.0.2.1", BUSY);
	seat(3, "192.0.2.2", SLOW);
	eddyi_holders_each(&holders, meet);
	cr_expect(eq(int, met, 4));
	cr_expect(eq(int, first(HEAD), -1));
}

Test(holders, tally)
{
	struct eddyi_ip a = ip_of("2001:db8::1"), b = ip_of("2001:db8::2"), c = ip_of("192.0.2.1");
	struct eddyi_tally tally;

	cr_assert(zero(int, eddyi_tally_init(&tally, 10)));
	cr_expect(zero(int, eddyi_tally_take(&tally, &a, 2)));
	cr_expect(zero(int, eddyi_tally_take(&tally, &b, 2)));
	cr_expect(eq(int, eddyi_tally_take(&tally, &a, 2), -EDQUOT));
	cr_expect(zero(int, eddyi_tally_take(&tally, &c, 2)));
	eddyi_tally_give_back(&tally, &a);
	cr_expect(zero(int, eddyi_tally_take(&tally, &b, 2)));
	for (int i = 0; i < 2; i++)
		eddyi_tally_give_back(&tally, &a);
	eddyi_tally_give_back(&tally, &c);
	eddyi_tally_deinit(&tally);
}

Test(holders, knows_who_was_the_largest)
{
	cr_expect(eq(ptr, holders.largest, NULL));
	seat(0, "10.0.0.1", BUSY);
	seat(1, "10.0.0.2", BUSY);
	cr_expect(eq(ptr, holders.largest, seats[0].holder));
	seat(2, "10.0.0.2", BUSY);
	seat(3, NULL, BUSY);
	cr_expect(eq(ptr, holders.largest, seats[1].holder));
	unseat(1);
	unseat(2);
	cr_expect(eq(ptr, holders.largest, NULL));
}
