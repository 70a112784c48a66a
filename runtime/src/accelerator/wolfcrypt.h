/* wolfcrypt.h: the headers of wolfSSL's ciphers, with its build options; include it first. */
#ifndef EDDYI_WOLFCRYPT_H
#define EDDYI_WOLFCRYPT_H

/* Its options would enable _FORTIFY_SOURCE regardless of the build. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
/* Defined by the options, but it applies to OpenSSL's headers, too. */
#undef OPENSSL_NO_EC
#include <wolfssl/wolfcrypt/cryptocb.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include <stdbool.h>

#endif
