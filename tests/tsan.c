/*
 * Makes Criterion work under ThreadSanitizer, which gives a program only a few ranges of addresses. Criterion's
 * sandbox maps its arena at an address that it draws with rand_r: every draw is made to fall into one of them.
 */
#include <stdlib.h>

int rand_r(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	/* Of the arena's range, in steps of 16 MiB, what lies at 0x560000000000 and above. */
	return 0x360000 + (*seed >> 16 & 0x3fff);
}
