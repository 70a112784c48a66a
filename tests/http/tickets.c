/* Tests of http/src/tls/tickets.h. */
#include "tls/wolfssl.h"

#include "tls/tickets.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOUR 3600

static const unsigned char ours[EDDYI_FINGERPRINT_LEN] = { 1 };
static const unsigned char others[EDDYI_FINGERPRINT_LEN] = { 2 };

struct framed {
	unsigned char name[EDDYI_TICKET_NAME_LEN], iv[EDDYI_TICKET_IV_LEN],
		mac[EDDYI_TICKET_MAC_LEN], bytes[5];
};

static struct eddyi_ticket of(struct framed *framed)
{
	return (struct eddyi_ticket){ framed->name, framed->iv, framed->mac, framed->bytes,
				      sizeof(framed->bytes) };
}

static struct framed seal(struct eddyi_ticket_scope *scope, uint64_t now_s)
{
	struct framed framed = { .bytes = "eddy" };
	struct eddyi_ticket ticket = of(&framed);

	cr_assert_eq(eddyi_tickets_seal(scope, &ticket, now_s), 0);
	cr_assert_neq(memcmp(framed.bytes, "eddy", 5), 0);
	return framed;
}

/* Return: 1 for one of an old key, 0, -errno. */
static int open_at(struct eddyi_ticket_scope *scope, struct framed framed, uint64_t now_s)
{
	struct eddyi_ticket ticket = of(&framed);
	bool is_old;
	int r = eddyi_tickets_open(scope, &ticket, now_s, &is_old);

	if (r == 0)
		cr_assert_str_eq((char *)framed.bytes, "eddy");
	return r ? r : is_old;
}

static struct eddyi_tickets tickets;
static struct WOLFSSL_CTX *context;

static struct eddyi_ticket_scope *use(struct eddyi_tickets *these, const unsigned char *fingerprint)
{
	cr_assert_eq(eddyi_tickets_use(these, context, fingerprint), 0);
	return wolfSSL_CTX_get_TicketEncCtx(context);
}

static void begin(void)
{
	wolfSSL_Init();
	context = wolfSSL_CTX_new(wolfSSLv23_server_method());
	eddyi_tickets_init(&tickets);
}

static void end(void)
{
	wolfSSL_CTX_free(context);
	eddyi_tickets_deinit(&tickets);
}

TestSuite(tickets, .init = begin, .fini = end);

Test(tickets, are_sealed_anew_each_time)
{
	struct eddyi_ticket_scope *scope = use(&tickets, ours);
	struct framed first = seal(scope, 10), second = seal(scope, 10);

	cr_assert_eq(memcmp(first.name, second.name, sizeof(first.name)), 0);
	cr_assert_neq(memcmp(first.iv, second.iv, sizeof(first.iv)), 0);
	cr_assert_neq(memcmp(first.bytes, second.bytes, sizeof(first.bytes)), 0);
	cr_assert_eq(open_at(scope, first, 10), 0);
	cr_assert_eq(open_at(scope, second, 10), 0);
}

Test(tickets, are_refused_when_a_byte_was_changed)
{
	struct eddyi_ticket_scope *scope = use(&tickets, ours);
	struct framed framed = seal(scope, 10);
	size_t used = offsetof(struct framed, bytes) + sizeof(framed.bytes);

	for (size_t at = 0; at < used; at++) {
		struct framed changed = framed;
		bool is_named = at < sizeof(framed.name);
		/* Of each field the algorithm uses its first bytes. */
		bool is_spare = (at >= offsetof(struct framed, iv) + 12 &&
				 at < offsetof(struct framed, mac)) ||
				(at >= offsetof(struct framed, mac) + 16 &&
				 at < offsetof(struct framed, bytes));

		((unsigned char *)&changed)[at] ^= 1;
		cr_assert_eq(open_at(scope, changed, 10),
			     is_spare ? 0 :
			     is_named ? -ENOKEY :
					-EBADMSG,
			     "byte %zu", at);
	}
}

Test(tickets, of_another_certificate_are_refused)
{
	struct eddyi_ticket_scope *scope = use(&tickets, ours), *other = use(&tickets, others);
	struct framed framed = seal(scope, 10);

	cr_assert_eq(open_at(other, framed, 10), -EBADMSG);
	cr_assert_eq(open_at(scope, framed, 10), 0);
	/* Read again it is the same certificate. */
	cr_assert_eq(use(&tickets, ours), scope);
}

Test(tickets, are_sealed_with_a_new_key_each_hour)
{
	struct eddyi_ticket_scope *scope = use(&tickets, ours);
	struct framed first = seal(scope, 10), last = seal(scope, 10 + HOUR - 1), next;

	cr_assert_eq(memcmp(first.name, last.name, sizeof(first.name)), 0);
	next = seal(scope, 10 + HOUR);
	cr_assert_neq(memcmp(first.name, next.name, sizeof(first.name)), 0);
	cr_assert_eq(open_at(scope, last, 10 + HOUR), 1);
	cr_assert_eq(open_at(scope, last, 10 + 2 * HOUR - 1), 1);
	cr_assert_eq(open_at(scope, next, 10 + 2 * HOUR - 1), 0);
	cr_assert_eq(open_at(scope, last, 10 + 2 * HOUR), -ENOKEY);
	/* By now nobody seals with the second any more. */
	cr_assert_eq(open_at(scope, next, 10 + 2 * HOUR), 1);
	cr_assert_eq(open_at(scope, next, 10 + 3 * HOUR), -ENOKEY);
}

Test(tickets, wipe_keys_that_are_over)
{
	static const struct eddyi_ticket_key none;
	struct eddyi_ticket_scope *scope = use(&tickets, ours);
	struct framed framed = seal(scope, 10);

	seal(scope, 10 + HOUR);
	cr_assert_eq(open_at(scope, framed, 10 + 9 * HOUR), -ENOKEY);
	cr_assert_eq(memcmp(&tickets.current, &none, sizeof(none)), 0);
	cr_assert_eq(memcmp(&tickets.previous, &none, sizeof(none)), 0);
}

Test(tickets, are_opened_by_the_next_process)
{
	struct eddyi_tickets next;
	struct eddyi_ticket_scope *scope = use(&tickets, ours);
	char bytes[512], none[512] = { 0 };
	struct framed framed;
	uint64_t now_s;
	ssize_t len;
	int fd;

	/* By the clock that it uses itself. */
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	now_s = (uint64_t)now.tv_sec;
	framed = seal(scope, now_s);
	fd = eddyi_tickets_save(&tickets);
	cr_assert_geq(fd, 0);
	eddyi_tickets_init(&next);
	scope = use(&next, ours);
	cr_assert_eq(open_at(scope, framed, now_s), -ENOKEY);
	cr_assert_eq(eddyi_tickets_load(&next, fd), 0);
	cr_assert_eq(open_at(scope, framed, now_s), 0);
	cr_assert_eq(memcmp(seal(scope, now_s).name, framed.name, sizeof(framed.name)), 0);
	/* No copy of the keys is left behind. */
	len = pread(fd, bytes, sizeof(bytes), 0);
	cr_assert(len > 0 && len < (ssize_t)sizeof(bytes));
	cr_assert_eq(memcmp(bytes, none, (size_t)len), 0);
	cr_assert_eq(eddyi_tickets_load(&next, fd), -EBADMSG);
	cr_assert_eq(open_at(scope, framed, now_s), 0);
	close(fd);
	eddyi_tickets_deinit(&next);
}

Test(tickets, of_another_version_are_not_taken_over)
{
	char bytes[256] = "eddy tickets 0";
	int fd = memfd_create("tickets", MFD_CLOEXEC);

	for (size_t len = 0; len <= sizeof(bytes); len += 8) {
		cr_assert_eq(ftruncate(fd, 0), 0);
		cr_assert_eq(pwrite(fd, bytes, len, 0), (ssize_t)len);
		cr_assert_eq(eddyi_tickets_load(&tickets, fd), -EBADMSG);
	}
	close(fd);
	cr_assert_eq(eddyi_tickets_load(&tickets, fd), -EBADF);
}
