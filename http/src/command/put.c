/* eddy-put: uploads a file to a URL, and continues after failures if the server can.
 *
 *     $ eddy put large.iso https://example.com/files/
 *     large.iso: 3.9 GiB in 1:12, 55.6 MiB/s, 2 retries
 *
 * docs/man/eddy-put.1.md describes it.
 */
#include "transfer_command.h"

#include <eddy/internal/text.h>
#include <eddy/io.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
	"usage: eddy-put FILE URL [OPTION…]\n\n"
	"  FILE                  the file to upload; - for standard input, which is sent once\n"
	"  URL                   its target; the name of the file is added behind a final slash\n"
	"  --method NAME         PUT (the default) or POST\n"
	"  --plain               do not ask the server for resumption\n"
	"  --digest              send a digest of the file, for the server to check\n"
	"  --retries N           failures in a row after which it gives up; default 10\n"
	"  --ca FILE             certificates to trust besides the system's (PEM)\n"
	"  -H, --header NAME:VALUE   a header field of each request; may be repeated\n"
	"  -q, --quiet           print errors only\n";

struct put {
	struct transfer_command command;
	struct eddy_client_upload upload;
	const char *file;
	int fd;
	const char *url;
	bool is_input;   /* the file is standard input */
	uint64_t pulled; /* of it so far */
};

static ssize_t pull(void *data, void *buf, size_t len)
{
	struct put *put = data;
	ssize_t r = eddy_read(STDIN_FILENO, buf, len, EDDY_OFFSET_NONE);

	if (r > 0)
		put->pulled += (uint64_t)r;
	return r;
}

/* Send standard input in one request, without a length. Return: as eddy_client_upload(). */
static int put_input(struct put *put, struct eddy_client *client,
		     struct eddy_client_uploaded *ret_uploaded)
{
	struct eddy_response *response;
	int r = eddy_client_send(client, put->url,
				 &(struct eddy_client_request){
					 .method = put->upload.method,
					 .headers = put->command.headers,
					 .pull = pull,
					 .pull_data = put,
					 .timeout_ns = EDDY_NEVER,
				 },
				 &response);

	if (r < 0)
		return r;
	*ret_uploaded = (struct eddy_client_uploaded){
		.status = eddy_response_status(response),
		.size = put->pulled,
		.sent = put->pulled,
	};
	eddy_response_free(response);
	return 0;
}

/* Upload the file. Return: as eddy_client_upload(). */
static int put_file(struct put *put, struct eddy_client *client,
		    struct eddy_client_uploaded *ret_uploaded)
{
	put->upload.headers = put->command.headers;
	put->upload.retry = put->command.retry;
	put->upload.progress = transfer_command_show;
	put->upload.progress_data = &put->command;
	return eddy_client_upload(client, put->url, put->fd, &put->upload, ret_uploaded, NULL);
}

static void describe(const struct eddy_client_uploaded *done, bool digest, char *text, size_t size)
{
	int len = 0;

	text[0] = '\0';
	if (done->retries)
		len = snprintf(text, size, ", %u %s", done->retries,
			       done->retries == 1 ? "retry" : "retries");
	if (digest)
		snprintf(text + len, size - (size_t)len, ", sha-256 sent");
}

static int run(struct transfer_command *command, struct eddy_client *client)
{
	struct put *put = (struct put *)command;
	struct eddy_client_uploaded done;
	char more[80];
	int r = put->is_input ? put_input(put, client, &done) : put_file(put, client, &done);

	if (r < 0 && command->signo) {
		transfer_command_clear(command);
		fprintf(stderr, "%s: stopped\n", command->program);
	} else if (r < 0) {
		transfer_command_fail(command, client);
	} else if (done.status / 100 != 2) {
		fprintf(stderr, "%s: the server answered %d\n", command->program, done.status);
		r = -EREMOTEIO;
	} else {
		describe(&done, put->upload.digest, more, sizeof(more));
		transfer_command_sum_up(command, done.size, done.sent, more);
	}
	return r < 0 ? EXIT_FAILED : 0;
}

static void take_option(struct put *put, char **argv, int *at)
{
	struct transfer_command *command = &put->command;
	const char *option = argv[*at];

	if (transfer_command_option(command, argv, at))
		return;
	if (strcmp(option, "--plain") == 0) {
		put->upload.plain = true;
	} else if (strcmp(option, "--digest") == 0) {
		put->upload.digest = true;
	} else if (strcmp(option, "--method") == 0) {
		put->upload.method = transfer_command_value(command, argv, at);
		if (strcmp(put->upload.method, "PUT") != 0 &&
		    strcmp(put->upload.method, "POST") != 0)
			transfer_command_misuse(command, "--method takes PUT or POST, not ",
						put->upload.method);
	} else if (option[0] == '-' && option[1]) {
		transfer_command_misuse(command, "there is no option ", option);
	} else if (!put->file) {
		put->file = option;
	} else if (!put->url) {
		put->url = option;
	} else {
		transfer_command_misuse(command, "too many arguments: ", option);
	}
}

/* Add the file's name, percent-encoded, to a URL that ends with a slash. */
static void complete_url(struct put *put, const char *name)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	size_t len = strlen(put->url);
	char *url, *at;

	if (!len || put->url[len - 1] != '/' || strcmp(put->file, "-") == 0)
		return;
	url = malloc(len + 3 * strlen(name) + 1);
	if (!url)
		abort();
	at = stpcpy(url, put->url);
	for (; *name; name++) {
		if (strchr(plain, *name))
			*at++ = *name;
		else
			at = eddyi_percent_put(at, *name);
	}
	*at = '\0';
	put->url = url;
}

static int open_file(struct put *put)
{
	const char *slash = strrchr(put->file, '/');
	const char *name = slash ? slash + 1 : put->file;
	struct stat st;

	complete_url(put, name);
	transfer_command_printable(eddy_str_from(name), put->command.name,
				   sizeof(put->command.name));
	if (strcmp(put->file, "-") == 0) {
		put->is_input = true;
		return 0;
	}
	put->fd = open(put->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (put->fd < 0)
		return -errno;
	if (fstat(put->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	return 0;
}

int main(int argc, char **argv)
{
	static struct put put = {
		.command = { .program = "eddy put", .usage = usage, .run = run },
		.upload = { .method = "PUT" },
	};
	char name[256];
	int r;

	for (int at = 1; at < argc; at++)
		take_option(&put, argv, &at);
	if (!put.file || !put.url)
		transfer_command_misuse(&put.command, "a file and a URL are required", "");
	r = open_file(&put);
	if (r < 0) {
		fprintf(stderr, "eddy put: can't open %s: %s\n",
			transfer_command_printable(eddy_str_from(put.file), name, sizeof(name)),
			strerror(-r));
		return EXIT_FAILED;
	}
	return transfer_command_run(&put.command);
}
