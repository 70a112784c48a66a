/* net.h: functions shared by the files of net. */
#ifndef EDDYI_NET_H
#define EDDYI_NET_H

#include <eddy/net.h>

/* Reorder addresses so that the families alternate, starting with the first address's. The order
 * within a family is kept. */
void eddyi_net_interleave(struct eddy_sockaddr *addrs, int count);

/* Connect to the first address that answers. Return: a descriptor; -errno. */
int eddyi_net_dial_any(const struct eddy_sockaddr *addrs, int count,
		       const struct eddy_dial_options *options);

/* Get the address of a unix socket; `path` has passed eddy_address_parse(). */
struct eddy_sockaddr eddyi_net_unix_address(struct eddy_str path);

#endif
