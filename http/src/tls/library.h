/* library.h: the wolfSSL version in use. */
#ifndef EDDYI_TLS_LIBRARY_H
#define EDDYI_TLS_LIBRARY_H

#include "wolfssl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

/* The first version without vulnerabilities that eddy works around (SECURITY.md). */
#define EDDYI_TLS_LIBRARY_GOOD 0x05009002

/* Format version and file, as "5.5.4, /usr/lib/x86_64-linux-gnu/libwolfssl.so.35".
 * Return: `text`. */
static inline const char *eddyi_tls_library(char *text, size_t size)
{
	Dl_info info;
	bool known = dladdr((void *)wolfSSL_lib_version, &info) != 0 && info.dli_fname;

	snprintf(text, size, "%s%s%s", wolfSSL_lib_version(), known ? ", " : "",
		 known ? info.dli_fname : "");
	return text;
}

#endif
