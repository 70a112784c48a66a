/* validator.h: what tells one state of a file from another (RFC 9110 section 8.8), and what a
 * request asks of it. */
#ifndef EDDYI_VALIDATOR_H
#define EDDYI_VALIDATOR_H

#include "cond.h"
#include "head.h"

#include <sys/stat.h>

/* inode, mtime to the nanosecond and size, in hexadecimal and quotes */
#define EDDYI_ETAG_SIZE (4 * 17 + 4)

struct eddyi_validator {
	struct eddyi_cond_state state; /* its etag points into `etag` */
	char etag[EDDYI_ETAG_SIZE];
};

/* The validators of a file. */
void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st);

/* The conditions of a request. */
struct eddyi_cond_fields eddyi_validator_conditions(struct eddyi_head *head);

#endif
