#include "options.h"

#include "digest.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ROUNDS_MAX 1000
#define SECONDS_MAX 86400
#define RATE_MAX 1e7
#define SIZE_MAX_BYTES ((uint64_t)1 << 44)

__attribute__((format(printf, 2, 3))) static int wrong(char error[OPTIONS_ERROR_SIZE],
						       const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, OPTIONS_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static bool parse_double(const char *text, double least, double most, double *ret_value,
			 const char **ret_end)
{
	char *end;
	double value;

	/* strtod() would take blanks, signs, "nan" and hexadecimal. */
	if (*text < '0' || *text > '9' || text[strspn(text, "0123456789.")] == 'x')
		return false;
	value = strtod(text, &end);
	if (!isfinite(value))
		return false;
	*ret_value = value;
	*ret_end = end;
	return value >= least && value <= most;
}

bool options_seconds(const char *text, double *ret_seconds)
{
	const char *end;
	double seconds;

	if (!parse_double(text, 0, SECONDS_MAX * 1e3, &seconds, &end))
		return false;
	if (strcmp(end, "ms") == 0)
		seconds /= 1e3;
	else if (*end && strcmp(end, "s") != 0)
		return false;
	*ret_seconds = seconds;
	return seconds <= SECONDS_MAX;
}

bool options_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "kmg";
	unsigned long long bytes;
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno || bytes > SIZE_MAX_BYTES)
		return false;
	unit = *end ? strchr(units, *end | 32) : NULL;
	if (unit && *unit) {
		bytes <<= 10 * (unit - units + 1);
		end++;
		if (strcasecmp(end, "ib") == 0)
			end += 2;
	}
	*ret_bytes = bytes;
	return !*end && bytes <= SIZE_MAX_BYTES;
}

static bool parse_count(const char *text, unsigned most, unsigned *ret_count)
{
	uint64_t count;

	if (!options_size(text, &count) || count < 1 || count > most)
		return false;
	*ret_count = (unsigned)count;
	return true;
}

/* Return: how many items a list with commas had, 0 when one is wrong or there are too many. */
static size_t parse_list(const char *text, bool (*take)(const char *item, void *list, size_t at),
			 void *list)
{
	char item[32];
	size_t count = 0;

	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof(item) || count == OPTIONS_LIST_MAX)
			return 0;
		memcpy(item, text, len);
		item[len] = 0;
		if (!take(item, list, count++))
			return 0;
		text += len;
		if (!*text)
			return count;
	}
}

static bool take_size(const char *item, void *list, size_t at)
{
	uint64_t *sizes = list;

	for (size_t i = 0; i < at; i++)
		if (options_size(item, &sizes[at]) && sizes[i] == sizes[at])
			return false;
	return options_size(item, &sizes[at]);
}

static bool take_connections(const char *item, void *list, size_t at)
{
	unsigned *connections = list;

	if (!parse_count(item, OPTIONS_CONNECTIONS_MAX, &connections[at]))
		return false;
	for (size_t i = 0; i < at; i++)
		if (connections[i] == connections[at])
			return false;
	return true;
}

/* "Name: value", and nothing that would make two lines of it. */
static bool is_header(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || strcspn(text, " \t") < (size_t)(colon - text))
		return false;
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 127)
			return false;
	return true;
}

static bool is_written_by_us(const char *header)
{
	static const char *const names[] = { "host", "content-length", "transfer-encoding" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncasecmp(header, names[i], strlen(names[i])) == 0 &&
		    header[strlen(names[i])] == ':')
			return true;
	return false;
}

static bool is_method(const char *text)
{
	return *text && strlen(text) <= 32 &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-") ==
		       strlen(text);
}

static bool is_digest(const char *text)
{
	return strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}

enum {
	SIZES = 256,
	AGAINST,
	BETWEEN,
	BODY_FILE,
	COLD,
	DIGEST,
	EXPECT,
	FILES,
	HTML,
	JSON,
	MARKDOWN,
	NO_CALLS,
	PID,
	PROGRESS,
	STALL,
	TIMEOUT,
	VERIFY,
	WARMUP,
};

static const struct option longs[] = {
	{ "against", required_argument, NULL, AGAINST },
	{ "between", required_argument, NULL, BETWEEN },
	{ "body-file", required_argument, NULL, BODY_FILE },
	{ "cold", no_argument, NULL, COLD },
	{ "connections", required_argument, NULL, 'c' },
	{ "depth", required_argument, NULL, 'd' },
	{ "digest", required_argument, NULL, DIGEST },
	{ "expect", required_argument, NULL, EXPECT },
	{ "files", required_argument, NULL, FILES },
	{ "header", required_argument, NULL, 'H' },
	{ "html", required_argument, NULL, HTML },
	{ "json", required_argument, NULL, JSON },
	{ "markdown", required_argument, NULL, MARKDOWN },
	{ "method", required_argument, NULL, 'X' },
	{ "no-system-calls", no_argument, NULL, NO_CALLS },
	{ "pid", required_argument, NULL, PID },
	{ "progress", no_argument, NULL, PROGRESS },
	{ "rate", required_argument, NULL, 'R' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "sizes", required_argument, NULL, SIZES },
	{ "stall", required_argument, NULL, STALL },
	{ "time", required_argument, NULL, 't' },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "verify", no_argument, NULL, VERIFY },
	{ "warmup", required_argument, NULL, WARMUP },
	{ 0 },
};

static bool take_number(int option, const char *text, struct options *options)
{
	const char *end;
	double seconds;
	unsigned count;

	switch (option) {
	case 'd':
		return parse_count(text, OPTIONS_DEPTH_MAX, &options->depth);
	case 'r':
		return parse_count(text, ROUNDS_MAX, &options->rounds);
	case 'R':
		return parse_double(text, 1e-3, RATE_MAX, &options->rate, &end) && !*end;
	case 't':
		return options_seconds(text, &options->seconds) && options->seconds > 0;
	case WARMUP:
		return options_seconds(text, &options->warmup);
	case TIMEOUT:
		if (!options_seconds(text, &seconds) || seconds < 1e-3)
			return false;
		options->timeout_ns = (uint64_t)(seconds * 1e9);
		return true;
	case EXPECT:
		if (!parse_count(text, 599, &count) || count < 200)
			return false;
		options->expect = (int)count;
		return true;
	default:
		if (!parse_count(text, 1 << 30, &count))
			return false;
		options->pid = count;
		return true;
	}
}

static bool take_stall(const char *text, struct options *options)
{
	options->stall = strcmp(text, "get") == 0 ? STALL_GET :
			 strcmp(text, "put") == 0 ? STALL_PUT :
						    STALL_NONE;
	return options->stall != STALL_NONE;
}

/* Return: what should be there instead; NULL when it is fine. */
static const char *take_option(int option, const char *text, struct options *options)
{
	switch (option) {
	case SIZES:
		options->size_count = parse_list(text, take_size, options->sizes);
		return options->size_count ? NULL : "sizes such as 4K,64K,1M, each once";
	case 'c':
		options->connection_count =
			parse_list(text, take_connections, options->connections);
		return options->connection_count ? NULL : "numbers from 1 to 100000, each once";
	case 'H':
		if (options->header_count == OPTIONS_LIST_MAX)
			return "no more than 32 of them";
		options->headers[options->header_count++] = text;
		if (is_written_by_us(text))
			return "a field that eddy-bench does not write itself";
		return is_header(text) ? NULL : "'Name: value'";
	case 'X':
		options->method = text;
		return is_method(text) ? NULL : "a method such as POST";
	case DIGEST:
		options->digest = text;
		options->verify = true;
		return is_digest(text) ? NULL : "a SHA-256 in hexadecimal";
	case STALL:
		return take_stall(text, options) ? NULL : "get or put";
	case 't':
	case WARMUP:
	case TIMEOUT:
		return take_number(option, text, options) ? NULL :
							    "a time such as 0.5, 2s or 500ms";
	default:
		return take_number(option, text, options) ? NULL :
							    "a number, and one within reason";
	}
}

/* Options that are no more than a text, or than there. Return: whether it is one. */
static bool take_plain(int option, const char *text, struct options *options)
{
	switch (option) {
	case AGAINST:
		options->against = text;
		return true;
	case BETWEEN:
		options->between = text;
		return true;
	case BODY_FILE:
		options->body_file = text;
		return true;
	case FILES:
		options->files = text;
		return true;
	case HTML:
		options->html = text;
		return true;
	case JSON:
		options->json = text;
		return true;
	case MARKDOWN:
		options->markdown = text;
		return true;
	case COLD:
		options->cold = true;
		return true;
	case NO_CALLS:
		options->no_calls = true;
		return true;
	case PROGRESS:
		options->progress = true;
		return true;
	case VERIFY:
		options->verify = true;
		return true;
	default:
		return false;
	}
}

static const char *long_name(int option)
{
	for (size_t i = 0; longs[i].name; i++)
		if (longs[i].val == option)
			return longs[i].name;
	return "?";
}

static int take_urls(int count, char **texts, struct options *options,
		     char error[OPTIONS_ERROR_SIZE])
{
	if (!count)
		return wrong(error, "no URL: eddy-bench %s http://HOST:PORT/PATH",
			     options->work_name);
	if (count > OPTIONS_TARGETS_MAX)
		return wrong(error, "more than %d URLs", OPTIONS_TARGETS_MAX);
	for (int i = 0; i < count; i++) {
		struct url *url = &options->urls[i];
		char what[URL_ERROR_SIZE];
		int r = url_parse(texts[i], url, what);

		if (r == -EINVAL)
			return wrong(error, "%s", what);
		if (r < 0)
			return r;
		options->url_count++;
		for (int j = 0; j < i; j++)
			if (strcmp(options->urls[j].name, url->name) == 0)
				return wrong(error,
					     "two targets are called %s: give them names, as in "
					     "NAME=%.100s",
					     url->name, url->text);
	}
	return 0;
}

static bool knows(const struct options *options, const char *name)
{
	for (size_t i = 0; i < options->url_count; i++)
		if (strcmp(options->urls[i].name, name) == 0)
			return true;
	return false;
}

/* What must not come together, or not alone. */
static int check(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	enum work work = options->work;

	if (options->against && !knows(options, options->against))
		return wrong(error, "--against %.100s: no target is called so", options->against);
	if (options->rate > 0 && options->depth > 1)
		return wrong(error, "--rate and --depth do not go together: a request of its own "
				    "time is sent alone");
	if (options->rate > 0 && options->cold)
		return wrong(error, "--rate and --cold do not go together");
	if (options->cold && !options->files)
		return wrong(error, "--cold needs --files DIR: the folder of the files that the "
				    "server sends");
	if (options->cold && work != WORK_GET)
		return wrong(error, "--cold is for get");
	if (work == WORK_PUT && !options->size_count && !options->body_file)
		return wrong(error, "put needs --sizes, or --body-file");
	if (work != WORK_PUT && work != WORK_REQ && options->body_file)
		return wrong(error, "--body-file is for put and req");
	if (options->size_count && options->body_file)
		return wrong(error, "--sizes and --body-file do not go together");
	if (work != WORK_REQ && options->method)
		return wrong(error, "-X is for req");
	if (work == WORK_REQ && options->size_count)
		return wrong(error, "--sizes is for get and put");
	if (work == WORK_PUT && options->depth > 1)
		return wrong(error, "--depth is for get and req");
	if (work != WORK_HOLD && options->stall)
		return wrong(error, "--stall is for hold");
	if (work == WORK_HOLD && (options->url_count > 1 || options->connection_count > 1))
		return wrong(error, "hold takes one URL, and one number of connections");
	if (options->verify && !digest_is_there())
		return wrong(error, "--verify: this eddy-bench is built without wolfSSL");
	if (options->digest && work == WORK_PUT)
		return wrong(error, "--digest is for get and req: put --verify knows what it sent");
	for (size_t i = 0; options->verify && !options->digest && i < options->url_count; i++)
		if (url_has(&options->urls[i], "{i}"))
			return wrong(
				error,
				work == WORK_PUT ?
					"--verify: what was sent is not read back by {i}: {n} "
					"names what each connection leaves" :
					"--verify: each request asks for something else by {i}; "
					"--digest says what they all should be");
	if (options->pid && options->url_count > 1)
		return wrong(error, "--pid is for one target");
	if (options->pid && kill((pid_t)options->pid, 0) < 0 && errno == ESRCH)
		return wrong(error, "--pid %ld: there is no such process", options->pid);
	return 0;
}

static int take_work(const char *name, struct options *options)
{
	static const char *const names[] = { "get", "put", "req", "hold" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0) {
			options->work = (enum work)i;
			options->work_name = names[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int parse(int argc, char **argv, struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	int option, r;

	if (argc < 2 || take_work(argv[1], options) < 0)
		return wrong(error, "get, put, req, hold, report or compare? eddy-bench help");
	argc--;
	argv++;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:d:H:r:R:t:X:", longs, NULL)) >= 0) {
		const char *wanted;

		if (option == '?')
			return wrong(error, "%s: no such option: eddy-bench help",
				     argv[optind - 1]);
		if (option == ':')
			return wrong(error, "%s: something is missing behind it", argv[optind - 1]);
		if (take_plain(option, optarg, options))
			continue;
		wanted = take_option(option, optarg, options);
		if (wanted)
			return wrong(error, "--%s %.100s: %s is wanted", long_name(option), optarg,
				     wanted);
	}
	r = take_urls(argc - optind, argv + optind, options, error);
	return r < 0 ? r : check(options, error);
}

int options_parse(int argc, char **argv, struct options *ret_options,
		  char error[OPTIONS_ERROR_SIZE])
{
	struct options options = {
		.connections = { 1 },
		.connection_count = 1,
		.depth = 1,
		.rounds = 7,
		.seconds = 1,
		.warmup = 0.1,
		.timeout_ns = 10000000000,
	};
	int r = parse(argc, argv, &options, error);

	if (r < 0)
		options_deinit(&options);
	else
		*ret_options = options;
	return r;
}

void options_deinit(struct options *options)
{
	for (size_t i = 0; i < options->url_count; i++)
		url_deinit(&options->urls[i]);
	options->url_count = 0;
}
