/* The sandbox, and who is in it and wants out: by path, by descriptor, by ring, by link, as another program. Each test is a child
 * process, since nothing gets it out of the sandbox again; the same attempts outside of it succeed.
 */
#include "../on_tsan.h"
#include "sandbox_rig.h"

#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <eddy/loops.h>
#include <eddy/offload.h>
#include <eddy/op.h>
#include <eddy/process.h>
#include <eddy/shared_event.h>
#include <liburing.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "sandbox/sandbox.h"

/* ---- attempts by a ring ---- */

/* Return: 0 or above when it has worked; -errno. */
static int ask_ring(struct io_uring_sqe sqe, unsigned flags)
{
	int r;

	sqe.flags |= (uint8_t)flags;
	r = eddy_op_call(&sqe);
	if (r >= 0 && (sqe.opcode == IORING_OP_OPENAT || sqe.opcode == IORING_OP_OPENAT2 ||
		       sqe.opcode == IORING_OP_SOCKET))
		close(r);
	return r;
}

static int wrong_of_ring(const char *what, int r)
{
	if (r >= 0 ? without_sandbox : !without_sandbox && r != -ENOENT && r != -EINVAL)
		return 0;
	fprintf(stderr, "ring: %s: %s\n", what, r < 0 ? strerror(-r) : "worked");
	return 1;
}

/* Fill an entry, and have the ring do it with these flags. */
#define BY_RING(flags, prep, ...)                                                                  \
	({                                                                                         \
		struct io_uring_sqe ring_sqe = { 0 };                                              \
                                                                                                   \
		prep(&ring_sqe, __VA_ARGS__);                                                      \
		wrong_of_ring(#prep, ask_ring(ring_sqe, flags));                                   \
	})

/* With IOSQE_ASYNC a worker of the kernel's does it. Return: how many went otherwise than they should. */
static int attempt_by_ring(unsigned flags)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC };
	char value[8] = "x", victim[128];
	int wrong = 0;

	snprintf(victim, sizeof(victim), "%s/victim", outside);
	wrong += BY_RING(flags, io_uring_prep_openat, AT_FDCWD, secret, O_RDONLY | O_CLOEXEC, 0);
	wrong += BY_RING(flags, io_uring_prep_openat, outside_dir, "secret", O_RDWR | O_CLOEXEC, 0);
	wrong += BY_RING(flags, io_uring_prep_openat2, inside_dir, "link", &how);
	wrong += BY_RING(flags, io_uring_prep_openat2, inside_dir, "../outside", &how);
	wrong += BY_RING(flags, io_uring_prep_renameat, outside_dir, "victim", inside_dir, "moved",
			 0);
	if (without_sandbox)
		renameat(inside_dir, "moved", outside_dir, "victim");
	wrong += BY_RING(flags, io_uring_prep_linkat, outside_dir, "secret", inside_dir, "stolen",
			 0);
	unlinkat(inside_dir, "stolen", 0);
	wrong += BY_RING(flags, io_uring_prep_mkdirat, outside_dir, "folder", 0700);
	unlinkat(outside_dir, "folder", AT_REMOVEDIR);
	wrong += BY_RING(flags, io_uring_prep_symlinkat, "/etc", outside_dir, "etc");
	unlinkat(outside_dir, "etc", 0);
	wrong += BY_RING(flags, io_uring_prep_unlinkat, outside_dir, "victim", 0);
	if (without_sandbox)
		put(outside, "victim");
	wrong += BY_RING(flags, io_uring_prep_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
	wrong += BY_RING(flags, io_uring_prep_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
	if (!without_sandbox)
		wrong += BY_RING(flags, io_uring_prep_setxattr, "user.eddy", value, victim, 0, 1);
	return wrong;
}

static int attempt_everything_here(const char *who)
{
	return attempt_all(who) + attempt_by_ring(0) + attempt_by_ring(IOSQE_ASYNC);
}

static const struct eddy_loop_options confined = { .confined = true };

static int enter_and_attempt(void *arg)
{
	(void)arg;
	enter();
	return attempt_everything_here("loop");
}

static int one_loop(void)
{
	return eddy_run(&confined, enter_and_attempt, NULL);
}

Test(sandbox, keeps_a_loop_in, .init = make_folders, .fini = remove_folders)
{
	expect_landlock_child(one_loop);
}

/* Else what is tried above proves nothing. */
static int one_free_loop(void)
{
	without_sandbox = true;
	return eddy_run(NULL, enter_and_attempt, NULL);
}

Test(sandbox, is_what_keeps_it_in, .init = make_folders, .fini = remove_folders)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind knows no clone3");
	cr_expect_eq(child(one_free_loop, 0), 0);
}

/* ---- every kind of thread ---- */

static int attempt_in_pool(void *arg)
{
	(void)arg;
	return attempt_all("pool");
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

static sem_t plain_may_go;

/* No signal can be sent to it, but one. */
static void *plain_main(void *arg)
{
	(void)arg;
	sem_wait(&plain_may_go);
	return (void *)(intptr_t)attempt_all("plain thread");
}

static int open_secret(void *arg)
{
	int fd = open(secret, O_RDONLY | O_CLOEXEC);

	(void)arg;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? 0 : -EEXIST;
}

static struct eddy_shared_event is_in;

static int attempt_on_each(void *arg)
{
	(void)arg;
	if (eddy_loops_index() == 0) {
		enter();
		eddy_shared_event_set(&is_in);
	}
	eddy_shared_event_wait(&is_in);
	return attempt_everything_here("one of the loops") ? -EIO : 0;
}

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = -2;

	while (dir && readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static int start_every_kind(void *arg)
{
	sigset_t all, before;
	pthread_t plain;
	void *wrong;

	(void)arg;
	eddy_shared_event_init(&is_in);
	sem_init(&plain_may_go, 0, 0);
	EXPECT_EQ(eddy_offload(nothing, NULL), 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	EXPECT_EQ(pthread_create(&plain, NULL, plain_main, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* The writer of the timeline and the watch for stalls as well. */
	EXPECT(count_threads() >= 5);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .count = 3, .loop = confined },
				 attempt_on_each, NULL),
		  0);
	EXPECT_EQ(eddyi_every_thread(open_secret, NULL), 0);
	EXPECT_EQ(eddy_offload(attempt_in_pool, NULL), 0);
	sem_post(&plain_may_go);
	EXPECT_EQ(pthread_join(plain, &wrong), 0);
	EXPECT_EQ((intptr_t)wrong, 0);
	/* Those to come are in it from the start. */
	EXPECT_EQ(pthread_create(&plain, NULL, plain_main, NULL), 0);
	sem_post(&plain_may_go);
	EXPECT_EQ(pthread_join(plain, &wrong), 0);
	EXPECT_EQ((intptr_t)wrong, 0);
	return 0;
}

static int every_kind(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/timeline", root);
	unlink(path);
	chmod(root, 0777);
	setenv("EDDY_TRACE", path, 1);
	return eddy_run(&(struct eddy_loop_options){ .confined = true, .stall_ns = EDDY_SECOND },
			start_every_kind, NULL);
}

Test(sandbox, keeps_every_kind_of_thread_in, .init = make_folders, .fini = remove_folders)
{
	need_threads_in_a_child();
	expect_landlock_child(every_kind);
}

/* ---- other programs, and what kills ---- */

static int become_another(void)
{
	enter();
	execl("/bin/true", "true", NULL);
	return errno == EPERM ? 0 : 1;
}

static int start_another(void *arg)
{
	struct eddy_process process;

	(void)arg;
	enter();
	return eddy_process_start(
		       &(struct eddy_process_options){
			       .argv = (const char *[]){ "/bin/true", NULL } },
		       &process) == -EPERM ?
		       0 :
		       1;
}

static int start_another_on_a_loop(void)
{
	return eddy_run(&confined, start_another, NULL);
}

Test(sandbox, has_no_other_program, .init = make_folders, .fini = remove_folders)
{
	need_threads_in_a_child();
	expect_child(become_another);
	expect_child(start_another_on_a_loop);
}

static const struct {
	const char *name;
	long number;
	long args[3];
} fatal[] = {
	{ "unshare(CLONE_NEWUSER)", SYS_unshare, { CLONE_NEWUSER } },
	{ "unshare(CLONE_NEWNS)", SYS_unshare, { CLONE_NEWNS } },
	{ "setns()", SYS_setns, { 0 } },
	{ "mount()", SYS_mount, { 0 } },
	{ "ptrace()", SYS_ptrace, { PTRACE_TRACEME } },
	{ "process_vm_writev()", SYS_process_vm_writev, { 1 } },
	{ "bpf()", SYS_bpf, { 0 } },
	{ "userfaultfd()", SYS_userfaultfd, { 0 } },
	{ "chroot()", SYS_chroot, { 0 } },
	{ "open_by_handle_at()", SYS_open_by_handle_at, { 0 } },
	{ "init_module()", SYS_init_module, { 0 } },
};

static size_t fatal_now;

static int make_fatal_call(void)
{
	enter();
	syscall(fatal[fatal_now].number, fatal[fatal_now].args[0], fatal[fatal_now].args[1],
		fatal[fatal_now].args[2], 0, 0);
	return 0;
}

Test(sandbox, kills_who_makes_a_call_that_no_server_makes, .init = make_folders,
     .fini = remove_folders)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind makes calls of its own");
	for (fatal_now = 0; fatal_now < sizeof(fatal) / sizeof(fatal[0]); fatal_now++) {
		int status = child(make_fatal_call, 0);

		cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: %#x",
			  fatal[fatal_now].name, (unsigned)status);
	}
}

/* ---- what goes on ---- */

static void *end_at_once(void *arg)
{
	return arg;
}

static int work(void *arg)
{
	struct statx st;
	char path[64], bytes[6];
	struct iovec here = { bytes, 1 }, there = { &st, 1 };
	pthread_t thread;
	int fd, fds[2];

	(void)arg;
	enter();
	fd = eddy_openat(inside_dir, ".", O_TMPFILE | O_RDWR, 0600);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_write(fd, "secret", 6, 0), 6);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT_EQ(eddy_linkat(AT_FDCWD, path, inside_dir, "uploaded", AT_SYMLINK_FOLLOW), 0);
	EXPECT_EQ(fchmod(fd, 0640), 0);
	EXPECT_EQ(futimens(fd, NULL), 0);
	EXPECT_EQ(eddy_ftruncate(fd, 3), 0);
	close(fd);
	EXPECT_EQ(eddy_renameat(inside_dir, "uploaded", inside_dir, "own", 0), 0);
	EXPECT_EQ(eddy_mkdirat(inside_dir, "folder", 0700), 0);
	EXPECT_EQ(eddy_renameat(inside_dir, "own", inside_dir, "folder/own", 0), 0);
	EXPECT_EQ(eddy_statx(inside_dir, "folder/own", 0, STATX_SIZE, &st), 0);
	EXPECT_EQ(st.stx_size, 3);
	fd = eddy_openat(inside_dir, "folder/own", O_RDONLY, 0);
	EXPECT_EQ(eddy_read(fd, bytes, sizeof(bytes), 0), 3);
	close(fd);
	EXPECT_EQ(eddy_unlinkat(inside_dir, "folder/own", 0), 0);
	EXPECT_EQ(eddy_unlinkat(inside_dir, "folder", AT_REMOVEDIR), 0);
	EXPECT_EQ(opened(openat(inside_dir, ".", O_RDONLY | O_DIRECTORY)), 0);
	EXPECT_EQ(opened(open("/dev/null", O_RDWR)), 0);
	EXPECT_EQ(opened(open("/dev/urandom", O_RDONLY)), 0);
	EXPECT_EQ(opened(open("/proc/self/status", O_RDONLY)), 0);
	EXPECT_EQ(pread(secret_fd, bytes, sizeof(bytes), 0), 6);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	EXPECT_EQ(pthread_create(&thread, NULL, end_at_once, NULL), 0);
	EXPECT_EQ(tgkill(getpid(), gettid(), 0), 0);
	EXPECT_EQ(process_vm_readv(getpid(), &here, 1, &there, 1, 0), 1);
	EXPECT_EQ(process_vm_readv(getppid(), &here, 1, &there, 1, 0), -1);
	pthread_join(thread, NULL);
	EXPECT_EQ(eddy_offload(nothing, NULL), 0);
	EXPECT(eddy_sandbox_is_entered());
	return 0;
}

static int work_on_a_loop(void)
{
	int r = eddy_run(&confined, work, NULL);

	put(inside, "own");
	return r;
}

Test(sandbox, lets_a_server_work, .init = make_folders, .fini = remove_folders)
{
	need_threads_in_a_child();
	expect_child(work_on_a_loop);
}

/* Rules are of the folder, not of what was in it. */
static int read_only(void)
{
	EXPECT_EQ(eddy_sandbox_enter(&(struct eddy_sandbox_options){ .readable = folders }), 0);
	EXPECT_EQ(opened(openat(inside_dir, "own", O_RDONLY)), 0);
	EXPECT_EQ(opened(openat(inside_dir, "own", O_WRONLY)), -EACCES);
	EXPECT_EQ(opened(openat(inside_dir, "new", O_WRONLY | O_CREAT, 0600)), -EACCES);
	EXPECT_EQ(done(unlinkat(inside_dir, "own", 0)), -EACCES);
	EXPECT_EQ(opened(openat(inside_dir, ".", O_TMPFILE | O_RDWR, 0600)), -EACCES);
	/* Narrower yet. */
	EXPECT_EQ(eddy_sandbox_enter(NULL), 0);
	EXPECT_EQ(opened(openat(inside_dir, "own", O_RDONLY)), -EACCES);
	return 0;
}

Test(sandbox, may_be_read_only, .init = make_folders, .fini = remove_folders)
{
	expect_landlock_child(read_only);
}

/* Also a system of which debootstrap has made no more than the least has it. */
#define RESOLVER_FILE "/etc/nsswitch.conf"

/* To other machines, and to no other program here. */
static int connect_out(void)
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), fd;

	EXPECT_EQ(eddy_sandbox_enter(&(struct eddy_sandbox_options){ .connects = true }), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(fd >= 0);
	EXPECT_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	EXPECT_EQ(closed(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)), 0);
	EXPECT_EQ(closed(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1)), -EPERM);
	EXPECT_EQ(closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP)), -EPERM);
	EXPECT_EQ(closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)), 0);
	EXPECT_EQ(closed(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP)), 0);
	EXPECT_EQ(make_a_unix_socket(), -EPERM);
	EXPECT_EQ(make_a_netlink_socket(), -EPERM);
	EXPECT_EQ(opened(open(RESOLVER_FILE, O_RDONLY)), 0);
	EXPECT_EQ(by_path(), eddyi_landlock_version() < 0 ? 0 : -EACCES);
	close(listener);
	return 0;
}

Test(sandbox, may_connect, .init = make_folders, .fini = remove_folders)
{
	expect_child(connect_out);
}

/* A socket that was there before, which is to be connected elsewhere. */
static int connect_an_old_socket(void)
{
	struct sockaddr_in addr;
	int listener = tcp_listen(&addr, 1), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct msghdr msg = { .msg_name = &addr, .msg_namelen = sizeof(addr) };
	struct mmsghdr many = { .msg_hdr = msg };

	enter();
	EXPECT_EQ(done(connect(fd, (struct sockaddr *)&addr, sizeof(addr))), -EPERM);
	EXPECT_EQ(
		done((int)sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&addr, sizeof(addr))),
		-EPERM);
	EXPECT_EQ(done((int)sendmsg(fd, &msg, MSG_FASTOPEN)), -EPERM);
	EXPECT_EQ(done(sendmmsg(fd, &many, 1, MSG_FASTOPEN)), -EPERM);
	addr.sin_family = AF_UNSPEC;
	EXPECT_EQ(done(connect(fd, (struct sockaddr *)&addr, sizeof(sa_family_t))), 0);
	EXPECT_EQ(done(socketpair(AF_TIPC, SOCK_STREAM | SOCK_CLOEXEC, 0, (int[2]){ 0 })), -EPERM);
	close(listener);
	return 0;
}

Test(sandbox, connects_no_socket_that_is_there, .init = make_folders, .fini = remove_folders)
{
	expect_child(connect_an_old_socket);
}

static int bind_an_old_socket(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	enter();
	EXPECT_EQ(done(bind(fd, (struct sockaddr *)&addr, sizeof(addr))), -EACCES);
	return 0;
}

Test(sandbox, keeps_ports, .init = make_folders, .fini = remove_folders)
{
	if (eddyi_landlock_version() < 4)
		cr_skip_test("needs Landlock's rights to ports, Linux 6.7");
	expect_child(bind_an_old_socket);
}

/* ---- what it refuses to be ---- */

static char said[1024];

static void note(const struct eddy_record *record, void *arg)
{
	size_t len = strlen(said);

	(void)arg;
	snprintf(said + len, sizeof(said) - len, "%d %s %.*s\n", record->level, record->target,
		 EDDY_FMT(record->message));
}

static int enter_unconfined(void *arg)
{
	(void)arg;
	eddy_log_subscribe(note, NULL);
	EXPECT_EQ(eddy_sandbox_enter(NULL), -EPERM);
	EXPECT(strstr(said, "the loop \"main\" was made without .confined"));
	EXPECT(!eddy_sandbox_is_entered());
	return 0;
}

static int unconfined(void)
{
	return eddy_run(NULL, enter_unconfined, NULL);
}

/* A worker would open what its maker may open no more. */
static int enter_with_a_worker(void *arg)
{
	struct io_uring_sqe sqe = { 0 };

	(void)arg;
	io_uring_prep_openat(&sqe, AT_FDCWD, secret, O_RDONLY | O_CLOEXEC, 0);
	EXPECT(ask_ring(sqe, IOSQE_ASYNC) >= 0);
	eddy_log_subscribe(note, NULL);
	EXPECT_EQ(eddy_sandbox_enter(NULL), -EBUSY);
	EXPECT(strstr(said, "a ring already has worker threads"));
	return 0;
}

static int with_a_worker(void)
{
	return eddy_run(&confined, enter_with_a_worker, NULL);
}

static int with_a_lost_folder(void)
{
	const char *const lost[] = { "/nowhere", NULL };

	eddy_log_subscribe(note, NULL);
	EXPECT_EQ(eddy_sandbox_enter(&(struct eddy_sandbox_options){ .readable = lost }),
		  eddyi_landlock_version() < 0 ? 0 : -ENOENT);
	EXPECT(eddyi_landlock_version() < 0 ||
	       strstr(said, "can't allow \"/nowhere\": No such file"));
	return 0;
}

Test(sandbox, says_why_it_can_not_be_entered, .init = make_folders, .fini = remove_folders)
{
	expect_child(unconfined);
	expect_child(with_a_worker);
	expect_child(with_a_lost_folder);
}

/* As a kernel without it answers. */
static void forbid_landlock(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 444, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static int landlock_error;

static int without_landlock(void)
{
	forbid_landlock(landlock_error);
	eddy_log_subscribe(note, NULL);
	EXPECT_EQ(eddy_sandbox_enter(NULL), 0);
	EXPECT(strstr(said, "3 eddy::sandbox this kernel has no Landlock ("));
	EXPECT_EQ(by_path(), 0);
	EXPECT_EQ(make_a_unix_socket(), -EPERM);
	EXPECT_EQ(change_the_mode(), -EPERM);
	execl("/bin/true", "true", NULL);
	EXPECT_EQ(errno, EPERM);
	return 0;
}

Test(sandbox, does_what_it_can_without_landlock, .init = make_folders, .fini = remove_folders)
{
	landlock_error = ENOSYS;
	expect_child(without_landlock);
	landlock_error = EOPNOTSUPP;
	expect_child(without_landlock);
}
