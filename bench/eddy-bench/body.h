/* body.h: the bytes of uploads: a file, or as many as are wanted that no encoder makes smaller. */
#ifndef EDDY_BENCH_BODY_H
#define EDDY_BENCH_BODY_H

#include "digest.h"
#include "options.h"

#include <stdint.h>

/* A small body leaves with its head in one send; it is in memory for that. */
#define BODY_SMALL 32768

struct body {
	int fd;
	uint64_t size;
	uint64_t period; /* bytes in `fd`, which are sent again and again */
	char *bytes;     /* of a small one, else NULL */
	const char *map; /* the period; NULL where it is empty */
};

/* Make `size` bytes. Return: 0, -errno and a sentence. */
int body_make(uint64_t size, struct body *ret_body, char error[OPTIONS_ERROR_SIZE]);

/* Take those of a regular file. Return: 0, -errno and a sentence. */
int body_open(const char *path, struct body *ret_body, char error[OPTIONS_ERROR_SIZE]);

/* Take the SHA-256 of all that is sent. Blocks. Return: 0, -errno. */
int body_digest(const struct body *body, unsigned char ret_digest[DIGEST_SIZE]);

/* Does nothing the second time, nor of one that is all zero. */
void body_close(struct body *body);

#endif
