/* hold.h: `eddy-bench hold`: connections that do nothing, or that begin a transfer and stand still. */
#ifndef EDDY_BENCH_HOLD_H
#define EDDY_BENCH_HOLD_H

/* Run it, as the command line says, until stdin ends. Return: an exit status. */
int hold_main(int argc, char **argv);

#endif
