/* wolfcrypt.h: wolfCrypt's headers with the library's own options; to be included first. */
#ifndef EDDYI_WOLFCRYPT_H
#define EDDYI_WOLFCRYPT_H

/* The options would enable _FORTIFY_SOURCE regardless of the build. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/settings.h>
#include <wolfssl/wolfcrypt/hash.h>

#endif
