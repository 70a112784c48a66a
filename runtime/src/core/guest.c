#include "guest.h"

#include <string.h>

#define HOOKS (sizeof(struct eddyi_guest_hooks) / sizeof(void (*)(void)))

_Static_assert(HOOKS <= 32, "each hook has a bit");

/* Note which hooks the guests have. */
static __attribute__((cold, noinline)) void note(struct eddy_loop *loop)
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

/* Define the call of a hook. */
#define TELL(hook, params, ...)                                                                    \
	void eddyi_guests_##hook params                                                            \
	{                                                                                          \
		for (struct eddyi_guest *guest = loop->guests, *next; guest; guest = next) {       \
			next = guest->next;                                                        \
			if (guest->hooks->hook)                                                    \
				guest->hooks->hook(__VA_ARGS__);                                   \
		}                                                                                  \
	}

#define ASK(hook, params, ...)                                                                     \
	bool eddyi_guests_##hook params                                                            \
	{                                                                                          \
		bool done = false;                                                                 \
                                                                                                   \
		for (struct eddyi_guest *guest = loop->guests, *next; guest; guest = next) {       \
			next = guest->next;                                                        \
			if (guest->hooks->hook)                                                    \
				done |= guest->hooks->hook(__VA_ARGS__);                           \
		}                                                                                  \
		return done;                                                                       \
	}

/* clang-format takes the parameters for an expression. */
/* clang-format off */
TELL(run, (struct eddy_loop *loop, struct eddy_task *task), guest, task)
TELL(back, (struct eddy_loop *loop, struct eddyi_waiter *waiter), guest, waiter)
ASK(ready, (struct eddy_loop *loop, struct eddy_task *task), guest, task)
TELL(ended, (struct eddy_loop *loop, struct eddy_task *task), guest, task)
TELL(start, (struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe), guest, op, sqe)
TELL(cancel, (struct eddy_loop *loop, struct eddy_op *op), guest, op)
ASK(miss, (struct eddy_loop *loop, uint64_t data), guest, data)
TELL(completing, (struct eddy_loop *loop, const struct eddy_op *op, int result, unsigned flags),
     guest, op, result, flags)
TELL(completed, (struct eddy_loop *loop), guest)
TELL(worked, (struct eddy_loop *loop, enum eddyi_work work, uint64_t count), guest, work, count)
ASK(dispatch, (struct eddy_loop *loop), guest)
ASK(hold, (struct eddy_loop *loop), guest)
TELL(try_send, (struct eddy_loop *loop, int fd, size_t *len), guest, fd, len)
