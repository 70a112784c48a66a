/* eddy-get: downloads a URL into a file, and continues after failures.
 *
 *     $ eddy get https://example.com/large.iso
 *     large.iso: 3.9 GiB in 1:12, 55.6 MiB/s
 *
 * docs/man/eddy-get.1.md describes it.
 */
#include "transfer_command.h"

#include <eddy/io.h>
#include <eddy/list.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
	"usage: eddy-get URL [FILE] [OPTION…]\n\n"
	"  -o, --output FILE     the file or folder to download into; - for standard output;\n"
	"                        default: the name that the server or the URL has, in this folder\n"
	"  --force               replace a file of this name\n"
	"  --restart             discard what an earlier run left, and begin again\n"
	"  --connections N       download parts of the file by N connections, 1 to 16; default 1\n"
	"  --digest              ask for a digest of the file, and fail without one\n"
	"  --retries N           failures in a row after which it gives up; default 10\n"
	"  --login FILE          a name and password for the server; FILE has NAME:PASSWORD, and\n"
	"                        only its owner has access to it\n"
	"  --ca FILE             certificates to trust besides the system's (PEM)\n"
	"  -H, --header NAME:VALUE   a header field of each request; may be repeated\n"
	"  -q, --quiet           print errors only\n";

struct get {
	struct transfer_command command;
	struct eddy_client_download download;
	const char *url;
	int dir;
	const char *output;
};

/* Write to standard output. */
static int print(void *data, struct eddy_str bytes)
{
	(void)data;
	return eddy_write_all(STDOUT_FILENO, bytes.ptr, bytes.len, EDDY_OFFSET_NONE);
}

/* Open the folder of the output. Return: 0, -errno. */
static int find_target(struct get *get)
{
	static char folder[4096];
	const char *slash = strrchr(get->output, '/');
	struct stat st;

	if (stat(get->output, &st) == 0 && S_ISDIR(st.st_mode)) {
		get->dir = open(get->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return get->dir < 0 ? -errno : 0;
	}
	get->download.name = slash ? slash + 1 : get->output;
	if (!slash)
		return 0;
	if ((size_t)(slash - get->output) >= sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(folder, get->output, (size_t)(slash - get->output) + 1);
	get->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return get->dir < 0 ? -errno : 0;
}

static int fail(struct get *get, struct eddy_client *client, int error)
{
	struct transfer_command *command = &get->command;
	bool can_resume = command->last.can_resume && error != -EILSEQ;
	char bytes[BYTES_SIZE];

	if (command->signo)
		transfer_command_clear(command);
	else
		transfer_command_fail(command, client);
	if (error == -EEXIST)
		fprintf(stderr, "%s: to replace it: --force; or give another name\n",
			command->program);
	else if (can_resume)
		fprintf(stderr, "%s: %s were kept; to continue, run the same command again\n",
			command->program, transfer_command_bytes(command->last.bytes, bytes));
	else if (command->signo)
		fprintf(stderr, "%s: stopped; nothing was kept\n", command->program);
	if (error == -EILSEQ)
		return EXIT_DIGEST;
	return can_resume && error != -EEXIST ? EXIT_CONTINUE : EXIT_FAILED;
}

static int run(struct transfer_command *command, struct eddy_client *client)
{
	struct get *get = eddy_of(command, struct get, command);
	struct eddy_client_downloaded done;
	char digest[32];
	int r;

	get->download.headers = command->headers;
	get->download.retry = command->retry;
	get->download.progress = transfer_command_show;
	get->download.progress_data = command;
	r = eddy_client_download(client, get->url, get->dir, &get->download, &done);
	if (r < 0)
		return fail(get, client, r);
	transfer_command_printable(eddy_str_from(get->download.take ? "-" : done.name),
				   command->name, sizeof(command->name));
	snprintf(digest, sizeof(digest), "%s checked", done.digest ? done.digest : "");
	transfer_command_sum_up(command, done.size, done.received, done.digest ? digest : NULL);
	return 0;
}

static void take_option(struct get *get, char **argv, int *at)
{
	struct transfer_command *command = &get->command;
	const char *option = argv[*at];
	uint64_t number;

	if (transfer_command_option(command, argv, at))
		return;
	if (strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0) {
		get->output = transfer_command_value(command, argv, at);
	} else if (strcmp(option, "--force") == 0) {
		get->download.no_replace = false;
	} else if (strcmp(option, "--restart") == 0) {
		get->download.start_again = true;
	} else if (strcmp(option, "--digest") == 0) {
		get->download.require_digest = true;
	} else if (strcmp(option, "--connections") == 0) {
		const char *value = transfer_command_value(command, argv, at);

		if (eddy_str_to_u64(eddy_str_from(value), &number) < 0 || !number || number > 16)
			transfer_command_misuse(
				command, "--connections takes a number from 1 to 16, not ", value);
		get->download.connections = (unsigned)number;
	} else if (option[0] == '-' && option[1]) {
		transfer_command_misuse(command, "there is no option ", option);
	} else if (!get->url) {
		get->url = option;
	} else if (!get->output) {
		get->output = option;
	} else {
		transfer_command_misuse(command, "too many arguments: ", option);
	}
}

/* Name the download in messages until its file has a name: the end of the URL's path. */
static void name_download(struct get *get)
{
	const char *text = get->output ? get->output : get->url;
	struct eddy_str rest = eddy_str(text, strcspn(text, get->output ? "" : "?#"));
	struct eddy_str name = rest, piece;

	while (eddy_str_split(&rest, '/', &piece))
		if (piece.len)
			name = piece;
	transfer_command_printable(name, get->command.name, sizeof(get->command.name));
}

int main(int argc, char **argv)
{
	static struct get get = {
		.command = { .program = "eddy get", .usage = usage, .run = run },
		.download.no_replace = true,
		.dir = AT_FDCWD,
	};
	int r;

	for (int at = 1; at < argc; at++)
		take_option(&get, argv, &at);
	if (!get.url)
		transfer_command_misuse(&get.command, "a URL is missing", "");
	transfer_command_check_url(&get.command, get.url);
	if (get.output && strcmp(get.output, "-") == 0) {
		if (get.download.require_digest)
			transfer_command_misuse(&get.command, "--digest needs a file", "");
		get.download.take = print;
	} else if (get.output && (r = find_target(&get)) < 0) {
		fprintf(stderr, "eddy get: can't open the folder of %s: %s\n", get.output,
			strerror(-r));
		return EXIT_FAILED;
	}
	name_download(&get);
	return transfer_command_run(&get.command);
}
