#include "panic.h"

#include "frame.h"
#include "out.h"

#include <eddy/internal/panic.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 1024
#define LAST_MAX 16
#define LAST_US 300000

const char *(*eddyi_panic_under)(void);
const char *(*eddyi_panic_label)(void);

/* ---- functions of eddyi_at_panic() ---- */

typedef void last_fn(bool in_handler);

static last_fn *_Atomic last[LAST_MAX];

void eddyi_at_panic(last_fn *fn)
{
	for (size_t i = 0; i < LAST_MAX; i++) {
		last_fn *before = NULL;

		if (atomic_compare_exchange_strong(&last[i], &before, fn) || before == fn)
			return;
	}
}

void eddyi_panic_last(bool in_handler)
{
	static atomic_int first;
	int before = 0, this = gettid();

	if (!atomic_compare_exchange_strong(&first, &before, this)) {
		/* Another thread calls them, and aborts then; or one of them has panicked. */
		if (before != this)
			usleep(LAST_US);
		return;
	}
	for (size_t i = 0; i < LAST_MAX; i++) {
		last_fn *fn = atomic_load(&last[i]);

		if (fn)
			fn(in_handler);
	}
}

/* ---- the message ---- */

struct text {
	char bytes[TEXT_MAX];
	size_t len;
};

static EDDY_PRINTF(2, 0) void vput(struct text *text, const char *format, va_list args)
{
	size_t room = sizeof(text->bytes) - text->len;
	int len = vsnprintf(text->bytes + text->len, room, format, args);

	if (len > 0)
		text->len += (size_t)len < room ? (size_t)len : room - 1;
}

static EDDY_PRINTF(2, 3) void put(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vput(text, format, args);
	va_end(args);
}

static void flush(struct text *text)
{
	text->bytes[text->len++] = '\n';
	if (write(STDERR_FILENO, text->bytes, text->len) < 0)
		abort();
}

/* Write where the program called eddy, by the stack. */
static void say_call(void)
{
	char called[EDDYI_FRAME_SIZE], place[EDDYI_FRAME_SIZE];
	struct text text = { .len = 0 };

	if (!eddyi_frame_of_call(called, place))
		return;
	/* Other names mean nothing to the program. */
	if (strncmp(called, "eddy_", strlen("eddy_")) == 0)
		put(&text, "eddy: %s() was called at %s", called, place);
	else
		put(&text, "eddy: the call was made at %s", place);
	flush(&text);
}

void eddyi_panic_of(const char *where, const char *function, const char *format, ...)
{
	const char *(*under)(void) = __atomic_load_n(&eddyi_panic_under, __ATOMIC_RELAXED);
	const char *(*of_task)(void) = __atomic_load_n(&eddyi_panic_label, __ATOMIC_RELAXED);
	const char *chaos = under ? under() : NULL, *label = of_task ? of_task() : NULL;
	struct text text = { .len = 0 };
	va_list args;

	put(&text, "eddy: ");
	if (!function)
		put(&text, "%s: ", eddyi_place(where));
	else if (strncmp(function, "eddy_", strlen("eddy_")) == 0)
		put(&text, "%s(): ", function);
	va_start(args, format);
	vput(&text, format, args);
	va_end(args);
	if (label)
		put(&text, " (in %s)", label);
	if (chaos)
		put(&text, " (under EDDY_CHAOS=%s)", chaos);
	flush(&text);
	eddyi_panic_last(false);
	/* Last, because it needs the loader, and more stack than may be left. */
	if (!where)
		say_call();
	abort();
}
