/* notes: a JSON API with validation and an in-memory store.
 *
 *     $ notes localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/notes --json '{"title": "buy milk", "stars": 3}'
 *     {"id":1,"title":"buy milk","stars":3}
 *     $ curl -s localhost:7878/notes --json '{"title": "buy milk", "stars": 9}'
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"the JSON member \"stars\" must be an integer from 0 to 5"}
 *     $ curl -s localhost:7878/notes/1
 *     {"id":1,"title":"buy milk","stars":3}
 *     $ curl -s -X DELETE localhost:7878/notes/1 -w '%{http_code}\n'
 *     204
 */
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>

#define NOTES_MAX 1000

struct store {
	json_t *notes; /* by id; used on one loop, so it needs no lock */
	unsigned last_id;
};

struct note {
	struct eddy_str title;
	unsigned stars;
};

static const struct eddy_member note_members[] = {
	EDDY_MEMBER(struct note, title, .range = { 1, 100 }),
	EDDY_MEMBER(struct note, stars, .range = { 0, 5 }, .otherwise = "0"),
};

/* POST /notes */
static int create(struct eddy_req *req, struct eddy_res *res)
{
	struct store *store = eddy_req_context(req);
	struct note note;
	char path[32];
	json_t *json;
	int r = eddy_req_json_into(req, note_members, &note);

	if (r < 0)
		return r; /* a response that names the member and its valid values */
	if (json_object_size(store->notes) >= NOTES_MAX)
		return eddy_res_problem(res, 507, "there are %d notes: delete one", NOTES_MAX);
	snprintf(path, sizeof(path), "/notes/%u", ++store->last_id);
	json = json_pack("{s:i, s:s%, s:i}", "id", (int)store->last_id, "title", note.title.ptr,
			 note.title.len, "stars", (int)note.stars);
	r = json_object_set(store->notes, path + strlen("/notes/"), json);
	if (r == 0)
		r = eddy_res_created(res, eddy_str_from(path));
	if (r == 0)
		return eddy_res_json(res, json);
	json_decref(json);
	return -ENOMEM;
}

/* Return: the note with the {id} of the path; NULL if there is none. */
static json_t *find(struct eddy_req *req, char key[EDDY_U64_SIZE])
{
	const struct store *store = eddy_req_context(req);
	uint64_t id;

	if (eddy_req_path(req, EDDY_TO(&id)) < 0)
		return NULL;
	eddy_u64_format(id, key);
	return json_object_get(store->notes, key);
}

static int show(struct eddy_req *req, struct eddy_res *res)
{
	char key[EDDY_U64_SIZE];
	json_t *note = find(req, key);

	return note ? eddy_res_json(res, json_incref(note)) : 404;
}

static int drop(struct eddy_req *req, struct eddy_res *res)
{
	struct store *store = eddy_req_context(req);
	char key[EDDY_U64_SIZE];

	if (!find(req, key))
		return 404;
	json_object_del(store->notes, key);
	return eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct store store = { .notes = json_object() };
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	/* The store has no lock. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &store);
	eddy_app_map_post(app, "/notes", create);
	eddy_app_map_get(app, "/notes/{id}", show);
	eddy_app_map_delete(app, "/notes/{id}", drop);
	r = eddy_app_run_blocking(app);
	json_decref(store.notes);
	return r < 0 ? 1 : 0;
}
