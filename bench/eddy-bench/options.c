#include "options.h"

#include "options_check.h"
#include "value.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ROUNDS_MAX 1000
#define RATE_MAX 1e7
#define PID_MAX (1 << 30)
/* What getopt_long() returns of a row, by its number; letters come before. */
#define ROW_FIRST 256

/* What takes the value of an option into its field, or what belongs to it. Return: whether it is one. */
typedef bool take_fn(const char *text, void *field, struct options *options);

static bool take_flag(const char *text, void *field, struct options *options)
{
	(void)text, (void)options;
	*(bool *)field = true;
	return true;
}

static bool take_text(const char *text, void *field, struct options *options)
{
	(void)options;
	*(const char **)field = text;
	return true;
}

static bool take_seconds(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_seconds(text, field);
}

static bool take_time(const char *text, void *field, struct options *options)
{
	return take_seconds(text, field, options) && options->seconds > 0;
}

static bool take_timeout(const char *text, void *field, struct options *options)
{
	double seconds;

	(void)options;
	if (!value_seconds(text, &seconds) || seconds < 1e-3)
		return false;
	*(uint64_t *)field = (uint64_t)(seconds * 1e9);
	return true;
}

static bool take_sizes(const char *text, void *field, struct options *options)
{
	options->size_count = value_sizes(text, field, OPTIONS_LIST_MAX);
	return options->size_count > 0;
}

static bool take_connections(const char *text, void *field, struct options *options)
{
	options->connection_count =
		value_counts(text, OPTIONS_CONNECTIONS_MAX, field, OPTIONS_LIST_MAX);
	return options->connection_count > 0;
}

static bool take_depth(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 1, OPTIONS_DEPTH_MAX, field);
}

static bool take_cycle(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 1, 1U << 30, field);
}

static bool take_frame(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 1 << 14, (1 << 24) - 1, field);
}

static bool take_rounds(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 1, ROUNDS_MAX, field);
}

static bool take_rate(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_number(text, 1e-3, RATE_MAX, field);
}

static bool take_status(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 200, 599, field);
}

static bool take_pid(const char *text, void *field, struct options *options)
{
	(void)options;
	return value_count(text, 1, PID_MAX, field);
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

static bool take_header(const char *text, void *field, struct options *options)
{
	if (options->header_count == OPTIONS_LIST_MAX || is_written_by_us(text))
		return false;
	((const char **)field)[options->header_count++] = text;
	return value_is_header(text);
}

static bool take_method(const char *text, void *field, struct options *options)
{
	return value_is_method(text) && take_text(text, field, options);
}

static bool take_digest(const char *text, void *field, struct options *options)
{
	options->verify = true;
	return value_is_digest(text) && take_text(text, field, options);
}

static bool take_stall(const char *text, void *field, struct options *options)
{
	enum stall *stall = field;

	(void)options;
	*stall = strcmp(text, "get") == 0 ? STALL_GET :
		 strcmp(text, "put") == 0 ? STALL_PUT :
					    STALL_NONE;
	return *stall != STALL_NONE;
}

#define FIELD(name) offsetof(struct options, name)
#define LIST "numbers from 1 to 100000, each once"
#define NUMBER "a number in a reasonable range"
#define TIME "a time such as 0.5, 2s or 500ms"
#define HEADER "'Name: value', of a field that eddy-bench does not write itself, 32 of them at most"

/* What an option is for. */
#define OF_GET (1u << WORK_GET)
#define OF_PUT (1u << WORK_PUT)
#define OF_REQ (1u << WORK_REQ)
#define OF_HOLD (1u << WORK_HOLD)
#define MEASURED (OF_GET | OF_PUT | OF_REQ)
#define ALL (MEASURED | OF_HOLD)

/* All options. One that is taken by take_flag() has nothing behind it. */
static const struct row {
	const char *name;
	unsigned works;
	int letter; /* 0: it has none */
	take_fn *take;
	size_t field;
	const char *wanted; /* NULL where all is taken */
} rows[] = {
	{ "against", MEASURED, 0, take_text, FIELD(against), NULL },
	{ "between", MEASURED, 0, take_text, FIELD(between), NULL },
	{ "body-file", OF_PUT | OF_REQ, 0, take_text, FIELD(body_file), NULL },
	{ "ca", ALL, 0, take_text, FIELD(ca), NULL },
	{ "ciphers", ALL, 0, take_text, FIELD(ciphers), NULL },
	{ "cold", OF_GET, 0, take_flag, FIELD(cold), NULL },
	{ "connections", ALL, 'c', take_connections, FIELD(connections), LIST },
	{ "cycle", MEASURED, 0, take_cycle, FIELD(cycle), NUMBER },
	{ "depth", MEASURED, 'd', take_depth, FIELD(depth), NUMBER },
	{ "digest", MEASURED, 0, take_digest, FIELD(digest), "a SHA-256 in hexadecimal" },
	{ "expect", MEASURED, 0, take_status, FIELD(expect), NUMBER },
	{ "files", MEASURED, 0, take_text, FIELD(files), NULL },
	{ "frame", MEASURED, 0, take_frame, FIELD(frame), "a size from 16k to 16777215" },
	{ "header", ALL, 'H', take_header, FIELD(headers), HEADER },
	{ "html", MEASURED, 0, take_text, FIELD(html), NULL },
	{ "http2", MEASURED, 0, take_flag, FIELD(http2), NULL },
	{ "insecure", ALL, 0, take_flag, FIELD(insecure), NULL },
	{ "json", MEASURED, 0, take_text, FIELD(json), NULL },
	{ "markdown", MEASURED, 0, take_text, FIELD(markdown), NULL },
	{ "method", OF_REQ, 'X', take_method, FIELD(method), "a method such as POST" },
	{ "no-system-calls", MEASURED, 0, take_flag, FIELD(no_calls), NULL },
	{ "pid", MEASURED, 0, take_pid, FIELD(pid), NUMBER },
	{ "progress", MEASURED, 0, take_flag, FIELD(progress), NULL },
	{ "rate", MEASURED, 'R', take_rate, FIELD(rate), NUMBER },
	{ "resume", ALL, 0, take_flag, FIELD(resume), NULL },
	{ "rounds", MEASURED, 'r', take_rounds, FIELD(rounds), NUMBER },
	{ "sizes", OF_GET | OF_PUT | OF_HOLD, 0, take_sizes, FIELD(sizes),
	  "sizes such as 4k,64k,1m, each once" },
	{ "stall", OF_HOLD, 0, take_stall, FIELD(stall), "get or put" },
	{ "streams", MEASURED, 0, take_depth, FIELD(streams), NUMBER },
	{ "time", MEASURED, 't', take_time, FIELD(seconds), TIME },
	{ "timeout", ALL, 0, take_timeout, FIELD(timeout_ns), TIME },
	{ "verify", MEASURED, 0, take_flag, FIELD(verify), NULL },
	{ "warmup", MEASURED, 0, take_seconds, FIELD(warmup), TIME },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

/* The rows as getopt_long() wants them. */
static void list_rows(char letters[2 * ROWS + 2], struct option longs[ROWS + 1])
{
	/* A missing value is ':', not '?'. */
	*letters++ = ':';
	for (size_t i = 0; i < ROWS; i++) {
		int has_value = rows[i].take == take_flag ? no_argument : required_argument;

		longs[i] = (struct option){ rows[i].name, has_value, NULL, ROW_FIRST + (int)i };
		if (!rows[i].letter)
			continue;
		*letters++ = (char)rows[i].letter;
		if (has_value)
			*letters++ = ':';
	}
	*letters = 0;
	longs[ROWS] = (struct option){ 0 };
}

static const struct row *find_row(int option)
{
	if (option >= ROW_FIRST)
		return &rows[option - ROW_FIRST];
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == option)
			return &rows[i];
	return NULL;
}

static const char *const work_names[] = { "get", "put", "req", "hold" };

/* "get and put" */
static void name_works(unsigned works, char text[64])
{
	size_t len = 0;

	for (size_t i = 0; i < sizeof(work_names) / sizeof(*work_names); i++)
		if (works & 1u << i)
			len += (size_t)snprintf(text + len, 64 - len, "%s%s", len ? " and " : "",
						work_names[i]);
}

static int take_options(int argc, char **argv, struct options *options,
			char error[OPTIONS_ERROR_SIZE])
{
	char letters[2 * ROWS + 2], works[64];
	struct option longs[ROWS + 1];
	int option;

	list_rows(letters, longs);
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) >= 0) {
		const struct row *row = find_row(option);

		if (option == ':')
			return options_wrong(error, "%s: a value is missing", argv[optind - 1]);
		if (!row)
			return options_wrong(error, "%s: no such option: eddy-bench help",
					     argv[optind - 1]);
		if (!(row->works & 1u << options->work)) {
			name_works(row->works, works);
			return options_wrong(error, "--%s is for %s", row->name, works);
		}
		if (!row->take(optarg, (char *)options + row->field, options))
			return options_wrong(error, "--%s %.100s: expected %s", row->name, optarg,
					     row->wanted);
	}
	return 0;
}

static int take_urls(int count, char **texts, struct options *options,
		     char error[OPTIONS_ERROR_SIZE])
{
	if (!count)
		return options_wrong(error, "no URL: eddy-bench %s http://HOST:PORT/PATH",
				     options->work_name);
	if (count > OPTIONS_TARGETS_MAX)
		return options_wrong(error, "more than %d URLs", OPTIONS_TARGETS_MAX);
	for (int i = 0; i < count; i++) {
		struct url *url = &options->urls[i];
		char what[URL_ERROR_SIZE];
		int r = url_parse(texts[i], url, what);

		if (r == -EINVAL)
			return options_wrong(error, "%s", what);
		if (r < 0)
			return r;
		options->url_count++;
		for (int j = 0; j < i; j++)
			if (strcmp(options->urls[j].name, url->name) == 0)
				return options_wrong(
					error,
					"two targets have the name %s: give them names, as in "
					"NAME=%.100s",
					url->name, url->text);
	}
	return 0;
}

static int take_work(const char *name, struct options *options)
{
	for (size_t i = 0; i < sizeof(work_names) / sizeof(*work_names); i++) {
		if (strcmp(name, work_names[i]) == 0) {
			options->work = (enum work)i;
			options->work_name = work_names[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int parse(int argc, char **argv, struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	int r;

	if (argc < 2 || take_work(argv[1], options) < 0)
		return options_wrong(error,
				     "get, put, req, hold, report or compare? eddy-bench help");
	argc--;
	argv++;
	r = take_options(argc, argv, options, error);
	if (r == 0)
		r = take_urls(argc - optind, argv + optind, options, error);
	if (r == 0)
		r = options_check(options, error);
	if (options->streams)
		options->depth = options->streams;
	return r;
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
