/* forward: a reverse proxy for one route, which streams bodies both ways.
 *
 *     $ notes localhost:7879 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7879
 *     $ forward localhost:7878 http://localhost:7879 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/api/notes --json '{"title": "by way of a proxy"}'
 *     {"id":1,"title":"by way of a proxy","stars":0}
 *     $ curl -s localhost:7878/api/notes/2 -w '\n%{http_code} %{content_type}\n'
 *     {"type":"about:blank","title":"Not Found","status":404,"detail":"no resource exists at this path"}
 *     404 application/problem+json
 *     $ curl -sI localhost:7878/api/notes/1 | grep -i '^transfer'
 *     transfer-encoding: chunked
 *     $ curl -s localhost:7878/%61pi/notes/1
 *     {"id":1,"title":"by way of a proxy","stars":0}
 *     $ curl -s localhost:7878/api/notes/..%2Fadmin
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"a path may not lead upwards"}
 *     $ curl -s --path-as-is -o rest -w '%{http_code} ' 'localhost:7878/api/{../..,x/../notes/1,..%5Cx,..;x,a..b}'
 *     400 200 400 400 404
 */
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Fields to pass on. Others belong to the connection (RFC 9110 section 7.6.1) or are unverified. */
static const char *const asked[] = { "accept",       "accept-encoding", "authorization",
				     "content-type", "if-none-match",   "range",
				     "user-agent" };
static const char *const answered[] = { "allow",         "cache-control",   "content-encoding",
					"content-range", "content-type",    "etag",
					"last-modified", "location",        "retry-after",
					"vary",          "www-authenticate" };
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static ssize_t pull(void *req, void *buf, size_t len)
{
	return eddy_req_read(req, buf, len);
}

static int pass_back(struct eddy_res *res, struct eddy_response *response)
{
	char piece[16 * EDDY_KIB];
	ssize_t n = 0;
	int r;

	eddy_res_status(res, eddy_response_status(response));
	for (size_t i = 0; i < COUNT(answered); i++) {
		struct eddy_str value = eddy_response_header(response, answered[i]);

		if (value.ptr)
			eddy_res_set(res, answered[i], value);
	}
	r = eddy_res_write(res, NULL, 0); /* start the stream, even without a body (HEAD) */
	while (r == 0 && (n = eddy_response_read(response, piece, sizeof(piece))) > 0)
		r = eddy_res_write(res, piece, (size_t)n);
	return n < 0 ? (int)n : r;
}

/* Whether a segment is . or .., even for an upstream server that also splits at ; or \. */
static bool climbs(struct eddy_str path)
{
	size_t end;

	for (size_t begin = 0; begin <= path.len; begin = end + 1) {
		struct eddy_str segment;

		for (end = begin; end < path.len && !strchr("/\\;", path.ptr[end]);)
			end++;
		segment = eddy_str(path.ptr + begin, end - begin);
		if (eddy_str_eq_z(segment, ".") || eddy_str_eq_z(segment, ".."))
			return true;
	}
	return false;
}

/* /api/{path...} */
static int forward(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path = eddy_req_target_path(req), query = eddy_req_query(req), api, decoded;
	struct eddy_header headers[COUNT(asked) + 2] = {
		{ "x-forwarded-for", eddy_req_strdup(req, eddy_req_peer(req)->text) }
	};
	struct eddy_client_request request = { .headers = headers };
	struct eddy_response *response;
	char url[4096];
	int r;

	if (eddy_req_path(req, EDDY_TO(&decoded)) < 0 || climbs(decoded))
		return eddy_res_problem(res, 400, "a path may not lead upwards");
	for (size_t i = 0, kept = 1; i < COUNT(asked); i++) {
		struct eddy_str value = eddy_req_header(req, asked[i]);

		if (value.ptr)
			headers[kept++] =
				(struct eddy_header){ asked[i], eddy_req_strdup(req, value) };
	}
	request.method = eddy_req_strdup(req, eddy_req_method(req));
	if (eddy_req_length(req) != 0) {
		request.pull = pull;
		request.pull_data = req;
	}
	/* Cut off the prefix by its slashes, since it may be escaped: "/%61pi/". */
	eddy_str_split(&path, '/', &api);
	eddy_str_split(&path, '/', &api);
	r = snprintf(url, sizeof(url), "%s/%.*s%s%.*s", (const char *)eddy_req_context(req),
		     EDDY_FMT(path), query.ptr ? "?" : "", EDDY_FMT(query));
	if (r >= (int)sizeof(url))
		return 414;
	r = eddy_client_send(eddy_req_client(req), url, &request, &response);
	if (r < 0)
		return r; /* -ECONNREFUSED becomes a 502, -ETIMEDOUT a 504 */
	r = pass_back(res, response);
	eddy_response_free(response);
	return r;
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_context(app, argc > 2 ? argv[2] : "http://localhost:7879");
	eddy_app_map_get(app, "/api/{path...}", forward);
	eddy_app_map_post(app, "/api/{path...}", forward);
	eddy_app_map_delete(app, "/api/{path...}", forward);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
