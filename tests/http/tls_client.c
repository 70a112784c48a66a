/* Tests of http/src/tls/tls_client.h: whom it trusts. Who is refused on a wire is tests/e2e/test_client.py's. */
#include "tls/tls_client.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stddef.h>

static int opened(struct eddyi_tls_client_options options)
{
	struct WOLFSSL_CTX *context = NULL;
	int r = eddyi_tls_client_open(&options, &context);

	cr_expect(eq(int, r == 0, context != NULL), "it is written on success only");
	eddyi_tls_client_close(context);
	return r;
}

Test(tls_client, reads_what_it_is_to_trust)
{
	struct eddyi_tls_client_options options = { .ca_file = "/dev/null", .ca_file_only = true };

	cr_expect(eq(int, opened(options), -EINVAL));
	options.ca_file = "/nowhere.pem";
	cr_expect(eq(int, opened(options), -EINVAL));
	/* Who trusts everybody need not. */
	options.trusts_all = true;
	cr_expect(eq(int, opened(options), 0));
	eddyi_tls_client_close(NULL);
}

Test(tls_client, knows_suites_by_the_librarys_names)
{
	struct eddyi_tls_client_options options = { .trusts_all = true };

	options.ciphers = "TLS13-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";
	cr_expect(eq(int, opened(options), 0));
	options.ciphers = "ROT13";
	cr_expect(eq(int, opened(options), -EPROTONOSUPPORT));
}
