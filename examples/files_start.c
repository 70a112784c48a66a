/* Messages at the start: URLs, permissions, how to stop, and advice on failure. */
#include "files.h"

#include <eddy/net.h>
#include <eddy/runtime.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define HOST_SIZE 256

/* Read the host that the server is bound to. Return: false if there is none (unix sockets). */
static bool read_host(const struct files *files, char host[HOST_SIZE])
{
	struct eddy_address address;

	if (eddy_address_parse(files->bind, &address) < 0 || !address.host.len ||
	    address.host.len >= HOST_SIZE)
		return false;
	snprintf(host, HOST_SIZE, "%.*s", EDDY_FMT(address.host));
	return true;
}

static bool is_local(const struct files *files)
{
	char host[HOST_SIZE];
	struct in6_addr in6;
	struct in_addr in;

	if (!read_host(files, host))
		return strncmp(files->bind, "unix:", 5) == 0;
	if (inet_pton(AF_INET6, host, &in6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&in6);
	if (inet_pton(AF_INET, host, &in) == 1)
		return ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
	return strcasecmp(host, "localhost") == 0;
}

void files_check(struct files *files)
{
	if (files->login && !files->secure && !files->insecure_login && !is_local(files)) {
		fprintf(stderr,
			"%s: with --login, passwords would reach %s unencrypted; use HTTPS (--cert "
			"FILE), or this machine only (--bind localhost:7878); to take the risk: "
			"--insecure-login\n",
			program_invocation_short_name, files->bind);
		exit(2);
	}
	if (faccessat(files->dir, ".", X_OK, AT_EACCESS) < 0) {
		fprintf(stderr, "%s: can't read the files in \"%s\": %s; try: chmod a+x '%s'\n",
			program_invocation_short_name, files->path, strerror(errno), files->path);
		exit(1);
	}
	files->unwritable = faccessat(files->dir, ".", W_OK, AT_EACCESS) < 0;
}

/* ---- URLs ---- */

static void tell_url(const struct files *files, const char *host)
{
	const char *format = strchr(host, ':') ? "  %s://[%s]:%u/\n" : "  %s://%s:%u/\n";

	printf(format, files->secure ? "https" : "http", host, eddy_app_port(files->app));
}

/* Print a URL for each address of the family that is up and neither loopback nor link-local. */
static void tell_addresses(const struct files *files, int family)
{
	const struct ifaddrs *one;
	char host[INET6_ADDRSTRLEN];

	for (one = files->addresses; one; one = one->ifa_next) {
		const struct sockaddr_in6 *in6 = (const void *)one->ifa_addr;
		const struct sockaddr_in *in = (const void *)one->ifa_addr;

		if (!one->ifa_addr || one->ifa_addr->sa_family != family ||
		    !(one->ifa_flags & IFF_UP) || one->ifa_flags & IFF_LOOPBACK ||
		    (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)))
			continue;
		if (inet_ntop(family,
			      family == AF_INET ? (const void *)&in->sin_addr : &in6->sin6_addr,
			      host, sizeof(host)))
			tell_url(files, host);
	}
}

static bool is_any(const char *host)
{
	return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static void tell_urls(const struct files *files, const char *host)
{
	tell_url(files, is_any(host) ? "localhost" : host);
	if (is_any(host))
		tell_addresses(files, strchr(host, ':') ? AF_INET6 : AF_INET);
}

/* ---- permissions ---- */

static const char *rights(const struct files *files)
{
	if (files->no_upload)
		return "read files there";
	if (files->unwritable)
		return "read files there; uploads are rejected: this program has no permission to "
		       "write to the folder";
	return "read, replace and delete files there (--no-upload: only read)";
}

static void tell(const struct files *files, const char *host)
{
	char *path = realpath(files->path, NULL);

	printf("Serving %s\n", path ? path : files->path);
	free(path);
	tell_urls(files, host);
	if (files->login)
		printf("Everyone with a password can %s.\n", rights(files));
	else if (is_local(files))
		printf("All users of this machine can %s.\n"
		       "To accept other machines too: --bind 0.0.0.0:%u\n",
		       rights(files), eddy_app_port(files->app));
	else
		printf("Everyone who can reach this machine can %s.\n", rights(files));
	puts("Press Ctrl-C to stop.");
	fflush(stdout);
}

void files_look_around(struct files *files)
{
	char host[HOST_SIZE];

	if (read_host(files, host) && is_any(host) && getifaddrs(&files->addresses) < 0)
		files->addresses = NULL;
}

/* Name the risks of a server that others can reach. */
static void warn(const struct files *files)
{
	if (is_local(files))
		return;
	if (!files->login)
		eddy_warn("files",
			  "no login: everyone who can reach %s can %s; to ask for a password: "
			  "--login FILE",
			  files->bind, rights(files));
	if (!files->secure)
		eddy_warn(
			"files",
			"no HTTPS: others on the network can read and change what is sent, passwords "
			"too; to encrypt it: --cert FILE");
}

int files_greet(void *arg)
{
	struct files *files = arg;
	char host[HOST_SIZE];

	warn(files);
	if (read_host(files, host))
		tell(files, host);
	freeifaddrs(files->addresses);
	files->addresses = NULL;
	return 0;
}

void files_advise(const struct files *files, int error)
{
	const char *advice = NULL;

	if (error == -EADDRINUSE)
		advice = "to use any free port: --bind localhost:0";
	else if (error == -EACCES && strncmp(files->bind, "unix:", 5) != 0)
		advice = "use a port from 1024 on, such as --bind localhost:7878";
	if (advice)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, advice);
}
