/* Tests of what layers keep for a request (eddy/layer.h). */
#include "ask.h"

#include <eddy/layer.h>

struct kept {
	int number;
};

static int ended;

static void end(void *kept)
{
	ended = ended * 10 + ((struct kept *)kept)->number;
}

static const struct eddy_req_layer one = { "one", sizeof(struct kept), end };
static const struct eddy_req_layer two = { "two", sizeof(struct kept), end };
static const struct eddy_req_layer three = { "three", 100, NULL };

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	struct kept *kept;

	cr_assert(eddy_req_find_layer(req, &one) == NULL);
	kept = eddy_req_layer(req, &one);
	cr_assert(kept != NULL);
	cr_expect(zero(kept->number));
	kept->number = 1;
	((struct kept *)eddy_req_layer(req, &two))->number = 2;
	cr_expect(eddy_req_layer(req, &three) != NULL);
	cr_expect(eddy_req_layer(req, &one) == kept, "once is enough");
	cr_expect(eddy_req_find_layer(req, &one) == kept);
	cr_expect(zero(ended));
	return eddy_res_ok(res, "%d", kept->number);
}

Test(req_layer, is_kept_until_the_request_is_over)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_map_get(app, "/", handle);
	ask(&asked, app, "GET / HTTP/1.1\nhost: x\n\n");
	cr_expect(eq(int, asked.status, 200));
	cr_expect(zero(ended), "the answer is not sent yet");
	ask_end(&asked);
	cr_expect(eq(int, ended, 21), "the last one first");
	ask(&asked, app, "GET /nothing HTTP/1.1\nhost: x\n\n");
	cr_expect(eddy_req_find_layer(asked.req, &one) == NULL, "another request has its own");
	ask_end(&asked);
	cr_expect(eq(int, ended, 21));
	eddy_app_free(app);
}
