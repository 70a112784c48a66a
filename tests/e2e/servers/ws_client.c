/* ws_client: a client of WebSockets.
 *
 *     ws_client [--ca FILE] [--deflate] [--takeover] [--protocol NAME] [--sizes PIECES] [--code CODE] URL MESSAGE…
 *     ws_client [--deflate] [--takeover] --first N --last N URL
 *
 * The first sends messages of text, and writes a line for each that is sent back; then it closes
 * the socket, and writes the code of the server. Or it writes "-ERRNO TEXT". With --sizes it sends
 * messages of 0 bytes to 1 MiB before, in so many pieces, and writes how many came back as they
 * were. The second runs cases of a fuzzing server of the Autobahn test suite, which has its own
 * URLs: it sends each message back, and asks for the reports. `--last 0` is the last that there is.
 */
#include "settings.h"

#include <eddy/client_ws.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct ws_client {
	struct eddy_client_options client;
	struct eddy_client_ws_options ws;
	const char *protocol;
	size_t sizes;
	unsigned code; /* to close with; default 1000 */
	size_t first, last;
	const char *url;
	char **messages;
};

static int fail(struct eddy_client *client, int r)
{
	printf("%d %s\n", r, eddy_client_error(client));
	return r;
}

/* ---- Autobahn ---- */

static int open_case(struct eddy_client *client, const struct ws_client *ws_client,
		     const char *path, struct eddy_ws **ret_ws)
{
	char url[256];
	int r;

	snprintf(url, sizeof(url), "%s/%s", ws_client->url, path);
	r = eddy_client_ws(client, url, &ws_client->ws, NULL, ret_ws);
	return r < 0 ? fail(client, r) : 0;
}

static int count_cases(struct eddy_client *client, const struct ws_client *ws_client,
		       size_t *ret_count)
{
	struct eddy_ws_message message;
	struct eddy_ws *ws;
	char digits[24];
	int r = open_case(client, ws_client, "getCaseCount", &ws);

	if (r < 0)
		return r;
	r = eddy_ws_recv(ws, &message);
	if (r > 0) {
		snprintf(digits, sizeof(digits), "%.*s", EDDY_FMT(message.bytes));
		*ret_count = strtoul(digits, NULL, 10);
	}
	eddy_ws_free(ws);
	return r > 0 ? 0 : -EBADMSG;
}

static int run_case(struct eddy_client *client, const struct ws_client *ws_client, size_t number)
{
	struct eddy_ws_message message;
	struct eddy_ws *ws;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "runCase?case=%zu&agent=eddy", number);
	r = open_case(client, ws_client, path, &ws);
	if (r < 0)
		return r;
	while (eddy_ws_recv(ws, &message) > 0 && eddy_ws_send(ws, message.type, message.bytes) == 0)
		;
	eddy_ws_free(ws);
	return 0;
}

static int run_cases(struct eddy_client *client, const struct ws_client *ws_client)
{
	size_t last = ws_client->last;
	struct eddy_ws *ws;
	int r = last ? 0 : count_cases(client, ws_client, &last);

	for (size_t i = ws_client->first; i <= last && r == 0; i++)
		r = run_case(client, ws_client, i);
	if (r == 0)
		r = open_case(client, ws_client, "updateReports?agent=eddy", &ws);
	if (r == 0)
		eddy_ws_free(ws);
	printf("%zu\n", last);
	return r;
}

/* ---- messages ---- */

/* Return: whether it came back. */
static bool exchange(struct eddy_ws *ws, enum eddy_ws_type type, struct eddy_str bytes,
		     size_t pieces)
{
	struct eddy_ws_message message;
	size_t size = bytes.len / pieces;
	struct eddy_str rest = bytes;
	int r = 0;

	for (size_t i = 1; i < pieces && r == 0; i++) {
		r = eddy_ws_send_some(ws, type, eddy_str(rest.ptr, size), false);
		rest = eddy_str_skip(rest, size);
	}
	if (r == 0)
		r = pieces > 1 ? eddy_ws_send_some(ws, type, rest, true) :
				 eddy_ws_send(ws, type, rest);
	return r == 0 && eddy_ws_recv(ws, &message) > 0 && message.type == type &&
	       eddy_str_eq(message.bytes, bytes);
}

static void try_sizes(struct eddy_ws *ws, size_t pieces)
{
	static const size_t sizes[] = { 0, 1, 125, 126, 65535, 65536, 1 << 20 };
	char *bytes = malloc(1 << 20);
	unsigned good = 0;

	for (size_t i = 0; bytes && i < 1 << 20; i++)
		bytes[i] = (char)(' ' + i * i % 89);
	for (size_t i = 0; bytes && i < sizeof(sizes) / sizeof(*sizes); i++) {
		good += exchange(ws, EDDY_WS_TEXT, eddy_str(bytes, sizes[i]), pieces);
		good += exchange(ws, EDDY_WS_BINARY, eddy_str(bytes, sizes[i]), pieces);
	}
	printf("%u\n", good);
	free(bytes);
}

static int talk(struct eddy_client *client, const struct ws_client *ws_client)
{
	struct eddy_ws_message message = { 0 };
	struct eddy_ws *ws;
	int r = eddy_client_ws(client, ws_client->url, &ws_client->ws, NULL, &ws);

	if (r < 0)
		return fail(client, r);
	if (eddy_ws_protocol(ws).len)
		printf("%.*s\n", EDDY_FMT(eddy_ws_protocol(ws)));
	if (ws_client->sizes)
		try_sizes(ws, ws_client->sizes);
	for (char **text = ws_client->messages; *text && r >= 0; text++) {
		r = eddy_ws_send(ws, EDDY_WS_TEXT, eddy_str_from(*text));
		if (r == 0)
			r = eddy_ws_recv(ws, &message);
		if (r > 0)
			printf("%.*s\n", EDDY_FMT(message.bytes));
	}
	eddy_ws_close(ws, ws_client->code ? ws_client->code : EDDY_WS_NORMAL, NULL);
	while (eddy_ws_recv(ws, &message) > 0)
		;
	printf("%u\n", eddy_ws_peer_code(ws));
	eddy_ws_free(ws);
	return r < 0 ? r : 0;
}

static int run(void *arg)
{
	const struct ws_client *ws_client = arg;
	struct eddy_client *client = eddy_client_new(&ws_client->client);
	int r = !client          ? -ENOMEM :
		ws_client->first ? run_cases(client, ws_client) :
				   talk(client, ws_client);

	eddy_client_free(client);
	return r;
}

static const struct setting switches[] = {
	SETTING(struct ws_client, "ca", client.ca_file),
	SETTING(struct ws_client, "deflate", ws.socket.deflate.on),
	SETTING(struct ws_client, "takeover", ws.socket.deflate.takeover),
	SETTING(struct ws_client, "protocol", protocol),
	SETTING(struct ws_client, "sizes", sizes),
	SETTING(struct ws_client, "code", code),
	SETTING(struct ws_client, "first", first),
	SETTING(struct ws_client, "last", last),
	{ 0 },
};

int main(int argc, char **argv)
{
	struct ws_client ws_client = { 0 };
	const char *protocols[2] = { NULL };
	char **rest = argv + settings_take(argc, argv, switches, &ws_client, NULL);

	protocols[0] = ws_client.protocol;
	ws_client.ws.socket.protocols = protocols;
	ws_client.url = *rest;
	ws_client.messages = rest + 1;
	return eddy_run(NULL, run, &ws_client) != 0;
}
