/* echo_listen.h: the listening socket of the echoes that are not eddy's, and the end of them all. */
#ifndef EDDY_BENCH_ECHO_LISTEN_H
#define EDDY_BENCH_ECHO_LISTEN_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM 4096

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Accepted sockets have TCP_NODELAY from it, as eddy's do. */
static inline int echo_listen(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 4096) < 0)
		die("listen");
	return fd;
}

#endif
