/* server.h: the processes that answer at an address of this machine, and what they use.
 *
 * They are those that hold a socket which listens there: a server's workers, all of them, and its master. Where
 * nobody does (another machine, another network namespace) nothing is known of the server but its answers.
 */
#ifndef EDDY_BENCH_SERVER_H
#define EDDY_BENCH_SERVER_H

#include <eddy/net.h>
#include <stdbool.h>
#include <sys/types.h>

#define SERVER_PROCESSES_MAX 256

struct server {
	pid_t pids[SERVER_PROCESSES_MAX]; /* ascending: a master comes before its workers */
	size_t count;                     /* 0: it is not here */
	char command[64];                 /* of the first */
	int cpu; /* the one processor that it may run on; -1 when there are more */
};

/* What all processes have used since they began, and have now. NAN: nobody knows. */
struct server_use {
	double cpu_seconds; /* of all threads, those of the kernel's for its rings too, and of threads that have ended */
	double voluntary, involuntary; /* switches of the threads that there are */
	double resident_bytes;
	double threads;
};

/* Find who listens at an address. `pid` not 0: it is that process. `ret_server->count` is 0 where nobody is found. */
void server_find(const struct eddy_sockaddr *address, pid_t pid, struct server *ret_server);

/* Read what they use; `memory` costs a while that depends on how much they have. */
void server_read(const struct server *server, bool memory, struct server_use *ret_use);

/* The threads of all processes. Return: how many were written. */
size_t server_threads(const struct server *server, pid_t *ret_tids, size_t size);

#endif
