/* eddy/usdt.h: private: static probes (USDT) of the layers, for bpftrace, perf and SystemTap.
 * Each is a nop and a note in the ELF file; its arguments are values that are in memory or
 * registers anyway. docs/timeline.md lists them. A layer's build says with EDDYI_PROBES whether
 * there are any. */
#ifndef EDDY_USDT_H
#define EDDY_USDT_H

#include <eddy/base.h>

#if EDDYI_PROBES
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
/* A probe "eddy:NAME" with its arguments: numbers and pointers. */
#define EDDYI_USDT(name, ...) STAP_PROBEV(eddy, name, __VA_ARGS__)
#else
#define EDDYI_USDT(name, ...) ((void)0)
#endif

#endif
