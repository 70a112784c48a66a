/* wolfssl.h: the library's headers, as its own options want them; they come first in a file. */
#ifndef EDDYI_WOLFSSL_H
#define EDDYI_WOLFSSL_H

/* Its options would turn on _FORTIFY_SOURCE whatever the build says. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#endif
