/* process.h: what the files of process share. */
#ifndef EDDYI_PROCESS_H
#define EDDYI_PROCESS_H

#include <eddy/process.h>

/* What a child is made with. */
struct eddyi_process_spawn {
	const struct eddy_process_options *options;
	/* Of the child's 0, 1, 2 and so on: which of our descriptors it becomes; -1: the same as here. It
	 * is the child's to write to. */
	int *sources;
	int count;
	pid_t pid;
	int pidfd;
};

/* Make the child. Blocks until it runs its program: for a thread of the pool.
 * Return: 0 and `pid`, `pidfd`; -errno, and there is no child. */
int eddyi_process_spawn(struct eddyi_process_spawn *spawn);

#endif
