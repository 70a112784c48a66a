/* wolfssl.h: the library's headers with its build options. Include it first. */
#ifndef EDDYI_WOLFSSL_H
#define EDDYI_WOLFSSL_H

/* The library's options would define _FORTIFY_SOURCE whatever the build sets. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#endif
