/* The client's TLS connections: their handshake, and sessions kept to resume them. */
#include "tls/wolfssl.h"

#include "client.h"
#include "tls/tls_client.h"
#include "wire/tls_wire.h"

#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdlib.h>

/* Limit of kept sessions, one for each origin: the library takes 37 KiB for each. */
#define SESSIONS_MAX 8

/* A session to resume, by ticket or id. */
struct memory {
	struct eddy_node node;
	WOLFSSL_SESSION *session;
	size_t len;
	char origin[];
};

/* Invariant: the sessions in `memories` are with servers whose certificates for the origin were
 * verified by this context. Each is used once (RFC 8446 appendix C.4). */
struct eddyi_client_trust {
	struct eddy_mutex mutex;   /* held while the files are read */
	WOLFSSL_CTX *context;      /* NULL until the files have been read */
	struct eddy_node memories; /* the oldest first */
	unsigned memory_count;
};

/* ---- trust ---- */

static void free_memory(void *arg)
{
	struct memory *memory = arg;

	wolfSSL_SESSION_free(memory->session);
	free(memory);
}

static void forget(struct eddyi_client_trust *trust, struct memory *memory)
{
	eddy_list_remove(&memory->node);
	trust->memory_count--;
	eddy_on_loop_stack(free_memory, memory);
}

void eddyi_client_trust_free(struct eddyi_client_trust *trust)
{
	if (!trust)
		return;
	while (!eddy_list_is_empty(&trust->memories))
		forget(trust, eddy_of(trust->memories.next, struct memory, node));
	eddyi_tls_client_close(trust->context);
	free(trust);
}

struct loading {
	const struct eddy_client_options *options;
	WOLFSSL_CTX *context;
};

/* Runs on a thread of the offload pool. */
static int load(void *arg)
{
	struct loading *loading = arg;
	const struct eddy_client_options *options = loading->options;
	struct eddyi_tls_client_options ours = { .ca_file = options->ca_file,
						 .ca_file_only = options->ca_file_only };

	return eddyi_tls_client_open(&ours, &loading->context);
}

static int prepare(struct eddy_client *client)
{
	struct loading loading = { .options = &client->options };
	struct eddyi_client_trust *trust = client->trust;
	int r;

	if (!trust) {
		trust = client->trust = calloc(1, sizeof(*trust));
		if (!trust)
			return -ENOMEM;
		eddy_mutex_init(&trust->mutex);
		eddy_list_init(&trust->memories);
	}
	if (trust->context)
		return 0;
	r = eddy_mutex_lock(&trust->mutex);
	if (r < 0)
		return r;
	if (!trust->context) {
		r = eddy_offload(load, &loading);
		trust->context = loading.context;
	}
	eddy_mutex_unlock(&trust->mutex);
	if (r == -EINVAL)
		return eddyi_client_fail(client, r, "\"%s\" has no usable CA certificates",
					 client->options.ca_file);
	return r;
}

/* ---- sessions ---- */

static struct memory *find_memory(struct eddyi_client_trust *trust, struct eddy_str origin)
{
	struct eddy_node *node;

	for (node = trust->memories.next; node != &trust->memories; node = node->next) {
		struct memory *memory = eddy_of(node, struct memory, node);

		if (eddy_str_eq(eddy_str(memory->origin, memory->len), origin))
			return memory;
	}
	return NULL;
}

struct remembering {
	struct eddyi_client_conn *conn;
	struct memory *memory;
};

static void take_session(void *arg)
{
	struct remembering *remembering = arg;
	struct eddyi_client_conn *conn = remembering->conn;
	WOLFSSL_SESSION *session = wolfSSL_get1_session(conn->wire.tls->session);
	struct memory *memory = NULL;

	if (session && wolfSSL_SESSION_is_resumable(session))
		memory = malloc(sizeof(*memory) + conn->origin.len);
	if (!memory) {
		wolfSSL_SESSION_free(session);
		return;
	}
	memory->session = session;
	memory->len = conn->origin.len;
	memcpy(memory->origin, conn->origin.ptr, conn->origin.len);
	remembering->memory = memory;
}

void eddyi_client_conn_remember(struct eddyi_client_conn *conn)
{
	struct eddyi_client_trust *trust = conn->client->trust;
	struct remembering remembering = { .conn = conn };
	struct memory *old;

	if (!conn->is_theirs || conn->wire.tls->state != EDDYI_TLS_OPEN)
		return;
	eddy_on_loop_stack(take_session, &remembering);
	if (!remembering.memory)
		return;
	old = find_memory(trust, conn->origin);
	if (!old && trust->memory_count == SESSIONS_MAX)
		old = eddy_of(trust->memories.next, struct memory, node);
	if (old)
		forget(trust, old);
	eddy_list_append(&trust->memories, &remembering.memory->node);
	trust->memory_count++;
}

static int explain(struct eddyi_client_conn *conn, int r)
{
	char text[256];

	if (r == -ECONNRESET)
		return eddyi_client_fail(
			conn->client, r,
			"the server closed the connection during the TLS handshake");
	if (r != -EBADMSG)
		return r;
	r = eddyi_tls_client_explain(conn->wire.tls, text, sizeof(text));
	return eddyi_client_fail(conn->client, r, "%s", text);
}

int eddyi_client_conn_secure(struct eddyi_client_conn *conn)
{
	const struct eddyi_host *host = &conn->response->url.host;
	struct eddyi_client_trust *trust;
	struct memory *memory;
	int r = prepare(conn->client);

	if (r < 0)
		return r;
	trust = conn->client->trust;
	memory = find_memory(trust, conn->origin);
	conn->wire.tls =
		eddyi_tls_client_begin(trust->context, host, memory ? memory->session : NULL);
	if (memory)
		forget(trust, memory);
	if (!conn->wire.tls)
		return -ENOMEM;
	eddyi_wire_guard(&conn->wire, &conn->wire.clocks->body);
	r = eddyi_tls_wire_connect(&conn->wire);
	eddyi_wire_unguard(&conn->wire);
	if (r < 0)
		return explain(conn, r);
	if (!eddyi_tls_client_is_theirs(conn->wire.tls, host))
		return eddyi_client_fail(conn->client, -EKEYREJECTED,
					 "the certificate is not for %.*s", EDDY_FMT(host->name));
	conn->is_theirs = true;
	return 0;
}
