#include "listen.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- distributing sockets ---- */

/* Give a worker a socket. Takes ownership of `fd`, also on failure. */
static int give(struct eddyi_listening *listening, unsigned worker, int fd,
		const struct eddyi_address *address)
{
	struct eddyi_doors *doors = &listening->workers[worker];
	struct eddyi_door *all = realloc(doors->all, (doors->count + 1) * sizeof(*all));

	if (!all) {
		eddyi_close_now(fd);
		return -ENOMEM;
	}
	doors->all = all;
	all[doors->count++] = (struct eddyi_door){ fd, address };
	return 0;
}

static int give_copy(struct eddyi_listening *listening, unsigned worker, int fd,
		     const struct eddyi_address *address)
{
	int copy = eddyi_fcntl_now(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : give(listening, worker, copy, address);
}

/* Distribute the sockets of one IP address: each worker gets one at least, shared if there are
 * fewer sockets than workers. Takes ownership of the sockets, also on failure. */
static int share(struct eddyi_listening *listening, const int *fds, size_t count,
		 const struct eddyi_address *address)
{
	int r = 0;

	for (size_t i = 0; i < count; i++) {
		int failed =
			give(listening, (unsigned)(i % listening->worker_count), fds[i], address);

		r = r < 0 ? r : failed;
	}
	for (size_t i = count; i < listening->worker_count && r == 0; i++)
		r = give_copy(listening, (unsigned)i, fds[i % count], address);
	return r;
}

/* ---- opening sockets ---- */

static int give_all(struct eddyi_listening *listening, unsigned worker,
		    struct eddy_listeners *listeners, const struct eddyi_address *address)
{
	int r = 0;

	for (size_t i = 0; i < listeners->count; i++) {
		int failed = give(listening, worker, listeners->fds[i], address);

		r = r < 0 ? r : failed;
	}
	listeners->count = 0;
	return r;
}

static int open_address(struct eddyi_listening *listening, const struct eddyi_address *address,
			struct eddy_listeners *listeners)
{
	const struct eddy_listen_options options = {
		.reuse_port = listening->worker_count > 1,
		.mode = listening->app->options.unix_mode,
	};
	struct eddy_listeners clone;
	int r = eddy_listen(address->text, &options, listeners);

	/* The kernel distributes connections over the sockets of one port (SO_REUSEPORT). */
	for (unsigned i = 1; i < listening->worker_count && r == 0; i++) {
		r = eddy_listeners_clone(listeners, &clone);
		if (r == 0)
			r = give_all(listening, i, &clone, address);
	}
	if (r == 0)
		r = give_all(listening, 0, listeners, address);
	if (r < 0)
		eddy_error("eddy::app", "can't listen on \"%s\": %s", address->text,
			   eddy_net_strerror(r));
	return r;
}

/* ---- passed sockets ---- */

/* Sockets with equal names are of one IP address. */
struct identity {
	struct eddy_sockaddr addr;
	bool seen;
};

static struct identity identify(int fd)
{
	struct identity identity = { .addr.len = sizeof(identity.addr.addr) };

	eddyi_getsockname_now(fd, &identity.addr.addr.any, &identity.addr.len);
	return identity;
}

static bool is_same_address(const struct identity *a, const struct identity *b)
{
	return a->addr.len == b->addr.len && memcmp(&a->addr.addr, &b->addr.addr, a->addr.len) == 0;
}

/* Choose the sockets with the address of the one at `from`. Return: their number. */
static size_t choose_alike(struct identity *identities, const int *fds, size_t count, size_t from,
			   int *ret_alike)
{
	size_t chosen = 0;

	for (size_t i = from; i < count; i++) {
		if (identities[i].seen || !is_same_address(&identities[i], &identities[from]))
			continue;
		identities[i].seen = true;
		ret_alike[chosen++] = fds[i];
	}
	return chosen;
}

static int share_all(struct eddyi_listening *listening, struct identity *identities, const int *fds,
		     size_t count, int *alike, const struct eddyi_address *address)
{
	int r = 0;

	for (size_t i = 0; i < count; i++)
		identities[i] = identify(fds[i]);
	for (size_t i = 0; i < count; i++) {
		size_t chosen;
		int failed;

		if (identities[i].seen)
			continue;
		chosen = choose_alike(identities, fds, count, i, alike);
		failed = share(listening, alike, chosen, address);
		r = r < 0 ? r : failed;
	}
	return r;
}

/* Takes ownership of the sockets, also on failure. */
static int share_passed(struct eddyi_listening *listening, const int *fds, size_t count,
			const struct eddyi_address *address)
{
	struct identity *identities = calloc(count, sizeof(*identities));
	int *alike = calloc(count, sizeof(*alike)), r = -ENOMEM;

	if (identities && alike)
		r = share_all(listening, identities, fds, count, alike, address);
	else
		for (size_t i = 0; i < count; i++)
			eddyi_close_now(fds[i]);
	free(identities);
	free(alike);
	return r;
}

/* Name a passed socket: the configured address with the real port, or "systemd" with the socket's
 * address. */
static void describe(struct eddy_listeners *listeners, int fd, const char *address)
{
	struct identity identity = identify(fd);
	int family = identity.addr.addr.any.sa_family;
	struct eddy_address parsed;
	char text[EDDY_SOCKADDR_TEXT_MAX];

	if (family == AF_INET || family == AF_INET6)
		listeners->port = ntohs(identity.addr.addr.in.sin_port);
	eddy_sockaddr_format(&identity.addr.addr.any, identity.addr.len, text);
	if (eddy_address_parse(address, &parsed) < 0)
		snprintf(listeners->name, sizeof(listeners->name), "%s, %s", address, text);
	else if (parsed.path.len)
		snprintf(listeners->name, sizeof(listeners->name), "%s", address);
	else
		snprintf(listeners->name, sizeof(listeners->name), "%.*s:%u",
			 (int)(strrchr(address, ':') - address), address, listeners->port);
}

static int take_passed(struct eddyi_listening *listening, const struct eddyi_address *address,
		       int *fds, size_t count, struct eddy_listeners *listeners)
{
	int r;

	describe(listeners, fds[0], address->text);
	listeners->file = eddyi_activation_take_file(address->text);
	listeners->has_file = listeners->file >= 0;
	r = share_passed(listening, fds, count, address);
	free(fds);
	if (r < 0)
		eddy_error("eddy::app", "can't listen on \"%s\": %s", address->text, strerror(-r));
	return r;
}

/* ---- opening and closing ---- */

static int listen_on(struct eddyi_listening *listening, const struct eddyi_address *address,
		     struct eddy_listeners *listeners)
{
	char problem[EDDYI_PROBLEM_MAX];
	ssize_t count;
	int *fds;

	count = eddyi_activation_take(address, &fds, problem);
	if (count > 0)
		return take_passed(listening, address, fds, (size_t)count, listeners);
	if (count == 0)
		return open_address(listening, address, listeners);
	eddy_error("eddy::app", "can't listen on \"%s\": %s", address->text, problem);
	return (int)count;
}

/* Open the addresses that take all remaining passed sockets, or the others. */
static int listen_on_those(struct eddyi_listening *listening, bool all)
{
	const struct eddy_app *app = listening->app;
	int r = 0;

	for (size_t i = 0; i < app->address_count && r == 0; i++)
		if (eddyi_activation_is_all(&app->addresses[i]) == all)
			r = listen_on(listening, &app->addresses[i], &listening->addresses[i]);
	return r;
}

int eddyi_listening_open(struct eddyi_listening *listening, const struct eddy_app *app)
{
	int r;

	*listening = (struct eddyi_listening){ .app = app, .worker_count = app->options.workers };
	listening->workers = calloc(listening->worker_count, sizeof(*listening->workers));
	listening->addresses = calloc(app->address_count, sizeof(*listening->addresses));
	if (!listening->workers || !listening->addresses) {
		eddy_error("eddy::app", "can't start: out of memory");
		return -ENOMEM;
	}
	r = listen_on_those(listening, false);
	if (r == 0)
		r = listen_on_those(listening, true);
	for (size_t i = 0; i < app->address_count && !listening->port; i++)
		listening->port = listening->addresses[i].port;
	return r;
}

/* Log each address as configured, and as a URL, which terminals make clickable. */
void eddyi_listening_announce(const struct eddyi_listening *listening)
{
	const struct eddy_app *app = listening->app;

	for (size_t i = 0; i < app->address_count; i++) {
		const char *name = listening->addresses[i].name, *comma = strstr(name, ", ");
		const char *at = comma ? comma + 2 : name;

		eddy_info("eddy::app", "Listening on %s", name);
		if (strncmp(at, "unix:", 5) == 0)
			eddy_info("eddy::app", "listening on %s", at);
		else
			eddy_info("eddy::app", "listening on http%s://%s/",
				  app->tls && !app->addresses[i].plain ? "s" : "", at);
	}
}

static int copy_to(struct eddyi_passed_list *list, int fd, const char *prefix, const char *address)
{
	int copy = eddyi_fcntl_now(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : eddyi_passed_list_add(list, copy, prefix, address);
}

static int copy_door(struct eddyi_passed_list *list, const struct eddyi_door *door)
{
	const struct eddyi_address *address = door->address;

	return copy_to(list, door->fd, eddyi_passed_prefix(address), address->text);
}

int eddyi_listening_copy(const struct eddyi_listening *listening,
			 struct eddyi_passed_list *ret_list)
{
	struct eddyi_passed_list list = { 0 };
	int r = 0;

	for (unsigned i = 0; i < listening->worker_count; i++) {
		const struct eddyi_doors *doors = &listening->workers[i];

		for (size_t j = 0; j < doors->count && r == 0; j++)
			r = copy_door(&list, &doors->all[j]);
	}
	for (size_t i = 0; i < listening->app->address_count && r == 0; i++)
		if (listening->addresses[i].has_file)
			r = copy_to(&list, listening->addresses[i].file, EDDYI_PASSED_FILE,
				    listening->app->addresses[i].text);
	if (r < 0)
		eddyi_passed_list_deinit(&list);
	else
		*ret_list = list;
	return r;
}

static void forget_file(struct eddy_listeners *listeners)
{
	if (listeners->has_file)
		eddyi_close_now(listeners->file);
	listeners->has_file = false;
}

void eddyi_listening_forget_files(struct eddyi_listening *listening)
{
	for (size_t i = 0; i < listening->app->address_count; i++)
		forget_file(&listening->addresses[i]);
}

struct eddyi_doors eddyi_listening_take(struct eddyi_listening *listening, unsigned worker)
{
	struct eddyi_doors doors = listening->workers[worker];

	listening->workers[worker].taken = true;
	return doors;
}

void eddyi_listening_close(struct eddyi_listening *listening)
{
	for (unsigned i = 0; listening->workers && i < listening->worker_count; i++) {
		struct eddyi_doors *doors = &listening->workers[i];

		for (size_t j = 0; j < doors->count && !doors->taken; j++)
			eddyi_close_now(doors->all[j].fd);
		free(doors->all);
	}
	for (size_t i = 0; listening->addresses && i < listening->app->address_count; i++)
		eddy_listeners_close(&listening->addresses[i]);
	free(listening->workers);
	free(listening->addresses);
}
