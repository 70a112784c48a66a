#include "dropbox.h"

/* Post a checksum to the scanner, at most three times in 10 s. */
static int scan(const char *json)
{
	const struct eddy_header headers[] = { { "content-type", "application/json" }, { 0 } };
	const struct eddy_client_retry retry = { .max = 2, .delay_ns = 200 * EDDY_MS };
	const struct eddy_client_request request = { "POST", headers, eddy_str_from(json),
						     .timeout_ns = 2 * EDDY_SECOND,
						     .retry = &retry };
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_SECOND });
	r = eddy_client_send(client, dropbox.scan_url, &request, &response);
	if (r < 0 || eddy_response_status(response) >= 400)
		eddy_warn("dropbox", "can't report %s: %s", json, eddy_client_error(client));
	eddy_response_free(response);
	eddy_scope_end(&scope);
	eddy_client_free(client);
	return eddy_is_cancelled() ? -ECANCELED : 0;
}

/* Of each new file. */
static int checksum(const struct eddy_pg_job *job, void *arg)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	char hex[EDDY_SHA256_SIZE], json[128];
	struct eddy_str stored;
	int fd, r = eddy_pg_get(&dropbox.database.pg, &rows,
				"select stored from files where id = $1::bigint",
				EDDY_PG(job->payload), EDDY_TO(&stored));

	(void)arg;
	if (r == -ENOENT)
		return -EBADMSG; /* final: after other failures the job runs again */
	fd = r < 0 ? r : eddy_openat(dropbox.dir, stored.ptr, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	r = eddy_file_sha256(fd, hex);
	eddy_close(fd);
	if (r == 0)
		r = eddy_pg_query(&dropbox.database.pg, NULL,
				  "update files set sha256 = $2 where id = $1::bigint",
				  EDDY_PG(job->payload, hex));
	if (r < 0 || !dropbox.scan_url)
		return r;
	snprintf(json, sizeof(json), "{\"id\":%.*s,\"sha256\":\"%s\"}", EDDY_FMT(job->payload),
		 hex);
	return scan(json);
}

static const struct eddy_pg_job_kind kinds[] = { { .name = "checksum", .run = checksum },
						 { .name = NULL } };

struct eddy_pg_jobs dropbox_jobs = {
	.kinds = kinds, .concurrency = 1, .grace_ns = 20 * EDDY_SECOND, .drain = true
};
