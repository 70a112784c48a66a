#include "server.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Sockets that listen at one address: SO_REUSEPORT has many. */
#define SOCKETS_MAX 1024

struct sockets {
	unsigned long long inodes[SOCKETS_MAX];
	size_t count;
};

static void add_socket(struct sockets *sockets, unsigned long long inode)
{
	if (inode && sockets->count < SOCKETS_MAX)
		sockets->inodes[sockets->count++] = inode;
}

/* ---- sockets that listen */

/* An address as /proc/net has it: words of the network's order, printed as this machine's. Return: whether a
 * socket that is bound to it takes connections for `address`. */
static bool is_bound_to(const char *hex, const struct eddy_sockaddr *address)
{
	const struct in6_addr *wanted6 = &address->addr.in6.sin6_addr;
	bool v4 = address->addr.any.sa_family == AF_INET;
	unsigned words[4] = { 0 }, any[4] = { 0 };
	size_t len = strlen(hex);

	if (len != 8 && len != 32)
		return false;
	for (size_t i = 0; i < len / 8; i++)
		if (sscanf(hex + 8 * i, "%8x", &words[i]) != 1)
			return false;
	/* One that is bound to everything, of either family, may take it. */
	if (memcmp(words, any, sizeof(any)) == 0)
		return true;
	if (v4 && len == 32)
		return words[0] == 0 && words[1] == 0 && words[2] == htonl(0xffff) &&
		       words[3] == address->addr.in.sin_addr.s_addr;
	if (v4)
		return words[0] == address->addr.in.sin_addr.s_addr;
	return len == 32 && memcmp(words, wanted6, sizeof(words)) == 0;
}

static void find_tcp(const char *path, const struct eddy_sockaddr *address, struct sockets *sockets)
{
	unsigned wanted = ntohs(address->addr.any.sa_family == AF_INET ?
					address->addr.in.sin_port :
					address->addr.in6.sin6_port);
	char line[512], hex[33];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		unsigned port, state;
		unsigned long long inode;

		if (sscanf(line, " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*s %*s %llu",
			   hex, &port, &state, &inode) == 4 &&
		    state == 10 && port == wanted && is_bound_to(hex, address))
			add_socket(sockets, inode);
	}
	if (file)
		fclose(file);
}

static void find_unix(const struct eddy_sockaddr *address, struct sockets *sockets)
{
	const struct sockaddr_un *un = &address->addr.un;
	char line[512], path[256], wanted[120];
	FILE *file = fopen("/proc/net/unix", "re");

	snprintf(wanted, sizeof(wanted), "%s%.107s", *un->sun_path ? "" : "@",
		 *un->sun_path ? un->sun_path : un->sun_path + 1);
	while (file && fgets(line, sizeof(line), file)) {
		unsigned flags;
		unsigned long long inode;

		/* 0x10000: it listens. */
		if (sscanf(line, "%*x: %*x %*x %x %*x %*x %llu %255[^\n]", &flags, &inode, path) ==
			    3 &&
		    flags & 0x10000 && strcmp(path, wanted) == 0)
			add_socket(sockets, inode);
	}
	if (file)
		fclose(file);
}

/* Whether the address is one of this machine's: only then can somebody be bound to it here. */
static bool is_here(const struct eddy_sockaddr *address)
{
	struct eddy_sockaddr bound = *address;
	int fd = socket(address->addr.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (bound.addr.any.sa_family == AF_INET)
		bound.addr.in.sin_port = 0;
	else
		bound.addr.in6.sin6_port = 0;
	r = fd < 0 ? -1 : bind(fd, &bound.addr.any, bound.len);
	if (fd >= 0)
		close(fd);
	return r == 0;
}

/* ---- processes */

static bool holds(pid_t pid, const struct sockets *sockets)
{
	char path[64], link[64];
	struct dirent *entry;
	DIR *dir;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		unsigned long long inode;

		if (len <= 0)
			continue;
		link[len] = 0;
		if (sscanf(link, "socket:[%llu]", &inode) != 1)
			continue;
		for (size_t i = 0; i < sockets->count && !found; i++)
			found = sockets->inodes[i] == inode;
	}
	if (dir)
		closedir(dir);
	return found;
}

static int by_number(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

static void find_processes(const struct sockets *sockets, struct server *server)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && server->count < SERVER_PROCESSES_MAX && (entry = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)*entry->d_name) ? atoi(entry->d_name) : 0;

		if (pid && pid != getpid() && holds(pid, sockets))
			server->pids[server->count++] = pid;
	}
	if (dir)
		closedir(dir);
	qsort(server->pids, server->count, sizeof(*server->pids), by_number);
}

static void describe(struct server *server)
{
	char path[64];
	cpu_set_t set;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)server->pids[0]);
	file = fopen(path, "re");
	if (file && fgets(server->command, sizeof(server->command), file))
		server->command[strcspn(server->command, "\n")] = 0;
	if (file)
		fclose(file);
	/* The last is a worker, if there is any. */
	if (sched_getaffinity(server->pids[server->count - 1], sizeof(set), &set) == 0 &&
	    CPU_COUNT(&set) == 1)
		while (!CPU_ISSET(++server->cpu, &set))
			;
}

void server_find(const struct eddy_sockaddr *address, pid_t pid, struct server *ret_server)
{
	struct sockets sockets = { .count = 0 };
	struct server server = { .cpu = -1 };

	if (pid) {
		server.pids[server.count++] = pid;
	} else if (address->addr.any.sa_family == AF_UNIX) {
		find_unix(address, &sockets);
	} else if (is_here(address)) {
		find_tcp("/proc/net/tcp", address, &sockets);
		find_tcp("/proc/net/tcp6", address, &sockets);
	}
	if (sockets.count)
		find_processes(&sockets, &server);
	if (server.count)
		describe(&server);
	*ret_server = server;
}

/* ---- what they use */

static double read_cpu(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return NAN;
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double read_resident(pid_t pid)
{
	char path[64], line[256];
	double kib = NAN;
	FILE *file;

	/* statm is quicker, and off by what each processor has not yet counted in. */
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file && isnan(kib) && fgets(line, sizeof(line), file))
		if (sscanf(line, "Rss: %lf kB", &kib) != 1)
			kib = NAN;
	if (file)
		fclose(file);
	return kib * 1024;
}

static void add_switches(pid_t tid, struct server_use *use)
{
	char path[64], line[256];
	double count;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "voluntary_ctxt_switches: %lf", &count) == 1)
			use->voluntary += count;
		else if (sscanf(line, "nonvoluntary_ctxt_switches: %lf", &count) == 1)
			use->involuntary += count;
	}
	if (file)
		fclose(file);
}

size_t server_threads(const struct server *server, pid_t *ret_tids, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < server->count; i++) {
		char path[64];
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)server->pids[i]);
		dir = opendir(path);
		while (dir && count < size && (entry = readdir(dir)))
			if (isdigit((unsigned char)*entry->d_name))
				ret_tids[count++] = atoi(entry->d_name);
		if (dir)
			closedir(dir);
	}
	return count;
}

void server_read(const struct server *server, bool memory, struct server_use *ret_use)
{
	struct server_use use = { 0 };
	pid_t tids[4096];
	size_t count;

	if (!memory)
		use.resident_bytes = NAN;
	for (size_t i = 0; i < server->count; i++) {
		use.cpu_seconds += read_cpu(server->pids[i]);
		if (memory)
			use.resident_bytes += read_resident(server->pids[i]);
	}
	count = server_threads(server, tids, sizeof(tids) / sizeof(*tids));
	use.threads = (double)count;
	for (size_t i = 0; i < count; i++)
		add_switches(tids[i], &use);
	if (!server->count || !count)
		use = (struct server_use){ NAN, NAN, NAN, NAN, NAN };
	*ret_use = use;
}
