/* passed.h: descriptors on their way from one process to the next, each with a name. */
#ifndef EDDYI_PASSED_H
#define EDDYI_PASSED_H

#include <stddef.h>

struct eddyi_address;

/* Names that are no address: where a new process says that it serves; "tickets " before an app's first address: the keys of its session
 * tickets; before the address of a unix socket its file. */
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

/* What stands before the address of a socket, by what is spoken there: another may be written like it, with port 0. */
#define EDDYI_PASSED_PREFIXES 4
extern const char *const eddyi_passed_prefixes[EDDYI_PASSED_PREFIXES];

/* The prefix of an address. */
const char *eddyi_passed_prefix(const struct eddyi_address *address);

/* Add a descriptor, which the list closes from now on. Return: 0; -ENOMEM, it is closed. */
int eddyi_passed_list_add(struct eddyi_passed_list *list, int fd, const char *prefix,
			  const char *name);

/* Close and free what the list holds. */
void eddyi_passed_list_deinit(struct eddyi_passed_list *list);

/* Take the one at this place out; its name is freed. Return: its descriptor. */
int eddyi_passed_list_take(struct eddyi_passed_list *list, size_t at);

/* Make the value of LISTEN_FDNAMES: an address has colons, which stand between names, so they are escaped.
 * Return: allocated; NULL when memory is out. */
char *eddyi_passed_list_names(const struct eddyi_passed_list *list);

/* Turn a name of that value into what it was, in place. */
void eddyi_passed_unescape(char *name);

#endif
