#include "panic.h"

#include "out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT_MAX 512

const char *(*eddyi_panic_under)(void);
void (*eddyi_panic_last)(void);

/* `text` already contains "PLACE: ", `len` bytes. */
static _Noreturn void die(char *text, size_t size, int len, const char *format, va_list args)
{
	const char *(*under)(void) = __atomic_load_n(&eddyi_panic_under, __ATOMIC_RELAXED);
	void (*last)(void) = __atomic_load_n(&eddyi_panic_last, __ATOMIC_RELAXED);
	const char *chaos = under ? under() : NULL;

	if (len < (int)size)
		len += vsnprintf(text + len, size - (size_t)len, format, args);
	if (chaos && len < (int)size)
		len += snprintf(text + len, size - (size_t)len, " (under EDDY_CHAOS=%s)", chaos);
	if (len > (int)size - 2)
		len = (int)size - 2;
	text[len++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		abort();
	if (last)
		last();
	abort();
}

void eddyi_panic(const char *file, int line, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	die(text, sizeof(text), snprintf(text, sizeof(text), "eddy: %s:%d: ", file, line), format,
	    args);
}

void eddyi_panic_at(const char *where, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	die(text, sizeof(text), snprintf(text, sizeof(text), "eddy: %s: ", eddyi_place(where)),
	    format, args);
}
