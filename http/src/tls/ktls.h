/* ktls.h: TLS records made by the kernel, so that a file can leave by splice. For sending only, and only
 * AES-GCM; what is received stays with the session. */
#ifndef EDDYI_KTLS_H
#define EDDYI_KTLS_H

#include <stdbool.h>

struct WOLFSSL;

/* Whether this machine's kernel can. Any thread. */
bool eddyi_ktls_is_there(void);

/* Let the kernel encrypt from here on, if it can: the session is open, and all that it had to send has been sent. It
 * must send nothing any more. Return: whether the kernel does. */
bool eddyi_ktls_begin(struct WOLFSSL *session, int fd);

/* Send an alert, if there is room for it: RFC 8446 section 6 has the numbers. */
void eddyi_ktls_alert(int fd, unsigned char level, unsigned char description);

#endif
