/* blobs: publish an upload under its SHA-256 digest, once the digest is verified.
 *
 *     $ mkdir blobs; echo hello >file
 *     $ blobs localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -T file localhost:7878/blobs/$(sha256sum file | cut -d ' ' -f 1) -w '%{http_code}\n'
 *     201
 *     $ echo hallo | curl -s -T - localhost:7878/blobs/$(sha256sum file | cut -d ' ' -f 1)
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"this is not what the digest says"}
 *     $ ls blobs
 *     5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
 *     $ curl -s localhost:7878/blobs/5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
 *     hello
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/sha256.h>

#define HEX_SIZE (2 * WC_SHA256_DIGEST_SIZE + 1)

/* Save the body and compute its digest. The file has no name yet: after an error it is gone. */
static int receive(struct eddy_req *req, int fd, char ret_hex[HEX_SIZE])
{
	unsigned char digest[WC_SHA256_DIGEST_SIZE];
	char piece[64 * EDDY_KIB];
	uint64_t size = 0;
	wc_Sha256 sha;
	ssize_t n;
	int r = wc_InitSha256(&sha) ? -ENOMEM : 0;

	while (r == 0 && (n = eddy_req_read(req, piece, sizeof(piece))) != 0) {
		r = n < 0 ? (int)n : eddy_transfer_write(fd, piece, (size_t)n, size);
		if (r == 0)
			wc_Sha256Update(&sha, (unsigned char *)piece, (word32)n);
		size += (uint64_t)n;
	}
	wc_Sha256Final(&sha, digest);
	wc_Sha256Free(&sha);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
	return r;
}

/* PUT /blobs/{digest} */
static int put(struct eddy_req *req, struct eddy_res *res)
{
	int dir = *(int *)eddy_req_context(req), fd, r;
	char hex[HEX_SIZE], path[32];
	struct eddy_str wanted;

	if (eddy_req_path(req, EDDY_TO(&wanted)) < 0)
		return 400;
	fd = eddy_openat(dir, ".", O_TMPFILE | O_WRONLY, 0644);
	if (fd < 0)
		return fd;
	r = receive(req, fd, hex);
	if (r == 0 && !eddy_str_eq_z(wanted, hex)) {
		r = eddy_res_problem(res, 400, "this is not what the digest says");
	} else if (r == 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		r = eddy_linkat(AT_FDCWD, path, dir, hex, AT_SYMLINK_FOLLOW);
		if (r == 0 || r == -EEXIST) /* the same content exists already */
			r = 201;
	}
	eddy_close(fd);
	return r;
}

/* GET /blobs/{digest} */
static int get(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_file_at(res, *(int *)eddy_req_context(req), name);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	int dir = open("blobs", O_DIRECTORY | O_CLOEXEC);

	eddy_log_text_subscribe();
	if (dir < 0) {
		eddy_error("blobs", "there is no folder blobs; to make it: mkdir blobs");
		return 1;
	}
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_context(app, &dir);
	eddy_app_use_body_limit(eddy_app_map_put(app, "/blobs/{digest}", put), EDDY_GIB);
	eddy_app_map_get(app, "/blobs/{digest}", get);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
