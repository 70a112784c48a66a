/* measure.h: `eddy-bench get`, `put` and `req`. */
#ifndef EDDY_BENCH_MEASURE_H
#define EDDY_BENCH_MEASURE_H

/* Run it, as the command line says. Return: an exit status: 0; 1 where something failed; 2 for a command line that is
 * not understood; 130 after Ctrl-C. What was measured until then is reported in any case. */
int measure_main(int argc, char **argv);

#endif
