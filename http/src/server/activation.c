#include "activation.h"

#include "app/app.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/str.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- named descriptors ---- */

/* An index is a sum of these bits. */
enum { PLAIN = 1, PROXY_PROTOCOL = 2 };
static const char *const prefixes[] = {
	[0] = "",
	[PLAIN] = "plain ",
	[PROXY_PROTOCOL] = "proxy ",
	[PLAIN | PROXY_PROTOCOL] = "plain proxy ",
};

const char *eddyi_passed_prefix(const struct eddyi_address *address)
{
	return prefixes[(address->plain ? PLAIN : 0) |
			(address->proxy_protocol ? PROXY_PROTOCOL : 0)];
}

int eddyi_passed_list_add(struct eddyi_passed_list *list, int fd, const char *prefix,
			  const char *name)
{
	struct eddyi_passed *all = realloc(list->all, (list->count + 1) * sizeof(*all));
	char *copy = NULL;

	if (all)
		list->all = all;
	if (!all || asprintf(&copy, "%s%s", prefix, name) < 0) {
		eddyi_close_now(fd);
		return -ENOMEM;
	}
	all[list->count++] = (struct eddyi_passed){ fd, copy };
	return 0;
}

void eddyi_passed_list_deinit(struct eddyi_passed_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		eddyi_close_now(list->all[i].fd);
		free(list->all[i].name);
	}
	free(list->all);
	*list = (struct eddyi_passed_list){ 0 };
}

int eddyi_passed_list_take(struct eddyi_passed_list *list, size_t at)
{
	int fd = list->all[at].fd;

	free(list->all[at].name);
	list->count--;
	memmove(&list->all[at], &list->all[at + 1], (list->count - at) * sizeof(*list->all));
	return fd;
}

char *eddyi_passed_list_names(const struct eddyi_passed_list *list)
{
	size_t size = 1;
	char *names, *out;

	for (size_t i = 0; i < list->count; i++)
		size += 3 * strlen(list->all[i].name) + 1;
	names = out = malloc(size);
	if (!names)
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			*out++ = ':';
		for (const char *c = list->all[i].name; *c; c++) {
			if (*c == ':' || *c == '%')
				out = eddyi_percent_put(out, *c);
			else
				*out++ = *c;
		}
	}
	*out = 0;
	return names;
}

void eddyi_passed_unescape(char *name)
{
	char *out = name;

	for (; *name; name++) {
		if (strncmp(name, "%3A", 3) == 0 || strncmp(name, "%25", 3) == 0) {
			*out++ = name[1] == '3' ? ':' : '%';
			name += 2;
		} else {
			*out++ = *name;
		}
	}
	*out = 0;
}

/* ---- the environment ---- */

#define FIRST_FD 3
#define SYSTEMD "systemd"

/* Descriptors passed and not yet taken. One list for the process, however many apps it runs. */
static struct {
	pthread_mutex_t lock;
	bool read;
	bool restart;
	struct eddyi_passed_list list;
	char problem[EDDYI_PROBLEM_MAX]; /* with the variables; empty if none */
} activation = { .lock = PTHREAD_MUTEX_INITIALIZER };

EDDY_PRINTF(2, 3) static int fail(char problem[EDDYI_PROBLEM_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem, EDDYI_PROBLEM_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_number(const char *name, uint64_t number)
{
	const char *text = eddyi_getenv_now(name);
	uint64_t value;

	return text && eddy_str_to_u64(eddy_str_from(text), &value) == 0 && value == number;
}

/* LISTEN_PID must be this process: descendants inherit the variables, but not the descriptors. */
static int check_pid(bool restart, char *problem)
{
	if (restart || is_number("LISTEN_PID", (uint64_t)eddyi_getpid_now()))
		return 0;
	if (!eddyi_getenv_now("LISTEN_FDS"))
		return fail(problem,
			    "no sockets were passed to this process: LISTEN_FDS is not set");
	return fail(problem, "no sockets were passed to this process: LISTEN_PID is not %d",
		    (int)eddyi_getpid_now());
}

static int read_count(uint64_t *ret_count, char *problem)
{
	const char *text = eddyi_getenv_now("LISTEN_FDS");

	if (!text || eddy_str_to_u64(eddy_str_from(text), ret_count) < 0 || !*ret_count)
		return fail(problem, "LISTEN_FDS is not a number of sockets");
	/* Every descriptor must be open, which also bounds the count. */
	for (uint64_t i = 0; i < *ret_count; i++)
		if (i > INT16_MAX || eddyi_fcntl_now(FIRST_FD + (int)i, F_GETFD, 0) < 0)
			return fail(problem,
				    "LISTEN_FDS is %ju, but the descriptor %ju is not open",
				    (uintmax_t)*ret_count, (uintmax_t)(FIRST_FD + i));
	return 0;
}

static int check_names(const char *names, uint64_t count, char *problem)
{
	uint64_t found = 1;

	for (const char *c = names; *c; c++)
		found += *c == ':';
	return found == count ? 0 :
				fail(problem, "LISTEN_FDNAMES has %ju names for %ju descriptors",
				     (uintmax_t)found, (uintmax_t)count);
}

static int read_list(bool restart, struct eddyi_passed_list *list, char *problem)
{
	const char *names = eddyi_getenv_now("LISTEN_FDNAMES");
	struct eddy_str rest, name;
	uint64_t count;
	int r = read_count(&count, problem);

	if (r == 0 && names)
		r = check_names(names, count, problem);
	rest = eddy_str_from(names);
	for (uint64_t i = 0; i < count && r == 0; i++) {
		int fd = FIRST_FD + (int)i;
		char copy[EDDYI_PROBLEM_MAX * 4];

		eddyi_fcntl_now(fd, F_SETFD, FD_CLOEXEC);
		/* The name that sd_listen_fds_with_names(3) uses. */
		if (!names || !eddy_str_split(&rest, ':', &name))
			name = EDDY_STR("unknown");
		snprintf(copy, sizeof(copy), "%.*s", EDDY_FMT(name));
		if (restart)
			eddyi_passed_unescape(copy);
		r = eddyi_passed_list_add(list, fd, "", copy);
		if (r < 0)
			fail(problem, "out of memory");
	}
	return r;
}

/* The lock is held. */
static void read_environment(void)
{
	static const char *const variables[] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
						 EDDYI_RESTART_VARIABLE };

	if (activation.read)
		return;
	activation.read = true;
	activation.restart = is_number(EDDYI_RESTART_VARIABLE, (uint64_t)eddyi_getppid_now());
	if (check_pid(activation.restart, activation.problem) == 0)
		read_list(activation.restart, &activation.list, activation.problem);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}

bool eddyi_activation_is_restart(void)
{
	bool restart;

	pthread_mutex_lock(&activation.lock);
	/* Don't read a service manager's variables before an address needs them. */
	if (eddyi_getenv_now(EDDYI_RESTART_VARIABLE))
		read_environment();
	restart = activation.restart;
	pthread_mutex_unlock(&activation.lock);
	return restart;
}

/* ---- taking ---- */

static bool has_option(int fd, int option, int wanted)
{
	socklen_t len = sizeof(int);
	int value;

	return eddyi_getsockopt_now(fd, SOL_SOCKET, option, &value, &len) == 0 && value == wanted;
}

/* Check for a listening socket, and set the options of sockets that eddy opens. */
static int adopt(const struct eddyi_passed *passed, char *problem)
{
	int flags = eddyi_fcntl_now(passed->fd, F_GETFL, 0), on = 1;

	if (!has_option(passed->fd, SO_TYPE, SOCK_STREAM) ||
	    !has_option(passed->fd, SO_ACCEPTCONN, 1))
		return fail(problem, "the descriptor %d (\"%s\") is not a listening stream socket",
			    passed->fd, passed->name);
	if (has_option(passed->fd, SO_DOMAIN, AF_INET) ||
	    has_option(passed->fd, SO_DOMAIN, AF_INET6))
		eddyi_setsockopt_now(passed->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	else if (!has_option(passed->fd, SO_DOMAIN, AF_UNIX))
		return fail(problem,
			    "the descriptor %d (\"%s\") is neither an IP socket nor a unix socket",
			    passed->fd, passed->name);
	if (flags < 0 || eddyi_fcntl_now(passed->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return fail(problem, "the descriptor %d (\"%s\"): %s", passed->fd, passed->name,
			    strerror(errno));
	return 0;
}

static void list_names(char *text, size_t size)
{
	size_t len = 0;

	*text = 0;
	for (size_t i = 0; i < activation.list.count && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s\"%s\"", i ? ", " : "",
					activation.list.all[i].name);
}

static int say_none(const char *name, char *problem)
{
	char names[EDDYI_PROBLEM_MAX / 2];

	list_names(names, sizeof(names));
	if (!*names)
		return fail(problem, "all passed sockets are used by other addresses");
	return fail(problem, "no socket named \"%s\" was passed; the passed ones are %s", name,
		    names);
}

/* A NULL `name` matches any. */
static bool is_named(const struct eddyi_passed *passed, const char *prefix, const char *name)
{
	size_t len = strlen(prefix);

	return !name ||
	       (strncmp(passed->name, prefix, len) == 0 && strcmp(passed->name + len, name) == 0);
}

/* Take the sockets of a name. Return: the number; -errno, and none is taken. */
static ssize_t take(const char *prefix, const char *name, int **ret_fds, char *problem)
{
	struct eddyi_passed_list *list = &activation.list;
	int *fds = malloc((list->count + 1) * sizeof(*fds));
	ssize_t count = 0;

	if (!fds)
		return fail(problem, "out of memory");
	for (size_t i = 0; i < list->count; i++) {
		if (!is_named(&list->all[i], prefix, name))
			continue;
		count = adopt(&list->all[i], problem);
		if (count < 0)
			break;
	}
	for (size_t i = 0; i < list->count && count >= 0;) {
		if (!is_named(&list->all[i], prefix, name))
			i++;
		else
			fds[count++] = eddyi_passed_list_take(list, i);
	}
	if (count > 0)
		*ret_fds = fds;
	else
		free(fds);
	return count;
}

/* Get the name after "systemd:"; NULL for "systemd". */
static const char *name_of(const char *address)
{
	const char *colon = strchr(address, ':');

	return colon ? colon + 1 : NULL;
}

static bool is_systemd(const char *address)
{
	size_t len = strlen(SYSTEMD);

	return strncmp(address, SYSTEMD, len) == 0 && (!address[len] || address[len] == ':');
}

bool eddyi_activation_is_all(const struct eddyi_address *address)
{
	return strcmp(address->text, SYSTEMD) == 0;
}

static ssize_t take_from_before(const struct eddyi_address *address, int **ret_fds, char *problem)
{
	ssize_t count = take(eddyi_passed_prefix(address), address->text, ret_fds, problem);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !count; i++)
		count = take(prefixes[i], address->text, ret_fds, problem);
	return count;
}

static ssize_t take_for(const struct eddyi_address *address, int **ret_fds, char *problem)
{
	bool systemd = is_systemd(address->text);
	ssize_t count;

	if (!activation.restart && !systemd)
		return 0;
	read_environment();
	if (*activation.problem)
		return fail(problem, "%s", activation.problem);
	if (activation.restart)
		count = take_from_before(address, ret_fds, problem);
	else
		count = take("", name_of(address->text), ret_fds, problem);
	return count || !systemd ? count : say_none(name_of(address->text), problem);
}

ssize_t eddyi_activation_take(const struct eddyi_address *address, int **ret_fds,
			      char ret_problem[EDDYI_PROBLEM_MAX])
{
	ssize_t count;

	eddyi_activation_is_restart();
	pthread_mutex_lock(&activation.lock);
	count = take_for(address, ret_fds, ret_problem);
	pthread_mutex_unlock(&activation.lock);
	return count;
}

/* Return: a descriptor; -1 for none. */
static int take_one(const char *prefix, const char *name)
{
	struct eddyi_passed_list *list = &activation.list;
	int fd = -1;

	pthread_mutex_lock(&activation.lock);
	for (size_t i = 0; activation.restart && i < list->count && fd < 0; i++)
		if (is_named(&list->all[i], prefix, name))
			fd = eddyi_passed_list_take(list, i);
	pthread_mutex_unlock(&activation.lock);
	return fd;
}

int eddyi_activation_take_file(const char *address)
{
	return take_one(EDDYI_PASSED_FILE, address);
}

int eddyi_activation_take_tickets(const char *address)
{
	eddyi_activation_is_restart();
	return take_one(EDDYI_PASSED_TICKETS, address);
}

void eddyi_activation_ready(void)
{
	int fd = take_one(EDDYI_PASSED_READY, "");

	if (fd < 0)
		return;
	/* If nothing reads the pipe, the previous process has given up and will end this one. */
	(void)!eddyi_write_now(fd, "1", 1);
	eddyi_close_now(fd);
}

void eddyi_activation_drop(void)
{
	pthread_mutex_lock(&activation.lock);
	if (activation.restart)
		eddyi_passed_list_deinit(&activation.list);
	pthread_mutex_unlock(&activation.lock);
}
