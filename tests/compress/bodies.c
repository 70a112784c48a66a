#include "bodies.h"

struct bytes bytes_new(void)
{
	struct bytes bytes = { malloc(64), 0, 64 };

	return bytes;
}

void bytes_add(struct bytes *bytes, const void *ptr, size_t len)
{
	while (bytes->size - bytes->len < len)
		bytes->ptr = realloc(bytes->ptr, bytes->size *= 2);
	if (len)
		memcpy(bytes->ptr + bytes->len, ptr, len);
	bytes->len += len;
}

void bytes_deinit(struct bytes *bytes)
{
	free(bytes->ptr);
}

struct bytes body_of(enum kind kind, size_t size)
{
	static const char *const words[] = {
		"the ",   "eddy ", "turns ", "and ",   "water ", "of ",
		"river ", "a ",    "stone ", "under ", "\n",     "in "
	};
	struct dice dice = { 1 };
	struct bytes bytes = bytes_new();

	while (bytes.len < size) {
		const char *word = words[dice_roll(&dice, 12)];
		unsigned char noise = (unsigned char)dice_roll(&dice, 256);

		if (kind == TEXT || (kind == MIXED && dice_roll(&dice, 3)))
			bytes_add(&bytes, word, strlen(word));
		else
			bytes_add(&bytes, kind == ZEROS ? "" : (char *)&noise, 1);
	}
	bytes.len = size;
	return bytes;
}

const struct eddy_codec *codec_of(const char *name)
{
	const struct eddy_codec *codec = NULL;

	cr_assert_eq(eddy_codec_find(eddy_str_from(name), &codec), 0, "%s", name);
	return codec;
}

static size_t piece(struct dice *dice, size_t most, size_t left)
{
	size_t len = most ? most : left;

	if (most && dice->state)
		len = dice_roll(dice, (uint32_t)most + 1);
	return len < left ? len : left;
}

typedef int step_fn(void *stream, struct eddy_codec_io *io, enum eddy_codec_op op);

static int step_encoder(void *stream, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	return eddy_encoder_step(stream, io, op);
}

static int step_decoder(void *stream, struct eddy_codec_io *io, enum eddy_codec_op op)
{
	return eddy_decoder_step(stream, io, op);
}

/* One piece of input, through rooms of any size. */
static int run_piece(step_fn *step, void *stream, const void *in, size_t in_len,
		     enum eddy_codec_op op, const struct cut *cut, struct dice *dice,
		     struct bytes *out)
{
	unsigned char room[4096];
	struct eddy_codec_io io = { in, in_len, room, 0 };
	size_t len;
	int r;

	do {
		io.out = room;
		io.out_len = len = piece(dice, cut->out, sizeof(room));
		r = step(stream, &io, op);
		bytes_add(out, room, len - io.out_len);
	} while (r == 0);
	if (r == 1)
		cr_assert_eq(io.in_len, 0);
	return r;
}

static int run_cut(step_fn *step, void *stream, const struct bytes *in, const struct cut *cut,
		   struct bytes *out)
{
	struct dice dice = { cut->seed };
	size_t at = 0, since = 0;
	int r = 1;

	while (r == 1 && at < in->len) {
		size_t len = piece(&dice, cut->in, in->len - at);
		enum eddy_codec_op op = EDDY_CODEC_RUN;

		since += len;
		if (cut->flush && since >= cut->flush) {
			op = EDDY_CODEC_FLUSH;
			since = 0;
		}
		if (at + len == in->len && !cut->in)
			break;
		r = run_piece(step, stream, in->ptr + at, len, op, cut, &dice, out);
		at += len;
	}
	if (r == 1)
		r = run_piece(step, stream, in->ptr + at, in->len - at, EDDY_CODEC_END, cut, &dice,
			      out);
	return r;
}

int encode_cut(struct eddy_encoder *encoder, const struct bytes *in, const struct cut *cut,
	       struct bytes *out)
{
	return run_cut(step_encoder, encoder, in, cut, out);
}

int decode_cut(struct eddy_decoder *decoder, const struct bytes *in, const struct cut *cut,
	       struct bytes *out)
{
	return run_cut(step_decoder, decoder, in, cut, out);
}

struct bytes encoded(const struct eddy_codec *codec, const struct eddy_encoder_options *options,
		     const struct bytes *in, const struct cut *cut)
{
	struct eddy_encoder *encoder;
	struct bytes out = bytes_new();

	cr_assert_eq(eddy_encoder_new(codec, options, &encoder), 0);
	cr_assert_eq(encode_cut(encoder, in, cut, &out), 1);
	eddy_encoder_free(encoder);
	return out;
}

int decoded(const struct eddy_codec *codec, const struct eddy_decoder_options *options,
	    const struct bytes *in, const struct cut *cut, struct bytes *ret_out)
{
	struct eddy_decoder *decoder;
	int r;

	*ret_out = bytes_new();
	cr_assert_eq(eddy_decoder_new(codec, options, &decoder), 0);
	r = decode_cut(decoder, in, cut, ret_out);
	eddy_decoder_free(decoder);
	return r;
}
