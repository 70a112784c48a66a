#include "state.h"

#include <errno.h>

/* In order of preference. */
static const struct {
	const char *name;
	const struct eddy_codec *codec; /* NULL: not compiled in */
} codecs[] = {
#if EDDYI_ZSTD
	{ "zstd", &eddyi_codec_zstd },
#else
	{ "zstd", NULL },
#endif
#if EDDYI_BROTLI
	{ "br", &eddyi_codec_brotli },
#else
	{ "br", NULL },
#endif
#if EDDYI_GZIP
	{ "gzip", &eddyi_codec_gzip },   { "deflate", &eddyi_codec_deflate },
	{ "x-gzip", &eddyi_codec_gzip },
#else
	{ "gzip", NULL }, { "deflate", NULL }, { "x-gzip", NULL },
#endif
};

#define NAME_COUNT (sizeof(codecs) / sizeof(codecs[0]))
#define CODEC_COUNT 4

int eddy_codec_find(struct eddy_str name, const struct eddy_codec **ret_codec)
{
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (!eddy_str_eq_nocase(name, eddy_str_from(codecs[i].name)))
			continue;
		if (!codecs[i].codec)
			return -ENOTSUP;
		*ret_codec = codecs[i].codec;
		return 0;
	}
	return -ENOENT;
}

const struct eddy_codec *eddyi_codec_next(const struct eddy_codec *codec)
{
	size_t i = 0;

	while (codec && codecs[i++].codec != codec)
		;
	while (i < CODEC_COUNT && !codecs[i].codec)
		i++;
	return i < CODEC_COUNT ? codecs[i].codec : NULL;
}

const char *eddy_codec_name(const struct eddy_codec *codec)
{
	return codec->name;
}

size_t eddy_codec_bound(const struct eddy_codec *codec, size_t len)
{
	return codec->bound(len);
}

ssize_t eddy_codec_encode(const struct eddy_codec *codec,
			  const struct eddy_encoder_options *options, const void *in, size_t in_len,
			  void *out, size_t out_size)
{
	struct eddy_codec_io io = { in, in_len, out, out_size };
	struct eddy_encoder_options sized = options ? *options : (struct eddy_encoder_options){ 0 };
	struct eddy_encoder *encoder;
	int r;

	if (!sized.size)
		sized.size = in_len;
	r = eddy_encoder_new(codec, &sized, &encoder);
	if (r < 0)
		return r;
	do
		r = eddy_encoder_step(encoder, &io, EDDY_CODEC_END);
	while (r == 0 && io.out_len);
	eddy_encoder_free(encoder);
	if (r < 0)
		return r;
	return r == 1 ? (ssize_t)(out_size - io.out_len) : -ENOSPC;
}

ssize_t eddy_codec_decode(const struct eddy_codec *codec,
			  const struct eddy_decoder_options *options, const void *in, size_t in_len,
			  void *out, size_t out_size)
{
	struct eddy_codec_io io = { in, in_len, out, out_size };
	struct eddy_decoder *decoder;
	bool is_full = false;
	char more;
	int r = eddy_decoder_new(codec, options, &decoder);

	if (r < 0)
		return r;
	/* If `out` is full, one more byte shows whether there is more output. */
	while ((r = eddy_decoder_step(decoder, &io, EDDY_CODEC_END)) == 0) {
		if (io.out_len)
			continue;
		if (is_full)
			break;
		is_full = true;
		io.out = &more;
		io.out_len = 1;
	}
	eddy_decoder_free(decoder);
	if (r < 0)
		return r;
	if (is_full)
		return r == 1 && io.out_len ? (ssize_t)out_size : -ENOSPC;
	return (ssize_t)(out_size - io.out_len);
}
