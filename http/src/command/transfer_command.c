#include "transfer_command.h"

#include "text/base64.h"

#include <eddy/internal/text.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rate is that of about so long. */
#define RATE_NS (500 * EDDY_MS)
#define RATE_WEIGHT 0.2
#define WIDTH_MAX 200
#define BAR_MAX 40
#define REDIRECTS_MAX 10

/* ---- text ---- */

/* Write a character, or '?' if it is a control character, has no width, or changes the direction of
 * the text around it. An invalid byte has no length. */
static void print_character(struct eddyi_text *out, struct eddy_str c)
{
	static const unsigned hidden[][2] = {
		{ 0, 0x1f },        { 0x7f, 0x9f },     { 0x61c, 0x61c },   { 0x200b, 0x200b },
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
	};
	bool is_hidden = !c.len;
	unsigned code = 0;

	for (size_t i = 0; i < c.len; i++)
		code = i ? code << 6 | ((unsigned char)c.ptr[i] & 0x3f) :
			   (unsigned char)c.ptr[0] & (c.len > 1 ? 0xffU >> (c.len + 1) : 0xff);
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		is_hidden |= code >= hidden[i][0] && code <= hidden[i][1];
	eddyi_text_put(out, is_hidden ? "?" : c.ptr, is_hidden ? 1 : c.len);
}

const char *transfer_command_printable(struct eddy_str text, char *out, size_t size)
{
	struct eddyi_text printed = { .at = out, .end = out + size - 1 };

	eddyi_text_escaped(&printed, text, print_character);
	*printed.at = '\0';
	return out;
}

const char *transfer_command_bytes(uint64_t bytes, char text[BYTES_SIZE])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.5 && unit < 6; unit++)
		value /= 1024;
	snprintf(text, BYTES_SIZE, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return text;
}

/* Format a time: "45 s", "3:05", "1:02:03". */
static const char *format_time(uint64_t ns, char text[32])
{
	unsigned long long seconds = (ns + EDDY_SECOND / 2) / EDDY_SECOND;

	if (ns < 10 * EDDY_SECOND)
		snprintf(text, 32, "%.1f s", (double)ns / (double)EDDY_SECOND);
	else if (seconds < 60)
		snprintf(text, 32, "%llu s", seconds);
	else if (seconds < 3600)
		snprintf(text, 32, "%llu:%02llu", seconds / 60, seconds % 60);
	else
		snprintf(text, 32, "%llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
	return text;
}

/* ---- options ---- */

_Noreturn void transfer_command_misuse(const struct transfer_command *command, const char *text,
				       const char *about)
{
	fprintf(stderr, "%s: %s%s\n%s", command->program, text, about, command->usage);
	exit(EXIT_USAGE);
}

const char *transfer_command_value(const struct transfer_command *command, char **argv, int *at)
{
	const char *option = argv[*at];

	if (!argv[*at + 1])
		transfer_command_misuse(command, "a value is missing behind ", option);
	return argv[++*at];
}

void transfer_command_check_url(const struct transfer_command *command, const char *url)
{
	const char *slashes = strstr(url, "://"), *host = slashes ? slashes + 3 : "";

	if (!memchr(host, '@', strcspn(host, "/?#")))
		return;
	fprintf(stderr,
		"%s: URLs with a user name are not accepted; write NAME:PASSWORD to a file, and use "
		"--login FILE\n",
		command->program);
	exit(EXIT_USAGE);
}

static void add_header(struct transfer_command *command, const char *name, const char *value)
{
	if (command->header_count == HEADERS_MAX)
		transfer_command_misuse(command, "there are too many options --header", "");
	command->headers[command->header_count++] = (struct eddy_header){ name, value };
}

static void take_header(struct transfer_command *command, char *text)
{
	char *colon = strchr(text, ':');

	if (!colon || colon == text)
		transfer_command_misuse(command, "--header takes NAME:VALUE, not ", text);
	*colon = '\0';
	add_header(command, text, colon + 1 + strspn(colon + 1, " \t"));
}

static _Noreturn void refuse_login(const struct transfer_command *command, const char *path,
				   const char *why)
{
	fprintf(stderr, "%s: can't use the login in \"%s\": %s\n", command->program, path, why);
	exit(EXIT_USAGE);
}

/* Read a file that others have no access to. Return: its length; one that is too long fills
 * `text`. */
static size_t read_login(const struct transfer_command *command, const char *path,
			 char text[LOGIN_MAX + 2])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t r;

	if (fd < 0 || fstat(fd, &st) < 0)
		refuse_login(command, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		refuse_login(command, path, "it is no regular file");
	if (st.st_mode & 077)
		refuse_login(command, path, "others may read or change it; try: chmod 600");
	r = read(fd, text, LOGIN_MAX + 2);
	if (r < 0)
		refuse_login(command, path, strerror(errno));
	close(fd);
	return (size_t)r;
}

/* Take the NAME:PASSWORD in a file as Basic credentials (RFC 7617). */
static void take_login(struct transfer_command *command, const char *path)
{
	char text[LOGIN_MAX + 2];
	size_t len = read_login(command, path, text);
	const char *colon;

	len -= len && text[len - 1] == '\n';
	colon = memchr(text, ':', len);
	if (len > LOGIN_MAX || !colon || colon == text || colon + 1 == text + len)
		refuse_login(command, path, "it is not one line NAME:PASSWORD");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			refuse_login(command, path,
				     text[i] == '\n' ? "it has more than one line" :
						       "it contains a control character");
	if (command->authorization[0])
		transfer_command_misuse(command, "there is more than one option --login", "");
	*eddyi_base64_encode(text, len, stpcpy(command->authorization, "Basic ")) = '\0';
	explicit_bzero(text, sizeof(text));
	add_header(command, "authorization", command->authorization);
}

bool transfer_command_option(struct transfer_command *command, char **argv, int *at)
{
	const char *option = argv[*at];
	uint64_t number;

	if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
		fputs(command->usage, stdout);
		exit(0);
	} else if (strcmp(option, "--quiet") == 0 || strcmp(option, "-q") == 0) {
		command->quiet = true;
	} else if (strcmp(option, "--ca") == 0) {
		command->ca_file = transfer_command_value(command, argv, at);
	} else if (strcmp(option, "--header") == 0 || strcmp(option, "-H") == 0) {
		take_header(command, (char *)transfer_command_value(command, argv, at));
	} else if (strcmp(option, "--login") == 0) {
		take_login(command, transfer_command_value(command, argv, at));
	} else if (strcmp(option, "--retries") == 0) {
		const char *value = transfer_command_value(command, argv, at);

		if (eddy_str_to_u64(eddy_str_from(value), &number) < 0 || number > 1000000)
			transfer_command_misuse(
				command, "--retries takes a number up to 1000000, not ", value);
		command->retry.none = number == 0;
		command->retry.max = (unsigned)number;
	} else {
		return false;
	}
	return true;
}

/* ---- the progress bar ---- */

static int width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 80;
	return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void transfer_command_clear(struct transfer_command *command)
{
	if (command->is_drawn)
		fputs("\r\033[K", stderr);
	command->is_drawn = false;
}

static void measure(struct transfer_command *command, const struct eddy_client_progress *progress)
{
	uint64_t now_ns = eddy_now(), past_ns = now_ns - command->rate_ns;
	double rate;

	if (command->rate_ns && past_ns < RATE_NS)
		return;
	if (command->rate_ns && progress->bytes >= command->rate_bytes) {
		rate = (double)(progress->bytes - command->rate_bytes) * (double)EDDY_SECOND /
		       (double)past_ns;
		command->rate = command->rate > 0 ?
					command->rate * (1 - RATE_WEIGHT) + rate * RATE_WEIGHT :
					rate;
	}
	command->rate_ns = now_ns;
	command->rate_bytes = progress->bytes;
}

/* The part of the line behind the bar: how much, how fast, and how long it still takes. */
static void describe(const struct transfer_command *command,
		     const struct eddy_client_progress *progress, char text[160])
{
	char bytes[BYTES_SIZE], total[BYTES_SIZE], rate[BYTES_SIZE], left[32];

	transfer_command_bytes(progress->bytes, bytes);
	transfer_command_bytes((uint64_t)command->rate, rate);
	if (progress->total == UINT64_MAX) {
		snprintf(text, 160, "%s  %s/s", bytes, rate);
		return;
	}
	transfer_command_bytes(progress->total, total);
	strcpy(left, "-");
	if (command->rate >= 1 && progress->bytes <= progress->total)
		format_time((uint64_t)((double)(progress->total - progress->bytes) / command->rate *
				       (double)EDDY_SECOND),
			    left);
	snprintf(text, 160, "%3u%%  %s of %s  %s/s  %s left",
		 progress->total ?
			 (unsigned)((double)progress->bytes * 100 / (double)progress->total) :
			 100,
		 bytes, total, rate, left);
}

/* Count the columns of printable text, one for each character. */
static int columns_of(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += (*text & 0xc0) != 0x80;
	return columns;
}

/* Print as many characters of a text as fit. */
static void print_within(const char *text, int columns)
{
	for (; *text; text++) {
		if ((*text & 0xc0) != 0x80 && columns-- <= 0)
			break;
		fputc(*text, stderr);
	}
	/* The rest of a character that is printed. */
	while ((*text & 0xc0) == 0x80)
		fputc(*text++, stderr);
}

static void draw(struct transfer_command *command, const struct eddy_client_progress *progress)
{
	int columns = width() - 1, bar;
	char text[160];

	fputs("\r\033[K", stderr);
	command->is_drawn = true;
	describe(command, progress, text);
	bar = columns - columns_of(command->name) - columns_of(text) - 6;
	bar = progress->total == UINT64_MAX || bar > BAR_MAX ? BAR_MAX : bar;
	if (progress->total == UINT64_MAX || bar < 8) {
		print_within(text, columns);
	} else {
		int full = progress->total ?
				   (int)((double)progress->bytes * bar / (double)progress->total) :
				   bar;

		fprintf(stderr, "%s  [", command->name);
		for (int i = 0; i < bar; i++)
			fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
		fprintf(stderr, "]  %s", text);
	}
	fflush(stderr);
}

static void show_wait(struct transfer_command *command, const struct eddy_client_progress *progress)
{
	char problem[256], line[400], wait[32];

	transfer_command_printable(eddy_str_from(progress->waits_for), problem, sizeof(problem));
	snprintf(line, sizeof(line), "trying again in %s: %s", format_time(progress->wait_ns, wait),
		 problem);
	if (command->has_bar) {
		fputs("\r\033[K", stderr);
		command->is_drawn = true;
		print_within(line, width() - 1);
		fflush(stderr);
	} else if (command->retries != progress->retries) {
		fprintf(stderr, "%s: %s\n", command->program, line);
		command->retries = progress->retries;
	}
}

void transfer_command_show(void *data, const struct eddy_client_progress *progress)
{
	struct transfer_command *command = data;

	command->last = *progress;
	measure(command, progress);
	if (command->quiet)
		return;
	if (progress->waits_for)
		show_wait(command, progress);
	else if (command->has_bar)
		draw(command, progress);
}

/* ---- results ---- */

void transfer_command_fail(struct transfer_command *command, struct eddy_client *client)
{
	char text[512];

	transfer_command_clear(command);
	fprintf(stderr, "%s: %s\n", command->program,
		transfer_command_printable(eddy_str_from(eddy_client_error(client)), text,
					   sizeof(text)));
}

void transfer_command_sum_up(struct transfer_command *command, uint64_t size, uint64_t moved,
			     const char *digest)
{
	const struct eddy_client_progress *last = &command->last;
	uint64_t ns = eddy_now() - command->begun_ns;
	char bytes[BYTES_SIZE], rate[BYTES_SIZE], time[32];

	transfer_command_clear(command);
	if (command->quiet)
		return;
	fprintf(stderr, "%s: %s in %s, %s/s", command->name, transfer_command_bytes(size, bytes),
		format_time(ns, time),
		transfer_command_bytes(
			(uint64_t)((double)moved * (double)EDDY_SECOND / (double)(ns ? ns : 1)),
			rate));
	if (last->resumed)
		fprintf(stderr, ", %s of it from an earlier run",
			transfer_command_bytes(last->resumed, bytes));
	if (last->retries)
		fprintf(stderr, ", %u %s", last->retries, last->retries == 1 ? "retry" : "retries");
	fprintf(stderr, "%s%s\n", digest ? ", " : "", digest ? digest : "");
}

/* ---- running ---- */

struct running {
	struct transfer_command *command;
	struct eddy_signals signals;
	struct eddy_scope *transfer;
};

static int await_signal(void *arg)
{
	struct running *running = arg;
	int signo = eddy_signals_next(&running->signals);

	if (signo > 0) {
		running->command->signo = signo;
		eddy_scope_cancel(running->transfer);
	}
	return 0;
}

static int run(void *arg)
{
	struct running *running = arg;
	struct transfer_command *command = running->command;
	struct eddy_client *client = eddy_client_new(&(struct eddy_client_options){
		.ca_file = command->ca_file,
		.redirects_max = REDIRECTS_MAX,
		.idle_per_origin_max = 16,
	});
	struct eddy_scope waiting, transfer;
	int status = EXIT_FAILED;

	if (!client)
		return status;
	eddy_scope_begin(&waiting, NULL);
	eddy_scope_begin(&transfer, NULL);
	running->transfer = &transfer;
	if (eddy_scope_spawn(&waiting, "signals", await_signal, running) == 0)
		status = command->run(command, client);
	eddy_scope_end(&transfer);
	eddy_scope_end(&waiting);
	eddy_client_free(client);
	return status;
}

int transfer_command_run(struct transfer_command *command)
{
	struct running running = { .command = command };
	int r;

	command->has_bar = is_terminal() && !command->quiet;
	command->begun_ns = eddy_now();
	r = eddy_signals_open((int[]){ SIGINT, SIGTERM, SIGHUP, 0 }, &running.signals);
	if (r < 0) {
		fprintf(stderr, "%s: can't wait for signals: %s\n", command->program, strerror(-r));
		return EXIT_FAILED;
	}
	r = eddy_run(NULL, run, &running);
	eddy_signals_close(&running.signals);
	if (command->signo)
		return 128 + command->signo;
	return r < 0 ? EXIT_FAILED : r;
}
