#include "url.h"

#include <eddy/net.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(char error[URL_ERROR_SIZE], const char *text, const char *what)
{
	snprintf(error, URL_ERROR_SIZE, "\"%.100s\": %s", text, what);
	return -EINVAL;
}

/* Take "NAME=" off the front: it stands before the scheme, queries come behind. */
static const char *take_name(const char *text, struct url *url)
{
	size_t len = strcspn(text, "=:/");

	if (text[len] != '=' || len >= sizeof(url->name))
		return text;
	memcpy(url->name, text, len);
	return text + len + 1;
}

/* Bytes that would end the request's line, or that no path has. */
static bool is_path(const char *path)
{
	if (*path != '/')
		return false;
	for (; *path; path++)
		if (*path <= ' ' || *path > '~' || *path == '#')
			return false;
	return true;
}

/* Where `dial` ends in the text, or NULL. */
static const char *parse_unix(const char *rest, struct url *url)
{
	const char *end = strstr(rest + 5, ":/");

	if (!end)
		return NULL;
	url->dial = strndup(rest, (size_t)(end - rest));
	url->host = strdup("localhost");
	return end + 1;
}

static const char *parse_http(const char *rest, struct url *url)
{
	size_t len;
	const char *bracket, *colon;

	rest += url->https ? 8 : 7;
	len = strcspn(rest, "/?");
	bracket = memchr(rest, ']', len);
	colon = memchr(bracket ? bracket : rest, ':',
		       len - (bracket ? (size_t)(bracket - rest) : 0));
	url->host = strndup(rest, len);
	if (url->host && asprintf(&url->dial, "%s%s", url->host,
				  colon      ? "" :
				  url->https ? ":443" :
					       ":80") < 0)
		url->dial = NULL;
	return rest + len;
}

int url_parse(const char *text, struct url *ret_url, char error[URL_ERROR_SIZE])
{
	struct eddy_address address;
	struct url url = { 0 };
	const char *rest = take_name(text, &url), *path;
	int r = 0;

	if (strlen(text) > URL_MAX)
		return wrong(error, text, "a URL of more than 4096 bytes");
	url.https = strncmp(rest, "https://", 8) == 0;
	if (strncmp(rest, "unix:", 5) == 0)
		path = parse_unix(rest, &url);
	else if (url.https || strncmp(rest, "http://", 7) == 0)
		path = parse_http(rest, &url);
	else
		return wrong(error, text,
			     "not a URL: expected [NAME=]http://HOST[:PORT]/PATH, or https://, or "
			     "[NAME=]unix:SOCKET:/PATH");
	url.text = strdup(rest);
	url.path = strdup(path && *path ? path : "/");
	if (!path)
		r = wrong(error, text, "no path after the socket: expected unix:SOCKET:/PATH");
	else if (!url.text || !url.path || !url.dial || !url.host)
		r = -ENOMEM;
	else if (eddy_address_parse(url.dial, &address) < 0 || address.host.len > 255)
		r = wrong(error, text, "the host or port is invalid");
	else if (address.path.len && strncmp(rest, "unix:", 5) != 0)
		r = wrong(error, text, "the host name unix is not allowed");
	else if (!address.port && !address.path.len)
		r = wrong(error, text, "port 0");
	else if (!is_path(url.path))
		r = wrong(error, text,
			  "the path has a fragment, or a byte that must be escaped as %XX");
	if (r < 0) {
		url_deinit(&url);
		return r;
	}
	if (!*url.name)
		snprintf(url.name, sizeof(url.name), "%s", address.path.len ? url.dial : url.host);
	*ret_url = url;
	return 0;
}

void url_deinit(struct url *url)
{
	free(url->text);
	free(url->dial);
	free(url->host);
	free(url->path);
	*url = (struct url){ 0 };
}

bool url_has(const struct url *url, const char *name)
{
	return strstr(url->path, name) != NULL;
}

size_t url_size(uint64_t bytes, char ret_text[24])
{
	static const char units[] = { 0, 'k', 'm', 'g' };
	size_t unit = 0;

	while (bytes && bytes % 1024 == 0 && unit + 1 < sizeof(units)) {
		bytes /= 1024;
		unit++;
	}
	return (size_t)snprintf(ret_text, 24, unit ? "%llu%c" : "%llu", (unsigned long long)bytes,
				units[unit]);
}

size_t url_fill(const char *text, const char *name, const char *value, char *ret_text, size_t size)
{
	size_t len = 0, name_len = strlen(name), value_len = strlen(value);

	while (*text) {
		bool found = strncmp(text, name, name_len) == 0;
		size_t more = found ? value_len : 1;

		if (size - len <= more)
			return 0;
		memcpy(ret_text + len, found ? value : text, more);
		len += more;
		text += found ? name_len : 1;
	}
	ret_text[len] = 0;
	return len;
}
