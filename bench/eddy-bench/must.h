/* must.h: memory without which nothing can be said. */
#ifndef EDDY_BENCH_MUST_H
#define EDDY_BENCH_MUST_H

/* Return what is not NULL; where it is, the process ends with status 2. */
void *must(void *memory);

/* End it. */
_Noreturn void must_end(void);

#endif
