/* rows: stream a large response, which is generated while it is sent.
 *
 *     $ rows localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/rows/1000000 | tail -n 1
 *     1000000,1000000000000
 *     $ curl -s localhost:7878/rows/1000000 | wc -c
 *     19426431
 */
#include <eddy/http.h>
#include <stdio.h>

#define PIECE (16 * EDDY_KIB)
#define ROW_MAX 64

/* GET /rows/{count}: numbers and their squares. */
static int rows(struct eddy_req *req, struct eddy_res *res)
{
	char piece[PIECE];
	size_t len = 0;
	uint32_t count;
	int r = 0;

	if (eddy_req_path(req, EDDY_TO(&count)) < 0)
		return 400;
	eddy_res_set_z(res, "content-type", "text/csv");
	for (uint64_t row = 1; row <= count && r == 0; row++) {
		len += (size_t)snprintf(piece + len, ROW_MAX, "%llu,%llu\n",
					(unsigned long long)row, (unsigned long long)(row * row));
		if (len > PIECE - ROW_MAX || row == count) {
			r = eddy_res_write(res, piece, len); /* waits for a slow client */
			len = 0;
		}
	}
	return r; /* -EPIPE if the client has left */
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_map_get(app, "/rows/{count}", rows);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
