#include "expect.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "transfer/pipe.h"

static int bytes_in(const struct eddyi_pipe *pipe)
{
	int bytes = -1;

	if (fcntl(pipe->read_fd, F_SETFL, O_NONBLOCK) == 0) {
		static char sink[64 * 1024];

		bytes = 0;
		for (ssize_t r; (r = read(pipe->read_fd, sink, sizeof(sink))) > 0;)
			bytes += (int)r;
	}
	return bytes;
}

TASK_TEST(pipe, is_big_and_used_again)
{
	struct eddyi_pipe *first, *second, *again;

	EXPECT_EQ(eddyi_pipe_take(&first), 0);
	EXPECT(fcntl(first->read_fd, F_GETPIPE_SZ) >= (int)(64 * EDDY_KIB));
	EXPECT(fcntl(first->read_fd, F_GETFD) & FD_CLOEXEC);
	EXPECT(fcntl(first->write_fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(eddyi_pipe_take(&second), 0);
	EXPECT(first != second);
	eddyi_pipe_put(first);
	EXPECT_EQ(eddyi_pipe_take(&again), 0);
	EXPECT_EQ(again, first);
	eddyi_pipe_put(second);
	eddyi_pipe_put(again);
	return 0;
}

TASK_TEST(pipe, drained_one_is_empty)
{
	struct eddyi_pipe *pipe, *again;

	for (size_t i = 0; i < 3; i++) {
		EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
		EXPECT_EQ(write(pipe->write_fd, "left over", 9), 9);
		eddyi_pipe_drain(pipe, 9);
		EXPECT_EQ(eddyi_pipe_take(&again), 0);
		EXPECT_EQ(again, pipe);
		EXPECT_EQ(bytes_in(again), 0);
		eddyi_pipe_put(again);
	}
	return 0;
}

/* A pipe that does not hold what it is said to is not given to the next. */
TASK_TEST(pipe, doubtful_one_is_closed)
{
	struct eddyi_pipe *pipe;
	int fd;

	EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
	fd = pipe->read_fd;
	EXPECT_EQ(write(pipe->write_fd, "left", 4), 4);
	eddyi_pipe_drain(pipe, 9);
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
	EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
	EXPECT_EQ(write(pipe->write_fd, "left", 4), 4);
	fd = pipe->read_fd;
	eddyi_pipe_discard(pipe);
	EXPECT_EQ(fcntl(fd, F_GETFD), -1);
	return 0;
}

TASK_TEST(pipe, only_a_few_are_kept)
{
	struct eddyi_pipe *pipes[20];
	int open = 0, fds[20];

	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(eddyi_pipe_take(&pipes[i]), 0);
		fds[i] = pipes[i]->read_fd;
	}
	for (int i = 0; i < 20; i++)
		eddyi_pipe_put(pipes[i]);
	for (int i = 0; i < 20; i++)
		open += fcntl(fds[i], F_GETFD) >= 0;
	EXPECT(open > 0);
	EXPECT(open <= 8);
	return 0;
}

TASK_TEST(pipe, says_when_descriptors_are_out)
{
	struct rlimit none = { 0, 0 }, old;
	struct eddyi_pipe *pipe, *other;

	EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	none.rlim_max = old.rlim_max;
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	EXPECT_EQ(eddyi_pipe_take(&other), -EMFILE);
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	eddyi_pipe_put(pipe);
	EXPECT_EQ(eddyi_pipe_take(&other), 0);
	EXPECT_EQ(other, pipe);
	eddyi_pipe_put(other);
	return 0;
}

#define MANY 80

static int take_many(__attribute__((unused)) void *arg)
{
	struct eddyi_pipe *pipes[MANY];
	int smallest = EDDY_MIB;
	char bytes[4096] = "", back[4096];

	for (int i = 0; i < MANY; i++) {
		int size;

		EXPECT_EQ(eddyi_pipe_take(&pipes[i]), 0);
		EXPECT_EQ(write(pipes[i]->write_fd, bytes, sizeof(bytes)), sizeof(bytes));
		EXPECT_EQ(read(pipes[i]->read_fd, back, sizeof(back)), sizeof(back));
		size = fcntl(pipes[i]->read_fd, F_GETPIPE_SZ);
		if (size < smallest)
			smallest = size;
	}
	EXPECT(smallest > 0 && smallest < (int)EDDY_MIB);
	for (int i = 0; i < MANY; i++)
		eddyi_pipe_put(pipes[i]);
	return 0;
}

Test(pipe, smaller_where_the_user_has_too_many)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind can't remove its files as another user");
	if (geteuid() == 0)
		cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	else
		cr_skip_test("needs root, to become a user who has no pipes yet");
	expect_run(NULL, take_many, NULL);
}

/* Others need descriptors, too. */
TASK_TEST(pipe, are_an_eighth_of_the_descriptors_where_bytes_can_be_copied)
{
	struct rlimit limit = { 64, 64 };
	struct eddyi_pipe *pipes[5];

	if (RUNNING_ON_VALGRIND) {
		expect_skip("valgrind keeps the limit of descriptors to itself");
		return 0;
	}
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ(eddyi_pipe_take_optional(&pipes[i]), 0);
	EXPECT_EQ(eddyi_pipe_take_optional(&pipes[4]), -EMFILE);
	EXPECT_EQ(eddyi_pipe_take(&pipes[4]), 0);
	eddyi_pipe_put(pipes[0]);
	EXPECT_EQ(eddyi_pipe_take_optional(&pipes[0]), 0);
	for (size_t i = 0; i < 5; i++)
		eddyi_pipe_discard(pipes[i]);
	EXPECT_EQ(eddyi_pipe_take_optional(&pipes[0]), 0);
	eddyi_pipe_put(pipes[0]);
	return 0;
}
