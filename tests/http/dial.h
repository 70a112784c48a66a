/* dial.h: connections of a client to a port of the loopback interface. */
#ifndef EDDY_TESTS_DIAL_H
#define EDDY_TESTS_DIAL_H

#include <arpa/inet.h>
#include <eddy/io.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in dial_address(uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
		.sin_port = htons(port),
	};
}

/* Return: the connected socket, -1. */
static inline int dial(uint16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = dial_address(port);

	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Ask for "/", and receive the beginning of the answer as a string. Suspends. Return: the socket, -1. */
static inline int dial_and_get(uint16_t port, char *buf, size_t size)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = dial(port);
	ssize_t len;

	if (fd < 0)
		return -1;
	if (send(fd, request, strlen(request), 0) > 0 &&
	    (len = eddy_recv(fd, buf, size - 1, 0)) > 0) {
		buf[len] = '\0';
		return fd;
	}
	close(fd);
	return -1;
}

#endif
