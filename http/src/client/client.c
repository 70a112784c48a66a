#include "client.h"

#include <stdlib.h>

/* Return: false on allocation failure. */
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

/* ---- shortcuts ---- */

int eddy_client_get(struct eddy_client *client, const char *url,
		    struct eddy_response **ret_response)
{
	return eddy_client_send(client, url, NULL, ret_response);
}
