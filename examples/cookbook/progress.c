/* progress: other clients see the progress of uploads (server-sent events).
 *
 *     $ mkdir received; seq 200000 >numbers; wc -c <numbers
 *     1288895
 *     $ progress received localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s -X PUT localhost:7878/files/6 -d 'a small file' -o answer
 *     $ curl -sN localhost:7878/progress | grep --line-buffered data &
 *     data: {"file":6,"percent":100}
 *     $ curl -s -T numbers localhost:7878/files/7 -o answer -w '%{http_code}\n'
 *     201
 *     $ cmp numbers received/7
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 *     $ wait %2
 *     data: {"file":7,"percent":25}
 *     data: {"file":7,"percent":50}
 *     data: {"file":7,"percent":75}
 *     data: {"file":7,"percent":100}
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* Between two messages. Few, because a slow client gets each of them, however old. */
#define STEP 25

struct server {
	int dir;
	struct eddy_events_channel *channel;
};

struct upload {
	const struct server *server;
	uint32_t id;
	unsigned told; /* percent */
};

static int tell(struct upload *upload, unsigned percent)
{
	struct eddy_events_message message = { 0 };
	char json[60];

	snprintf(json, sizeof(json), "{\"file\":%u,\"percent\":%u}", upload->id, percent);
	message.data = eddy_str_from(json);
	upload->told = percent;
	return eddy_events_publish(upload->server->channel, &message);
}

static int receive(struct upload *upload, struct eddy_req *req, int fd)
{
	uint64_t size = 0, length = eddy_req_length(req);
	char piece[64 * EDDY_KIB];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = eddy_req_read(req, piece, sizeof(piece))) != 0) {
		unsigned percent;

		if (n < 0)
			return (int)n;
		r = eddy_transfer_write(fd, piece, (size_t)n, size);
		size += (uint64_t)n;
		percent = (unsigned)(size * 100 / length) / STEP * STEP;
		if (r == 0 && percent > upload->told && percent < 100)
			r = tell(upload, percent);
	}
	return r;
}

/* PUT /files/{id} */
static int put(struct eddy_req *req, struct eddy_res *res)
{
	struct upload upload = { .server = eddy_req_context(req) };
	char path[32], name[EDDY_U64_SIZE];
	int fd, r;

	if (eddy_req_path(req, EDDY_TO(&upload.id)) < 0)
		return 400;
	if (eddy_req_length(req) == EDDY_LENGTH_UNKNOWN)
		return 411;
	fd = eddy_openat(upload.server->dir, ".", O_TMPFILE | O_WRONLY, 0644);
	if (fd < 0)
		return fd;
	r = receive(&upload, req, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(name, sizeof(name), "%u", upload.id);
	if (r == 0)
		r = eddy_linkat(AT_FDCWD, path, upload.server->dir, name, AT_SYMLINK_FOLLOW);
	eddy_close(fd);
	if (r == 0)
		r = tell(&upload, 100); /* the file is there */
	return r < 0 ? r : 201;
}

/* GET /progress */
static int progress(struct eddy_req *req, struct eddy_res *res)
{
	const struct server *server = eddy_req_context(req);

	return eddy_events_subscribe(server->channel, res);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct server server = { .dir = open(argc > 1 ? argv[1] : ".", O_DIRECTORY | O_CLOEXEC) };
	int r;

	/* A client that comes later gets the messages of the last uploads, too. */
	server.channel = eddy_events_channel_new(
		&(struct eddy_events_channel_options){ .replay_max = 20, .greets = true });
	if (server.dir < 0 || !server.channel) {
		perror("progress");
		return 1;
	}
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 2 ? argv[2] : "localhost:7878");
	eddy_app_set_context(app, &server);
	eddy_app_use_body_limit(eddy_app_map_put(app, "/files/{id}", put), EDDY_GIB);
	eddy_app_map_get(app, "/progress", progress);
	r = eddy_app_run_blocking(app);
	eddy_events_channel_free(server.channel);
	return r < 0 ? 1 : 0;
}
