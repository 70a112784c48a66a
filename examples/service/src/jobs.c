#include "dropbox.h"

/* Post a checksum to the scanner, at most three times in 10 s. */
static int scan(const char *url, const char *json)
{
	const struct eddy_header headers[] = { { "content-type", "application/json" }, { 0 } };
	const struct eddy_client_request request = { "POST", headers, eddy_str_from(json),
						     .timeout_ns = 2 * EDDY_SECOND };
	struct eddy_client *client = eddy_client_new(NULL);
	uint64_t pause_ns = 200 * EDDY_MS;
	struct eddy_scope scope;
	int r = -EAGAIN;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_SECOND });
	for (int try = 0; try < 3 && r < 0; try++, pause_ns *= 2) {
		struct eddy_response *response = NULL;

		if (try > 0 && eddy_sleep(pause_ns) < 0)
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
	char path[64], hex[EDDY_SHA256_SIZE], json[128];
	struct eddy_str stored;
	int fd, r = eddy_pg_query(&box->pg, &rows, "select stored from files where id = $1::bigint",
				  EDDY_PG(job->payload));

	if (r == 0)
		r = rows.count ? eddy_pg_row(&rows, 0, EDDY_TO(&stored)) : -EBADMSG;
	if (r < 0)
		return r; /* the job runs again later, except after -EBADMSG */
	snprintf(path, sizeof(path), "%.*s", EDDY_FMT(stored));
	fd = eddy_openat(box->dir, path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	r = eddy_file_sha256(fd, hex);
	eddy_close(fd);
	if (r == 0)
		r = eddy_pg_query(&box->pg, NULL,
				  "update files set sha256 = $2 where id = $1::bigint",
				  EDDY_PG(job->payload, hex));
	if (r < 0 || !box->scan_url)
		return r;
	snprintf(json, sizeof(json), "{\"id\":%.*s,\"sha256\":\"%s\"}", EDDY_FMT(job->payload),
		 hex);
	if (scan(box->scan_url, json) < 0)
		eddy_warn("dropbox", "the scanner does not take %s", json);
	return eddy_is_cancelled() ? -ECANCELED : 0;
}
