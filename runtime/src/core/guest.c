#include "guest.h"

#include <string.h>

#define HOOKS (sizeof(struct eddyi_guest_hooks) / sizeof(void (*)(void)))

_Static_assert(HOOKS <= 32, "each hook has a bit");

/* Note which hooks the guests have. */
static void note(struct eddy_loop *loop)
{
	loop->hooked = 0;
	for (const struct eddyi_guest *guest = loop->guests; guest; guest = guest->next) {
		void (*hooks[HOOKS])(void);

		memcpy(hooks, guest->hooks, sizeof(hooks));
		for (size_t i = 0; i < HOOKS; i++)
			loop->hooked |= hooks[i] ? (uint32_t)1 << i : 0;
	}
}

void eddyi_guest_attach(struct eddy_loop *loop, struct eddyi_guest *guest,
			const struct eddyi_guest_hooks *hooks)
{
	guest->loop = loop;
	guest->next = loop->guests;
	loop->guests = guest;
	eddyi_guest_change(guest, hooks);
}

void eddyi_guest_change(struct eddyi_guest *guest, const struct eddyi_guest_hooks *hooks)
{
	guest->hooks = hooks;
	note(guest->loop);
}

void eddyi_guest_detach(struct eddyi_guest *guest)
{
	struct eddyi_guest **at = &guest->loop->guests;

	while (*at != guest)
		at = &(*at)->next;
	*at = guest->next;
	note(guest->loop);
}

struct eddyi_guest *eddyi_guest_find(const struct eddy_loop *loop,
				     const struct eddyi_guest_hooks *hooks)
{
	struct eddyi_guest *guest = loop->guests;

	while (guest && guest->hooks != hooks)
		guest = guest->next;
	return guest;
}

/* Call a hook of each guest that has it. */
#define TELL(hook, ...)                                                                            \
	do {                                                                                       \
		struct eddyi_guest *guest, *next;                                                  \
                                                                                                   \
		for (guest = loop->guests; guest; guest = next) {                                  \
			next = guest->next;                                                        \
			if (guest->hooks->hook)                                                    \
				guest->hooks->hook(guest, ##__VA_ARGS__);                          \
		}                                                                                  \
	} while (0)

/* Call a hook until it returns true, and return whether it did. */
#define ASK(hook, ...)                                                                             \
	do {                                                                                       \
		for (struct eddyi_guest *guest = loop->guests; guest; guest = guest->next)         \
			if (guest->hooks->hook && guest->hooks->hook(guest, ##__VA_ARGS__))        \
				return true;                                                       \
		return false;                                                                      \
	} while (0)

void eddyi_guests_run(struct eddy_loop *loop, struct eddy_task *task)
{
	TELL(run, task);
}

void eddyi_guests_back(struct eddy_loop *loop, struct eddyi_waiter *waiter)
{
	TELL(back, waiter);
}

void eddyi_guests_ended(struct eddy_loop *loop, struct eddy_task *task)
{
	TELL(ended, task);
}

void eddyi_guests_completing(struct eddy_loop *loop, const struct eddy_op *op, int result,
			     unsigned flags)
{
	TELL(completing, op, result, flags);
}

void eddyi_guests_completed(struct eddy_loop *loop)
{
	TELL(completed);
}

void eddyi_guests_worked(struct eddy_loop *loop, enum eddyi_work work, uint64_t count)
{
	TELL(worked, work, count);
}

bool eddyi_guests_ready(struct eddy_loop *loop, struct eddy_task *task)
{
	TELL(ready, task);
	ASK(queue, task);
}

void eddyi_guests_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	TELL(started, op);
	TELL(start, op, sqe);
}

void eddyi_guests_cancel(struct eddy_loop *loop, struct eddy_op *op)
{
	TELL(cancel, op);
}

bool eddyi_guests_miss(struct eddy_loop *loop, uint64_t data)
{
	ASK(misses, data);
}

bool eddyi_guests_dispatch(struct eddy_loop *loop)
{
	ASK(dispatch);
}

bool eddyi_guests_hold(struct eddy_loop *loop)
{
	ASK(holds);
}

size_t eddyi_guests_try_send(struct eddy_loop *loop, int fd, size_t len)
{
	for (struct eddyi_guest *guest = loop->guests; guest; guest = guest->next)
		if (guest->hooks->try_send)
			len = guest->hooks->try_send(guest, fd, len);
	return len;
}
