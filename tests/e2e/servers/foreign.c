/* foreign: system calls that eddy does not make, by a task and by a job of the offload pool. test_record.py
 * replays it.
 *
 *     foreign FOLDER
 *     foreign --exit      by _exit(2)
 *     foreign --late      a job that begins after 300 ms
 *     foreign --busy      a job that reads the clock for ever
 *     foreign --locked    a lock that a job keeps for ever
 */
#include <arpa/inet.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

static const char *folder;

#define SAY(call)                                                                                  \
	do {                                                                                       \
		long long r_ = (call);                                                             \
		printf("%s = %lld\n", #call, r_ < 0 ? -errno : r_);                                \
	} while (0)

static void datagrams(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval second = { .tv_sec = 1 };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char buf[16] = "";
	fd_set reads;

	SAY(bind(fd, (struct sockaddr *)&addr, len));
	SAY(getsockname(fd, (struct sockaddr *)&addr, &len));
	SAY(sendto(fd, "hello", 5, 0, (struct sockaddr *)&addr, len));
	FD_ZERO(&reads);
	FD_SET(fd, &reads);
	SAY(select(fd + 1, &reads, NULL, NULL, &second));
	SAY(FD_ISSET(fd, &reads) != 0);
	SAY(recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *)&addr, &len));
	printf("%s from port %d\n", buf, ntohs(addr.sin_port));
	close(fd);
}

static void streams(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int pair[2], listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client, server;
	socklen_t len = sizeof(addr);
	char buf[16] = "";

	SAY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	SAY(write(pair[0], "pair", 4));
	SAY(read(pair[1], buf, sizeof(buf)));
	SAY(bind(listener, (struct sockaddr *)&addr, len));
	SAY(listen(listener, 1));
	SAY(getsockname(listener, (struct sockaddr *)&addr, &len));
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	SAY(connect(client, (struct sockaddr *)&addr, len));
	server = accept(listener, NULL, NULL);
	SAY(server > client);
	SAY(write(client, "stream", 6));
	SAY(read(server, buf, sizeof(buf)));
	printf("%s\n", buf);
	close(pair[0]);
	close(pair[1]);
	close(listener);
	close(client);
	close(server);
}

static void files(void)
{
	char path[] = "made-XXXXXX", buf[8] = "", events[4096];
	struct iovec part = { "12345", 5 }, room = { buf, sizeof(buf) - 1 };
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), fd;

	SAY(chdir(folder));
	SAY(inotify_add_watch(watch, ".", IN_CREATE));
	fd = mkstemp(path);
	printf("%s\n", path);
	SAY(read(watch, events, sizeof(events)) > 0);
	SAY(pwritev(fd, &part, 1, 0));
	SAY(preadv(fd, &room, 1, 2));
	SAY(futimens(fd, times));
	SAY(fchmod(fd, 0600));
	close(fd);
	printf("%s\n", buf);
	SAY(truncate(path, 2));
	SAY(link(path, "linked"));
	SAY(symlink(path, "symbolic"));
	SAY(rename("linked", "renamed"));
	SAY(remove(path));
	SAY(mkdir("folder", 0700));
	SAY(mkdir("folder", 0700));
	SAY(rmdir("folder"));
	SAY(system("echo x >> commanded"));
	SAY(inotify_rm_watch(watch, 1));
	close(watch);
}

static int signal_pipe[2];

static void tell(int signo)
{
	(void)signo;
	if (write(signal_pipe[1], "s", 1) < 0)
		abort();
}

static sigjmp_buf place;

static void jump(int signo)
{
	siglongjmp(place, signo);
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = tell }, old;
	char byte;

	if (pipe2(signal_pipe, O_CLOEXEC) < 0)
		return;
	SAY(sigaction(SIGHUP, &action, NULL));
	SAY(sigaction(SIGHUP, NULL, &old));
	SAY(old.sa_handler == tell);
	if (!sigsetjmp(place, 1)) {
		signal(SIGUSR1, jump);
		raise(SIGUSR1);
	}
	for (int i = 0; i < 3; i++) {
		SAY(kill(getpid(), SIGHUP));
		SAY(read(signal_pipe[0], &byte, 1));
	}
	SAY(signal(SIGHUP, SIG_DFL) == tell);
	close(signal_pipe[0]);
	close(signal_pipe[1]);
}

static void terminals(void)
{
	struct winsize size;
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	/* The replay has no terminal. */
	if (fd >= 0)
		ioctl(fd, TCFLSH, TCIOFLUSH), ioctl(fd, TIOCGWINSZ, &size);
}

static void rest(void)
{
	uint32_t numbers[2] = { arc4random() };
	struct itimerspec time = { .it_value.tv_nsec = EDDY_MS };
	struct pollfd poll = { .events = POLLIN };
	struct utsname names;
	uint64_t count;

	poll.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	SAY(timerfd_settime(poll.fd, 0, &time, NULL));
	SAY(ppoll(&poll, 1, NULL, NULL));
	SAY(read(poll.fd, &count, sizeof(count)));
	SAY(uname(&names));
	printf("%s %d %d\n", names.release, (int)gettid(), (int)getgid());
	SAY(getentropy(&numbers[1], sizeof(numbers[1])));
	printf("%u %u\n", numbers[0], numbers[1]);
	close(poll.fd);
}

static int make_calls(void *arg)
{
	datagrams();
	streams();
	if (arg)
		files(), signals(), terminals();
	rest();
	return 0;
}

/* The job receives while the loop looks at its memory. */
static char received[8];
static int ends[2];

static int receive(void *arg)
{
	(void)arg;
	return (int)read(ends[0], received, sizeof(received));
}

static int await_bytes(void *arg)
{
	return eddy_offload(receive, arg) > 0 ? 0 : -EPIPE;
}

static int peek(void)
{
	struct eddy_scope scope;
	int r = pipe2(ends, O_CLOEXEC);

	if (r < 0)
		return -errno;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "receiver", await_bytes, NULL);
	eddy_sleep(20 * EDDY_MS);
	SAY(write(ends[1], "bytes", 5));
	for (volatile int i = 0; i < 20000000; i = i + 1)
		;
	printf("the loop sees %d\n", received[0]);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static int run(void *arg)
{
	int r = make_calls(arg);

	if (r == 0)
		r = eddy_offload(make_calls, NULL);
	if (r == 0)
		r = peek();
	fflush(stdout);
	return r;
}

static int nothing(void *arg)
{
	(void)arg;
	puts("the job has begun");
	return 0;
}

static int begin_late(void *arg)
{
	eddy_sleep(300 * EDDY_MS);
	return eddy_offload(nothing, arg);
}

static int read_clock_for_ever(void *arg)
{
	(void)arg;
	puts("the job has begun");
	fflush(stdout);
	for (;;)
		eddy_now();
	return 0;
}

static int read_clock(void *arg)
{
	return eddy_offload(read_clock_for_ever, arg);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int keep_lock(void *arg)
{
	char byte;

	(void)arg;
	pthread_mutex_lock(&lock);
	puts("the job has begun");
	fflush(stdout);
	return (int)read(ends[0], &byte, 1);
}

static int ask_pool(void *arg)
{
	return eddy_offload(keep_lock, arg);
}

static int lock_twice(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return 1;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "keeper", ask_pool, NULL);
	eddy_sleep(50 * EDDY_MS);
	pthread_mutex_lock(&lock);
	return 1;
}

static int end_at_once(void *arg)
{
	(void)arg;
	eddy_sleep(EDDY_MS);
	_exit(3);
}

int main(int argc, char **argv)
{
	folder = argc > 1 ? argv[1] : ".";
	if (strcmp(folder, "--exit") == 0)
		return eddy_main(end_at_once, NULL);
	if (strcmp(folder, "--late") == 0)
		return eddy_main(begin_late, NULL);
	if (strcmp(folder, "--busy") == 0)
		return eddy_main(read_clock, NULL);
	if (strcmp(folder, "--locked") == 0)
		return eddy_main(lock_twice, NULL);
	return eddy_main(run, (void *)folder);
}
