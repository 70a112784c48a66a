/* eddy/sandbox.h: a sandbox in which a process irrevocably gives up files outside of some folders,
 * other programs, new sockets and root's privileges.
 *
 *     static const char *const folders[] = { "/srv/files", NULL };
 *
 *     r = eddy_sandbox_enter(&(struct eddy_sandbox_options){ .readable = folders });
 *
 * Injected code can reach only that folder. Three kernel mechanisms enforce this, since none of
 * them covers everything:
 *    - Landlock checks access to files, TCP ports, abstract unix sockets and signals, by system
 *      calls and by operations of a ring alike.
 *    - A seccomp filter rejects system calls that a library may try (execve, fork, socket, chmod by
 *      path, another io_uring) with EPERM, and kills the process at calls that no server makes
 *      (ptrace, mount, unshare, bpf, kexec_load, …).
 *    - The rings reject operations that Landlock can't restrict, since seccomp does not see them
 *      either. Every loop needs .confined of struct eddy_loop_options for this.
 *
 * Open descriptors stay usable, but an open folder gives no access to files outside those folders.
 * Names, sizes and dates of other files can still be read: Landlock can't restrict stat(2).
 *
 * HTTP programs call eddy_app_sandbox() (eddy/app_sandbox.h) instead, at the right time.
 */
#ifndef EDDY_SANDBOX_H
#define EDDY_SANDBOX_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* A zero field takes its default. */
struct eddy_sandbox_options {
	/* Files, and folders with all below them, that may be read; ends with NULL; default none.
	 * Paths are resolved when the sandbox is entered: a file that later replaces one of them
	 * can't be read, so name its folder. */
	const char *const *readable;
	/* Files, and folders with all below them, that may be read and changed; ends with NULL;
	 * default none. Files and folders can be made, renamed and removed there; links, devices
	 * and sockets can't be made. */
	const char *const *writable;
	/* Allow connections to other machines by TCP and UDP, and name resolution. Unix sockets are
	 * never allowed. Default: system calls can neither make nor connect a socket, but the ring
	 * can connect an existing one, from Linux 6.7 on only by a send with MSG_FASTOPEN. */
	bool connects;
};

/* Enter the sandbox with every thread of the process, irrevocably. NULL takes all defaults. Call it
 * when all loops and listening sockets exist, and before the first byte of a client is read. Until
 * then open files only by blocking calls: kernel workers (threads of io_uring) would stay outside.
 *
 * Always usable are /dev/null, /dev/random, /dev/urandom and /proc/self. A core file is written if
 * core_pattern names a program, else only into a writable folder. eddy_process_start() returns
 * -EPERM. If the kernel has no Landlock, or does not allow it, an INFO record of target
 * "eddy::sandbox" says so, and the rest applies. After a second call the process may do only what
 * both calls allow.
 *
 * Return: 0; -errno, with an ERROR record that gives the reason. The process may then be partly in
 * the sandbox, and should end. -ENOENT and similar concern a path in the options, or /proc; -EPERM
 * means a loop without .confined; -EBUSY a loop with kernel workers already; -ETIMEDOUT a thread
 * that takes no signal. */
EDDY_API int eddy_sandbox_enter(const struct eddy_sandbox_options *options);

/* Check whether the process is in a sandbox. Any thread may call it. */
EDDY_API bool eddy_sandbox_is_entered(void);

EDDY_END_DECLS

#endif
