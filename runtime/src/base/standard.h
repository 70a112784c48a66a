/* standard.h: the three descriptors that a process is started with. */
#ifndef EDDYI_STANDARD_H
#define EDDYI_STANDARD_H

/* Open /dev/null in place of those that were closed: what the process opens next would get their numbers, and a
 * connection that is number 2 everything that is written to stderr. Once a process. Any thread. */
void eddyi_standard_open(void);

#endif
