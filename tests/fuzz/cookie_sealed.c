/* Fuzzes the encrypted and signed cookies of eddy/cookie.h. The first byte chooses between the two. As the value of a
 * cookie the rest is never accepted, as a value to keep it comes back, and with one bit changed it does not. */
#include "exchange/peer.h"

#include <eddy/cookie.h>
#include <errno.h>
#include <stdlib.h>

typedef int set_fn(struct eddy_res *res, const struct eddy_cookie *cookie);
typedef int get_fn(struct eddy_req *req, const char *name, struct eddy_str *ret_value);

static struct eddy_app *app;
static struct eddyi_asker asker; /* of a plain connection */

static void begin(struct eddy_req *req, struct eddyi_header *header)
{
	*req = (struct eddy_req){ .app = app, .asker = &asker, .res = { .req = req } };
	req->head.headers = header;
	req->head.header_count = header ? 1 : 0;
}

static int get(get_fn *get, struct eddy_str field, struct eddy_str want)
{
	struct eddyi_header header = { EDDY_STR("cookie"), field };
	struct eddy_str value;
	struct eddy_req req;
	int r;

	begin(&req, &header);
	r = get(&req, "a", &value);
	if (r == 0 && !eddy_str_eq(value, want))
		abort();
	eddyi_arena_deinit(&req.arena);
	return r;
}

/* What is no text of base64 may stand in the last bits of the last character. */
static void refuse_changed(get_fn *fn, struct eddy_str set, uint8_t at, struct eddy_str want)
{
	char *changed = malloc(set.len);

	memcpy(changed, set.ptr, set.len);
	changed[2 + at % (set.len - 3)] ^= 1;
	if (get(fn, eddy_str(changed, set.len), want) == 0)
		abort();
	free(changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_str input = eddy_str((const char *)data, size), set;
	bool is_signed = size && data[0] & 1;
	get_fn *fn = is_signed ? eddy_req_cookie_signed : eddy_req_cookie_sealed;
	set_fn *set_cookie = is_signed ? eddy_res_cookie_signed : eddy_res_cookie_sealed;
	struct eddy_req req;

	if (!app) {
		app = eddy_app_new();
		eddy_app_with_cookie_keys(
			app, &(struct eddy_cookie_keys){
				     .text = EDDY_STR("0123456789abcdef0123456789abcdef") });
		if (eddy_app_reload(app) < 0)
			abort();
	}
	if (!size)
		return 0;
	input = eddy_str_skip(input, 1);
	begin(&req, NULL);
	set = eddyi_arena_printf(&req.arena, "a=%.*s", EDDY_FMT(input));
	if (get(fn, set, input) == 0)
		abort();
	if (set_cookie(&req.res, &(struct eddy_cookie){ .name = "a", .value = input }) == 0) {
		set = eddy_res_header(&req.res, "set-cookie");
		set.len = (size_t)((char *)memchr(set.ptr, ';', set.len) - set.ptr);
		if (get(fn, set, input) < 0)
			abort();
		refuse_changed(fn, set, data[0], input);
	}
	eddyi_arena_deinit(&req.arena);
	return 0;
}
