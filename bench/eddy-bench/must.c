#include "must.h"

#include <stdio.h>
#include <stdlib.h>

void *must(void *memory)
{
	if (!memory)
		must_end();
	return memory;
}

void must_end(void)
{
	fputs("eddy-bench: out of memory\n", stderr);
	exit(2);
}
