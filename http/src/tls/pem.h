/* pem.h: files of certificates and keys in memory. */
#ifndef EDDYI_PEM_H
#define EDDYI_PEM_H

#include <stdbool.h>
#include <stddef.h>

struct eddyi_pem {
	const char *path;
	unsigned char *bytes; /* NULL if nothing was read */
	size_t len;
};

/* Read a regular file of at most 1 MiB. `path` is borrowed; `what` names its content for log
 * records. Blocks. Return: 0; -EINVAL after an ERROR log record. */
int eddyi_pem_init(struct eddyi_pem *pem, const char *path, const char *what);

/* Wipe and free the bytes; also after eddyi_pem_init() has failed. */
void eddyi_pem_deinit(struct eddyi_pem *pem);

bool eddyi_pem_has(const struct eddyi_pem *pem, const char *text);

#endif
