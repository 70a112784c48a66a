/* Tests of eddy/internal/outside.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <linux/openat2.h>
#include <string.h>

Test(outside, values_pass_unchanged)
{
	cr_expect(eq(i64, eddyi_outside_value("test", INT64_MIN), INT64_MIN));
	cr_expect(eq(i64, eddyi_outside_value("test", -1), -1));
	cr_expect(eq(u64, (uint64_t)eddyi_outside_value("test", (int64_t)UINT64_MAX), UINT64_MAX));
}

Test(outside, clocks)
{
	uint64_t before = eddy_now(), now = eddyi_clock(CLOCK_MONOTONIC);
	uint64_t seconds = eddyi_clock(CLOCK_REALTIME) / EDDY_SECOND;
	uint64_t rough = (uint64_t)eddyi_clock_seconds();

	cr_expect(le(u64, before, now));
	cr_expect(le(u64, now, eddy_now()));
	cr_expect(ge(u64, rough + 1, seconds));
	cr_expect(le(u64, rough, eddyi_clock(CLOCK_REALTIME) / EDDY_SECOND));
}

/* The kernel returns at most 256 bytes in one piece if a signal arrives. */
Test(outside, random_bytes_fill_all_memory)
{
	static unsigned char bytes[2 * EDDY_MIB];
	static const unsigned char zeros[64];
	size_t at = sizeof(bytes) - 2 * sizeof(zeros);

	cr_assert(zero(int, eddyi_random(bytes, sizeof(bytes) - sizeof(zeros), 0)));
	cr_expect(memcmp(bytes, zeros, sizeof(zeros)) != 0);
	cr_expect(memcmp(bytes + at, zeros, sizeof(zeros)) != 0);
	cr_expect(memcmp(bytes + at + sizeof(zeros), zeros, sizeof(zeros)) == 0,
		  "wrote beyond the end");
	cr_expect(zero(int, eddyi_random(bytes, 0, GRND_NONBLOCK)));
	cr_expect(eq(int, eddyi_random(bytes, 8, ~0U), -EINVAL));
}

Test(outside, calls_on_sockets)
{
	int fds[2], value = 0;
	socklen_t len = sizeof(value);
	char text[8] = "";

	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)));
	cr_expect(eq(int, (int)eddyi_recv_now(fds[0], text, sizeof(text), MSG_DONTWAIT), -1));
	cr_expect(eq(int, errno, EAGAIN));
	cr_expect(eq(int, (int)eddyi_send_now(fds[1], "abc", 3, 0), 3));
	cr_expect(zero(int, eddyi_ioctl_now(fds[0], FIONREAD, &value)));
	cr_expect(eq(int, value, 3));
	cr_expect(eq(int, (int)eddyi_recv_now(fds[0], text, sizeof(text), MSG_DONTWAIT), 3));
	cr_expect(eq(str, text, "abc"));
	cr_expect(zero(int, eddyi_getsockopt_now(fds[0], SOL_SOCKET, SO_TYPE, &value, &len)));
	cr_expect(eq(int, value, SOCK_STREAM));
	cr_expect(eq(int, eddyi_fcntl_now(fds[0], F_GETFD, 0), FD_CLOEXEC));
	cr_expect(zero(int, eddyi_close_now(fds[0])));
	cr_expect(zero(int, eddyi_close_now(fds[1])));
	cr_expect(eq(int, eddyi_close_now(fds[1]), -1));
	cr_expect(eq(int, errno, EBADF));
}

Test(outside, calls_on_files)
{
	int fd = eddyi_memfd_create_now("outside", MFD_CLOEXEC);
	struct stat st;
	char text[8] = "";

	cr_assert(ge(int, fd, 0));
	cr_expect(eq(int, (int)eddyi_pwrite_now(fd, "xyz", 3, 2), 3));
	cr_expect(eq(int, (int)eddyi_pread_now(fd, text, sizeof(text), 2), 3));
	cr_expect(eq(str, text, "xyz"));
	cr_expect(zero(int, eddyi_fstat_now(fd, &st)));
	cr_expect(eq(int, (int)st.st_size, 5));
	eddyi_close_now(fd);
}

/* Those that the C library does not have. */
Test(outside, calls_by_number)
{
	uint64_t range[2] = { 0, 0 }, stat[5];
	bool is_expected;
	int fd = eddyi_openat2_now(AT_FDCWD, "/", &(struct open_how){ .flags = O_PATH },
				   sizeof(struct open_how));

	/* valgrind knows none of them. */
	is_expected = fd >= 0 || errno == ENOSYS;
	cr_expect(is_expected);
	eddyi_close_now(fd);
	cr_expect(eq(int, eddyi_pidfd_send_signal_now(-1, 0), -1));
	is_expected = errno == EBADF || errno == ENOSYS;
	cr_expect(is_expected);
	cr_expect(eq(int, eddyi_cachestat_now(-1, range, stat), -1));
	is_expected = errno == EBADF || errno == ENOSYS;
	cr_expect(is_expected);
}
