/* net.h: what the files of net share. */
#ifndef EDDYI_NET_H
#define EDDYI_NET_H

#include <eddy/net.h>

/* The addresses of a host for which nobody need be asked. Return: how many; 0 when it is a name;
 * -EINVAL. */
int eddyi_net_resolve_literal(const struct eddy_address *address, struct eddy_sockaddr *addrs);

/* Like eddy_resolve(), but of more addresses than there is room for the first ones will do. */
int eddyi_net_resolve_some(const struct eddy_address *address, struct eddy_sockaddr *addrs);

/* Order addresses so that the families take turns, beginning with the first one's, and each family's
 * stay in their order. */
void eddyi_net_interleave(struct eddy_sockaddr *addrs, int count);

/* Connect to the first of these that answers. Return: a descriptor, -errno. */
int eddyi_net_dial_any(const struct eddy_sockaddr *addrs, int count,
		       const struct eddy_dial_options *options);

/* The address of a unix socket, which eddy_address_parse() has found good. */
struct eddy_sockaddr eddyi_net_unix_address(struct eddy_str path);

/* Listen on a unix socket; the name of `listeners` has been set. */
int eddyi_net_listen_unix(struct eddy_str path, const struct eddy_listen_options *options,
			  struct eddy_listeners *listeners);

/* Remove the socket's file if it is still the same. */
void eddyi_net_unlink(struct eddy_listeners *listeners);

#endif
