/* on_valgrind.h: RUNNING_ON_VALGRIND, also where valgrind's header is not there. */
#ifndef EDDY_TESTS_ON_VALGRIND_H
#define EDDY_TESTS_ON_VALGRIND_H

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#endif
