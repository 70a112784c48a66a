#include "panic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *(*eddyi_panic_under)(void);
void (*eddyi_panic_last)(void);

void eddyi_panic(const char *file, int line, const char *format, ...)
{
	const char *(*under)(void) = __atomic_load_n(&eddyi_panic_under, __ATOMIC_RELAXED);
	void (*last)(void) = __atomic_load_n(&eddyi_panic_last, __ATOMIC_RELAXED);
	const char *chaos = under ? under() : NULL;
	char text[512];
	va_list args;
	int len;

	len = snprintf(text, sizeof(text), "eddy: %s:%d: ", file, line);
	va_start(args, format);
	len += vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
	va_end(args);
	if (chaos && len < (int)sizeof(text))
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (under EDDY_CHAOS=%s)",
				chaos);
	if (len > (int)sizeof(text) - 2)
		len = sizeof(text) - 2;
	text[len++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		abort();
	if (last)
		last();
	abort();
}
