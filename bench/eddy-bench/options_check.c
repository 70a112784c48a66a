#include "options_check.h"

#include "digest.h"
#include "http2.h"
#include "secure.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int options_wrong(char error[OPTIONS_ERROR_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, OPTIONS_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static bool knows(const struct options *options, const char *name)
{
	for (size_t i = 0; i < options->url_count; i++)
		if (strcmp(options->urls[i].name, name) == 0)
			return true;
	return false;
}

static int check_https(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	bool is_there = false;

	for (size_t i = 0; i < options->url_count; i++)
		is_there |= options->urls[i].https;
	if (is_there && !secure_is_there())
		return options_wrong(error, "https://: this eddy-bench is built without OpenSSL");
	if (!is_there && (options->ca || options->ciphers || options->insecure || options->resume))
		return options_wrong(error,
				     "--ca, --ciphers, --insecure and --resume are for targets "
				     "of https://");
	if (options->ca && options->insecure)
		return options_wrong(
			error,
			"--ca and --insecure exclude each other: --insecure checks no certificate");
	return 0;
}

/* RFC 9113 section 8.2.2. */
static bool is_of_connection(const char *header)
{
	static const char *const names[] = { "connection", "keep-alive", "proxy-connection", "te",
					     "upgrade" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncasecmp(header, names[i], strlen(names[i])) == 0 &&
		    header[strlen(names[i])] == ':')
			return true;
	return false;
}

static int check_http2(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	if (!options->http2 && (options->streams || options->frame))
		return options_wrong(error, "--streams and --frame are for --http2");
	if (!options->http2)
		return 0;
	if (options->depth > 1)
		return options_wrong(
			error,
			"--depth pipelines requests of HTTP/1.1: with --http2, use --streams");
	if (options->rate > 0 && options->streams > 1)
		return options_wrong(error, "--rate and --streams exclude each other");
	for (size_t i = 0; i < options->header_count; i++)
		if (is_of_connection(options->headers[i]))
			return options_wrong(error, "--header '%.100s': HTTP/2 has no such field",
					     options->headers[i]);
	if (!http2_is_there())
		return options_wrong(error, "--http2: this eddy-bench is built without libnghttp2");
	return 0;
}

int options_check(const struct options *options, char error[OPTIONS_ERROR_SIZE])
{
	enum work work = options->work;

	if (options->against && !knows(options, options->against))
		return options_wrong(error, "--against %.100s: there is no target of this name",
				     options->against);
	if (options->rate > 0 && options->depth > 1)
		return options_wrong(
			error,
			"--rate and --depth exclude each other: with --rate, requests are not "
			"pipelined");
	if (options->rate > 0 && options->cold)
		return options_wrong(error, "--rate and --cold exclude each other");
	if (options->cold && !options->files)
		return options_wrong(
			error,
			"--cold requires --files DIR, the folder of the files that the server "
			"sends");
	if (work == WORK_PUT && !options->size_count && !options->body_file)
		return options_wrong(error, "put needs --sizes, or --body-file");
	if (options->size_count && options->body_file)
		return options_wrong(error, "--sizes and --body-file exclude each other");
	if (work == WORK_PUT && options->depth > 1)
		return options_wrong(error, "--depth is for get and req");
	if (work == WORK_HOLD && (options->url_count > 1 || options->connection_count > 1))
		return options_wrong(error, "hold takes one URL, and one number of connections");
	if (options->verify && !digest_is_there())
		return options_wrong(error, "--verify: this eddy-bench is built without OpenSSL");
	if (options->digest && work == WORK_PUT)
		return options_wrong(
			error,
			"--digest is for get and req: put --verify compares with what it sent");
	for (size_t i = 0; options->verify && !options->digest && i < options->url_count; i++)
		if (url_has(&options->urls[i], "{i}"))
			return options_wrong(
				error,
				work == WORK_PUT ?
					"--verify: bodies can't be read back with {i} in the path: "
					"use {n}, one name for each connection" :
					"--verify: with {i} in the path each request has another "
					"body; give the expected digest with --digest");
	if (options->pid && options->url_count > 1)
		return options_wrong(error, "--pid is for one target");
	if (options->pid && kill((pid_t)options->pid, 0) < 0 && errno == ESRCH)
		return options_wrong(error, "--pid %u: there is no such process", options->pid);
	if (check_http2(options, error) < 0)
		return -EINVAL;
	return check_https(options, error);
}
