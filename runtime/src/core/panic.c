#include "panic.h"

#include "chaos.h"
#include "timeline.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void eddyi_panic(const char *file, int line, const char *format, ...)
{
	const char *chaos = eddyi_chaos_text();
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
	eddyi_timeline_last();
	abort();
}
