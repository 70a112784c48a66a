#include "panic.h"

#include "frame.h"
#include "out.h"

#include <eddy/internal/log.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 1024
#define LAST_MAX 16

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
	static atomic_bool called;

	/* Another thread calls them, or one of them has panicked. */
	if (atomic_exchange(&called, true))
		return;
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

/* `text` already contains "eddy: PLACE: ". */
static _Noreturn EDDY_PRINTF(2, 0) void die(struct text *text, const char *format, va_list args)
{
	const char *(*under)(void) = __atomic_load_n(&eddyi_panic_under, __ATOMIC_RELAXED);
	const char *(*of_task)(void) = __atomic_load_n(&eddyi_panic_label, __ATOMIC_RELAXED);
	const char *chaos = under ? under() : NULL, *label = of_task ? of_task() : NULL;

	vput(text, format, args);
	if (label)
		put(text, " (in %s)", label);
	if (chaos)
		put(text, " (under EDDY_CHAOS=%s)", chaos);
	text->bytes[text->len++] = '\n';
	if (write(STDERR_FILENO, text->bytes, text->len) < 0)
		abort();
	eddyi_panic_last(false);
	abort();
}

/* Append the public function that this thread is in, or else `function`, and the place of its call.
 * Return: whether the place is known. */
static bool put_call(struct text *text, const char *function)
{
	char called[EDDYI_FRAME_SIZE], place[EDDYI_FRAME_SIZE];
	bool found = eddyi_frame_of_call(called, place);

	if (!found)
		snprintf(called, sizeof(called), "%s", function);
	/* Other names mean nothing to the program. */
	if (strncmp(called, "eddy_", strlen("eddy_")) == 0)
		put(text, "%s()%s", called, found ? " " : ": ");
	if (found)
		put(text, "at %s: ", place);
	return found;
}

void eddyi_panic_at(const char *where, const char *format, ...)
{
	struct text text = { .len = 0 };
	va_list args;

	put(&text, "eddy: ");
	if (where || !put_call(&text, ""))
		put(&text, "%s: ", eddyi_place(where));
	va_start(args, format);
	die(&text, format, args);
}

void eddyi_panic_in(const char *function, const char *format, ...)
{
	struct text text = { .len = 0 };
	va_list args;

	put(&text, "eddy: ");
	put_call(&text, function);
	va_start(args, format);
	die(&text, format, args);
}
