/* taken: a server that somebody has taken over: its handlers try to get out.
 *
 *     taken FOLDER SECRET [--no-sandbox] [--read-only] [--workers N]
 *
 * GET /from/{place} tries everything from a task, a thread of the pool or one of its own, and answers with a line for each
 * attempt: its name, and "worked" or the error. GET /fatal/{name} makes a call that is to kill the process.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder, *secret;
static int folder_fd, outside_fd;

static void say(FILE *out, const char *name, long r)
{
	fprintf(out, "%s: %s\n", name, r < 0 ? strerror((int)-r) : "worked");
}

static long or_errno(long r)
{
	return r < 0 ? -errno : r;
}

static long closed(long fd)
{
	if (fd >= 0)
		close((int)fd);
	return or_errno(fd);
}

static long run_true(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : -ECHILD;
}

/* Root's way through the file system, which asks nobody for a right to a file: to a program that obeys. */
static long ask_a_daemon(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long r;

	if (fd < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%.90s.socket", secret);
	r = or_errno(connect(fd, (struct sockaddr *)&addr, sizeof(addr)));
	close(fd);
	return r;
}

static void try_calls(FILE *out)
{
	struct io_uring_params params = { 0 };
	char path[512];
	int fd;

	say(out, "open", closed(open(secret, O_RDONLY | O_CLOEXEC)));
	say(out, "open beneath", closed(openat(outside_fd, "secret", O_RDONLY | O_CLOEXEC)));
	say(out, "open above",
	    closed(openat(folder_fd, "../outside/secret", O_RDONLY | O_CLOEXEC)));
	say(out, "open by link", closed(openat(folder_fd, "link", O_RDONLY | O_CLOEXEC)));
	say(out, "overwrite", closed(open(secret, O_WRONLY | O_CLOEXEC)));
	say(out, "list", closed(openat(outside_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
	snprintf(path, sizeof(path), "/proc/self/root%s", secret);
	say(out, "open by proc", closed(open(path, O_RDONLY | O_CLOEXEC)));
	say(out, "link in", or_errno(linkat(AT_FDCWD, secret, folder_fd, "stolen", 0)));
	unlinkat(folder_fd, "stolen", 0);
	say(out, "make a link", or_errno(symlinkat(secret, folder_fd, "way")));
	unlinkat(folder_fd, "way", 0);
	fd = openat(outside_fd, "made", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	say(out, "create", closed(fd));
	unlinkat(outside_fd, "made", 0);
	say(out, "change a mode", or_errno(fchmodat(outside_fd, "secret", 0644, 0)));
	say(out, "run a program", run_true());
	say(out, "ask a daemon", ask_a_daemon());
	say(out, "make an IP socket", closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
	say(out, "make a ring", closed(syscall(SYS_io_uring_setup, 1, &params)));
}

#define BY_RING(flags_, prep, ...)                                                                 \
	({                                                                                         \
		struct io_uring_sqe sqe = { 0 };                                                   \
		int result;                                                                        \
                                                                                                   \
		prep(&sqe, __VA_ARGS__);                                                           \
		sqe.flags |= (flags_);                                                             \
		result = eddy_op_call(&sqe);                                                       \
		if (result > 0)                                                                    \
			close(result);                                                             \
		result;                                                                            \
	})

static void try_ring(FILE *out, unsigned flags, const char *how)
{
	char name[64];

#define SAY(what, r) say(out, (snprintf(name, sizeof(name), "%s: %s", how, what), name), r)
	SAY("open", BY_RING(flags, io_uring_prep_openat, AT_FDCWD, secret, O_RDONLY, 0));
	SAY("open beneath", BY_RING(flags, io_uring_prep_openat, outside_fd, "secret", O_RDWR, 0));
	SAY("open above",
	    BY_RING(flags, io_uring_prep_openat, folder_fd, "../outside/secret", O_RDONLY, 0));
	SAY("open by link", BY_RING(flags, io_uring_prep_openat, folder_fd, "link", O_RDONLY, 0));
	SAY("create", BY_RING(flags, io_uring_prep_mkdirat, outside_fd, "made", 0700));
	unlinkat(outside_fd, "made", AT_REMOVEDIR);
	SAY("link in",
	    BY_RING(flags, io_uring_prep_linkat, AT_FDCWD, secret, folder_fd, "stolen", 0));
	unlinkat(folder_fd, "stolen", 0);
	SAY("make a unix socket",
	    BY_RING(flags, io_uring_prep_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0));
	SAY("make an IP socket",
	    BY_RING(flags, io_uring_prep_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0));
#undef SAY
}

static int in_pool(void *out)
{
	try_calls(out);
	return 0;
}

static void *in_thread(void *out)
{
	try_calls(out);
	return NULL;
}

static int try_from(FILE *out, struct eddy_str place)
{
	pthread_t thread;

	if (eddy_str_eq_z(place, "pool"))
		return eddy_offload(in_pool, out);
	if (eddy_str_eq_z(place, "thread")) {
		if (pthread_create(&thread, NULL, in_thread, out) != 0)
			return -EAGAIN;
		pthread_join(thread, NULL);
		return 0;
	}
	try_calls(out);
	try_ring(out, 0, "ring");
	try_ring(out, IOSQE_ASYNC, "worker of the ring");
	return 0;
}

static int from(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str place;
	size_t len = 0;
	char *text;
	FILE *out;
	int r;

	if (eddy_req_path(req, EDDY_TO(&place)) < 0)
		return 400;
	out = open_memstream(&text, &len);
	r = try_from(out, place);
	fclose(out);
	if (r == 0)
		r = eddy_res_ok(res, "%.*s", (int)len, text);
	free(text);
	return r;
}

/* What the folder itself is still good for. */
static int inside(struct eddy_req *req, struct eddy_res *res)
{
	int read = openat(folder_fd, "own", O_RDONLY | O_CLOEXEC);
	int write = openat(folder_fd, "own", O_WRONLY | O_CLOEXEC);

	(void)req;
	return eddy_res_ok(res, "%s %s", closed(read) < 0 ? "-" : "read",
			   closed(write) < 0 ? "-" : "write");
}

static int fatal(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	if (eddy_str_eq_z(name, "unshare"))
		unshare(CLONE_NEWUSER);
	else if (eddy_str_eq_z(name, "mount"))
		mount("none", folder, "tmpfs", 0, NULL);
	else if (eddy_str_eq_z(name, "ptrace"))
		ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
	else if (eddy_str_eq_z(name, "bpf"))
		syscall(SYS_bpf, 0, NULL, 0);
	return eddy_res_ok(res, "still here");
}

int main(int argc, char **argv)
{
	static const struct option switches[] = {
		{ "no-sandbox", no_argument, NULL, 'n' },
		{ "read-only", no_argument, NULL, 'r' },
		{ "workers", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct eddy_server_options options = { 0 };
	bool sandbox = true, read_only = false;
	const char *folders[2] = { NULL };
	struct eddy_app *app;
	int option;

	while ((option = getopt_long(argc, argv, "", switches, NULL)) >= 0) {
		sandbox &= option != 'n';
		read_only |= option == 'r';
		if (option == 'w')
			options.workers = (unsigned)atoi(optarg);
	}
	if (argc - optind != 2)
		return 2;
	folder = folders[0] = argv[optind];
	secret = argv[optind + 1];
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	outside_fd = openat(folder_fd, "../outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	eddy_log_text_subscribe();
	app = eddy_app_new();
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &options);
	eddy_app_map_get(app, "/from/{place}", from);
	eddy_app_map_get(app, "/inside", inside);
	eddy_app_map_get(app, "/fatal/{name}", fatal);
	if (sandbox)
		eddy_app_sandbox(app, &(struct eddy_sandbox_options){
					      .readable = read_only ? folders : NULL,
					      .writable = read_only ? NULL : folders,
				      });
	return eddy_app_run_blocking(app) < 0;
}
