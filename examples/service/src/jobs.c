#include "dropbox.h"

#include <openssl/evp.h>

struct digest {
	int fd;
	char hex[65];
};

/* Runs on a thread of the offload pool, so it may block. */
static int digest(void *arg)
{
	struct digest *digest = arg;
	unsigned char piece[16 * EDDY_KIB];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL);
	ssize_t n = 0;

	while (ok && (n = read(digest->fd, piece, sizeof(piece))) > 0)
		ok = EVP_DigestUpdate(ctx, piece, (size_t)n);
	ok = ok && n == 0 && EVP_DigestFinal_ex(ctx, piece, NULL);
	for (int i = 0; ok && i < 32; i++)
		snprintf(digest->hex + 2 * i, 3, "%02x", piece[i]);
	EVP_MD_CTX_free(ctx);
	return ok ? 0 : -EIO;
}

/* Post a checksum to the scanner, at most three times in 10 s. */
static int scan(const char *url, const char *json)
{
	struct eddy_client *client = eddy_client_new(NULL);
	const struct eddy_header headers[] = { { "content-type", "application/json" }, { 0 } };
	const struct eddy_client_request request = { .method = "POST",
						     .headers = headers,
						     .body = eddy_str_from(json),
						     .timeout_ns = 2 * EDDY_SECOND };
	uint64_t pause_ns = 200 * EDDY_MS;
	struct eddy_scope scope;
	int r = -EAGAIN;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_SECOND });
	for (int attempt = 0; attempt < 3 && r < 0; attempt++, pause_ns *= 2) {
		struct eddy_response *response = NULL;

		if (attempt > 0 && eddy_sleep(pause_ns) < 0)
			break;
		r = eddy_client_send(client, url, &request, &response);
		if (r == 0 && eddy_response_status(response) >= 500) {
			eddy_response_retry_after(response, &pause_ns);
			r = -EAGAIN;
		}
		eddy_response_free(response);
	}
	eddy_scope_end(&scope);
	eddy_client_free(client);
	return r;
}

int dropbox_checksum(const struct eddy_pg_job *job, void *arg)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct dropbox *box = arg;
	struct digest sum = { 0 };
	struct eddy_str stored;
	char text[128];
	int64_t id;
	int r = eddy_pg_query(&box->pg, &rows, "select id, stored from files where id = $1::bigint",
			      EDDY_PG(job->payload));

	if (r == 0)
		r = rows.count ? eddy_pg_row(&rows, 0, EDDY_TO(&id), EDDY_TO(&stored)) : -EBADMSG;
	if (r < 0)
		return r; /* the job is run again later, except after -EBADMSG */
	snprintf(text, sizeof(text), "%.*s", EDDY_FMT(stored));
	sum.fd = eddy_openat(box->dir, text, O_RDONLY, 0);
	if (sum.fd < 0)
		return sum.fd;
	r = eddy_offload(digest, &sum);
	eddy_close(sum.fd);
	if (r == 0)
		r = eddy_pg_query(&box->pg, NULL, "update files set sha256 = $2 where id = $1",
				  EDDY_PG(id, sum.hex));
	if (r < 0 || !box->scan_url)
		return r;
	snprintf(text, sizeof(text), "{\"id\":%lld,\"sha256\":\"%s\"}", (long long)id, sum.hex);
	r = scan(box->scan_url, text);
	if (r < 0)
		eddy_warn("dropbox", "the scanner does not get the checksum of file %lld: %s",
			  (long long)id, strerror(-r));
	return eddy_is_cancelled() ? -ECANCELED : 0;
}
