#include "client.h"

#include <eddy/loop.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
	return client ? client->error : "memory is out";
}

/* ---- new and free ---- */

/* Return: false when memory is out. */
static bool copy_strings(struct eddy_client *client)
{
	const char **strings[] = {
		&client->options.ca_file,
		&client->options.connect,
		&client->options.user_agent,
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		if (!*strings[i])
			continue;
		*strings[i] = eddyi_arena_dup(&client->arena, eddy_str_from(*strings[i])).ptr;
		if (!*strings[i])
			return false;
	}
	return true;
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!client->options.field)                                                        \
			client->options.field = (value);                                           \
	} while (0)

static void fill_defaults(struct eddy_client *client)
{
	DEFAULT(user_agent, "eddy");
	DEFAULT(timeout_ns, 60 * EDDY_SECOND);
	DEFAULT(connect_timeout_ns, 10 * EDDY_SECOND);
	DEFAULT(stall_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(idle_timeout_ns, 30 * EDDY_SECOND);
	DEFAULT(idle_max, 16);
	DEFAULT(idle_per_origin_max, 4);
	DEFAULT(head_max, 64 * EDDY_KIB);
	DEFAULT(header_count_max, 100);
	DEFAULT(body_max, 8 * EDDY_MIB);
}

struct eddy_client *eddy_client_new(const struct eddy_client_options *options)
{
	struct eddy_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	if (options)
		client->options = *options;
	if (!copy_strings(client)) {
		eddyi_arena_deinit(&client->arena);
		free(client);
		return NULL;
	}
	fill_defaults(client);
	eddy_list_init(&client->kept);
	eddyi_clocks_init(&client->clocks,
			  &(struct eddy_server_options){
				  .idle_timeout_ns = client->options.idle_timeout_ns,
				  .body_timeout_ns = client->options.stall_timeout_ns,
				  .write_timeout_ns = client->options.stall_timeout_ns,
			  },
			  0);
	return client;
}

void eddy_client_free(struct eddy_client *client)
{
	if (!client)
		return;
	while (!eddy_list_is_empty(&client->kept))
		eddyi_client_conn_close(eddy_of(client->kept.next, struct eddyi_client_conn, node));
	if (EDDYI_TLS)
		eddyi_client_trust_free(client->trust);
	eddyi_clocks_deinit(&client->clocks);
	eddyi_arena_deinit(&client->arena);
	eddyi_arena_trim();
	free(client);
}

/* ---- time ---- */

ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg)
{
	struct eddy_client *client = response->client;
	struct eddy_scope_options options = { 0 };
	struct eddy_scope scope;
	uint64_t now = eddy_now();
	ssize_t r;
	int ended;

	if (now >= response->deadline_ns)
		return eddyi_client_fail(client, -ETIMEDOUT, "the time for the whole is up");
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
					 "the server is silent, or takes nothing");
	if (ended == -ETIMEDOUT)
		return eddyi_client_fail(client, -ETIMEDOUT, "the time for the whole is up");
	return eddyi_client_fail(client, -ECANCELED, "the call was cancelled");
}

/* ---- the plain cases ---- */

int eddy_client_get(struct eddy_client *client, const char *url,
		    struct eddy_response **ret_response)
{
	return eddy_client_send(client, url, NULL, ret_response);
}

int eddy_client_head(struct eddy_client *client, const char *url,
		     struct eddy_response **ret_response)
{
	return eddy_client_send(client, url, &(struct eddy_client_request){ .method = "HEAD" },
				ret_response);
}

static int send_bytes(struct eddy_client *client, const char *method, const char *url,
		      const char *type, struct eddy_str body, struct eddy_response **ret_response)
{
	const struct eddy_header headers[] = { { "content-type", type }, { 0 } };

	return eddy_client_send(client, url,
				&(struct eddy_client_request){
					.method = method,
					.headers = headers,
					.body = body,
				},
				ret_response);
}

int eddy_client_post(struct eddy_client *client, const char *url, const char *type,
		     struct eddy_str body, struct eddy_response **ret_response)
{
	return send_bytes(client, "POST", url, type, body, ret_response);
}

int eddy_client_put(struct eddy_client *client, const char *url, const char *type,
		    struct eddy_str body, struct eddy_response **ret_response)
{
	return send_bytes(client, "PUT", url, type, body, ret_response);
}
