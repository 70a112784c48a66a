/* eddy-doctor-tls: checks the wolfSSL that TLS uses, for eddy-doctor.
 *
 *     ok   wolfSSL: 5.9.2, /usr/local/lib/libwolfssl.so.44 */
#include "tls/accelerated.h"
#include "tls/library.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	char text[256];
	bool good = wolfSSL_lib_version_hex() >= EDDYI_TLS_LIBRARY_GOOD;

	(void)argc;
	(void)argv;
	if (wolfSSL_Init() != WOLFSSL_SUCCESS) {
		puts("FAIL wolfSSL: can't start; it needs /dev/urandom — in a container or chroot: mount /dev");
		return 1;
	}
	printf("%-4s wolfSSL: %s%s\n", good ? "ok" : "warn", eddyi_tls_library(text, sizeof(text)),
	       good ? "" :
		      "; this release has published vulnerabilities, and eddy blocks those that are "
		      "reachable (SECURITY.md) — to build with a newer one: docs/deploy/tls.md");
	if (eddyi_accelerator_name())
		printf("ok   AES-GCM, RSA and ECDSA of TLS: %s\n", eddyi_accelerator_name());
	else
		printf("warn AES-GCM, RSA and ECDSA of TLS: wolfSSL alone, which Debian builds without the processor's instructions — to build eddy with libcrypto: docs/deploy/tls.md\n");
	return 0;
}
