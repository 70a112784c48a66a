/* resume: continue an interrupted download, unless the file has changed.
 *
 *     $ mkdir www; seq 100000 >www/numbers
 *     $ site www localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -r 0-9999 --etag-save numbers.etag -o numbers.part localhost:7878/numbers
 *     $ resume http://localhost:7878/numbers numbers
 *     numbers: 10000 bytes were there, 578895 have come
 *     $ cmp www/numbers numbers
 *     $ resume http://localhost:7878/numbers $(printf './%.0s' $(seq 2046))far 2>&1 || ls
 *     resume: File name too long
 *     numbers
 *     www
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct download {
	const char *url, *name;
	char part[PATH_MAX], etag[PATH_MAX]; /* files for the received bytes and their etag */
	char *tag;
	uint64_t had, has;
	int fd;
};

/* Look for the bytes of an earlier attempt, which are useless without their etag. */
static void look_back(struct download *download)
{
	struct stat stat;

	if (eddy_file_load(download->etag, EDDY_KIB, &download->tag) < 0)
		return;
	download->tag[strcspn(download->tag, "\r\n")] = 0;
	if (*download->tag && fstat(download->fd, &stat) == 0)
		download->had = (uint64_t)stat.st_size;
}

/* A 206 continues the download. A 200 has the whole file: start over. */
static int begin(struct download *download, const struct eddy_response *response)
{
	struct eddy_str tag = eddy_response_header(response, "etag");
	int status = eddy_response_status(response), fd, r;

	if (status == 206 && download->had)
		return 0;
	if (status == 416) /* nothing is left, or the file has changed */
		eddy_unlinkat(AT_FDCWD, download->etag, 0);
	if (status != 200)
		return -EPROTO;
	download->had = 0;
	r = eddy_ftruncate(download->fd, 0); /* first: the new etag does not fit the old bytes */
	if (r < 0)
		return r;
	fd = eddy_openat(AT_FDCWD, download->etag, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return fd;
	r = eddy_transfer_write(fd, tag.ptr, tag.len, 0);
	eddy_close(fd);
	return r;
}

static int take(struct download *download, struct eddy_response *response)
{
	char piece[64 * EDDY_KIB];
	ssize_t n = begin(download, response);

	download->has = download->had;
	while (n >= 0 && (n = eddy_response_read(response, piece, sizeof(piece))) > 0) {
		int r = eddy_transfer_write(download->fd, piece, (size_t)n, download->has);

		download->has += (uint64_t)n;
		if (r < 0)
			return r;
	}
	return (int)n;
}

static int ask(struct download *download)
{
	struct eddy_client *client =
		eddy_client_new(&(struct eddy_client_options){ .timeout_ns = EDDY_NEVER });
	struct eddy_header headers[] = { { "range", NULL }, { "if-range", NULL }, { 0 } };
	struct eddy_client_request request = { 0 };
	struct eddy_response *response = NULL;
	char range[40];
	int r;

	look_back(download);
	if (download->had) {
		snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)download->had);
		headers[0].value = range;
		headers[1].value = download->tag;
		request.headers = headers;
	}
	r = eddy_client_send(client, download->url, &request, &response);
	if (r == 0)
		r = take(download, response);
	eddy_response_free(response);
	eddy_client_free(client);
	return r;
}

static int fetch(void *arg)
{
	char **argv = arg;
	struct download download = { .url = argv[1], .name = argv[2] };
	int r;

	if (snprintf(download.part, PATH_MAX, "%s.part", download.name) >= PATH_MAX)
		return -ENAMETOOLONG; /* if truncated, both names would be equal */
	snprintf(download.etag, PATH_MAX, "%s.etag", download.name);
	download.fd = eddy_openat(AT_FDCWD, download.part, O_WRONLY | O_CREAT, 0644);
	if (download.fd < 0)
		return download.fd;
	r = ask(&download);
	eddy_close(download.fd);
	free(download.tag);
	if (r < 0)
		return r;
	printf("%s: %llu bytes were there, %llu have come\n", download.name,
	       (unsigned long long)download.had, (unsigned long long)(download.has - download.had));
	eddy_unlinkat(AT_FDCWD, download.etag, 0);
	return eddy_renameat(AT_FDCWD, download.part, AT_FDCWD, download.name, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return eddy_main(fetch, argv);
	fputs("usage: resume URL NAME\n", stderr);
	return 2;
}
