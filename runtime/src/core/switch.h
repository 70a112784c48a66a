/* switch.h: switches between stacks on one thread.
 *
 * All annotations for sanitizers and valgrind are in switch.c.
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

/* A suspended stack. */
struct eddyi_ctx {
	void *sp;                 /* the state that eddyi_swap() saved on the stack */
	void (*entry)(void *arg); /* set until the stack is first entered */
	void *arg;
	void *low; /* the stack, for sanitizers; NULL for the thread's own until known */
	size_t size;
	void *fiber; /* for TSan; for ASan, the fake stack of a stopped flow */
	unsigned valgrind_id;
};

/* Prepare a stack. The first switch to it calls `entry(arg)`, which must never return. */
void eddyi_ctx_init(struct eddyi_ctx *ctx, void *low, size_t size, void (*entry)(void *arg),
		    void *arg);

/* Prepare a context for the thread's own stack, the one to switch away from first. */
void eddyi_ctx_init_thread(struct eddyi_ctx *ctx);

/* Release a context before its stack is unmapped, or when the thread's own is no longer needed. */
void eddyi_ctx_deinit(struct eddyi_ctx *ctx);

/* Prepare an idle stack to be entered afresh. Sanitizers forget its contents. */
void eddyi_ctx_reset(struct eddyi_ctx *ctx, void (*entry)(void *arg), void *arg);

/* Save the current state in `from` and continue at `to`. `from_ends`: it is never resumed. */
void eddyi_ctx_switch(struct eddyi_ctx *from, struct eddyi_ctx *to, bool from_ends);

/* Save the state of this stack on it and a pointer to that state in *save, then continue at `sp`, a
 * pointer that was saved this way. */
void eddyi_swap(void **save, void *sp);

/* The implementation of eddyi_swap(): "asm", "setjmp" or "ucontext". Only switch.c depends on it,
 * so tests and the benchmark can link others. */
extern const char eddyi_switch[];

/* eddyi_ctx_switch() for the hot path, if `from` does not end. It and its callers are inlined as
 * far as possible: the processor predicts returns by the calls made on the other stack, so after a
 * switch every return from a frame is mispredicted. */
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
