/* guest.h: hooks for the guests of a loop: observers, such as the timeline, and deciders, such as
 * chaos.
 *
 * The core knows no guest: a loop tests a bit of one word at each hook, which is set if a guest has
 * that hook. Any number of guests work together.
 *
 * Invariants:
 * 1. Only the loop's thread attaches, detaches and changes guests, and calls hooks.
 * 2. At a hook, guests are called from the last attached to the first, a hook that returns a bool
 *    until one has returned true.
 * 3. A guest may detach itself in a hook of observers.
 */
#ifndef EDDYI_GUEST_H
#define EDDYI_GUEST_H

#include "loop.h"

#include <stddef.h>

struct eddyi_waiter;

/* The loop's own work, between tasks and ops. */
enum eddyi_work {
	EDDYI_WORK_KERNEL,   /* it entered the kernel, which left some completions */
	EDDYI_WORK_MESSAGES, /* it delivered messages of other threads */
	EDDYI_WORK_TIMERS,   /* it fired timers */
};

struct eddyi_guest {
	const struct eddyi_guest_hooks *hooks;
	struct eddy_loop *loop;
	struct eddyi_guest *next;
};

/* Each may be NULL. */
struct eddyi_guest_hooks {
	/* ---- observers ---- */

	/* The task starts or resumes. */
	void (*run)(struct eddyi_guest *guest, struct eddy_task *task);
	/* Control is back on the loop's stack: the task waits, or has ended and `waiter` is NULL. */
	void (*back)(struct eddyi_guest *guest, struct eddyi_waiter *waiter);
	/* The running task, or the loop itself, made this task ready. */
	void (*ready)(struct eddyi_guest *guest, struct eddy_task *task);
	/* The task has ended; its structure is still valid. */
	void (*ended)(struct eddyi_guest *guest, struct eddy_task *task);
	void (*started)(struct eddyi_guest *guest, struct eddy_op *op);
	/* Before and after an op's completion function or the wake-up of its task. */
	void (*completing)(struct eddyi_guest *guest, const struct eddy_op *op, int result,
			   unsigned flags);
	void (*completed)(struct eddyi_guest *guest);
	/* The loop did `count` items of work since the last hook. */
	void (*worked)(struct eddyi_guest *guest, enum eddyi_work work, uint64_t count);

	/* ---- deciders ---- */

	/* Insert the task into the ready queue. Return: whether that is done. */
	bool (*queue)(struct eddyi_guest *guest, struct eddy_task *task);
	/* Change, delay or fail the op that this entry starts. */
	void (*start)(struct eddyi_guest *guest, struct eddy_op *op, struct io_uring_sqe *sqe);
	/* Submit what is delayed of an op that is about to be cancelled. */
	void (*cancel)(struct eddyi_guest *guest, struct eddy_op *op);
	/* Decide about a cancel with the user_data `data` before it is submitted. Return: true if it
	 * must not be, because an injected completion will say that it missed. */
	bool (*misses)(struct eddyi_guest *guest, uint64_t data);
	/* Collect completions, and call eddyi_op_complete() for those that are due. Return: whether
	 * that is done. */
	bool (*dispatch)(struct eddyi_guest *guest);
	/* Whether anything is held back. Then the loop must not sleep. */
	bool (*holds)(struct eddyi_guest *guest);
	/* Get how much of `len` bytes a send without waiting may take; 0 for none. */
	size_t (*try_send)(struct eddyi_guest *guest, int fd, size_t len);
};

void eddyi_guest_attach(struct eddy_loop *loop, struct eddyi_guest *guest,
			const struct eddyi_guest_hooks *hooks);
void eddyi_guest_change(struct eddyi_guest *guest, const struct eddyi_guest_hooks *hooks);
void eddyi_guest_detach(struct eddyi_guest *guest);

/* Get the loop's guest with these hooks; NULL if there is none. */
struct eddyi_guest *eddyi_guest_find(const struct eddy_loop *loop,
				     const struct eddyi_guest_hooks *hooks);

/* The bit of a hook in `hooked` of a loop. */
#define EDDYI_HOOK(hook)                                                                           \
	((uint32_t)1 << offsetof(struct eddyi_guest_hooks, hook) / sizeof(void (*)(void)))

/* Test this before each of the calls below: whether a guest has the hook, or one of two. */
#define eddyi_is_hooked(loop, hook) __builtin_expect(((loop)->hooked & EDDYI_HOOK(hook)) != 0, 0)
#define eddyi_is_either_hooked(loop, hook, other)                                                  \
	__builtin_expect(((loop)->hooked & (EDDYI_HOOK(hook) | EDDYI_HOOK(other))) != 0, 0)

void eddyi_guests_run(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_guests_back(struct eddy_loop *loop, struct eddyi_waiter *waiter);
void eddyi_guests_ended(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_guests_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
			     unsigned flags);
void eddyi_guests_completed(struct eddy_loop *loop);
void eddyi_guests_worked(struct eddy_loop *loop, enum eddyi_work work, uint64_t count);

/* Call `ready`, then `queue`. Return: whether the task is queued. */
bool eddyi_guests_ready(struct eddy_loop *loop, struct eddy_task *task);

/* Call `started`, then `start`. */
void eddyi_guests_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe);

void eddyi_guests_cancel(struct eddy_loop *loop, struct eddy_op *op);
bool eddyi_guests_miss(struct eddy_loop *loop, uint64_t data);
bool eddyi_guests_dispatch(struct eddy_loop *loop);
bool eddyi_guests_hold(struct eddy_loop *loop);
size_t eddyi_guests_try_send(struct eddy_loop *loop, int fd, size_t len);

#endif
