/* pem.h: files of certificates and keys, in memory. */
#ifndef EDDYI_PEM_H
#define EDDYI_PEM_H

#include <stdbool.h>
#include <stddef.h>

struct eddyi_pem {
	const char *path;
	unsigned char *bytes; /* NULL where nothing was read */
	size_t len;
};

/* Read a regular file of at most 1 MiB; `path` is borrowed, `what` says for a record what should be in it.
 * Blocks. Return: 0; -EINVAL after an ERROR record. */
int eddyi_pem_init(struct eddyi_pem *pem, const char *path, const char *what);

/* Wipe the bytes and free them; also after eddyi_pem_init() has failed. */
void eddyi_pem_deinit(struct eddyi_pem *pem);

/* Whether the text stands in it. */
bool eddyi_pem_has(const struct eddyi_pem *pem, const char *text);

#endif
