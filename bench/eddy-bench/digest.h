/* digest.h: whether bodies are what they should be, by SHA-256. */
#ifndef EDDY_BENCH_DIGEST_H
#define EDDY_BENCH_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#define DIGEST_SIZE 32

struct digest;

/* Whether this build can: it has OpenSSL. */
bool digest_is_there(void);

/* Return: NULL when memory is out, or digest_is_there() is false. */
struct digest *digest_new(void);

/* NULL is fine. */
void digest_free(struct digest *digest);

/* Begin another body. */
void digest_begin(struct digest *digest);

void digest_add(struct digest *digest, const void *bytes, size_t len);

/* Parse 64 hexadecimal digits, which they are. */
void digest_parse(const char *text, unsigned char ret_bytes[DIGEST_SIZE]);

/* End the body. */
void digest_end(struct digest *digest, unsigned char ret_bytes[DIGEST_SIZE]);

#endif
