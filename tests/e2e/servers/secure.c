/* secure: a folder and a few handlers over TLS.
 *
 *     secure --cert FILE [--key FILE] [--more FILE]… [--client-ca FILE [--required]] [--only-1.3]
 *            [--handshake_timeout MS] [--no_ktls] [--dir DIR] [--plain ADDR]… [--proxied ADDR]…
 *            [--to_https] [--compression] [SWITCH]…
 *
 * What other switches there are is in settings.h. Each `--more` is another certificate with its key, in one file. It listens
 * without TLS at each `--plain`; from there `--to_https` sends clients on. At each `--proxied` this machine's PROXY
 * headers come before TLS.
 */
#include "tls/wolfssl.h" /* comes first */

#include "handlers.h"
#include "settings.h"

#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/offload.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int text_or_dash(struct eddy_res *res, const char *name, struct eddy_str text)
{
	return eddy_res_set(res, name, text.ptr ? text : EDDY_STR("-"));
}

/* All that is known of the session, and how much of files this worker has spliced, as headers. */
static int session(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_tls_session tls = { 0 };
	struct eddy_tls_peer peer = { { NULL, 0 }, EDDY_STR("") };
	int r = eddy_req_tls_peer(req, &peer);
	char spliced[32];

	snprintf(spliced, sizeof(spliced), "%ju", (uintmax_t)eddy_transfer_stats().spliced_out);
	if (r == -ENOENT)
		r = 0;
	eddy_req_tls(req, &tls);
	if (r == 0)
		r = text_or_dash(res, "x-version", tls.version);
	if (r == 0)
		r = text_or_dash(res, "x-cipher", tls.cipher);
	if (r == 0)
		r = text_or_dash(res, "x-name", tls.server_name);
	if (r == 0)
		r = text_or_dash(res, "x-peer", peer.subject);
	if (r == 0)
		r = eddy_res_set_z(res, "x-resumed", tls.is_resumed ? "yes" : "no");
	if (r == 0)
		r = eddy_res_set_z(res, "x-spliced", spliced);
	if (r == 0)
		r = eddy_res_set(res, "x-client", eddy_req_peer(req)->text);
	if (r == 0)
		r = eddy_res_set_z(res, "x-secure", eddy_req_is_secure(req) ? "yes" : "no");
	return r < 0 ? r : eddy_res_bytes(res, "application/octet-stream", peer.der);
}

static int download(struct eddy_req *req, struct eddy_res *res)
{
	const int *dir = eddy_req_context(req);
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_file_at(res, *dir, name);
}

static int upload(struct eddy_req *req, struct eddy_res *res)
{
	const int *dir = eddy_req_context(req);
	struct eddy_saved saved;
	struct eddy_str name;
	int r;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	r = eddy_req_save_at(req, *dir, name, NULL, &saved);
	return r < 0 ? r : eddy_res_ok(res, "%ju", (uintmax_t)saved.size);
}

/* A stream that fails behind its first line. */
static int broken(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_res_write(res, "line\n", 5);

	(void)req;
	return r < 0 ? r : -EIO;
}

static int slow(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t ms;
	int r;

	if (eddy_req_path(req, EDDY_TO(&ms)) < 0)
		return 400;
	r = eddy_sleep(ms * EDDY_MS);
	return r < 0 ? r : eddy_res_ok(res, "slept");
}

/* The read end and the write end of a pipe: a byte lets one job go. */
static int gate[2];

static int wait_at_gate(void *arg)
{
	char byte;

	(void)arg;
	return read(gate[0], &byte, 1) == 1 ? 0 : -EIO;
}

/* A long job for the offload pool. */
static int held(struct eddy_req *req, struct eddy_res *res)
{
	int r = eddy_offload(wait_at_gate, NULL);

	(void)req;
	return r < 0 ? r : eddy_res_ok(res, "let go");
}

/* Let as many of them go. Answers how many waited for a thread. */
static int let_go(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_offload_stats stats = eddy_offload_stats();
	unsigned count;

	if (eddy_req_path(req, EDDY_TO(&count)) < 0)
		return 400;
	for (unsigned i = 0; i < count; i++)
		if (write(gate[1], "x", 1) != 1)
			return -EIO;
	return eddy_res_ok(res, "%u", stats.queued);
}

/* Send on who comes without TLS. */
static int to_https(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str rest = eddy_req_host(req), path = eddy_req_target_path(req), host;
	char location[512];

	if (eddy_req_is_secure(req))
		return eddy_next(next, req, res);
	eddy_str_split(&rest, ':', &host);
	snprintf(location, sizeof(location), "https://%.*s:%u%.*s", EDDY_FMT(host),
		 eddy_app_port(eddy_next_data(next)), EDDY_FMT(path));
	return eddy_res_redirect(res, 308, eddy_str_from(location));
}

/* What wolfSSL has allocated. */
static _Atomic size_t library_bytes;

static void *allocate(size_t size)
{
	void *block = malloc(size);

	library_bytes += malloc_usable_size(block);
	return block;
}

static void release(void *block)
{
	library_bytes -= malloc_usable_size(block);
	free(block);
}

static void *reallocate(void *block, size_t size)
{
	size_t before = malloc_usable_size(block);
	void *moved = realloc(block, size);

	if (moved)
		library_bytes += malloc_usable_size(moved) - before;
	return moved;
}

/* The bytes that are allocated: all of them, and those of wolfSSL. */
static int memory(struct eddy_req *req, struct eddy_res *res)
{
	struct mallinfo2 info = mallinfo2();

	(void)req;
	return eddy_res_ok(res, "%zu %zu", info.uordblks + info.hblkhd, (size_t)library_bytes);
}

struct secure {
	struct settings common;
	struct eddy_tls_options tls;
	struct setting_texts more, plain, proxied;
	bool required, only_1_3, to_https, compression;
	int dir;
};

static const struct setting switches[] = {
	SETTING(struct secure, "cert", tls.cert),
	SETTING(struct secure, "key", tls.key),
	SETTING(struct secure, "more", more),
	SETTING(struct secure, "client-ca", tls.client_ca),
	SETTING(struct secure, "required", required),
	SETTING(struct secure, "only-1.3", only_1_3),
	{ "handshake_timeout", setting_ms, offsetof(struct secure, tls.handshake_timeout_ns) },
	SETTING(struct secure, "no_ktls", tls.no_ktls),
	{ "dir", setting_folder, offsetof(struct secure, dir) },
	SETTING(struct secure, "plain", plain),
	SETTING(struct secure, "proxied", proxied),
	SETTING(struct secure, "to_https", to_https),
	SETTING(struct secure, "compression", compression),
	{ 0 },
};

static void bind_all(struct eddy_app *app, const struct setting_texts *addresses,
		     const struct eddy_bind_options *options)
{
	for (size_t i = 0; i < addresses->count; i++)
		eddy_app_add_bind(app, addresses->list[i], options);
}

/* What was taken, and follows from it. */
static void apply(struct secure *secure, struct eddy_app *app)
{
	static const char *const this_machine[] = { "127.0.0.0/8", NULL };

	if (secure->required)
		secure->tls.client_certs = EDDY_TLS_CLIENT_CERTS_REQUIRED;
	else if (secure->tls.client_ca)
		secure->tls.client_certs = EDDY_TLS_CLIENT_CERTS_OPTIONAL;
	if (secure->only_1_3)
		secure->tls.min_version = EDDY_TLS_1_3;
	if (secure->proxied.count > 0)
		secure->common.server.trusted_proxies = this_machine;
	settings_apply(&secure->common, app);
	bind_all(app, &secure->plain, &(struct eddy_bind_options){ .plain = true });
	bind_all(app, &secure->proxied, &(struct eddy_bind_options){ .proxy_protocol = true });
	eddy_app_use_tls(app, &secure->tls);
	for (size_t i = 0; i < secure->more.count; i++)
		eddy_app_add_tls_cert(app, secure->more.list[i], NULL);
	if (secure->compression)
		eddy_app_use_compression(app, NULL);
	if (secure->to_https)
		eddy_app_add_filter(app, to_https, app);
}

int main(int argc, char **argv)
{
	struct secure secure = { .dir = -1 };
	struct eddy_app *app = eddy_app_new();

	wolfSSL_SetAllocators(allocate, release, reallocate);
	eddy_log_text_subscribe();
	settings_take(argc, argv, switches, &secure, &secure.common);
	apply(&secure, app);
	eddy_app_set_context(app, &secure.dir);
	eddy_app_map_get(app, "/", session);
	eddy_app_map_get(app, "/files/{name}", download);
	eddy_app_map_put(app, "/files/{name}", upload);
	eddy_app_map_post(app, "/pump", pump);
	eddy_app_map_post(app, "/refuse", refuse);
	eddy_app_map_get(app, "/broken", broken);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	if (pipe(gate) < 0)
		return 1;
	eddy_app_map_get(app, "/memory", memory);
	eddy_app_map_get(app, "/held", held);
	eddy_app_map_post(app, "/let_go/{count}", let_go);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
