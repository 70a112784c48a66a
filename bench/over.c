/* over: uploads over files that are there, which no server should do: `./dev bench put-64m-over` sees what is paid for
 * the way of the bytes alone, without pages for a new file.
 *
 *     over ADDRESS DIR
 *
 * PUT /up/{name} writes into that file of DIR from its beginning on.
 */
#include "exchange/exchange_state.h"
#include "files/incoming.h"

#include <eddy/http.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static int put(struct eddy_req *req, struct eddy_res *res)
{
	struct eddyi_incoming incoming = { .dir = -1, .max = EDDY_NEVER };
	const int *dir = eddy_req_context(req);
	char path[NAME_MAX + 1];
	struct eddy_str name;
	int r;

	(void)res;
	if (eddy_req_path(req, EDDY_TO(&name)) < 0 || name.len > NAME_MAX)
		return 400;
	snprintf(path, sizeof(path), "%.*s", EDDY_FMT(name));
	incoming.fd = openat(*dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (incoming.fd < 0)
		return 404;
	r = eddyi_incoming_receive_body(&incoming, req);
	close(incoming.fd);
	return r < 0 ? r : 204;
}

int main(int argc, char **argv)
{
	struct eddy_app *app;
	int dir;

	if (argc != 3)
		return 2;
	dir = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		perror(argv[2]);
		return 1;
	}
	app = eddy_app_new();
	eddy_app_bind(app, argv[1]);
	eddy_app_set_context(app, &dir);
	eddy_route_with(eddy_app_map_put(app, "/up/{name}", put),
			&(struct eddy_route_options){ .body_max = EDDY_NEVER });
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
