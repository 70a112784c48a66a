/* fetch: asks for URLs, one after the other, with one client.
 *
 *     fetch [--ca FILE] [--only] [--redirects N] [--put FILE] [--wait] URL…
 *
 * It writes a line for each: "200 BODY", or "-ERRNO TEXT"; and one with x-version and x-name, if the response has
 * them. `--only` trusts nobody but `--ca`; `--wait` reads a line before each URL but the first.
 */
#include "settings.h"

#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct fetch {
	struct eddy_client_options options;
	const char *put;
	bool wait;
	char **urls;
};

static int ask(struct eddy_client *client, const struct fetch *fetch, const char *url)
{
	struct eddy_client_file file = { .fd = -1 };
	struct eddy_client_request request = { 0 };
	struct eddy_response *response = NULL;
	struct eddy_str body;
	struct stat st;
	int r;

	if (fetch->put) {
		file.fd = open(fetch->put, O_RDONLY | O_CLOEXEC);
		if (file.fd < 0 || fstat(file.fd, &st) < 0)
			return -errno;
		file.len = (uint64_t)st.st_size;
		request = (struct eddy_client_request){ .method = "PUT", .file = &file };
	}
	r = eddy_client_send(client, url, &request, &response);
	if (r == 0)
		r = eddy_response_body(response, &body);
	if (r == 0)
		printf("%d %.*s\n", eddy_response_status(response), EDDY_FMT(body));
	else
		printf("%d %s\n", r, eddy_client_error(client));
	if (r == 0 && eddy_response_header(response, "x-name").ptr)
		printf("%.*s %.*s\n", EDDY_FMT(eddy_response_header(response, "x-version")),
		       EDDY_FMT(eddy_response_header(response, "x-name")));
	eddy_response_free(response);
	if (file.fd >= 0)
		close(file.fd);
	return 0;
}

static int fetch_all(void *arg)
{
	const struct fetch *fetch = arg;
	struct eddy_client *client = eddy_client_new(&fetch->options);
	int r = client ? 0 : -ENOMEM;

	for (char **url = fetch->urls; *url && r == 0; url++) {
		if (fetch->wait && url > fetch->urls)
			getchar();
		r = ask(client, fetch, *url);
		fflush(stdout);
	}
	eddy_client_free(client);
	return r;
}

static const struct setting switches[] = {
	SETTING(struct fetch, "ca", options.ca_file),
	SETTING(struct fetch, "only", options.ca_file_only),
	SETTING(struct fetch, "redirects", options.redirects_max),
	SETTING(struct fetch, "put", put),
	SETTING(struct fetch, "wait", wait),
	{ 0 },
};

int main(int argc, char **argv)
{
	struct fetch fetch = { .options.timeout_ns = 30 * EDDY_SECOND };

	fetch.urls = argv + settings_take(argc, argv, switches, &fetch, NULL);
	return eddy_run(NULL, fetch_all, &fetch) != 0;
}
