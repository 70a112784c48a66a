/* The filter that decodes request bodies. */
#include "settings.h"

#include <eddy/coder.h>
#include <eddy/decoder.h>
#include <eddy/decompression.h>
#include <eddy/layer.h>
#include <errno.h>

#define RATIO_DEFAULT 100

static int step(void *state, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	struct eddy_codec_io moved = { io->in, io->in_len, io->out, io->out_len };
	int r = eddy_decoder_step(state, &moved, (enum eddy_codec_op)op);

	*io = (struct eddy_coder_io){ moved.in, moved.in_len, moved.out, moved.out_len };
	return r;
}

static void end(void *state, bool whole)
{
	(void)whole;
	eddy_decoder_free(state);
}

static const struct eddy_coder decoding = { .step = step, .end = end };

static int refuse(struct eddy_res *res)
{
	char names[48];
	int r;

	eddyi_settings_list(names, sizeof(names));
	r = eddy_res_set_z(res, "accept-encoding", names);
	return r < 0 ? r : 415;
}

static int decode(struct eddy_req *req, const struct eddy_codec *codec,
		  const struct eddy_decompression_options *options)
{
	struct eddy_decoder_options how = {
		.size_max = options->size_max,
		.ratio_max = options->ratio_max == EDDY_RATIO_ANY ? 0 : options->ratio_max,
	};
	struct eddy_decoder *decoder;
	int r = eddy_decoder_new(codec, &how, &decoder);

	if (r == 0)
		r = eddy_req_decode(req, &decoding, decoder);
	/* Another filter decodes it already. */
	return r == -EBUSY ? 0 : r;
}

static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_codec *codec;
	struct eddy_str coding = eddy_req_header_joined(req, "content-encoding");
	int r;

	if (!coding.len || !eddy_req_length(req) ||
	    eddy_str_eq_nocase(coding, EDDY_STR("identity")))
		return eddy_next(next, req, res);
	/* Multiple codings are not supported. */
	if (eddy_codec_find(coding, &codec) < 0)
		return refuse(res);
	r = decode(req, codec, eddy_next_data(next));
	return r < 0 ? r : eddy_next(next, req, res);
}

static void *keep(struct eddy_app *app, const struct eddy_decompression_options *options)
{
	struct eddy_decompression_options *kept = eddy_app_alloc(app, sizeof(*kept));

	if (options)
		*kept = *options;
	if (!kept->ratio_max)
		kept->ratio_max = RATIO_DEFAULT;
	return kept;
}

void eddy_app_use_decompression(union eddy_target target,
				const struct eddy_decompression_options *options)
{
	eddy_app_add_filter(target, filter, keep(eddy_app_of(target), options));
}
