/* notes: a JSON API with validation and an in-memory store.
 *
 *     $ notes localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/notes --json '{"title": "buy milk", "stars": 3}'
 *     {"id":1,"title":"buy milk","stars":3}
 *     $ curl -s localhost:7878/notes --json '{"title": "buy milk", "stars": 9}'
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"the JSON member \"stars\" must be an integer from 0 to 5","errors":[{"pointer":"#/stars","detail":"must be an integer from 0 to 5"}]}
 *     $ curl -s localhost:7878/notes/1
 *     {"id":1,"title":"buy milk","stars":3}
 *     $ curl -s -X DELETE localhost:7878/notes/1 -w '%{http_code}\n'
 *     204
 *     $ curl -s localhost:7878/openapi.json | grep operationId
 *             "operationId": "post_notes",
 *             "operationId": "get_notes",
 *             "operationId": "get_notes_id",
 *             "operationId": "delete_notes_id",
 */
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES_MAX 1000

struct note {
	unsigned id;
	struct eddy_str title;
	unsigned stars;
};

/* Of a note that is sent to us, and of one that we send. */
static const struct eddy_member new_members[] = {
	EDDY_MEMBER(struct note, title, .range = { 1, 100 }),
	EDDY_MEMBER(struct note, stars, .range = { 0, 5 }, .otherwise = "0"),
};
static const struct eddy_member note_members[] = {
	EDDY_MEMBER(struct note, id),
	EDDY_MEMBER(struct note, title),
	EDDY_MEMBER(struct note, stars),
};

/* Used on one loop, so it needs no lock. */
struct store {
	struct note notes[NOTES_MAX]; /* each owns its title */
	size_t count;
	unsigned last_id;
};

/* POST /notes */
static int create(struct eddy_req *req, struct eddy_res *res)
{
	struct store *store = eddy_req_context(req);
	struct note note;
	char path[32];
	int r = eddy_req_json_into(req, new_members, &note);

	if (r < 0)
		return r; /* a response that names the members and their valid values */
	if (store->count == NOTES_MAX)
		return eddy_res_problem(res, 507, "there are %d notes: delete one", NOTES_MAX);
	note.title.ptr = strndup(note.title.ptr, note.title.len);
	if (!note.title.ptr)
		return -ENOMEM;
	note.id = ++store->last_id;
	store->notes[store->count++] = note;
	snprintf(path, sizeof(path), "/notes/%u", note.id);
	r = eddy_res_created(res, eddy_str_from(path));
	return r < 0 ? r : eddy_res_json_from(res, note_members, &note);
}

/* GET /notes */
static int list(struct eddy_req *req, struct eddy_res *res)
{
	struct store *store = eddy_req_context(req);

	return eddy_res_json_array(res, note_members, store->notes, store->count);
}

/* Return: the note with the {id} of the path; NULL if there is none. */
static struct note *find(struct eddy_req *req)
{
	struct store *store = eddy_req_context(req);
	unsigned id;

	if (eddy_req_path(req, EDDY_TO(&id)) < 0)
		return NULL;
	for (size_t i = 0; i < store->count; i++)
		if (store->notes[i].id == id)
			return &store->notes[i];
	return NULL;
}

static int show(struct eddy_req *req, struct eddy_res *res)
{
	struct note *note = find(req);

	return note ? eddy_res_json_from(res, note_members, note) : 404;
}

static int drop(struct eddy_req *req, struct eddy_res *res)
{
	struct store *store = eddy_req_context(req);
	struct note *note = find(req);

	if (!note)
		return 404;
	free((void *)note->title.ptr);
	*note = store->notes[--store->count];
	return eddy_res_no_content(res);
}

/* ---- the OpenAPI document ---- */

static const struct eddy_operation create_operation = {
	.summary = "Adds a note.",
	.body = EDDY_SHAPE(struct note, new_members),
	.body_example = "{\"title\":\"milk\",\"stars\":3}",
	.responses = {
		{ 201, "The note.", .shape = EDDY_SHAPE(struct note, note_members) },
		{ 507, .description = "There are too many notes." },
	},
};

static const struct eddy_operation list_operation = {
	.summary = "Lists all notes.",
	.responses = {
		{ 200, "", .shape = EDDY_SHAPE(struct note, note_members), .is_array = true },
	},
};

int main(int argc, char **argv)
{
	static struct store store;
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* The store has no lock. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &store);
	eddy_route_describe(eddy_app_map_post(app, "/notes", create), &create_operation);
	eddy_route_describe(eddy_app_map_get(app, "/notes", list), &list_operation);
	eddy_app_map_get(app, "/notes/{id}", show);
	eddy_app_map_delete(app, "/notes/{id}", drop);
	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "Notes" });
	r = eddy_app_run_blocking(app);
	while (store.count)
		free((void *)store.notes[--store.count].title.ptr);
	return r < 0 ? 1 : 0;
}
