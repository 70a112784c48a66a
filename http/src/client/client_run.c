#include "client.h"

#include <eddy/loop.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int eddyi_client_fail(struct eddy_client *client, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(client->error, sizeof(client->error), format, args);
	va_end(args);
	return error;
}

const char *eddy_client_error(const struct eddy_client *client)
{
	return client ? client->error : "out of memory";
}

ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg)
{
	struct eddy_client *client = response->client;
	struct eddy_scope_options options = { 0 };
	struct eddy_scope scope;
	uint64_t now = eddy_now();
	ssize_t r;
	int ended;

	if (now >= response->deadline_ns)
		return eddyi_client_fail(client, -ETIMEDOUT, "the call timed out");
	if (response->deadline_ns != EDDY_NEVER)
		options.timeout_ns = response->deadline_ns - now;
	response->stalled = false;
	eddy_scope_begin(&scope, &options);
	response->scope = &scope;
	r = part(arg);
	response->scope = NULL;
	ended = eddy_scope_end(&scope);
	if (r != -ECANCELED)
		return r;
	if (response->stalled)
		return eddyi_client_fail(client, -ETIMEDOUT,
					 "the server has sent or accepted no data for too long");
	if (ended == -ETIMEDOUT)
		return eddyi_client_fail(client, -ETIMEDOUT, "the call timed out");
	return eddyi_client_fail(client, -ECANCELED, "the call was cancelled");
}
