#include "chaos.h"

#include <eddy/task.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of /proc/sys/kernel/io_uring_disabled; 0 where there is none. */
static int ring_disabled(void)
{
	char text[8] = "";
	int fd = open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return atoi(text);
}

static bool kernel_is_old(void)
{
	struct utsname name;
	char *end;
	long major;

	if (uname(&name) < 0)
		return false;
	major = strtol(name.release, &end, 10);
	return major < 6 || (major == 6 && *end == '.' && strtol(end + 1, NULL, 10) < 1);
}

const char *eddy_ring_advice(int error)
{
	if (kernel_is_old())
		return "this kernel is too old: eddy needs Linux 6.1 or newer (see `uname -r`)";
	switch (error < 0 ? -error : error) {
	case EPERM:
	case EACCES:
		if (ring_disabled())
			return "io_uring is switched off on this machine: "
			       "type `sysctl kernel.io_uring_disabled=0` as root";
		return "a seccomp filter forbids io_uring (Docker's default profile does): allow "
		       "io_uring_setup, io_uring_enter and io_uring_register in the container's profile, "
		       "or run it with `--security-opt seccomp=unconfined`";
	case ENOSYS:
		return "this kernel was built without io_uring, or a seccomp filter hides it: allow "
		       "io_uring_setup, io_uring_enter and io_uring_register in the container's profile";
	case ENOMEM:
		return "there is no memory for an io_uring: raise the locked-memory limit "
		       "(`ulimit -l unlimited`) or the container's memory";
	case EMFILE:
	case ENFILE:
		return "too many open files: raise the limit (`ulimit -n 65536`)";
	case EINVAL:
		if (eddyi_chaos_advice())
			return eddyi_chaos_advice();
		return "this kernel lacks io_uring features that eddy needs: run Linux 6.1 or newer";
	default:
		return "io_uring can't be set up on this machine";
	}
}
