#include "frame.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_MAX 32

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void eddyi_frame_format(char *text, size_t size, const void *address)
{
	const char *module;
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname) {
		snprintf(text, size, "%p", address);
		return;
	}
	module = base_name(info.dli_fname);
	if (info.dli_sname)
		snprintf(text, size, "%s+0x%zx (%s)", info.dli_sname,
			 (size_t)((const char *)address - (const char *)info.dli_saddr), module);
	else
		snprintf(text, size, "%s+0x%zx", module,
			 (size_t)((const char *)address - (const char *)info.dli_fbase));
}

/* Macros call eddyi_… twins of public functions. */
static void name_function(char *text, size_t size, const char *symbol)
{
	static const char twin[] = "eddyi_";

	if (!symbol)
		text[0] = '\0';
	else if (strncmp(symbol, twin, strlen(twin)) == 0)
		snprintf(text, size, "eddy_%s", symbol + strlen(twin));
	else
		snprintf(text, size, "%s", symbol);
}

static bool is_of_eddy(const Dl_info *info)
{
	return strncmp(base_name(info->dli_fname), "libeddy-", strlen("libeddy-")) == 0;
}

/* Linked statically, eddy's frames can't be told from the program's. */
static bool is_shared(void)
{
	Dl_info info;

	return dladdr(__func__, &info) && info.dli_fname && is_of_eddy(&info);
}

void eddyi_frame_prepare(void)
{
	void *frame;

	if (is_shared())
		backtrace(&frame, 1);
}

bool eddyi_frame_of_call(char function[EDDYI_FRAME_SIZE], char place[EDDYI_FRAME_SIZE])
{
	void *frames[FRAMES_MAX];
	const char *symbol = NULL;
	int count;

	if (!is_shared())
		return false;
	count = backtrace(frames, FRAMES_MAX);
	for (int i = 0; i < count; i++) {
		/* A return address: the call precedes it. */
		const char *address = (const char *)frames[i] - 1;
		Dl_info info;

		if (!dladdr(address, &info) || !info.dli_fname)
			return false;
		if (is_of_eddy(&info)) {
			symbol = info.dli_sname;
			continue;
		}
		name_function(function, EDDYI_FRAME_SIZE, symbol);
		eddyi_frame_format(place, EDDYI_FRAME_SIZE, address);
		return true;
	}
	return false;
}
