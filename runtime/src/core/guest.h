/* guest.h: hooks for the guests of a loop: observers, such as the timeline, and deciders, such as
 * chaos, which act in place of the loop.
 *
 * The core knows no guest: a loop tests a bit of one word at each hook, which is set if a guest has
 * that hook. Any number of guests work together.
 *
 * Invariants:
 * 1. Only the loop's thread attaches, detaches and changes guests, and calls hooks.
 * 2. A hook is called for all guests that have it, the last attached one first. A guest may detach
 *    itself in it.
 * 3. A hook that returns true has acted in place of the loop. At most one guest of a loop does.
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
	/* The task starts or resumes. */
	void (*run)(struct eddyi_guest *guest, struct eddy_task *task);
	/* Control is back on the loop's stack: the task waits, or has ended and `waiter` is NULL. */
	void (*back)(struct eddyi_guest *guest, struct eddyi_waiter *waiter);
	/* The running task, or the loop itself, made this task ready. Return: true if the guest has
	 * inserted it into the ready queue. */
	bool (*ready)(struct eddyi_guest *guest, struct eddy_task *task);
	/* The task has ended; its structure is still valid. */
	void (*ended)(struct eddyi_guest *guest, struct eddy_task *task);
	/* The op starts with this entry. The guest may change, delay or fail it. */
	void (*start)(struct eddyi_guest *guest, struct eddy_op *op, struct io_uring_sqe *sqe);
	/* The op is about to be cancelled. The guest submits what it has delayed of it. */
	void (*cancel)(struct eddyi_guest *guest, struct eddy_op *op);
	/* A cancel with this user_data is about to be submitted. Return: true if it must not be,
	 * because an injected completion will say that it missed. */
	bool (*miss)(struct eddyi_guest *guest, uint64_t data);
	/* Before and after an op's completion function or the wake-up of its task. */
	void (*completing)(struct eddyi_guest *guest, const struct eddy_op *op, int result,
			   unsigned flags);
	void (*completed)(struct eddyi_guest *guest);
	/* The loop did `count` items of work since the last hook. */
	void (*worked)(struct eddyi_guest *guest, enum eddyi_work work, uint64_t count);
	/* Return: true if the guest has collected the completions, and called eddyi_op_complete()
	 * for those that are due. */
	bool (*dispatch)(struct eddyi_guest *guest);
	/* Return: true if the guest holds something back, so that the loop must not sleep. */
	bool (*hold)(struct eddyi_guest *guest);
	/* Some bytes are about to be sent without waiting. The guest may reduce their number, also
	 * to 0. */
	void (*try_send)(struct eddyi_guest *guest, int fd, size_t *len);
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

/* Whether a guest has the hook. */
#define eddyi_is_hooked(loop, hook) __builtin_expect(((loop)->hooked & EDDYI_HOOK(hook)) != 0, 0)

/* Call a hook of each guest that has it. */
#define eddyi_tell(loop, hook, ...)                                                                \
	do {                                                                                       \
		if (eddyi_is_hooked(loop, hook))                                                   \
			eddyi_guests_##hook(loop, ##__VA_ARGS__);                                  \
	} while (0)

/* The same for a hook that returns a bool. Return: whether it was true. */
#define eddyi_ask(loop, hook, ...)                                                                 \
	(eddyi_is_hooked(loop, hook) && eddyi_guests_##hook(loop, ##__VA_ARGS__))

/* For the two above; out of line, to keep the hot path short. */
void eddyi_guests_run(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_guests_back(struct eddy_loop *loop, struct eddyi_waiter *waiter);
bool eddyi_guests_ready(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_guests_ended(struct eddy_loop *loop, struct eddy_task *task);
void eddyi_guests_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe);
void eddyi_guests_cancel(struct eddy_loop *loop, struct eddy_op *op);
bool eddyi_guests_miss(struct eddy_loop *loop, uint64_t data);
void eddyi_guests_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
			     unsigned flags);
void eddyi_guests_completed(struct eddy_loop *loop);
void eddyi_guests_worked(struct eddy_loop *loop, enum eddyi_work work, uint64_t count);
bool eddyi_guests_dispatch(struct eddy_loop *loop);
bool eddyi_guests_hold(struct eddy_loop *loop);
void eddyi_guests_try_send(struct eddy_loop *loop, int fd, size_t *len);

#endif
