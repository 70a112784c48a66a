/* Tests of http/src/server/activation.h. Whole processes that pass sockets on are in tests/e2e/test_restart.py. */
#include "server/activation.h"

#include "app/app.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

static int fd_new(void)
{
	int fd = dup(STDERR_FILENO);

	cr_assert_geq(fd, 0);
	return fd;
}

Test(activation, escapes_what_stands_between_names)
{
	static const char *const addresses[] = { "[::1]:7878", "unix:/run/100%3A", "%", "" };
	struct eddyi_passed_list list = { 0 };
	char *names, *rest;

	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(eddyi_passed_list_add(&list, fd_new(), "plain ", addresses[i]), 0);
	names = rest = eddyi_passed_list_names(&list);
	cr_assert_str_eq(names,
			 "plain [%3A%3A1]%3A7878:plain unix%3A/run/100%253A:plain %25:plain ");
	for (size_t i = 0; i < 4; i++) {
		char *name = strsep(&rest, ":");

		eddyi_passed_unescape(name);
		cr_assert_str_eq(name, list.all[i].name);
	}
	cr_assert_null(rest);
	free(names);
	eddyi_passed_list_deinit(&list);
}

Test(activation, unescapes_nothing_else)
{
	char name[] = "%41%3a%3";

	eddyi_passed_unescape(name);
	cr_assert_str_eq(name, "%41%3a%3");
}

Test(activation, hands_one_out_and_closes_the_others)
{
	int fds[3] = { fd_new(), fd_new(), fd_new() };
	struct eddyi_passed_list list = { 0 };

	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(eddyi_passed_list_add(&list, fds[i], "",
						   (const char *[]){ "a", "b", "c" }[i]),
			     0);
	cr_assert_eq(eddyi_passed_list_take(&list, 1), fds[1]);
	cr_assert_eq(list.count, 2);
	cr_assert_eq(list.all[1].fd, fds[2]);
	cr_assert_str_eq(list.all[1].name, "c");
	eddyi_passed_list_deinit(&list);
	cr_assert_eq(list.count, 0);
	cr_assert_lt(dup(fds[0]), 0);
	cr_assert_lt(dup(fds[2]), 0);
	cr_assert_eq(close(fds[1]), 0);
}

Test(activation, tells_addresses_apart_by_what_is_spoken_there)
{
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++) {
			struct eddyi_address one = { "x", a & 1, a & 2 };
			struct eddyi_address other = { "x", b & 1, b & 2 };
			bool same =
				strcmp(eddyi_passed_prefix(&one), eddyi_passed_prefix(&other)) == 0;

			cr_assert_eq(same, a == b);
		}
}
