/* The first message of a TLS client, in every piece of it. */
#include "tls/hello.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str bytes = eddy_str((const char *)data, size);
	struct eddyi_hello hello, again;
	int r = eddyi_hello_parse(bytes, &hello);

	if (r == 0) {
		/* A name is a C string of bytes that a host may have. */
		for (const char *at = hello.server_name; *at; at++)
			if ((*at >= 'A' && *at <= 'Z') || *at <= ' ' || *at == '/')
				abort();
		eddyi_hello_name_fits(eddy_str_from("*.example"), eddy_str_from(hello.server_name));
	}
	/* What is complete or bad stays so when more comes; here: less is never more. */
	if (r == -EAGAIN)
		for (size_t len = 0; len < size; len += 1 + size / 16)
			if (eddyi_hello_parse(eddy_str(bytes.ptr, len), &again) != -EAGAIN)
				abort();
	return 0;
}
