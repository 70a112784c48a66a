/* activation.h: descriptors passed by a service manager (sd_listen_fds(3)) or by the previous
 * process (restart.c).
 *
 * LISTEN_FDS is the number of descriptors from 3 on, LISTEN_FDNAMES their names separated by ':',
 * LISTEN_PID the process that they are for. A process can't know the PID of its successor: it sets
 * EDDY_RESTART to its own PID instead, and escapes the names (eddyi_passed_list_names()).
 *
 * The first address that needs passed sockets reads and removes the variables, so that no child
 * takes the descriptors for its own. Any thread may call these functions. */
#ifndef EDDYI_ACTIVATION_H
#define EDDYI_ACTIVATION_H

#include <eddy/base.h>
#include <sys/types.h>

struct eddyi_address;

/* ---- named descriptors that one process passes to the next ---- */

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

/* Get the prefix of an address by its protocol, since addresses with port 0 may be equal as text. */
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

/* ---- descriptors passed to this process ---- */

/* Replaces LISTEN_PID between a process and its successor. */
#define EDDYI_RESTART_VARIABLE "EDDY_RESTART"

#define EDDYI_PROBLEM_MAX 256

/* Whether this process replaces another one. */
bool eddyi_activation_is_restart(void);

/* Whether the address is "systemd", which takes every passed socket that no other address takes. */
bool eddyi_activation_is_all(const struct eddyi_address *address);

/* Take the passed listening sockets of an address: for "systemd" all, for "systemd:NAME" those of
 * that name, for any address those of the previous process, even if it used TLS or PROXY headers
 * differently there. The caller owns the sockets and the array.
 * Return: their number; 0 if the address must be opened; -EINVAL, and `ret_problem` says why. */
ssize_t eddyi_activation_take(const struct eddyi_address *address, int **ret_fds,
			      char ret_problem[EDDYI_PROBLEM_MAX]);

/* Take the file of a unix socket, or the keys of session tickets, of the previous process.
 * Return: a descriptor; -1 for none. */
int eddyi_activation_take_file(const char *address);
int eddyi_activation_take_tickets(const char *address);

/* Tell the previous process that this one serves requests. */
void eddyi_activation_ready(void);

/* Close the descriptors of the previous process that nothing has taken. */
void eddyi_activation_drop(void);

#endif
