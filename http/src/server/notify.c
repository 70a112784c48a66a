#include "notify.h"

#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SEND_TIMEOUT_NS (5 * EDDY_SECOND)
#define TEXT_MAX 512

/* ---- one message ---- */

/* Parse NOTIFY_SOCKET: a path, or '@' and the name of an abstract socket. */
static int parse_address(const char *text, struct sockaddr_un *ret_addr, socklen_t *ret_len)
{
	size_t len = strlen(text);

	if ((*text != '/' && *text != '@') || len < 2 || len >= sizeof(ret_addr->sun_path))
		return -EINVAL;
	*ret_addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret_addr->sun_path, text, len);
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (*text == '@')
		ret_addr->sun_path[0] = 0;
	else
		++*ret_len; /* a path includes its NUL */
	return 0;
}

/* Connect, so that sending waits for room in the queue. Return: a descriptor, -errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un addr;
	socklen_t len;
	int r = parse_address(path, &addr, &len), fd;

	if (r < 0)
		return r;
	fd = eddyi_socket_now(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || eddyi_connect_now(fd, (const struct sockaddr *)&addr, len) == 0)
		return fd < 0 ? -errno : fd;
	r = -errno;
	eddyi_close_now(fd);
	return r;
}

static int send_on(int fd, const char *text)
{
	struct eddy_scope scope;
	ssize_t r;

	/* Shielded, to send during shutdown as well. */
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .timeout_ns = SEND_TIMEOUT_NS,
					 .shielded = true,
				 });
	r = eddy_send(fd, text, strlen(text), MSG_NOSIGNAL);
	eddy_scope_end(&scope);
	return r == -ECANCELED ? -ETIMEDOUT : r < 0 ? (int)r : 0;
}

void eddyi_notifier_open(struct eddyi_notifier *notifier)
{
	if (notifier->fd < 0 && eddyi_notifier_is_wanted())
		notifier->fd = connect_to(eddyi_getenv_now("NOTIFY_SOCKET"));
}

void eddyi_notifier_close(struct eddyi_notifier *notifier)
{
	if (notifier->fd >= 0)
		eddyi_close_now(notifier->fd);
	notifier->fd = -1;
}

/* Reconnect once: the receiver at the address may have been replaced. */
static int send_text(struct eddyi_notifier *notifier, const char *text)
{
	int r = notifier->fd >= 0 ? send_on(notifier->fd, text) : -ENOTCONN;

	if (r != -ENOTCONN && r != -ECONNREFUSED)
		return r;
	eddyi_notifier_close(notifier);
	eddyi_notifier_open(notifier);
	return notifier->fd < 0 ? notifier->fd : send_on(notifier->fd, text);
}

void eddyi_notify(struct eddyi_notifier *notifier, const char *format, ...)
{
	static atomic_bool said;
	char text[TEXT_MAX];
	va_list args;
	int r;

	if (!eddyi_notifier_is_wanted())
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r = send_text(notifier, text);
	if (r < 0 && !atomic_exchange(&said, true))
		eddy_warn("eddy::app", "can't notify the service manager at \"%s\": %s",
			  eddyi_getenv_now("NOTIFY_SOCKET"), strerror(-r));
}

/* ---- reporting ---- */

void eddyi_notifier_init(struct eddyi_notifier *notifier)
{
	*notifier = (struct eddyi_notifier){ .fd = -1 };
	eddy_event_init(&notifier->stopping);
}

bool eddyi_notifier_is_wanted(void)
{
	const char *path = eddyi_getenv_now("NOTIFY_SOCKET");

	return path && *path;
}

static bool read_number(const char *name, uint64_t *ret_value)
{
	const char *text = eddyi_getenv_now(name);

	return text && eddy_str_to_u64(eddy_str_from(text), ret_value) == 0;
}

/* Get half of the watchdog's timeout. Return: 0 without a watchdog. */
static uint64_t watchdog_interval(void)
{
	uint64_t usec, pid;

	if (!read_number("WATCHDOG_USEC", &usec) || !usec || usec > EDDY_NEVER / 1000)
		return 0;
	if (eddyi_getenv_now("WATCHDOG_PID") &&
	    (!read_number("WATCHDOG_PID", &pid) || pid != (uint64_t)eddyi_getpid_now()))
		return 0;
	return usec * 1000 / 2;
}

/* Wait until the app stops, or without end if it is `stopping`. Feed the watchdog meanwhile. */
static int wait_for_stop(struct eddyi_notifier *notifier, bool stopping)
{
	uint64_t interval = watchdog_interval();
	struct eddy_event never;
	int r;

	eddy_event_init(&never);
	do {
		struct eddy_scope scope;

		eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = interval });
		r = eddy_event_wait(stopping ? &never : &notifier->stopping);
		if (eddy_scope_end(&scope) != -ETIMEDOUT)
			return r;
		if (!notifier->silent)
			eddyi_notify(notifier, "WATCHDOG=1");
	} while (r < 0);
	return r;
}

int eddyi_notifier_run(void *arg)
{
	struct eddyi_notifier *notifier = arg;
	int r;

	if (!notifier->heir)
		eddyi_notify(notifier, "READY=1\nSTATUS=listening on %s", notifier->address);
	if (notifier->brief && !watchdog_interval()) {
		notifier->silent = true;
		eddyi_notifier_close(notifier);
	}
	r = wait_for_stop(notifier, false);
	if (r < 0)
		return r;
	if (!notifier->silent)
		eddyi_notify(notifier, "STOPPING=1\nSTATUS=finishing the requests in flight");
	return wait_for_stop(notifier, true);
}
