/* Chooses the executor of a loop, and explains why a ring can't be created, with the command that helps. */
#include "core/executor.h"
#include "core/loop.h"
#include "core/recorded.h"
#include "chaos/chaos.h"
#include "base/seccomp.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/proc.h>
#include <eddy/log.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Find the executor that the environment asks for. Return: 0, with NULL for the best that there is; -EINVAL. */
static int executor_wanted(const struct eddyi_executor **ret_executor)
{
	static const struct eddyi_executor *const all[] = { &eddyi_executor_ring,
							    &eddyi_executor_poll };
	const char *name = eddyi_getenv_now("EDDY_EXECUTOR");

	*ret_executor = NULL;
	if (!name || !*name)
		return 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(name, all[i]->name) == 0)
			*ret_executor = all[i];
	return *ret_executor ? 0 : -EINVAL;
}

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
	const struct eddyi_executor *wanted;

	if (kernel_is_old())
		return "this kernel is too old: rings need Linux 6.1 or newer (see `uname -r`)";
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
		if (executor_wanted(&wanted) < 0)
			return "EDDY_EXECUTOR is ring or poll";
		return "this kernel lacks io_uring features that eddy needs: run Linux 6.1 or newer";
	default:
		return "io_uring can't be set up on this machine";
	}
}

/* Whether the kernel, or a filter in front of it, lets this process have no ring. */
static bool is_refusal(int error)
{
	return error == -EPERM || error == -EACCES || error == -ENOSYS;
}

static void warn_of_refusal(int error)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		eddy_warn(
			"eddy::loop",
			"io_uring is not available, so epoll and threads take its place, which costs up to a quarter of the speed; %s",
			eddy_ring_advice(error));
}

static int begin(struct eddy_loop *loop, unsigned entries)
{
	const struct eddyi_executor *wanted;
	int r = executor_wanted(&wanted);

	if (r < 0)
		return r;
	loop->executor = wanted ? wanted : &eddyi_executor_ring;
	r = loop->executor->begin(loop, entries);
	if (wanted || !is_refusal(r))
		return r;
	warn_of_refusal(r);
	loop->executor = &eddyi_executor_poll;
	return loop->executor->begin(loop, entries);
}

int eddyi_executor_begin(struct eddy_loop *loop, unsigned entries)
{
	return EDDYI_HAS_TRACK ? eddyi_recorded_begin(loop, entries, begin) : begin(loop, entries);
}
