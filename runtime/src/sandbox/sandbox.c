#include "sandbox.h"

#include "core/loop.h"
#include "timeline/iowq.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <eddy/sandbox.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TARGET "eddy::sandbox"

/* ---- Landlock: files, ports and processes ---- */

/* Constants of Landlock are defined here: the oldest supported headers have version 2, and names
 * differ. */
enum { ASK_VERSION = 1, ASK_ERRATA = 2 };
enum { RULE_PATH_BENEATH = 1 };

/* File rights, with the version that added them if it is not the first. */
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_DIR (1ULL << 4)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_DIR (1ULL << 7)
#define FS_MAKE_REG (1ULL << 8)
#define FS_FIRST ((1ULL << 13) - 1)
#define FS_REFER (1ULL << 13)     /* 2: rename and link between folders */
#define FS_TRUNCATE (1ULL << 14)  /* 3 */
#define FS_IOCTL_DEV (1ULL << 15) /* 5 */

#define NET_BIND_TCP (1ULL << 0) /* 4 */
#define NET_CONNECT_TCP (1ULL << 1)

#define SCOPE_ABSTRACT_UNIX (1ULL << 0) /* 6 */
#define SCOPE_SIGNAL (1ULL << 1)
/* The fix that lets threads of one process signal each other: each of ours has its own domain. */
#define ERRATUM_SIGNAL (1 << 1)

#define READ (FS_READ_FILE | FS_READ_DIR)
#define WRITE                                                                                      \
	(READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |       \
	 FS_REFER | FS_TRUNCATE)
/* Rights that make sense for a file; the kernel rejects others. */
#define OF_A_FILE (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE)

struct ruleset {
	uint64_t fs, net, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

static long create(const struct ruleset *ruleset, size_t size, unsigned flags)
{
	long r = syscall(SYS_landlock_create_ruleset, ruleset, size, flags);

	return r < 0 ? -errno : r;
}

int eddyi_landlock_version(void)
{
	return (int)create(NULL, 0, ASK_VERSION);
}

static struct ruleset handled_by(int version, bool connects)
{
	struct ruleset handled = { .fs = FS_FIRST };
	long errata = version >= 6 ? create(NULL, 0, ASK_ERRATA) : 0;

	if (version >= 2)
		handled.fs |= FS_REFER;
	if (version >= 3)
		handled.fs |= FS_TRUNCATE;
	if (version >= 4)
		handled.net = NET_BIND_TCP | (connects ? 0 : NET_CONNECT_TCP);
	if (version >= 5)
		handled.fs |= FS_IOCTL_DEV;
	if (version >= 6)
		handled.scoped = SCOPE_ABSTRACT_UNIX;
	if (errata > 0 && errata & ERRATUM_SIGNAL)
		handled.scoped |= SCOPE_SIGNAL;
	return handled;
}

static int allow(int rules, const struct ruleset *handled, const char *path, uint64_t rights)
{
	struct beneath beneath = { .allowed = rights & handled->fs,
				   .parent = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	int r = 0;

	if (beneath.parent < 0)
		return -errno;
	if (fstat(beneath.parent, &st) == 0 && !S_ISDIR(st.st_mode))
		beneath.allowed &= OF_A_FILE;
	if (syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &beneath, 0) < 0)
		r = -errno;
	close(beneath.parent);
	return r;
}

static int allow_all(int rules, const struct ruleset *handled, const char *const *paths,
		     uint64_t rights)
{
	for (; paths && *paths; paths++) {
		int r = allow(rules, handled, *paths, rights);

		if (r < 0) {
			eddy_error(TARGET, "can't allow \"%s\": %s", *paths, strerror(-r));
			return r;
		}
	}
	return 0;
}

/* Files that the C library, the TLS library and our reports read, on some machines. */
static void allow_usual(int rules, const struct ruleset *handled, bool connects)
{
	/* resolv.conf is often a link, and rewritten from time to time. */
	static const char *const of_names[] = {
		"/etc/hosts",
		"/etc/host.conf",
		"/etc/resolv.conf",
		"/etc/nsswitch.conf",
		"/etc/gai.conf",
		"/etc/services",
		"/etc/ssl/certs",
		"/usr/share/ca-certificates",
		"/run/systemd/resolve",
		"/etc/ld.so.cache",
		"/usr/lib",
		"/usr/lib64",
		"/lib",
		"/lib64",
		NULL,
	};

	allow(rules, handled, "/dev/null", FS_READ_FILE | FS_WRITE_FILE);
	allow(rules, handled, "/dev/random", FS_READ_FILE);
	allow(rules, handled, "/dev/urandom", FS_READ_FILE);
	allow(rules, handled, "/proc/self", READ);
	for (size_t i = 0; connects && of_names[i]; i++)
		allow(rules, handled, of_names[i], READ);
}

/* Create rules for the options. A path that can't be opened is reported in an ERROR record.
 * Return: a descriptor; -errno. */
static int landlock_open(const struct eddy_sandbox_options *options, int version)
{
	struct ruleset handled = handled_by(version, options->connects);
	int rules = (int)create(&handled, sizeof(handled), 0), r;

	if (rules < 0) {
		eddy_error(TARGET, "can't create the rules of Landlock: %s", strerror(-rules));
		return rules;
	}
	allow_usual(rules, &handled, options->connects);
	r = allow_all(rules, &handled, options->readable, READ);
	if (r == 0)
		r = allow_all(rules, &handled, options->writable, WRITE);
	if (r == 0)
		return rules;
	close(rules);
	return r;
}

/* Apply the rules of the descriptor that `rules` points to to this thread, and to threads that it
 * creates from now on. Safe in signal handlers. Return: 0, -errno. */
static int landlock_enter(void *rules)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, *(int *)rules, 0) < 0)
		return -errno;
	return 0;
}

/* ---- entering ---- */

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
	if (eddyi_access_now("/proc/self/task", R_OK) < 0) {
		r = -errno;
		eddy_error(
			TARGET,
			"can't enter the sandbox: /proc, which lists the threads, can't be read: "
			"%s",
			strerror(-r));
		return r;
	}
	if (eddyi_outside_act("io workers", eddyi_iowq_look(NULL, 1))) {
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
	rules = landlock_open(options, version);
	if (rules < 0)
		return rules;
	r = eddyi_every_thread(landlock_enter, &rules);
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

static int enter(const struct eddy_sandbox_options *options)
{
	int r;

	read_ahead();
	r = enter_landlock(options);
	return r == 0 ? enter_call_filter(options) : r;
}

int eddy_sandbox_enter(const struct eddy_sandbox_options *options)
{
	static const struct eddy_sandbox_options defaults;
	int r = look_around();

	if (r < 0)
		return r;
	if (!options)
		options = &defaults;
	r = (int)eddyi_outside_act("sandbox", enter(options));
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
