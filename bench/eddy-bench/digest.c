#include "digest.h"

#include <stdlib.h>

static int digit(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

void digest_parse(const char *text, unsigned char ret_bytes[DIGEST_SIZE])
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		ret_bytes[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
}
