/* net.h: functions shared by the files of net. */
#ifndef EDDYI_NET_H
#define EDDYI_NET_H

#include <eddy/net.h>

/* Get a host's addresses if it needs no look-up. Return: how many; 0 if it is a name; -EINVAL. */
int eddyi_net_resolve_literal(const struct eddy_address *address, struct eddy_sockaddr *addrs);

/* Like eddy_resolve(), but if there are too many addresses, the first ones are used. */
int eddyi_net_resolve_some(const struct eddy_address *address, struct eddy_sockaddr *addrs);

/* Reorder addresses so that the families alternate, starting with the first address's. The order
 * within a family is kept. */
void eddyi_net_interleave(struct eddy_sockaddr *addrs, int count);

/* Connect to the first address that answers. Return: a descriptor; -errno. */
int eddyi_net_dial_any(const struct eddy_sockaddr *addrs, int count,
		       const struct eddy_dial_options *options);

/* Get the address of a unix socket; `path` has passed eddy_address_parse(). */
struct eddy_sockaddr eddyi_net_unix_address(struct eddy_str path);

/* Listen on a unix socket. The name of `listeners` must be set. */
int eddyi_net_listen_unix(struct eddy_str path, const struct eddy_listen_options *options,
			  struct eddy_listeners *listeners);

/* Remove the socket's file unless another one has replaced it. */
void eddyi_net_unlink(struct eddy_listeners *listeners);

#endif
