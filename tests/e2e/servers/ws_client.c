/* ws_client: a client of WebSockets.
 *
 *     ws_client [--ca FILE] [--deflate] [--takeover] [--protocol NAME] URL MESSAGE…
 *     ws_client [--deflate] [--takeover] --first N --last N URL
 *
 * The first sends messages of text, and writes a line for each that is sent back; then it closes the socket, and writes the
 * code of the server. Or it writes "-ERRNO TEXT". The second runs cases of a fuzzing server of the Autobahn test suite, which
 * has its own URLs: it sends each message back, and asks for the reports. `--last 0` is the last that there is.
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

static int talk(struct eddy_client *client, const struct ws_client *ws_client)
{
	struct eddy_ws_message message = { 0 };
	struct eddy_ws *ws;
	int r = eddy_client_ws(client, ws_client->url, &ws_client->ws, NULL, &ws);

	if (r < 0)
		return fail(client, r);
	if (eddy_ws_protocol(ws).len)
		printf("%.*s\n", EDDY_FMT(eddy_ws_protocol(ws)));
	for (char **text = ws_client->messages; *text && r >= 0; text++) {
		r = eddy_ws_send(ws, EDDY_WS_TEXT, eddy_str_from(*text));
		if (r == 0)
			r = eddy_ws_recv(ws, &message);
		if (r > 0)
			printf("%.*s\n", EDDY_FMT(message.bytes));
	}
	eddy_ws_close(ws, EDDY_WS_NORMAL, NULL);
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
