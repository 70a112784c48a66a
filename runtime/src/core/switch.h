/* switch.h: handing the processor from one stack to another on the same thread.
 *
 * Everything that a sanitizer or valgrind must be told of is told in switch.c.
 */
#ifndef EDDYI_SWITCH_H
#define EDDYI_SWITCH_H

#include <eddy/base.h>

#if defined(__SANITIZE_ADDRESS__)
#define EDDYI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EDDYI_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EDDYI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EDDYI_TSAN 1
#endif
#endif
#ifndef EDDYI_ASAN
#define EDDYI_ASAN 0
#endif
#ifndef EDDYI_TSAN
#define EDDYI_TSAN 0
#endif

/* A stopped flow of control: where to go on. */
struct eddyi_ctx {
	void *sp;                 /* what eddyi_swap() has left at the end of the stack */
	void (*entry)(void *arg); /* set until the stack is first entered */
	void *arg;
	void *low; /* the stack, for sanitizers; NULL for the thread's own until known */
	size_t size;
	void *fiber; /* TSan */
	unsigned valgrind_id;
};

/* Prepare a stack of `size` bytes at `low`: the first switch to it calls `entry(arg)`, which must
 * never return. */
void eddyi_ctx_init(struct eddyi_ctx *ctx, void *low, size_t size, void (*entry)(void *arg),
		    void *arg);

/* Prepare for the thread's own stack: it can only be switched away from. */
void eddyi_ctx_init_thread(struct eddyi_ctx *ctx);

/* The stack's memory is about to be unmapped, or was the thread's own. */
void eddyi_ctx_deinit(struct eddyi_ctx *ctx);

/* The stack is idle and will next be entered afresh (sanitizers forget what was on it). */
void eddyi_ctx_reset(struct eddyi_ctx *ctx, void (*entry)(void *arg), void *arg);

/* Stop here as `from` and go on at `to`. `from_ends` says that `from` will never be resumed. */
void eddyi_ctx_switch(struct eddyi_ctx *from, struct eddyi_ctx *to, bool from_ends);

/* Leave on this stack what it takes to go on here, and in *save where that is; go on at `sp`, where another
 * one was left in this way. */
void eddyi_swap(void **save, void *sp);

/* Which of its three forms eddyi_swap() has here: "asm", "setjmp" or "ucontext". Only switch.c differs with it: tests
 * and the bench link others in its place. */
extern const char eddyi_switch[];

/* The same for the hot path, where `from` does not end. Inlined, and called from inlined functions as
 * far as possible: each frame between a switch and the code that goes on after it ends in a return that
 * the processor predicts wrongly, since the calls that it remembers were made on the other stack. */
static inline __attribute__((always_inline)) void eddyi_ctx_switch_hot(struct eddyi_ctx *from,
								       struct eddyi_ctx *to)
{
#if !EDDYI_ASAN && !EDDYI_TSAN
	if (__builtin_expect(!to->entry, 1)) {
		eddyi_swap(&from->sp, to->sp);
		return;
	}
#endif
	eddyi_ctx_switch(from, to, false);
}

#endif
