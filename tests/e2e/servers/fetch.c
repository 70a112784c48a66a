/* fetch: asks for URLs, one after the other, with one client.
 *
 *     fetch [--ca FILE] [--only] [--redirects N] [--put FILE] [--wait] URL…
 *
 * It writes a line for each: "200 BODY", or "-ERRNO TEXT"; and one with x-version and x-name, if the response has
 * them. `--only` trusts nobody but `--ca`; `--wait` reads a line before each URL but the first.
 */
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(int argc, char **argv)
{
	static const struct option switches[] = {
		{ "ca", required_argument, NULL, 'c' },
		{ "only", no_argument, NULL, 'o' },
		{ "redirects", required_argument, NULL, 'r' },
		{ "put", required_argument, NULL, 'p' },
		{ "wait", no_argument, NULL, 'w' },
		{ 0 },
	};
	struct fetch fetch = { .options.timeout_ns = 30 * EDDY_SECOND };
	int c;

	while ((c = getopt_long(argc, argv, "", switches, NULL)) != -1) {
		if (c == 'c')
			fetch.options.ca_file = optarg;
		else if (c == 'o')
			fetch.options.ca_file_only = true;
		else if (c == 'r')
			fetch.options.redirects_max = (unsigned)atoi(optarg);
		else if (c == 'p')
			fetch.put = optarg;
		else if (c == 'w')
			fetch.wait = true;
		else
			return 2;
	}
	fetch.urls = argv + optind;
	return eddy_run(NULL, fetch_all, &fetch) != 0;
}
