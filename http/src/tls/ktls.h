/* ktls.h: TLS encryption by the kernel (kTLS), so that files can be sent by splice. Only for
 * sending, and only AES-GCM; the session still decrypts. */
#ifndef EDDYI_KTLS_H
#define EDDYI_KTLS_H

#include <stdbool.h>

struct WOLFSSL;

/* Whether the kernel supports it. Any thread may call it. */
bool eddyi_ktls_is_there(void);

/* Let the kernel encrypt from now on, if it can. The session is open and has sent all its bytes; it
 * must send nothing more. Return: whether the kernel encrypts. */
bool eddyi_ktls_begin(struct WOLFSSL *session, int fd);

/* Send an alert (RFC 8446 section 6) if there is room for it. */
void eddyi_ktls_alert(int fd, unsigned char level, unsigned char description);

#endif
