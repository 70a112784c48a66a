#include "issuer_fetch.h"

#include "identifier.h"
#include "issuer_metadata.h"

#include <eddy/client.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCUMENT_MAX EDDY_MIB

/* A timeout that does not overflow when added to the time. */
#define FOR_EVER_NS (EDDY_NEVER / 4)

struct fetch {
	const struct eddy_oauth_options *options;
	struct eddy_str known;
	struct eddy_client *client;
	struct eddyi_issuer_keys keys;
	char *why;
};

/* Append a reason to `why`. Return: `error`. */
EDDY_PRINTF(3, 4)
static int fail(struct fetch *fetch, int error, const char *format, ...)
{
	size_t len = strlen(fetch->why);
	va_list args;

	if (len)
		len += (size_t)snprintf(fetch->why + len, EDDYI_ISSUER_WHY_SIZE - len, "; ");
	if (len >= EDDYI_ISSUER_WHY_SIZE)
		return error;
	va_start(args, format);
	vsnprintf(fetch->why + len, EDDYI_ISSUER_WHY_SIZE - len, format, args);
	va_end(args);
	return error;
}

static int out_of_memory(struct fetch *fetch)
{
	return fail(fetch, -ENOMEM, "out of memory");
}

/* ---- one document ---- */

static const char *advice(int error)
{
	switch (error) {
	case -ENOKEY:
		return " (ca_file can name the certificate of a CA to trust)";
	case -EINVAL:
		return " (check ca_file)";
	case -ELOOP:
		return " (max_redirects can be raised)";
	default:
		return "";
	}
}

/* Fetch a URL and parse its body by `look` on a thread of the offload pool: a megabyte of JSON, or
 * some hundred keys, would hold the loop. Return: 0 or above, what `look` returned; -errno. */
static int get(struct fetch *fetch, const char *url, eddy_offload_fn *look,
	       struct eddy_str *ret_body, void *arg)
{
	struct eddy_response *response = NULL;
	int r = eddy_client_get(fetch->client, url, &response);
	int status = r == 0 ? eddy_response_status(response) : 200;

	if (r == 0 && status == 200)
		r = eddy_response_body(response, ret_body);
	if (r < 0)
		fail(fetch, r, "%s: %s%s", url, eddy_client_error(fetch->client), advice(r));
	else if (status != 200)
		r = fail(fetch, -EBADMSG, "%s responded with status %d", url, status);
	else
		r = eddy_offload(look, arg);
	eddy_response_free(response);
	return r;
}

/* ---- metadata ---- */

static int look_at_metadata(void *arg)
{
	return eddyi_issuer_metadata_read(arg);
}

/* Fetch the metadata from `url`, which is freed. Return: 0, and the allocated URL of the keys;
 * -errno. */
static int get_metadata(struct fetch *fetch, char *url, char **ret_jwks_uri)
{
	struct eddyi_issuer_metadata metadata = {
		.issuer = fetch->options->issuer,
		.allow_http = fetch->options->allow_http,
	};
	int r = url ? get(fetch, url, look_at_metadata, &metadata.text, &metadata) : -ENOMEM;

	if (metadata.fault)
		fail(fetch, r, "%s %s%s%s%s%s", url, metadata.fault, *metadata.shown ? " " : "",
		     metadata.shown, metadata.reason ? ": " : "",
		     metadata.reason ? metadata.reason : "");
	free(url);
	if (r == 0)
		*ret_jwks_uri = metadata.jwks_uri;
	return r;
}

static int find_keys(struct fetch *fetch, char **ret_jwks_uri)
{
	const char *issuer = fetch->options->issuer;
	int r = get_metadata(fetch, eddyi_document_url(EDDYI_DOCUMENT_SERVER, issuer),
			     ret_jwks_uri);

	/* After a timeout there is no time left for the second URL. */
	if (r < 0 && r != -ETIMEDOUT)
		r = get_metadata(fetch, eddyi_document_url(EDDYI_DOCUMENT_OPENID, issuer),
				 ret_jwks_uri);
	if (r == 0)
		*fetch->why = '\0';
	return r;
}

/* ---- keys ---- */

struct reading {
	struct eddy_str known, text;
	struct eddyi_issuer_keys keys;
};

/* Parse a key set. Return: 0; 1 if its text is the known one; -errno. */
static int look_at_keys(void *arg)
{
	struct reading *reading = arg;
	struct eddy_str text = reading->text;
	char *copy;
	int r;

	if (text.len && eddy_str_eq(text, reading->known))
		return 1;
	r = eddy_keyset_parse(text, &reading->keys.set);
	if (r < 0)
		return r;
	copy = malloc(text.len);
	if (!copy) {
		eddy_keyset_unref(reading->keys.set);
		return -ENOMEM;
	}
	reading->keys.text = eddy_str(memcpy(copy, text.ptr, text.len), text.len);
	return 0;
}

static int get_keys(struct fetch *fetch, const char *url)
{
	struct reading reading = { .known = fetch->known };
	size_t told = strlen(fetch->why);
	int r = get(fetch, url, look_at_keys, &reading.text, &reading);

	if (fetch->why[told])
		return r;
	if (r == -ENOKEY)
		fail(fetch, r, "%s has no usable key", url);
	else if (r == -EBADMSG)
		fail(fetch, r, "%s is not a key set", url);
	else if (r == 0)
		fetch->keys = reading.keys;
	return r;
}

/* ---- the whole fetch ---- */

static int fetch_all(struct fetch *fetch)
{
	char *jwks_uri = NULL;
	int r = find_keys(fetch, &jwks_uri);

	if (r < 0)
		return r;
	r = get_keys(fetch, jwks_uri);
	free(jwks_uri);
	return r;
}

static int fetch_in_time(struct fetch *fetch)
{
	uint64_t timeout_ns = fetch->options->timeout_ns;
	struct eddy_scope scope;
	int r, ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = timeout_ns });
	r = fetch_all(fetch);
	ended = eddy_scope_end(&scope);
	if (r != -ECANCELED)
		return r;
	*fetch->why = '\0';
	if (ended != -ETIMEDOUT || eddy_is_cancelled())
		return fail(fetch, r, "the fetch was cancelled");
	return fail(fetch, -ETIMEDOUT, "it did not respond within %ju ms",
		    (uintmax_t)(timeout_ns / EDDY_MS));
}

int eddyi_issuer_fetch(const struct eddy_oauth_options *options, struct eddy_str known,
		       struct eddyi_issuer_keys *ret_keys, char ret_why[EDDYI_ISSUER_WHY_SIZE])
{
	struct fetch fetch = { .options = options, .known = known, .why = ret_why };
	int r;

	*ret_why = '\0';
	fetch.client = eddy_client_new(&(struct eddy_client_options){
		.ca_file = options->ca_file,
		.require_https = !options->allow_http,
		.redirects_max = options->redirects_max,
		/* The scope of fetch_in_time() has the timeout. */
		.timeout_ns = EDDY_NEVER,
		.connect_timeout_ns = FOR_EVER_NS,
		.stall_timeout_ns = FOR_EVER_NS,
		.body_max = DOCUMENT_MAX,
	});
	if (!fetch.client)
		return out_of_memory(&fetch);
	r = fetch_in_time(&fetch);
	eddy_client_free(fetch.client);
	if (r == -ENOMEM && !*ret_why)
		out_of_memory(&fetch);
	if (r == 0)
		*ret_keys = fetch.keys;
	return r;
}
