/* report.h: `eddy-bench report`, which says what is in a result. */
#ifndef EDDY_BENCH_REPORT_H
#define EDDY_BENCH_REPORT_H

/* Run it; argv[0] is the word itself. Return: an exit status. */
int report_main(int argc, char **argv);

#endif
