/* wolfcrypt.h: the headers of wolfSSL's ciphers, as its own options want them; they come first in a file. */
#ifndef EDDYI_WOLFCRYPT_H
#define EDDYI_WOLFCRYPT_H

/* Its options would turn on _FORTIFY_SOURCE whatever the build says. */
#define WOLFSSL_OPTIONS_IGNORE_SYS
#include <wolfssl/options.h>
/* They speak of OpenSSL's headers as well. */
#undef OPENSSL_NO_EC
#include <wolfssl/wolfcrypt/cryptocb.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

#include <stdbool.h>

#endif
