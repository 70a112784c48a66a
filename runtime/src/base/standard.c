#include "standard.h"

#include <eddy/internal/outside.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void open_all(void)
{
	int fd;

	/* open(2) returns the lowest free descriptor. */
	do
		fd = eddyi_open_now("/dev/null", O_RDWR | O_NOCTTY, 0);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		eddyi_close_now(fd);
}

void eddyi_standard_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_all);
}
