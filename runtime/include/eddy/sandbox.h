/* eddy/sandbox.h: a process that gives up, for good, what it does not need: files outside of a few folders, other programs,
 * sockets of its own, what only root may do.
 *
 *     static const char *const folders[] = { "/srv/files", NULL };
 *
 *     r = eddy_sandbox_enter(&(struct eddy_sandbox_options){ .readable = folders });
 *
 * Injected code can reach only that folder. Three kernel mechanisms enforce this, since none of them covers everything:
 * - Landlock decides about files, TCP ports, abstract unix sockets and signals, for system calls and for operations of a
 *   ring alike.
 * - A seccomp filter refuses system calls: with EPERM what a library may try (execve, fork, socket, chmod by path, another
 *   io_uring), and by killing the process what no server calls (ptrace, mount, unshare, bpf, kexec_load, …).
 * - Operations of a ring are no system calls, so the rings refuse for themselves what Landlock has no right for
 *   (struct eddy_loop_options, .confined).
 *
 * Descriptors that are open stay usable, but a folder's leads to no file outside. Names, sizes and dates of files elsewhere can
 * still be asked for, by stat(2) and its kin: Landlock has no right for it.
 *
 * Programs of HTTP call eddy_app_sandbox() instead (eddy/app_sandbox.h), which knows when.
 */
#ifndef EDDY_SANDBOX_H
#define EDDY_SANDBOX_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Every field: zero means its default. */
struct eddy_sandbox_options {
	/* Files, and folders with all below them, that may be read; ends with NULL; default: none. Paths are
	 * resolved when the sandbox is entered: a file that replaces another under its name is not among them, so
	 * name its folder. */
	const char *const *readable;
	/* Files, and folders with all below them, that may be read and changed: files and folders are made, renamed and
	 * removed there, but no links, devices and sockets; ends with NULL; default: none. */
	const char *const *writable;
	/* Connect to other machines by TCP and UDP, and resolve their names; default: no socket can be made, and none
	 * connected by a call. Unix sockets can't in either case. Before Linux 6.7 the ring can connect a socket that is
	 * there elsewhere, and later ones by a send with MSG_FASTOPEN. */
	bool connects;
};

/* Enter the sandbox, with every thread of the process; NULL is all defaults. There is no way out of it. To be called when
 * all loops and listening sockets are there, and before the first byte of a client is read: a kernel worker that a ring has
 * by then would stay outside.
 *
 * Beyond the options these can be used: /dev/null, /dev/random, /dev/urandom and /proc/self. A core file is written
 * where core_pattern names a program, else only into a folder that is writable. eddy_process_start() returns -EPERM.
 * Where the kernel has no Landlock, or lets nobody use it, an INFO record of target "eddy::sandbox" says so, and the rest
 * applies. Entered once more, the process may do what both allow.
 *
 * Return: 0; -errno, with an ERROR record that says why, after which the process may be in it in part and is best ended:
 * -ENOENT and the like of a path in the options, and of /proc; -EPERM when a loop was made without .confined; -EBUSY when a ring has
 * workers already; -ETIMEDOUT when a thread takes no signal. */
EDDY_API int eddy_sandbox_enter(const struct eddy_sandbox_options *options);

/* Whether the process is in a sandbox. Any thread. */
EDDY_API bool eddy_sandbox_is_entered(void);

EDDY_END_DECLS

#endif
