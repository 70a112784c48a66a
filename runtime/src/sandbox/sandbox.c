#include <eddy/sandbox.h>

#include "call_filter.h"
#include "core/loop.h"
#include "every_thread.h"
#include "landlock.h"
#include "timeline/iowq.h"

#include <eddy/log.h>

#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TARGET "eddy::sandbox"

static atomic_bool entered;

/* Return: the name of a loop with an unrestricted ring; NULL if there is none. */
static const char *find_unconfined(void)
{
	const struct eddy_node *loops = eddyi_registry_lock(), *node;
	const char *name = NULL;

	for (node = loops->next; node != loops; node = node->next) {
		const struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (!loop->confined)
			name = loop->name;
	}
	eddyi_registry_unlock();
	return name;
}

/* Check that nothing would stay outside the sandbox. A ring's worker keeps the rights that its
 * thread had when the worker was created. */
static int look_around(void)
{
	const char *unconfined = find_unconfined();
	int r;

	if (unconfined) {
		eddy_error(TARGET,
			   "can't enter the sandbox: the loop \"%s\" was made without "
			   ".confined",
			   unconfined);
		return -EPERM;
	}
	if (access("/proc/self/task", R_OK) < 0) {
		r = -errno;
		eddy_error(
			TARGET,
			"can't enter the sandbox: /proc, which lists the threads, can't be read: "
			"%s",
			strerror(-r));
		return r;
	}
	if (eddyi_iowq_look(NULL, 1)) {
		eddy_error(TARGET,
			   "can't enter the sandbox: a ring already has worker threads; before "
			   "entering it, open files only by blocking calls");
		return -EBUSY;
	}
	return 0;
}

/* Make libraries read files now that they read on first use. */
static void read_ahead(void)
{
	void *frame;

	tzset();
	backtrace(&frame, 1);
}

static int enter_landlock(const struct eddy_sandbox_options *options)
{
	int version = eddyi_landlock_version(), rules, r;

	if (version < 0) {
		eddy_info(TARGET,
			  "this kernel has no Landlock (%s): access to files is not restricted",
			  strerror(-version));
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
	}
	rules = eddyi_landlock_open(options, version);
	if (rules < 0)
		return rules;
	r = eddyi_every_thread(eddyi_landlock_enter, &rules);
	close(rules);
	if (r < 0)
		eddy_error(TARGET, "can't enter the sandbox: Landlock: %s", strerror(-r));
	return r;
}

static int enter_call_filter(const struct eddy_sandbox_options *options)
{
	int r = eddyi_call_filter_enter(options->connects);

	if (r == -ENOSYS || r == -EINVAL) {
		eddy_info(TARGET,
			  "seccomp filters are not available on this machine: system calls are not "
			  "restricted");
		return 0;
	}
	if (r < 0)
		eddy_error(TARGET, "can't enter the sandbox: seccomp: %s", strerror(-r));
	return r;
}

int eddy_sandbox_enter(const struct eddy_sandbox_options *options)
{
	static const struct eddy_sandbox_options defaults;
	int r = look_around();

	if (r < 0)
		return r;
	if (!options)
		options = &defaults;
	read_ahead();
	r = enter_landlock(options);
	if (r == 0)
		r = enter_call_filter(options);
	if (r < 0)
		return r;
	atomic_store(&entered, true);
	eddy_debug(TARGET, "entered");
	return 0;
}

bool eddy_sandbox_is_entered(void)
{
	return atomic_load(&entered);
}

#if EDDYI_ASAN
/* Called by LeakSanitizer at exit, which would need a child that traces its parent. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return eddy_sandbox_is_entered();
}
#endif
