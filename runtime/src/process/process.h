/* process.h: functions shared by the files of process. */
#ifndef EDDYI_PROCESS_H
#define EDDYI_PROCESS_H

#include <eddy/process.h>

/* Arguments and results of creating a child. */
struct eddyi_process_spawn {
	const struct eddy_process_options *options;
	/* For each descriptor of the child, from 0 on: the descriptor of ours that it becomes; -1
	 * to inherit the same number. The child modifies it. */
	int *sources;
	int count;
	pid_t pid;
	int pidfd;
};

/* Create the child. Blocks until it executes its program: call it on a pool thread.
 * Return: 0 with `pid` and `pidfd`; -errno if there is no child. */
int eddyi_process_spawn(struct eddyi_process_spawn *spawn);

#endif
