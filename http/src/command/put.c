/* eddy-put: uploads a file to a URL, and continues after failures if the server can.
 *
 *     $ eddy put large.iso https://example.com/files/
 *     large.iso: 3.9 GiB in 1:12, 55.6 MiB/s, 2 retries
 *
 * docs/man/eddy-put.1.md describes it.
 */
#include "transfer_command.h"

#include <eddy/internal/siphash.h>
#include <eddy/internal/text.h>
#include <eddy/io.h>
#include <eddy/list.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char usage[] =
	"usage: eddy-put FILE URL [OPTION…]\n\n"
	"  FILE                  the file to upload; - for standard input, which is sent once\n"
	"  URL                   its target; the name of the file is added behind a final slash\n"
	"  --method NAME         PUT (the default) or POST\n"
	"  --restart             begin again, instead of continuing what an earlier run has begun\n"
	"  --plain               do not ask the server for resumption\n"
	"  --digest              send a digest of the file, for the server to check\n"
	"  --retries N           failures in a row after which it gives up; default 10\n"
	"  --login FILE          a name and password for the server; FILE has NAME:PASSWORD, and\n"
	"                        only its owner has access to it\n"
	"  --ca FILE             certificates to trust besides the system's (PEM)\n"
	"  -H, --header NAME:VALUE   a header field of each request; may be repeated\n"
	"  -q, --quiet           print errors only\n";

/* The upload is continued by a later run that finds its URL in the state file. That is
 * $XDG_STATE_HOME/eddy/uploads/HASH, by the target and the path of the file, whose folder may be
 * read-only or shared. It has `identity` and a line with the URL of the upload. */
#define IDENTITY_SIZE (3 * PATH_MAX)
#define UPLOAD_URL_SIZE 8193

#define CANCEL_NS (5 * EDDY_SECOND)

struct put {
	struct transfer_command command;
	struct eddy_client_upload upload;
	const char *file;
	int fd;
	const char *url;
	bool is_input;   /* the file is standard input */
	uint64_t pulled; /* of it so far */
	bool restarts;   /* an earlier run is not continued */
	int state;       /* the state file, locked; -1: none */
	char state_path[PATH_MAX];
	char identity[IDENTITY_SIZE];     /* target, file, its size and times */
	char upload_url[UPLOAD_URL_SIZE]; /* empty: none */
};

/* ---- the state file ---- */

/* Make the folders of the state file's path. */
static void make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
}

/* Name the state file. Return: false if there is no place for it. */
static bool name_state(struct put *put, const struct stat *st)
{
	const char *folder = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool is_given = folder && folder[0] == '/';
	char path[PATH_MAX];
	uint64_t hash;
	int len;

	if ((!is_given && (!home || home[0] != '/')) || !realpath(put->file, path))
		return false;
	len = snprintf(put->identity, IDENTITY_SIZE, "eddy put 1\n%s\n%s\n", put->url, path);
	if (len >= IDENTITY_SIZE - 128)
		return false;
	hash = eddyi_siphash(eddy_str(put->identity, (size_t)len), (const uint64_t[2]){ 1, 2 });
	snprintf(put->identity + len, 128, "%llu %lld.%09ld %llu:%llu\n",
		 (unsigned long long)st->st_size, (long long)st->st_mtim.tv_sec,
		 st->st_mtim.tv_nsec, (unsigned long long)st->st_dev,
		 (unsigned long long)st->st_ino);
	len = snprintf(put->state_path, PATH_MAX, "%s%s/eddy/uploads/%016llx",
		       is_given ? folder : home, is_given ? "" : "/.local/state",
		       (unsigned long long)hash);
	if (len >= PATH_MAX)
		put->state_path[0] = '\0';
	return len < PATH_MAX;
}

/* Open the state file, and lock it against other runs of the same upload. */
static void open_state(struct put *put, int flags)
{
	put->state = open(put->state_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (put->state < 0 || flock(put->state, LOCK_EX | LOCK_NB) == 0)
		return;
	close(put->state);
	put->state = -1;
}

static void remove_state(struct put *put)
{
	if (put->state < 0)
		return;
	unlink(put->state_path);
	close(put->state);
	put->state = -1;
}

/* Continue the upload of an earlier run. */
static void load_state(struct put *put)
{
	char text[IDENTITY_SIZE + UPLOAD_URL_SIZE];
	size_t len = strlen(put->identity);
	ssize_t r;
	char *end;

	open_state(put, 0);
	r = put->state < 0 ? 0 : pread(put->state, text, sizeof(text) - 1, 0);
	text[r > 0 ? r : 0] = '\0';
	if (put->restarts || strncmp(text, put->identity, len) != 0 ||
	    !(end = strchr(text + len, '\n')) || end - text - len >= UPLOAD_URL_SIZE)
		return;
	*end = '\0';
	strcpy(put->upload_url, text + len);
	put->upload.resume_url = put->upload_url;
}

/* Write the URL of the upload. Without it, a later run begins again. */
static void save_state(struct put *put)
{
	size_t identity_len = strlen(put->identity), url_len = strlen(put->upload_url);
	struct iovec parts[] = { { put->identity, identity_len },
				 { put->upload_url, url_len },
				 { "\n", 1 } };

	if (!put->state_path[0])
		return;
	if (put->state < 0) {
		make_folders(put->state_path);
		open_state(put, O_CREAT);
	}
	if (put->state >= 0 &&
	    pwritev(put->state, parts, 3, 0) != (ssize_t)(identity_len + url_len + 1))
		remove_state(put);
}

/* Keep the URL of the upload, which may become known or be lost. */
static void take_upload_url(struct put *put, const char *url)
{
	if (!url || strlen(url) >= UPLOAD_URL_SIZE)
		url = "";
	if (strcmp(url, put->upload_url) == 0)
		return;
	strcpy(put->upload_url, url);
	if (url[0])
		save_state(put);
}

/* ---- the upload ---- */

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

static void show(void *data, const struct eddy_client_progress *progress)
{
	struct put *put = data;

	take_upload_url(put, progress->upload_url);
	transfer_command_show(&put->command, progress);
}

/* Upload the file. Return: as eddy_client_upload(). */
static int put_file(struct put *put, struct eddy_client *client,
		    struct eddy_client_uploaded *ret_uploaded)
{
	put->upload.headers = put->command.headers;
	put->upload.retry = put->command.retry;
	put->upload.progress = show;
	put->upload.progress_data = put;
	return eddy_client_upload(client, put->url, put->fd, &put->upload, ret_uploaded, NULL);
}

/* Cancel the upload, which no later run could find. Return: whether the server has discarded it. */
static bool cancel(struct put *put, struct eddy_client *client)
{
	struct eddy_scope shield;
	int r;

	put->upload.resume_url = put->upload_url;
	eddy_scope_begin(&shield, &(struct eddy_scope_options){
					  .shielded = true,
					  .timeout_ns = CANCEL_NS,
				  });
	r = eddy_client_upload_cancel(client, put->url, &put->upload);
	eddy_scope_end(&shield);
	return r == 0;
}

/* Say what is left of an upload that has failed. Return: the exit status. */
static int say_what_is_left(struct put *put, struct eddy_client *client)
{
	struct transfer_command *command = &put->command;
	bool is_left = command->last.can_resume && put->upload_url[0];
	char url[UPLOAD_URL_SIZE];

	if (is_left && put->state >= 0) {
		fprintf(stderr, "%s: to continue, run the same command again\n", command->program);
		return EXIT_CONTINUE;
	}
	remove_state(put);
	if (is_left && !cancel(put, client))
		fprintf(stderr,
			"%s: the next run begins again; the server may keep what it has at %s\n",
			command->program,
			transfer_command_printable(eddy_str_from(put->upload_url), url,
						   sizeof(url)));
	else if (command->signo)
		fprintf(stderr, "%s: stopped; the next run begins again\n", command->program);
	return EXIT_FAILED;
}

static int run(struct transfer_command *command, struct eddy_client *client)
{
	struct put *put = eddy_of(command, struct put, command);
	struct eddy_client_uploaded done;
	int r = put->is_input ? put_input(put, client, &done) : put_file(put, client, &done);

	if (r == 0)
		remove_state(put);
	if (r == 0 && done.status / 100 == 2) {
		transfer_command_sum_up(command, done.size, done.sent,
					put->upload.digest ? "sha-256 sent" : NULL);
		return 0;
	}
	if (r == 0)
		fprintf(stderr, "%s: the server answered %d\n", command->program, done.status);
	else if (command->signo)
		transfer_command_clear(command);
	else
		transfer_command_fail(command, client);
	return r == 0 ? EXIT_FAILED : say_what_is_left(put, client);
}

static void take_option(struct put *put, char **argv, int *at)
{
	struct transfer_command *command = &put->command;
	const char *option = argv[*at];

	if (transfer_command_option(command, argv, at))
		return;
	if (strcmp(option, "--restart") == 0) {
		put->restarts = true;
	} else if (strcmp(option, "--plain") == 0) {
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
	size_t len = strlen(put->url);
	char *url;

	if (!len || put->url[len - 1] != '/' || strcmp(put->file, "-") == 0)
		return;
	url = malloc(len + 3 * strlen(name) + 1);
	if (!url)
		abort();
	*eddyi_percent_encode(stpcpy(url, put->url), eddy_str_from(name), "-._~") = '\0';
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
	if (fstat(put->fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!put->upload.plain && name_state(put, &st))
		load_state(put);
	return 0;
}

int main(int argc, char **argv)
{
	static struct put put = {
		.command = { .program = "eddy put", .usage = usage, .run = run },
		.upload.method = "PUT",
		.state = -1,
	};
	char name[256];
	int r;

	for (int at = 1; at < argc; at++)
		take_option(&put, argv, &at);
	if (!put.file || !put.url)
		transfer_command_misuse(&put.command, "a file and a URL are required", "");
	transfer_command_check_url(&put.command, put.url);
	r = open_file(&put);
	if (r < 0) {
		fprintf(stderr, "eddy put: can't open %s: %s\n",
			transfer_command_printable(eddy_str_from(put.file), name, sizeof(name)),
			strerror(-r));
		return EXIT_FAILED;
	}
	return transfer_command_run(&put.command);
}
