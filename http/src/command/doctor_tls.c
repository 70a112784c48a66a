/* eddy-doctor-tls: the wolfSSL that TLS runs on, for eddy-doctor.
 *
 *     ok   wolfSSL: 5.9.2, /usr/local/lib/libwolfssl.so.44
 */
#include "tls/library.h"

#include <stdio.h>

int main(void)
{
	char text[256];
	bool good = wolfSSL_lib_version_hex() >= EDDYI_TLS_LIBRARY_GOOD;

	printf("%-4s wolfSSL: %s%s\n", good ? "ok" : "warn", eddyi_tls_library(text, sizeof(text)),
	       good ? "" :
		      "; this release has published vulnerabilities, and eddy blocks those that are "
		      "reachable (SECURITY.md) — to build with a newer one: docs/deploy/tls.md");
	return 0;
}
