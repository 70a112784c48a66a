/* books: use a database (SQLite) that blocks, on the offload pool.
 *
 *     $ books books.db localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/books/Emma -X PUT; curl -s "localhost:7878/books/Ulysses'" -X PUT
 *     $ curl -s localhost:7878/books
 *     ["Emma","Ulysses'"]
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <sqlite3.h>

/* One job at a time uses the database connection. Tasks wait for the mutex and occupy no thread. */
struct books {
	sqlite3 *db;
	struct eddy_mutex mutex;
};

/* Input and output of a job on the offload pool. On the waiting task's stack. */
struct query {
	sqlite3 *db;
	const char *sql;
	struct eddy_str title; /* the statement's parameter, if it has one */
	json_t *rows;
};

static int run_query(void *arg)
{
	struct query *query = arg;
	sqlite3_stmt *statement;
	int r;

	if (sqlite3_prepare_v2(query->db, query->sql, -1, &statement, NULL) != SQLITE_OK)
		return -EIO;
	if (query->title.ptr)
		sqlite3_bind_text(statement, 1, query->title.ptr, (int)query->title.len,
				  SQLITE_STATIC);
	while ((r = sqlite3_step(statement)) == SQLITE_ROW)
		json_array_append_new(query->rows,
				      json_string((const char *)sqlite3_column_text(statement, 0)));
	sqlite3_finalize(statement);
	return r == SQLITE_DONE ? 0 : r == SQLITE_FULL ? -ENOSPC : -EIO;
}

/* Run a query on the offload pool. Suspends. */
static int ask(struct books *books, struct query *query)
{
	int r = eddy_mutex_lock(&books->mutex);

	if (r < 0)
		return r;
	query->db = books->db;
	r = eddy_offload(run_query, query);
	eddy_mutex_unlock(&books->mutex);
	return r;
}

/* GET /books */
static int list(struct eddy_req *req, struct eddy_res *res)
{
	struct query query = { .sql = "SELECT title FROM books ORDER BY title LIMIT 1000",
			       .rows = json_array() };
	int r = ask(eddy_req_context(req), &query);

	if (r == 0)
		return eddy_res_json(res, query.rows);
	json_decref(query.rows);
	return r;
}

/* PUT /books/{title} */
static int put(struct eddy_req *req, struct eddy_res *res)
{
	struct query query = { .sql = "INSERT OR IGNORE INTO books VALUES (?)" };
	int r;

	if (eddy_req_path(req, EDDY_TO(&query.title)) < 0)
		return 400;
	r = ask(eddy_req_context(req), &query);
	return r < 0 ? r : eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct books books;
	int r;

	if (sqlite3_open(argc > 1 ? argv[1] : "books.db", &books.db) != SQLITE_OK ||
	    sqlite3_exec(books.db, "CREATE TABLE IF NOT EXISTS books (title TEXT PRIMARY KEY)",
			 NULL, NULL, NULL) != SQLITE_OK)
		return 1;
	eddy_mutex_init(&books.mutex);
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 2 ? argv[2] : "localhost:7878");
	/* The mutex belongs to one loop. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &books);
	eddy_app_map_get(app, "/books", list);
	eddy_app_map_put(app, "/books/{title}", put);
	r = eddy_app_run_blocking(app);
	sqlite3_close(books.db);
	return r < 0 ? 1 : 0;
}
