/* fault.h: names the running task when the process dies of SIGSEGV or SIGBUS. */
#ifndef EDDYI_FAULT_H
#define EDDYI_FAULT_H

/* Install handlers that print to stderr which task overflowed its stack or accessed invalid memory,
 * then let the signal end the process as by default. Once per process; a signal that a sanitizer or
 * the program already handles is left alone. */
void eddyi_fault_watch(void);

/* Note the stack bounds of this thread of the library, to recognize an overflow by its guard. */
void eddyi_fault_know_stack(void);

/* Give this thread an alternate signal stack, for handlers that run when its own stack or a task's
 * is full, unless it has one.
 * Return: the argument for _drop on the same thread; may be NULL. */
void *eddyi_fault_stack_give(void);
void eddyi_fault_stack_drop(void *memory);

#endif
