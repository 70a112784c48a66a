/* transfer_command.h: what eddy-get and eddy-put share: options, the progress bar, the end by a
 * signal. */
#ifndef EDDYI_TRANSFER_COMMAND_H
#define EDDYI_TRANSFER_COMMAND_H

#include <eddy/client_transfer.h>
#include <stdio.h>

/* Exit statuses besides 0 and 128 + signal. */
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_CONTINUE 3 /* failed, and the same command continues */
#define EXIT_DIGEST 4

#define HEADERS_MAX 64
#define LOGIN_MAX 512

struct transfer_command {
	const char *program; /* in messages: "eddy get" */
	const char *usage;
	/* Transfer a file. Suspends. Return: the exit status. */
	int (*run)(struct transfer_command *command, struct eddy_client *client);

	/* Of the command line. */
	const char *ca_file;
	char authorization[sizeof("Basic ") + (LOGIN_MAX + 2) / 3 * 4]; /* of --login */
	struct eddy_header headers[HEADERS_MAX + 1];
	unsigned header_count;
	struct eddy_client_retry retry;
	bool quiet;

	char name[256]; /* of the file, in messages; printable */
	int signo;      /* that ended it; 0: none */
	/* Of the reports. */
	bool has_bar;
	bool is_drawn;    /* the line of the terminal is in use */
	unsigned retries; /* of which a line was printed */
	uint64_t begun_ns;
	uint64_t rate_ns; /* when the rate was measured */
	uint64_t rate_bytes;
	double rate; /* bytes a second, smoothed */
	struct eddy_client_progress last;
};

/* Take an option that both commands have. `*at` is its index, and moves behind its value. Exits
 * with 2 if the value is missing or invalid, with 0 after --help.
 * Return: false if it is no such option. */
bool transfer_command_option(struct transfer_command *command, char **argv, int *at);

/* Get the value behind an option. Exits with 2 if there is none. */
const char *transfer_command_value(const struct transfer_command *command, char **argv, int *at);

/* Print a message and the usage, and exit with 2. */
_Noreturn void transfer_command_misuse(const struct transfer_command *command, const char *text,
				       const char *about);

/* Exit with 2 if the URL contains a user name. The message does not repeat it. */
void transfer_command_check_url(const struct transfer_command *command, const char *url);

/* Run the command in a loop. SIGINT, SIGTERM and SIGHUP cancel it. Return: the exit status. */
int transfer_command_run(struct transfer_command *command);

/* Show a report: a bar on a terminal, elsewhere a line for each retry. */
eddy_client_progress_fn transfer_command_show;

/* Remove the bar before other output. */
void transfer_command_clear(struct transfer_command *command);

/* Copy text of a server for a terminal: a '?' stands for each character that is not printable. */
const char *transfer_command_printable(struct eddy_str text, char *out, size_t size);

/* Print what failed, with the client's description. */
void transfer_command_fail(struct transfer_command *command, struct eddy_client *client);

/* Print "NAME: 1.2 GiB in 45 s, 27.3 MiB/s, 2 retries", and about the digest unless that is
 * NULL. */
void transfer_command_sum_up(struct transfer_command *command, uint64_t size, uint64_t moved,
			     const char *digest);

/* Format a number of bytes: "1.5 MiB". Return: `text`. */
#define BYTES_SIZE 16
const char *transfer_command_bytes(uint64_t bytes, char text[BYTES_SIZE]);

#endif
