/* hash.h: hashes of bytes that arrive in pieces. libcrypto computes them if the accelerator is in
 * the build, else wolfSSL, which takes six times as long for SHA-256 on processors with
 * instructions for it. A hash belongs to one thread at a time. */
#ifndef EDDYI_HASH_H
#define EDDYI_HASH_H

#include <stdbool.h>
#include <stddef.h>

struct eddyi_hash;

/* Begin a hash by its size in bits: 160 is SHA-1, 256 and 512 are SHA-2.
 * Return: NULL on allocation failure, or if no library has it. */
struct eddyi_hash *eddyi_hash_new(unsigned bits);

/* Free a hash; NULL is fine. */
void eddyi_hash_free(struct eddyi_hash *hash);

/* Add the next bytes, less than 4 GiB. */
void eddyi_hash_add(struct eddyi_hash *hash, const void *bytes, size_t len);

/* Get the hash of all bytes; none may follow. Return: false if the library has failed. */
bool eddyi_hash_end(struct eddyi_hash *hash, unsigned char *ret_bytes);

#endif
