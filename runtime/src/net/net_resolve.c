/* Host names, resolved by getaddrinfo(3) in the offload pool. */
#include "net.h"

#include <eddy/internal/outside.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

struct query {
	char host[256];
	char port[8];
	struct addrinfo *found;
};

static void query_free(void *arg)
{
	struct query *query = arg;

	if (query->found)
		freeaddrinfo(query->found);
	free(query);
}

static int error_of(int gai)
{
	switch (gai) {
	case 0:
		return 0;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_SYSTEM:
		return errno && errno != ECANCELED ? -errno : -EIO;
	default:
		return -ENXIO;
	}
}

static int ask(void *arg)
{
	struct query *query = arg;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };

	return error_of(eddyi_getaddrinfo_now(query->host, query->port, &hints, &query->found));
}

static bool is_known(const struct eddy_sockaddr *addrs, int count, const struct addrinfo *info)
{
	for (int i = 0; i < count; i++)
		if (addrs[i].len == info->ai_addrlen &&
		    memcmp(&addrs[i].addr, info->ai_addr, info->ai_addrlen) == 0)
			return true;
	return false;
}

/* Collect each address once, in the resolver's order, as many as fit. Return: how many. */
static int collect(const struct addrinfo *info, struct eddy_sockaddr *addrs, bool *ret_more)
{
	int count = 0;

	for (; info; info = info->ai_next) {
		if ((info->ai_family != AF_INET && info->ai_family != AF_INET6) ||
		    is_known(addrs, count, info))
			continue;
		*ret_more = count == EDDY_ADDRESSES_MAX;
		if (*ret_more)
			break;
		addrs[count] = (struct eddy_sockaddr){ .len = info->ai_addrlen };
		memcpy(&addrs[count++].addr, info->ai_addr, info->ai_addrlen);
	}
	return count ? count : -ENXIO;
}

static int resolve(const struct eddy_address *address, struct eddy_sockaddr *addrs, bool *ret_more)
{
	int r = eddyi_net_resolve_literal(address, addrs);
	struct query *query;

	*ret_more = false;
	if (r != 0)
		return r;
	query = calloc(1, sizeof(*query));
	if (!query)
		return -ENOMEM;
	snprintf(query->host, sizeof(query->host), "%.*s", EDDY_FMT(address->host));
	snprintf(query->port, sizeof(query->port), "%u", address->port);
	r = eddy_task_self() ? eddy_offload_detached(ask, query, query_free) : ask(query);
	if (r == -ECANCELED)
		return r;
	if (r == 0)
		r = collect(query->found, addrs, ret_more);
	query_free(query);
	return r;
}

int eddyi_net_resolve_some(const struct eddy_address *address, struct eddy_sockaddr *addrs)
{
	bool more;

	return resolve(address, addrs, &more);
}

int eddy_resolve(const struct eddy_address *address,
		 struct eddy_sockaddr ret_addrs[EDDY_ADDRESSES_MAX])
{
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	bool more;
	int r = resolve(address, addrs, &more);

	if (more)
		return -E2BIG;
	if (r > 0)
		memcpy(ret_addrs, addrs, (size_t)r * sizeof(*addrs));
	return r;
}
