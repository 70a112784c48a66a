/* resume: a client of wolfSSL's that connects twice by TLS 1.3, the second time with the session of the first.
 *
 *     resume PORT dhe|ke
 *
 * With `ke` it resumes without an exchange of keys alone (psk_ke). Prints what became of the second: "resumed", "anew", or "refused".
 */
#include "tls/wolfssl.h" /* comes first */

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "resume: %s\n", what);
	exit(1);
}

static int dial(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	return fd;
}

/* The tickets come before the answer. */
static void ask(WOLFSSL *tls)
{
	char answer[4096];

	need(wolfSSL_write(tls, REQUEST, sizeof(REQUEST) - 1) == sizeof(REQUEST) - 1, "write");
	need(wolfSSL_read(tls, answer, sizeof(answer)) > 12 && !strncmp(answer, "HTTP/1.1 200", 12),
	     "read");
}

int main(int argc, char **argv)
{
	WOLFSSL_CTX *context;
	WOLFSSL_SESSION *session;
	WOLFSSL *tls;
	int fd;

	need(argc == 3, "usage: resume PORT dhe|ke");
	need(wolfSSL_Init() == WOLFSSL_SUCCESS, "wolfSSL");
	context = wolfSSL_CTX_new(wolfTLSv1_3_client_method());
	need(context != NULL, "context");
	wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_NONE, NULL);

	tls = wolfSSL_new(context);
	fd = dial(atoi(argv[1]));
	need(wolfSSL_set_fd(tls, fd) == WOLFSSL_SUCCESS && wolfSSL_connect(tls) == WOLFSSL_SUCCESS,
	     "the first handshake");
	ask(tls);
	session = wolfSSL_get1_session(tls);
	need(session != NULL, "session");
	wolfSSL_free(tls);
	close(fd);

	tls = wolfSSL_new(context);
	fd = dial(atoi(argv[1]));
	need(wolfSSL_set_fd(tls, fd) == WOLFSSL_SUCCESS, "set_fd");
	need(wolfSSL_set_session(tls, session) == WOLFSSL_SUCCESS, "set_session");
	if (!strcmp(argv[2], "ke"))
		need(wolfSSL_no_dhe_psk(tls) == 0, "no_dhe_psk");
	if (wolfSSL_connect(tls) != WOLFSSL_SUCCESS) {
		puts("refused");
	} else {
		ask(tls);
		puts(wolfSSL_session_reused(tls) ? "resumed" : "anew");
	}
	wolfSSL_free(tls);
	close(fd);
	wolfSSL_SESSION_free(session);
	wolfSSL_CTX_free(context);
	return 0;
}
