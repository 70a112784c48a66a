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
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_LEN 31

/* The socket of a client: a room that it is alone in, which may outlive it. */
struct caller {
	struct eddy_ws_room *room;
	unsigned refs; /* the socket's, and one for each of its jobs */
};

struct job {
	struct caller *caller;
	char name[NAME_MAX_LEN + 1];
};

static void unref(struct caller *caller)
{
	if (--caller->refs > 0)
		return;
	eddy_ws_room_unref(caller->room);
	free(caller);
}

/* Return: 0, also if the client has left. */
static int report(const struct job *job, const char *state)
{
	char text[100];
	int r;

	snprintf(text, sizeof(text), "%s: %s", job->name, state);
	r = eddy_ws_room_send(job->caller->room, EDDY_WS_TEXT, eddy_str_from(text));
	return r == -EPIPE ? 0 : r;
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
		unref(job.caller);
	}
	while (eddy_chan_try_recv(queue, &job) == 0)
		unref(job.caller);
	return r;
}

/* ---- the socket ---- */

static int open_caller(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	struct caller *caller = calloc(1, sizeof(*caller));

	if (!caller)
		return -ENOMEM;
	caller->refs = 1;
	caller->room = eddy_ws_room_new(NULL);
	eddy_ws_set_data(ws, caller);
	return 0;
}

static void closed(struct eddy_ws *ws)
{
	unref(eddy_ws_data(ws));
}

/* Called for each message, or several: the route has .parks. An idle socket has no task. */
static int serve(struct eddy_ws *ws, void *data)
{
	struct eddy_chan *queue = data;
	struct job job = { .caller = eddy_ws_data(ws) };
	struct eddy_ws_message message;
	bool queued;
	int r = eddy_ws_room_join(job.caller->room, ws); /* it may be a member already */

	if (r == -ENOMEM)
		return r;
	while ((r = eddy_ws_recv(ws, &message)) > 0) {
		if (message.type != EDDY_WS_TEXT) {
			eddy_ws_close(ws, EDDY_WS_UNSUPPORTED, "a job is text");
			return 0;
		}
		snprintf(job.name, sizeof(job.name), "%.*s", EDDY_FMT(message.bytes));
		queued = eddy_chan_try_send(queue, &job) == 0;
		job.caller->refs += queued;
		r = report(&job, queued ? "waits" : "the queue is full");
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
				.open = open_caller,
				.closed = closed,
				.data = &queue,
			});
	if (r == 0)
		r = eddy_app_run_blocking(app);
	eddy_app_free(app);
	eddy_chan_deinit(&queue);
	return r < 0 ? 1 : 0;
}
