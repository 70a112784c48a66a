/* The filter is a list of forbidden system calls, because the calls that handlers need are not
 * known here. Calls newer than the list return ENOSYS, since no list can judge them.
 *
 * The kernel (since 5.11) evaluates the filter once for each call that is allowed regardless of its
 * arguments, and caches the answer in a bitmap. So io_uring_enter(2), read(2) and the like cost one
 * bit test more.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#endif

/* System calls of x86-64 for the x32 ABI. */
#define X32_BIT 0x40000000

/* Newer than the oldest supported headers; the same on all machines. */
#define SYS_FCHMODAT2 452
#define SYS_SETXATTRAT 463
#define SYS_GETXATTRAT 464
#define SYS_LISTXATTRAT 465
#define SYS_REMOVEXATTRAT 466
#define NEWEST 466

/* These return EPERM: libraries may try them and can go on without. */
static const int refused[] = {
	/* other programs, and children */
	SYS_execve,
	SYS_execveat,
	SYS_tkill,
	SYS_pidfd_send_signal,
	/* by path, without a Landlock right */
	SYS_fchmodat,
	SYS_FCHMODAT2,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_SETXATTRAT,
	SYS_getxattr,
	SYS_lgetxattr,
	SYS_GETXATTRAT,
	SYS_listxattr,
	SYS_llistxattr,
	SYS_LISTXATTRAT,
	SYS_inotify_add_watch,
	SYS_REMOVEXATTRAT,
	SYS_truncate,
	SYS_name_to_handle_at,
	/* rings without the restrictions of .confined */
	SYS_io_uring_setup,
	/* memory and messages shared with other processes */
	SYS_shmget,
	SYS_shmat,
	SYS_shmctl,
	SYS_msgget,
	SYS_msgctl,
	SYS_msgsnd,
	SYS_msgrcv,
	SYS_semget,
	SYS_semctl,
	SYS_semop,
	SYS_semtimedop,
	SYS_mq_open,
	SYS_mq_unlink,
	/* the machine */
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_perf_event_open,
	SYS_personality,
	SYS_syslog,
	SYS_acct,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
	SYS_settimeofday,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_fanotify_init,
	SYS_kcmp,
	SYS_process_madvise,
	SYS_process_mrelease,
	SYS_migrate_pages,
	SYS_move_pages,
#ifdef __x86_64__
	SYS_fork,
	SYS_vfork,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_utime,
	SYS_utimes,
	SYS_futimesat,
	SYS_modify_ldt,
#endif
};

/* These kill the process: no server makes them. */
static const int fatal[] = {
	SYS_ptrace,

	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_userfaultfd,
	SYS_bpf,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
	SYS_mount_setattr,
	SYS_setns,
	SYS_unshare,
	SYS_open_by_handle_at,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_quotactl,
	SYS_quotactl_fd,
	SYS_vhangup,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef __x86_64__
	SYS_iopl,
	SYS_ioperm,
	SYS_uselib,
#endif
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef MACHINE

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)

struct program {
	struct sock_filter code[512];
	unsigned short len;
};

static void add(struct program *program, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	program->code[program->len++] = (struct sock_filter){ code, jt, jf, k };
}

static void load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Load the low half of an argument: those examined here are int or unsigned. */
static void load_argument(struct program *program, unsigned argument)
{
	size_t offset = offsetof(struct seccomp_data, args[argument]);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	offset += 4;
#endif
	load(program, offset);
}

static void finish(struct program *program, uint32_t action)
{
	add(program, BPF_RET | BPF_K, action, 0, 0);
}

/* Finish with `action` if the loaded value equals `value`. */
static void finish_if(struct program *program, uint32_t value, uint32_t action)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	finish(program, action);
}

static void mask(struct program *program, uint32_t bits)
{
	add(program, BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
}

/* Begin the instructions for one call, until end_call(). Return: a value for end_call(). */
static unsigned short begin_call(struct program *program, int call)
{
	add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 0);
	return program->len;
}

static void end_call(struct program *program, unsigned short began, uint32_t action)
{
	finish(program, action);
	program->code[began - 1].jf = (uint8_t)(program->len - began);
}

/* ---- calls judged by arguments ---- */

/* Allow threads, but no children, nor new namespaces. The flags of clone3(2) are not visible to a
 * filter; without it, the C library uses clone(2). */
static void judge_clone(struct program *program)
{
	const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
				    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
	unsigned short began = begin_call(program, SYS_clone);

	load_argument(program, 0);
	mask(program, CLONE_THREAD | namespaces);
	finish_if(program, CLONE_THREAD, SECCOMP_RET_ALLOW);
	end_call(program, began, REFUSE);
	began = begin_call(program, SYS_clone3);
	end_call(program, began, ABSENT);
}

/* Signals, limits and memory of this process only: dumps read stacks by process_vm_readv(2). */
static void judge_processes(struct program *program)
{
	static const int calls[] = {
		SYS_kill,      SYS_tgkill,          SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
		SYS_prlimit64, SYS_process_vm_readv
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		unsigned short began = begin_call(program, calls[i]);

		load_argument(program, 0);
		finish_if(program, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
		if (calls[i] == SYS_prlimit64)
			finish_if(program, 0, SECCOMP_RET_ALLOW);
		end_call(program, began, REFUSE);
	}
}

/* Allow the priority and processors of the calling thread only, id 0. The filter can't tell other
 * threads of this process from other processes'. */
static void judge_scheduling(struct program *program)
{
	static const int calls[] = { SYS_sched_setaffinity, SYS_sched_setparam,
				     SYS_sched_setscheduler, SYS_sched_setattr };
	/* The first argument selects what the second one identifies. */
	static const struct {
		int call;
		uint32_t process;
	} priorities[] = { { SYS_setpriority, PRIO_PROCESS },
			   { SYS_ioprio_set, IOPRIO_WHO_PROCESS } };

	for (size_t i = 0; i < COUNT(calls); i++) {
		unsigned short began = begin_call(program, calls[i]);

		load_argument(program, 0);
		finish_if(program, 0, SECCOMP_RET_ALLOW);
		end_call(program, began, REFUSE);
	}
	for (size_t i = 0; i < COUNT(priorities); i++) {
		unsigned short began = begin_call(program, priorities[i].call);

		load_argument(program, 0);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, priorities[i].process, 1, 0);
		finish(program, REFUSE);
		load_argument(program, 1);
		finish_if(program, 0, SECCOMP_RET_ALLOW);
		end_call(program, began, REFUSE);
	}
}

/* Unix sockets reach other programs, and Landlock checks only abstract names. A connected pair is
 * allowed since it reaches nothing else; one of datagrams could be connected again. */
static void judge_sockets(struct program *program, bool connects)
{
	unsigned short began = begin_call(program, SYS_socket);

	if (connects) {
		load_argument(program, 2);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 2, 0);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 1, 0);
		finish(program, REFUSE);
		load_argument(program, 0);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 6);
		load_argument(program, 1);
		mask(program, 0xf);
		finish_if(program, SOCK_STREAM, SECCOMP_RET_ALLOW);
		finish_if(program, SOCK_DGRAM, SECCOMP_RET_ALLOW);
	}
	end_call(program, began, REFUSE);
	began = begin_call(program, SYS_socketpair);
	load_argument(program, 0);
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
	finish(program, REFUSE);
	load_argument(program, 1);
	mask(program, 0xf);
	finish_if(program, SOCK_STREAM, SECCOMP_RET_ALLOW);
	finish_if(program, SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
	end_call(program, began, REFUSE);
}

/* An existing socket could be connected to another peer. An address with only a family disconnects,
 * which a cancelled zero-copy send does. */
static void refuse_to_connect(struct program *program)
{
	static const struct {
		int call;
		unsigned flags; /* index of the argument */
	} sends[] = { { SYS_sendto, 3 }, { SYS_sendmsg, 2 }, { SYS_sendmmsg, 3 } };
	unsigned short began = begin_call(program, SYS_connect);

	load_argument(program, 2);
	finish_if(program, sizeof(sa_family_t), SECCOMP_RET_ALLOW);
	end_call(program, began, REFUSE);
	for (size_t i = 0; i < COUNT(sends); i++) {
		began = begin_call(program, sends[i].call);
		load_argument(program, sends[i].flags);
		mask(program, MSG_FASTOPEN);
		finish_if(program, MSG_FASTOPEN, REFUSE);
		end_call(program, began, SECCOMP_RET_ALLOW);
	}
}

/* Refuse commands of a call, by its second argument; 0 ends the list. */
static void refuse_commands(struct program *program, int call, const uint32_t *commands)
{
	unsigned short began = begin_call(program, call);

	load_argument(program, 1);
	while (*commands)
		finish_if(program, *commands++, REFUSE);
	end_call(program, began, SECCOMP_RET_ALLOW);
}

/* Input injected into the controlling terminal would run as the user's. And a descriptor's owner
 * gets a signal when it is readable: as root any process, if Landlock does not check signals. */
static void judge_commands(struct program *program)
{
	static const uint32_t ioctls[] = { TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, 0 };
	static const uint32_t fcntls[] = { F_SETOWN, F_SETOWN_EX, 0 };

	refuse_commands(program, SYS_ioctl, ioctls);
	refuse_commands(program, SYS_fcntl, fcntls);
}

/* Allow futimens(3), whose path is NULL. */
static void judge_times(struct program *program)
{
	unsigned short began = begin_call(program, SYS_utimensat);

	for (size_t half = 0; half < 2; half++) {
		load(program, offsetof(struct seccomp_data, args[1]) + 4 * half);
		add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
		finish(program, REFUSE);
	}
	end_call(program, began, SECCOMP_RET_ALLOW);
}

/* ---- the program ---- */

static void write_program(struct program *program, bool connects)
{
	program->len = 0;
	load(program, offsetof(struct seccomp_data, arch));
	add(program, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
	finish(program, SECCOMP_RET_KILL_PROCESS);
	load(program, offsetof(struct seccomp_data, nr));
	add(program, BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1);
	finish(program, SECCOMP_RET_KILL_PROCESS);
	add(program, BPF_JMP | BPF_JGT | BPF_K, NEWEST, 0, 1);
	finish(program, ABSENT);
	for (size_t i = 0; i < COUNT(refused); i++)
		finish_if(program, (uint32_t)refused[i], REFUSE);
	for (size_t i = 0; i < COUNT(fatal); i++)
		finish_if(program, (uint32_t)fatal[i], SECCOMP_RET_KILL_PROCESS);
	judge_clone(program);
	judge_processes(program);
	judge_scheduling(program);
	judge_sockets(program, connects);
	if (!connects)
		refuse_to_connect(program);
	judge_commands(program);
	judge_times(program);
	finish(program, SECCOMP_RET_ALLOW);
}

int eddyi_call_filter_enter(bool connects)
{
	struct program program;
	struct sock_fprog filter;
	long r;

	write_program(&program, connects);
	filter = (struct sock_fprog){ program.len, program.code };
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
	/* Above 0: the id of a thread with other filters. */
	return r == 0 ? 0 : r > 0 ? -EBUSY : -errno;
}

#else

int eddyi_call_filter_enter(bool connects)
{
	(void)connects;
	return COUNT(refused) + COUNT(fatal) ? -ENOSYS : 0;
}

#endif
