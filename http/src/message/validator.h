/* validator.h: entity tags and modification times of files (RFC 9110 section 8.8). */
#ifndef EDDYI_VALIDATOR_H
#define EDDYI_VALIDATOR_H

#include "cond.h"
#include "head.h"

#include <sys/stat.h>

/* Inode, mtime in nanoseconds, and size, in hexadecimal, quoted. */
#define EDDYI_ETAG_SIZE (4 * 17 + 4)

struct eddyi_validator {
	struct eddyi_cond_state state; /* its etag points to `etag` */
	char etag[EDDYI_ETAG_SIZE];
};

void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st);

struct eddyi_cond_fields eddyi_validator_conditions(struct eddyi_head *head);

#endif
