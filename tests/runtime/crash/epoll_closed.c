/* Closes the descriptor by which its loop waits over epoll.
 * expect: signal ABRT
 * expect: stderr ^eddy: .*a loop can't go on: epoll_wait failed: Bad file descriptor
 */
#include <eddy/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int close_epoll(void *arg)
{
	char path[32], target[64];

	(void)arg;
	for (int fd = 0; fd < 64; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		if (strcmp(target, "anon_inode:[eventpoll]") == 0)
			close(fd);
	}
	return eddy_sleep(EDDY_SECOND);
}

int main(void)
{
	setenv("EDDY_EXECUTOR", "poll", 1);
	return eddy_run(NULL, close_epoll, NULL);
}
