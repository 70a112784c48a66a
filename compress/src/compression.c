/* The filter that compresses responses. */
#include "settings.h"
#include "state.h"

#include <eddy/internal/outside.h>
#include <eddy/coder.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdlib.h>

/* The coding chosen for a request. */
struct wish {
	struct eddyi_settings *settings;
	size_t at; /* index of the coding; `count` for identity */
};

/* A response body being encoded. */
struct coding {
	const struct eddy_codec *codec;
	struct eddy_encoder_options options;
	struct eddy_encoder *encoder;
	struct eddyi_cached *cached; /* NULL: not cached */
	struct eddyi_cache_key key;  /* of `file` when encoding began */
	int file;                    /* the response's, for `cached` */
};

/* ---- what is compressed ---- */

/* Whether a field depends on the bytes of the body. */
static bool is_bound_to_its_bytes(const struct eddy_res *res)
{
	static const char *const fields[] = { "content-encoding", "content-range", "content-digest",
					      "repr-digest",      "digest",        "content-md5" };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (eddy_res_header(res, fields[i]).ptr)
			return true;
	return eddy_res_has(res, "cache-control", "no-transform");
}

static bool has_other_type(const struct eddyi_settings *settings, const struct eddy_res *res)
{
	struct eddy_str type = eddy_res_header(res, "content-type");
	const char *const *left = settings->options.leave_types;

	if (!type.ptr)
		return false;
	for (; left && *left; left++)
		if (eddyi_media_fits(type, *left))
			return true;
	return eddyi_media_is_compressed(type);
}

static bool fits(const struct eddyi_settings *settings, const struct eddy_res *res)
{
	return eddy_res_has_body(res) && eddy_res_get_status(res) != 206 &&
	       !is_bound_to_its_bytes(res) && eddy_res_length(res) >= settings->options.size_min &&
	       !has_other_type(settings, res);
}

/* ---- encoding ---- */

static int begin(void *state)
{
	struct coding *coding = state;

	return eddy_encoder_new(coding->codec, &coding->options, &coding->encoder);
}

static int step(void *state, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	struct coding *coding = state;
	struct eddy_codec_io moved = { io->in, io->in_len, io->out, io->out_len };
	int r = eddy_encoder_step(coding->encoder, &moved, (enum eddy_codec_op)op);

	if (coding->cached && r >= 0 &&
	    !eddyi_cache_add(coding->cached, io->out, io->out_len - moved.out_len))
		coding->cached = NULL;
	*io = (struct eddy_coder_io){ moved.in, moved.in_len, moved.out, moved.out_len };
	return r;
}

_Static_assert((int)EDDY_CODER_GO == EDDY_CODEC_RUN && (int)EDDY_CODER_FLUSH == EDDY_CODEC_FLUSH &&
		       (int)EDDY_CODER_END == EDDY_CODEC_END,
	       "the same, without knowing one another");

static bool is_unchanged(const struct coding *coding)
{
	struct eddyi_cache_key now;

	return eddyi_cache_key(coding->file, coding->key.coding, &now) &&
	       memcmp(&now, &coding->key, sizeof(now)) == 0;
}

static void end(void *state, bool whole)
{
	struct coding *coding = state;

	if (coding->cached)
		eddyi_cache_end(coding->cached, whole && is_unchanged(coding));
	eddy_encoder_free(coding->encoder);
	free(coding);
}

static const struct eddy_coder quick = { .begin = begin, .step = step, .end = end };
static const struct eddy_coder slow = {
	.begin = begin,
	.step = step,
	.end = end,
	.slow = true,
};

static struct coding *coding_new(const struct wish *wish, const struct eddy_res *res)
{
	const struct eddyi_settings *settings = wish->settings;
	uint64_t length = eddy_res_length(res);
	struct coding *coding = calloc(1, sizeof(*coding));

	if (!coding)
		return NULL;
	coding->codec = settings->codecs[wish->at];
	coding->options.level = settings->levels[wish->at];
	coding->options.size = length == EDDY_LENGTH_UNKNOWN ? 0 : length;
	return coding;
}

/* ---- the response ---- */

static int weaken_etag(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str etag = eddy_res_header(res, "etag");
	char *weak;

	if (!etag.len || etag.ptr[0] != '"')
		return 0;
	weak = eddy_req_alloc(req, etag.len + 2);
	if (!weak)
		return -ENOMEM;
	memcpy(weak, "W/", 2);
	memcpy(weak + 2, etag.ptr, etag.len);
	return eddy_res_set(res, "etag", eddy_str(weak, etag.len + 2));
}

/* Set the fields of an encoded response. Return: 0; -ENOMEM: it can still be sent unencoded. */
static int describe(const struct wish *wish, struct eddy_req *req, struct eddy_res *res)
{
	int r = weaken_etag(req, res);

	if (r == 0)
		r = eddy_res_set_z(res, "content-encoding",
				   eddy_codec_name(wish->settings->codecs[wish->at]));
	if (r == 0)
		eddy_res_remove(res, "accept-ranges");
	return r;
}

/* Send the cached encoding. Return: whether there is one. */
static bool send_cached(const struct wish *wish, const struct eddyi_cache_key *key,
			struct eddy_req *req, struct eddy_res *res)
{
	uint64_t length;
	int fd;

	if (!eddyi_cache_find(&wish->settings->cache, key, &fd, &length))
		return false;
	if (describe(wish, req, res) < 0)
		eddyi_close_now(fd);
	else
		eddy_res_replace(res, fd, length);
	return true;
}

/* On allocation failure the body is sent unencoded. */
static void compress(const struct wish *wish, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_settings *settings = wish->settings;
	struct eddyi_cache *cache = &wish->settings->cache;
	int fd = cache->size_max ? eddy_res_fd(res) : -1;
	struct eddyi_cache_key key;
	struct coding *coding;
	bool keep = fd >= 0 && eddyi_cache_key(fd, (int)settings->order[wish->at], &key);

	if (keep && send_cached(wish, &key, req, res))
		return;
	coding = coding_new(wish, res);
	if (!coding)
		return;
	if (describe(wish, req, res) < 0) {
		end(coding, false);
		return;
	}
	if (keep && eddy_str_eq_z(eddy_req_method(req), "GET")) {
		coding->cached = eddyi_cache_begin(cache, &key);
		coding->key = key;
		coding->file = fd;
	}
	eddy_res_code(res,
		      eddyi_codec_is_quick(settings->codecs[wish->at], settings->levels[wish->at]) ?
			      &quick :
			      &slow,
		      coding);
}

static void at_head(void *data, struct eddy_req *req, struct eddy_res *res)
{
	const struct wish *wish = data;

	if (eddy_res_merge(res, "vary", EDDY_STR("accept-encoding")) < 0 ||
	    wish->at == wish->settings->count)
		return;
	if (fits(wish->settings, res))
		compress(wish, req, res);
	/* A 304 has the etag of the 200 (RFC 9110 section 15.4.5). */
	else if (eddy_res_get_status(res) == 304 && !is_bound_to_its_bytes(res) &&
		 !has_other_type(wish->settings, res))
		weaken_etag(req, res);
}

/* ---- the filter ---- */

static int refuse(const struct eddyi_settings *settings, struct eddy_res *res)
{
	int r = eddy_res_set_z(res, "accept-encoding", settings->names);

	return r < 0 ? r : 406;
}

static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddyi_settings *settings = eddy_next_data(next);
	struct eddy_accept accept = eddy_req_accept(req);
	struct wish *wish = eddy_req_alloc(req, sizeof(*wish));
	enum eddy_coding chosen;
	int r = wish ? eddy_res_on_head(res, at_head, wish) : -ENOMEM;

	if (r < 0)
		return r;
	*wish = (struct wish){ settings, settings->count };
	if (eddy_accept_choose(&accept, settings->order, settings->count, &chosen) < 0)
		/* The innermost filter decides, and may have an acceptable coding. */
		return eddy_next_has(next, filter) ? eddy_next(next, req, res) :
						     refuse(settings, res);
	for (size_t i = 0; i < settings->count; i++)
		if (settings->order[i] == chosen)
			wish->at = i;
	return eddy_next(next, req, res);
}

void eddy_app_use_compression(union eddy_target target,
			      const struct eddy_compression_options *options)
{
	struct eddy_app *app = eddy_app_of(target);

	eddy_app_add_filter(target, filter,
			    options ? eddyi_settings_new(app, options) : eddyi_settings_of(app));
}
