/* Tests of http/src/tls/tls_setup.h, and of an app that loads one anew. */
#include "tls/wolfssl.h"

#include "app/app.h"
#include "localhost.h"
#include "tls/tls_setup.h"

#include "tls/hello.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dlfcn.h>
#include <eddy/http.h>
#include <eddy/log.h>
#include <eddy/tls.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_uint srp_ends;

/* The library calls it where it frees what a context has for SRP. */
__attribute__((visibility("default"))) void wc_SrpTerm(void *srp)
{
	void (*theirs)(void *srp) = (void (*)(void *))dlsym(RTLD_NEXT, "wc_SrpTerm");

	atomic_fetch_add(&srp_ends, 1);
	theirs(srp);
}

static struct eddyi_tls_setup *setup_new(const char *path)
{
	struct eddyi_tls_setup *setup =
		eddyi_tls_setup_new(&(struct eddy_tls_options){ .cert = path, .key = path });

	cr_assert(ne(ptr, setup, NULL));
	cr_assert(eq(int, eddyi_tls_setup_load(setup), 0));
	return setup;
}

/* Two handshakes that begin at once would both free it, and abort the process. */
Test(tls_setup, sessions_free_nothing_of_what_they_share)
{
	int fd = memfd_create("pem", MFD_CLOEXEC);
	struct eddyi_tls_setup *setup;
	struct eddyi_hello hello = { 0 };
	unsigned before;
	char path[32];

	cr_assert(eq(int, (int)write(fd, localhost_pem, sizeof(localhost_pem) - 1),
		     (int)sizeof(localhost_pem) - 1));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setup = setup_new(path);
	for (int i = 0; i < 2; i++) {
		before = atomic_load(&srp_ends);
		for (int j = 0; j < 3; j++) {
			struct WOLFSSL *session = eddyi_tls_setup_session(setup, &hello);

			cr_assert(ne(ptr, session, NULL));
			wolfSSL_free(session);
		}
		cr_expect(eq(uint, atomic_load(&srp_ends), before));
		/* As at SIGHUP: other contexts. */
		cr_assert(eq(int, eddyi_tls_setup_load(setup), 0));
	}
	eddyi_tls_setup_free(setup);
	close(fd);
}

static char said[512];

static void hear(const struct eddy_record *record, void *arg)
{
	(void)arg;
	snprintf(said, sizeof(said), "%.*s", (int)record->message.len, record->message.ptr);
}

static void rewrite(int fd, const char *text)
{
	ssize_t len = (ssize_t)strlen(text);

	cr_assert(eq(int, ftruncate(fd, 0), 0));
	cr_assert(eq(int, (int)pwrite(fd, text, (size_t)len, 0), (int)len));
}

/* Whether a session can begin. */
static bool has_certificate(struct eddy_app *app)
{
	struct eddyi_hello hello = { 0 };
	struct WOLFSSL *session = eddyi_tls_setup_session(app->tls, &hello);
	bool has = session && wolfSSL_get_certificate(session);

	wolfSSL_free(session);
	return has;
}

/* The files are read each time; one that is unusable leaves the certificates that there are. */
Test(tls_setup, an_app_reads_its_files_again)
{
	int fd = memfd_create("pem", MFD_CLOEXEC);
	struct eddy_app *app = eddy_app_new();
	char path[32];

	cr_expect(eq(int, eddy_app_reload(app), 0));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	eddy_app_use_tls(app, &(struct eddy_tls_options){ .cert = path, .key = path });
	rewrite(fd, localhost_pem);
	cr_assert(eq(int, eddy_app_reload(app), 0));
	cr_expect(has_certificate(app));
	rewrite(fd, "no certificate");
	eddy_log_subscribe(hear, NULL);
	cr_expect(eq(int, eddy_app_reload(app), -EINVAL));
	eddy_log_unsubscribe();
	cr_expect(strstr(said, path) != NULL, "%s", said);
	cr_expect(has_certificate(app));
	rewrite(fd, localhost_pem);
	cr_expect(eq(int, eddy_app_reload(app), 0));
	eddy_app_free(app);
	close(fd);
}
