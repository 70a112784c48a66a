/* queue: a job queue that reports to the WebSocket on which a job was sent.
 *
 *     $ queue localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ talk ws://localhost:7878/jobs 3 'sort the mail'
 *     sort the mail: waits
 *     sort the mail: runs
 *     sort the mail: is done
 *     $ talk ws://localhost:7878/jobs 1 'a name that is too long for a job of this queue'
 *     the server has closed the socket: 1009
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/ws_room.h>
#include <stdio.h>

#define NAME_MAX_LEN 31

struct job {
	struct eddy_ws_room *room; /* that the socket is alone in, and may be outlived by */
	char name[NAME_MAX_LEN + 1];
};

/* Return: 0, also if the client has left. */
static int report(const struct job *job, const char *state)
{
	char text[100];

	snprintf(text, sizeof(text), "%s: %s", job->name, state);
	return eddy_ws_room_send(job->room, EDDY_WS_TEXT, eddy_str_from(text));
}

/* Does one job at a time. */
static int work(void *arg)
{
	struct eddy_chan *queue = arg;
	struct job job;
	int r = 0;

	while (r == 0 && (r = eddy_chan_recv(queue, &job)) == 0) {
		report(&job, "runs");
		r = eddy_sleep(300 * EDDY_MS); /* the work */
		if (r == 0)
			report(&job, "is done");
		eddy_ws_room_unref(job.room);
	}
	while (eddy_chan_try_recv(queue, &job) == 0)
		eddy_ws_room_unref(job.room);
	return r;
}

/* ---- the socket ---- */

static int open_socket(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	struct eddy_ws_room *room = eddy_ws_room_new(NULL);
	int r = eddy_ws_room_join(room, ws);

	if (r < 0)
		eddy_ws_room_unref(room);
	eddy_ws_set_data(ws, room);
	return r;
}

static void closed(struct eddy_ws *ws)
{
	eddy_ws_room_unref(eddy_ws_data(ws));
}

/* Called for each message, or several: the route has .parks. An idle socket has no task. */
static int serve(struct eddy_ws *ws, void *data)
{
	struct eddy_chan *queue = data;
	struct job job = { .room = eddy_ws_data(ws) };
	struct eddy_ws_message message;
	bool queued;
	int r;

	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		if (message.type != EDDY_WS_TEXT) {
			eddy_ws_close(ws, EDDY_WS_UNSUPPORTED, "a job is text");
			return 0;
		}
		snprintf(job.name, sizeof(job.name), "%.*s", EDDY_FMT(message.bytes));
		eddy_ws_room_ref(job.room);
		queued = eddy_chan_try_send(queue, &job) == 0;
		r = report(&job, queued ? "waits" : "the queue is full");
		if (!queued)
			eddy_ws_room_unref(job.room);
		if (r < 0)
			return r;
	}
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_chan queue;
	int r = eddy_chan_init(&queue, sizeof(struct job), 100);

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* The queue belongs to one loop. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_add_task(app, "work", work, &queue);
	eddy_app_map_ws(app, "/jobs", serve,
			&(struct eddy_ws_options){
				.parks = true,
				.message_max = NAME_MAX_LEN,
				.open = open_socket,
				.closed = closed,
				.data = &queue,
			});
	if (r == 0)
		r = eddy_app_run_blocking(app);
	eddy_app_free(app);
	eddy_chan_deinit(&queue);
	return r < 0 ? 1 : 0;
}
