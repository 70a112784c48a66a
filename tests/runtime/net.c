#include "../folder.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <eddy/log.h>
#include <eddy/net.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct eddy_address address;

Test(net, addresses_that_are_taken_apart)
{
	static const struct {
		const char *text, *host;
		unsigned port;
	} good[] = {
		{ "localhost:7878", "localhost", 7878 },
		{ "127.0.0.1:0", "127.0.0.1", 0 },
		{ "0.0.0.0:65535", "0.0.0.0", 65535 },
		{ "[::1]:80", "::1", 80 },
		{ "[::]:80", "::", 80 },
		{ "[fe80::1%lo]:80", "fe80::1%lo", 80 },
		{ "[::ffff:1.2.3.4]:80", "::ffff:1.2.3.4", 80 },
		{ "example.com:443", "example.com", 443 },
		{ "example.com.:443", "example.com.", 443 },
		{ "my_host-1:1", "my_host-1", 1 },
		{ "1.example:1", "1.example", 1 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_expect_eq(eddy_address_parse(good[i].text, &address), 0, "%s", good[i].text);
		cr_expect(eddy_str_eq_z(address.host, good[i].host), "%s", good[i].text);
		cr_expect_eq(address.port, good[i].port, "%s", good[i].text);
		cr_expect_eq(address.path.len, 0);
	}
	cr_expect_eq(eddy_address_parse("unix:/run/x:1", &address), 0);
	cr_expect(eddy_str_eq_z(address.path, "/run/x:1"));
	cr_expect_eq(address.host.len, 0);
}

Test(net, addresses_that_are_refused)
{
	static const char *const bad[] = {
		"",
		":",
		":80",
		"localhost",
		"localhost:",
		"localhost:65536",
		"localhost:99999999999999999999",
		"localhost:+80",
		"localhost: 80",
		"localhost:80 ",
		"localhost:080",
		"localhost:0x50",
		"localhost:http",
		" localhost:80",
		"a b.localhost:80",
		"a\r\nb.localhost:80",
		"..localhost:80",
		"local host:80",
		"*:80",
		"::1:80",
		"[::1]",
		"[::1]80",
		"[::1:80",
		"::1]:80",
		"[]:80",
		"[127.0.0.1]:80",
		"[::g]:80",
		"[localhost]:80",
		"[::1%]:80",
		"[::1%nosuchinterface]:80",
		"256.0.0.1:80",
		"127.1:80",
		"1.2.3.4.5:80",
		"2130706433:80",
		"0x7f000001:80",
		"a..b:80",
		".a:80",
		"-a:80",
		"http://localhost:80",
		"user@localhost:80",
		"m\xc3\xbcnchen.de:80",
		"unix:",
		"unix:@",
	};
	char text[400] = "unix:";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(eddy_address_parse(bad[i], &address), -EINVAL, "%s", bad[i]);
	memset(text + 5, 'a', 108);
	cr_expect_eq(eddy_address_parse(text, &address), -ENAMETOOLONG);
	text[5 + 107] = 0;
	cr_expect_eq(eddy_address_parse(text, &address), 0);
	memset(text, 'a', 64);
	strcpy(text + 64, ".de:80");
	cr_expect_eq(eddy_address_parse(text, &address), -EINVAL, "a label of 64 bytes");
	memset(text, 'a', sizeof(text));
	for (int i = 50; i < 300; i += 50)
		text[i] = '.';
	strcpy(text + 300, ":80");
	cr_expect_eq(eddy_address_parse(text, &address), -EINVAL, "a name of 300 bytes");
}

static const char *format(const void *addr, size_t len)
{
	static char text[EDDY_SOCKADDR_TEXT_MAX];

	cr_expect_eq(eddy_sockaddr_format(addr, (socklen_t)len, text), strlen(text));
	return text;
}

Test(net, sockaddrs_as_text)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(443) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const size_t path_at = offsetof(struct sockaddr_un, sun_path);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in6.sin6_addr = in6addr_loopback;
	cr_expect_str_eq(format(&in, sizeof(in)), "127.0.0.1:80");
	cr_expect_str_eq(format(&in6, sizeof(in6)), "[::1]:443");
	in6.sin6_scope_id = 3;
	cr_expect_str_eq(format(&in6, sizeof(in6)), "[::1%3]:443");
	cr_expect_str_eq(format(&un, path_at), "unix:");
	cr_expect_str_eq(format(&un, 0), "unknown");
	cr_expect_str_eq(format(&in, 4), "unknown");
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	cr_expect_eq(strlen(format(&un, sizeof(un))), 5 + sizeof(un.sun_path));
	memcpy(un.sun_path, "\0abc", 4);
	cr_expect_str_eq(format(&un, path_at + 4), "unix:@abc");
}

static struct eddy_sockaddr found[EDDY_ADDRESSES_MAX];

static int resolve(const char *text)
{
	return eddy_address_parse(text, &address) < 0 ? -EPROTO : eddy_resolve(&address, found);
}

Test(net, localhost_needs_no_resolver)
{
	const char *names[] = { "localhost:80", "LocalHost.:80", "a.localhost:80" };

	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(resolve(names[i]), 2);
		cr_expect_str_eq(format(&found[0].addr, found[0].len), "127.0.0.1:80");
		cr_expect_str_eq(format(&found[1].addr, found[1].len), "[::1]:80");
	}
	cr_assert_eq(resolve("[fe80::1%lo]:80"), 1);
	cr_expect_eq(found[0].addr.in6.sin6_scope_id, 1);
	cr_assert_eq(resolve("[fe80::1%7]:80"), 1);
	cr_expect_eq(found[0].addr.in6.sin6_scope_id, 7);
}

static int resolve_nothing(void *arg)
{
	struct eddy_scope scope;
	int r;

	/* RFC 6761: nothing has a name that ends in ".invalid". */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_SECOND });
	r = resolve(arg);
	eddy_scope_end(&scope);
	return r;
}

Test(net, names_are_asked_for_off_the_loop)
{
	int r = eddy_run(NULL, resolve_nothing, "nothing.invalid:80");

	cr_expect(r == -ENXIO || r == -EAGAIN || r == -ECANCELED, "%d", r);
}

static struct eddy_listeners first, second, third;

static int connect_to(const struct eddy_sockaddr *addr)
{
	int fd = socket(addr->addr.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, &addr->addr.any, addr->len) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool has_ipv6(void)
{
	int r = eddy_listen("[::1]:0", NULL, &third);

	if (r == 0)
		eddy_listeners_close(&third);
	return r == 0;
}

static int get_option(int fd, int level, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, level, option, &value, &len);
	return value;
}

Test(net, listens_on_every_address_with_one_port)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	size_t count = has_ipv6() ? 2 : 1;
	char name[64];

	cr_assert_eq(eddy_listen("localhost:0", NULL, &first), 0);
	cr_expect_eq(first.count, count);
	snprintf(name, sizeof(name), "localhost:%u", first.port);
	cr_expect_str_eq(first.name, name);
	cr_expect_neq(first.port, 0);
	for (size_t i = 0; i < first.count; i++) {
		int fd = first.fds[i], client, conn;

		addr.len = sizeof(addr.addr);
		cr_assert_eq(getsockname(fd, &addr.addr.any, &addr.len), 0);
		cr_expect_eq(ntohs(addr.addr.in.sin_port), first.port);
		cr_expect(fcntl(fd, F_GETFL) & O_NONBLOCK);
		cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		cr_expect_eq(get_option(fd, SOL_SOCKET, SO_REUSEADDR), 1);
		cr_expect_eq(get_option(fd, SOL_SOCKET, SO_REUSEPORT), 0);
		client = connect_to(&addr);
		cr_assert(client >= 0);
		conn = accept(fd, NULL, NULL);
		cr_expect_eq(get_option(conn, IPPROTO_TCP, TCP_NODELAY), 1, "inherited");
		close(conn);
		close(client);
	}
	eddy_listeners_close(&first);
	cr_expect_lt(connect_to(&addr), 0);
	eddy_listeners_close(&first);
}

Test(net, an_address_in_use_fails_all)
{
	char text[64];
	int r = -1;

	cr_assert_eq(eddy_listen("127.0.0.1:0", NULL, &first), 0);
	snprintf(text, sizeof(text), "localhost:%u", first.port);
	cr_expect_eq(eddy_listen(text, NULL, &second), -EADDRINUSE);
	if (!has_ipv6())
		cr_skip_test("needs IPv6");
	eddy_listeners_close(&first);
	/* Somebody else may have that port in the other family: then another one. */
	for (int i = 0; i < 20 && r < 0; i++) {
		cr_assert_eq(eddy_listen("[::1]:0", NULL, &first), 0);
		snprintf(text, sizeof(text), "localhost:%u", first.port);
		cr_expect_eq(eddy_listen(text, NULL, &second), -EADDRINUSE);
		/* Nothing of the first try is left behind. */
		snprintf(text, sizeof(text), "127.0.0.1:%u", first.port);
		r = eddy_listen(text, NULL, &second);
		eddy_listeners_close(&first);
	}
	cr_expect_eq(r, 0);
	eddy_listeners_close(&second);
}

Test(net, wildcards_of_both_families_share_a_port)
{
	char text[64];
	int r = -EADDRINUSE;

	if (!has_ipv6())
		cr_skip_test("needs IPv6");
	/* Somebody else may have that port in the other family: then another one. */
	for (int i = 0; i < 20 && r < 0; i++) {
		eddy_listeners_close(&first);
		cr_assert_eq(eddy_listen("[::]:0", NULL, &first), 0);
		cr_expect_eq(get_option(first.fds[0], IPPROTO_IPV6, IPV6_V6ONLY), 1);
		snprintf(text, sizeof(text), "0.0.0.0:%u", first.port);
		r = eddy_listen(text, NULL, &second);
	}
	cr_expect_eq(r, 0);
}

Test(net, addresses_that_this_machine_lacks)
{
	cr_expect_eq(eddy_listen("192.0.2.1:0", NULL, &first), -EADDRNOTAVAIL);
	cr_expect_eq(eddy_listen("[2001:db8::1]:0", NULL, &first), -EADDRNOTAVAIL);
	cr_expect_eq(eddy_listen("nonsense", NULL, &first), -EINVAL);
}

/* In a network of its own, where IPv6 is off. */
static bool leave_ipv6(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	close(fd);
	fd = open("/proc/sys/net/ipv6/conf/all/disable_ipv6", O_WRONLY);
	cr_assert(fd < 0 || write(fd, "1", 1) == 1);
	close(fd);
	return true;
}

static int noted;

static void note(const struct eddy_record *record, void *arg)
{
	(void)arg;
	noted += record->level == EDDY_LOG_DEBUG && strstr(record->message.ptr, "[::1]:");
}

Test(net, lacking_one_address_is_enough_to_note)
{
	if (!leave_ipv6())
		cr_skip_test("needs the right to make a network namespace");
	setenv("EDDY_LOG", "eddy::net=debug", 1);
	cr_assert_eq(eddy_log_subscribe(note, NULL), 0);
	cr_assert_eq(eddy_listen("localhost:0", NULL, &first), 0);
	cr_expect_eq(first.count, 1);
	cr_expect_eq(noted, 1);
	cr_expect_eq(eddy_listen("[::1]:0", NULL, &second), -EADDRNOTAVAIL);
}

Test(net, clones_share_a_port_and_strangers_do_not)
{
	const struct eddy_listen_options reuse = { .reuse_port = true };
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	int taken[2] = { 0 };

	cr_assert_eq(eddy_listen("localhost:0", &reuse, &first), 0);
	cr_assert_eq(eddy_listeners_clone(&first, &second), 0);
	cr_assert_eq(eddy_listeners_clone(&first, &third), 0);
	cr_expect_eq(second.count, first.count);
	cr_expect_eq(second.port, first.port);
	cr_expect_str_eq(second.name, first.name);
	eddy_listeners_close(&third);
	cr_expect_eq(eddy_listen(first.name, &reuse, &third), -EADDRINUSE);
	cr_expect_eq(eddy_listen(first.name, NULL, &third), -EADDRINUSE);

	cr_assert_eq(getsockname(first.fds[0], &addr.addr.any, &addr.len), 0);
	for (int i = 0; i < 64; i++) {
		int client = connect_to(&addr), conn;

		cr_assert(client >= 0);
		conn = accept(first.fds[0], NULL, NULL);
		taken[conn >= 0]++;
		if (conn < 0)
			conn = accept(second.fds[0], NULL, NULL);
		cr_assert(conn >= 0);
		close(conn);
		close(client);
	}
	cr_expect(taken[0] && taken[1], "both get connections: %d and %d", taken[0], taken[1]);
}

static char path[64], text[80];

static void name_socket(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(text, sizeof(text), "unix:%s", path);
}

static bool is_there(void)
{
	return access(path, F_OK) == 0;
}

static struct eddy_sockaddr unix_address(void)
{
	struct eddy_sockaddr addr = { .addr.un.sun_family = AF_UNIX, .len = sizeof(addr.addr.un) };

	strcpy(addr.addr.un.sun_path, path);
	return addr;
}

Test(net, unix_socket, .init = name_socket, .fini = remove_folder)
{
	struct eddy_sockaddr addr = unix_address();
	int client;

	cr_assert_eq(eddy_listen(text, NULL, &first), 0);
	cr_expect_eq(first.port, 0);
	cr_expect_str_eq(first.name, text);
	client = connect_to(&addr);
	cr_expect(client >= 0);
	close(client);

	cr_expect_eq(eddy_listen(text, NULL, &second), -EADDRINUSE);
	cr_expect(is_there());

	cr_assert_eq(eddy_listeners_clone(&first, &second), 0);
	eddy_listeners_close(&second);
	cr_expect(is_there(), "it was only a clone");
	eddy_listeners_close(&first);
	cr_expect(!is_there());
}

Test(net, stale_unix_socket_is_replaced, .init = name_socket, .fini = remove_folder)
{
	cr_assert_eq(eddy_listen(text, NULL, &first), 0);
	close(first.fds[0]);
	cr_expect(is_there());
	cr_assert_eq(eddy_listen(text, NULL, &second), 0);
	/* The first one's file is not there any more, and the second one's not its own. */
	first.count = 0;
	eddy_listeners_close(&first);
	cr_expect(is_there());
	eddy_listeners_close(&second);
	cr_expect(!is_there());
}

Test(net, other_files_are_left_alone, .init = name_socket, .fini = remove_folder)
{
	struct eddy_sockaddr addr;
	char link[80];

	close(open(path, O_CREAT | O_WRONLY, 0600));
	cr_expect_eq(eddy_listen(text, NULL, &first), -EEXIST);
	cr_expect(is_there());

	/* A queue that is full is no dead socket. */
	unlink(path);
	cr_assert_eq(eddy_listen(text, &(struct eddy_listen_options){ .backlog = 1 }, &first), 0);
	addr = unix_address();
	for (int i = 0; i < 3; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		connect(fd, &addr.addr.any, addr.len);
	}
	cr_expect_eq(eddy_listen(text, NULL, &second), -EADDRINUSE);
	cr_expect(is_there());
	eddy_listeners_close(&first);

	/* Nor is a link. */
	snprintf(link, sizeof(link), "%s.target", path);
	cr_assert_eq(symlink(link, path), 0);
	cr_expect_eq(eddy_listen(text, NULL, &second), -EEXIST);
	cr_expect_eq(eddy_listen("unix:/nonexistent/folder/socket", NULL, &second), -ENOENT);
}

Test(net, mode_of_a_unix_socket, .init = name_socket, .fini = remove_folder)
{
	struct stat st;

	umask(077);
	cr_assert_eq(eddy_listen(text, &(struct eddy_listen_options){ .mode = 0666 }, &first), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0666);
	eddy_listeners_close(&first);
	cr_assert_eq(eddy_listen(text, NULL, &first), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
	eddy_listeners_close(&first);
}

/* Somebody who has bound the socket and does not listen yet holds the folder's lock. */
Test(net, socket_that_is_being_bound_is_not_stale, .init = name_socket, .fini = remove_folder)
{
	struct eddy_sockaddr addr = unix_address();
	int other = socket(AF_UNIX, SOCK_STREAM, 0);
	int lock = open(folder, O_RDONLY | O_DIRECTORY);

	cr_assert_eq(flock(lock, LOCK_EX), 0);
	cr_assert_eq(bind(other, &addr.addr.any, addr.len), 0);
	cr_expect_eq(eddy_listen(text, NULL, &first), -EADDRINUSE);
	cr_expect(is_there());
	close(lock);
	cr_assert_eq(eddy_listen(text, NULL, &first), 0);
	eddy_listeners_close(&first);
	close(other);
}

Test(net, abstract_unix_socket)
{
	struct eddy_sockaddr addr = { .len = sizeof(addr.addr) };
	char written[EDDY_SOCKADDR_TEXT_MAX];

	snprintf(text, sizeof(text), "unix:@eddy-net-%d", getpid());
	cr_assert_eq(eddy_listen(text, NULL, &first), 0);
	cr_expect_str_eq(first.name, text);
	cr_expect(!first.has_file);
	cr_assert_eq(getsockname(first.fds[0], &addr.addr.any, &addr.len), 0);
	eddy_sockaddr_format(&addr.addr.any, addr.len, written);
	cr_expect_str_eq(written, text);
	cr_expect_eq(eddy_listen(text, NULL, &second), -EADDRINUSE);
	eddy_listeners_close(&first);
	cr_expect_eq(eddy_listen(text, NULL, &second), 0);
	eddy_listeners_close(&second);
}

Test(net, errors_have_words)
{
	cr_expect(strstr(eddy_net_strerror(-EINVAL), "HOST:PORT"));
	cr_expect_str_eq(eddy_net_strerror(-EADDRINUSE),
			 "the address is in use; \"ss -ltnp\" shows the process");
	cr_expect_str_eq(eddy_net_strerror(-EMFILE), "Too many open files");
}
