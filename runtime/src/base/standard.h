/* standard.h: standard input, output and error. */
#ifndef EDDYI_STANDARD_H
#define EDDYI_STANDARD_H

/* Open /dev/null for those of them that are closed. Otherwise descriptors opened later would get
 * their numbers, and a connection with number 2 would receive all output to stderr. Once per
 * process. Any thread may call it. */
void eddyi_standard_open(void);

#endif
