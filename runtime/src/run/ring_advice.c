/* Explains why a ring can't be created, and the command that helps. */
#include "chaos/chaos.h"
#include "base/seccomp.h"
#include "run.h"

#include <eddy/internal/proc.h>
#include <eddy/task.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Read /proc/sys/kernel/io_uring_disabled; 0 if there is none. */
static int ring_disabled(void)
{
	char text[8];

	eddyi_proc_read(text, sizeof(text), "/proc/sys/kernel/io_uring_disabled");
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

static const char *with_remedy(const char *what)
{
	static _Thread_local char text[512];

	snprintf(text, sizeof(text), "%s%s", what, eddyi_seccomp_remedy());
	return text;
}

static bool has_limit(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
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
		return with_remedy("a seccomp filter forbids io_uring (Docker's default profile "
				   "does): ");
	case ENOSYS:
		return with_remedy(
			"this kernel was built without io_uring, or a seccomp filter hides "
			"it: ");
	case ENOMEM:
		if (has_limit(RLIMIT_AS))
			return "the address space is too small for an io_uring: type `ulimit -v "
			       "unlimited`, or remove LimitAS= from the unit";
		if (geteuid() != 0 && has_limit(RLIMIT_MEMLOCK))
			return "no locked memory is left for an io_uring (all programs of this "
			       "user share the limit of `ulimit -l`): type `ulimit -l unlimited`, "
			       "or put LimitMEMLOCK=infinity into the unit; else give the "
			       "container more memory";
		return "there is not enough memory for an io_uring: give the container more "
		       "(`docker run --memory …`, MemoryMax= in a unit)";
	case EMFILE:
	case ENFILE:
		return "too many open files: raise the limit (`ulimit -n 65536`)";
	case EINVAL:
		if (eddyi_chaos_advice())
			return eddyi_chaos_advice();
		if (eddyi_executor_advice())
			return eddyi_executor_advice();
		return "this kernel lacks io_uring features that eddy needs: run Linux 6.1 or newer";
	default:
		return "io_uring can't be set up on this machine";
	}
}
