/* fault.h: who was at work when the process is about to die of its own fault. */
#ifndef EDDYI_FAULT_H
#define EDDYI_FAULT_H

/* Say on stderr which task overflowed its stack or touched what is not there, before SIGSEGV and SIGBUS
 * end the process as they do by default. Done once, and not for a signal that somebody handles already:
 * a sanitizer, or the program. */
void eddyi_fault_watch(void);

/* Note where the stack of this thread ends, for one of the library's own: a fault in its guard is an overflow. */
void eddyi_fault_know_stack(void);

/* Give this thread a stack on which handlers of signals run when its own, or a task's, is full; not if
 * it has one. Return: what _drop takes, on the same thread; NULL for nothing. */
void *eddyi_fault_stack_give(void);
void eddyi_fault_stack_drop(void *memory);

#endif
