/* passed.h: named descriptors that one process passes to the next. */
#ifndef EDDYI_PASSED_H
#define EDDYI_PASSED_H

#include <stddef.h>

struct eddyi_address;

/* Names other than addresses: the pipe on which the new process reports that it serves; keys of
 * session tickets, with the app's first address; the file of a unix socket, with its address. */
#define EDDYI_PASSED_READY "ready"
#define EDDYI_PASSED_TICKETS "tickets "
#define EDDYI_PASSED_FILE "file "

struct eddyi_passed {
	int fd;
	char *name; /* allocated */
};

struct eddyi_passed_list {
	struct eddyi_passed *all;
	size_t count;
};

/* Prefixes of addresses by protocol, since addresses with port 0 may be equal as text. */
#define EDDYI_PASSED_PREFIXES 4
extern const char *const eddyi_passed_prefixes[EDDYI_PASSED_PREFIXES];

const char *eddyi_passed_prefix(const struct eddyi_address *address);

/* Add a descriptor. Takes ownership of `fd`, also on failure. Return: 0, -ENOMEM. */
int eddyi_passed_list_add(struct eddyi_passed_list *list, int fd, const char *prefix,
			  const char *name);

/* Close the descriptors and free the list's memory. */
void eddyi_passed_list_deinit(struct eddyi_passed_list *list);

/* Remove an entry. Return: its descriptor, which the caller owns. */
int eddyi_passed_list_take(struct eddyi_passed_list *list, size_t at);

/* Make the value of LISTEN_FDNAMES, with ':' and '%' escaped in each name.
 * Return: memory that the caller frees; NULL on allocation failure. */
char *eddyi_passed_list_names(const struct eddyi_passed_list *list);

/* Unescape a name of that value in place. */
void eddyi_passed_unescape(char *name);

#endif
