/* wolfssl.h: the headers of the library's algorithms, as its own options want them; they come first in a file. */
#ifndef EDDYI_AUTH_WOLFSSL_H
#define EDDYI_AUTH_WOLFSSL_H

/* Its options would turn on _FORTIFY_SOURCE whatever the build says. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/settings.h>

#endif
