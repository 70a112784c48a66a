/* decode.h: a decoder of one coding, fed with anything. The first byte says how the rest is cut: the result must not
 * depend on it, if it is well formed; nor may more memory be taken than is stated. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_OUT 1000000

/* libzstd has a way of its own for a frame that it has the whole of: some blocks without content are taken there and not in
 * pieces, or the other way round. In pieces that no frame fits into it has but one. */
#define HAS_TWO_WAYS (CODING[0] == 'z')
#define LESS_THAN_A_FRAME 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
	int r;
	uint64_t len, sum;
};

static struct result run(const struct eddy_codec *codec, const uint8_t *in, size_t len, size_t cut,
			 size_t room_size)
{
	static const struct eddy_decoder_options options = { .size_max = SIZE_MAX_OUT };
	struct result result = { 0 };
	struct eddy_decoder *decoder;
	unsigned char room[4096];
	size_t given = 0;

	if (eddy_decoder_new(codec, &options, &decoder) < 0)
		abort();
	do {
		size_t piece = len - given < cut ? len - given : cut;
		struct eddy_codec_io io = { in + given, piece, NULL, 0 };

		given += piece;
		do {
			io.out = room;
			io.out_len = room_size;
			result.r = eddy_decoder_step(
				decoder, &io, given == len ? EDDY_CODEC_END : EDDY_CODEC_RUN);
			for (size_t i = 0; i < room_size - io.out_len; i++)
				result.sum = result.sum * 31 + room[i] + 1;
			result.len += room_size - io.out_len;
		} while (result.r == 0);
	} while (result.r == 1 && given < len);
	if (decoder->stream.memory.most + sizeof(*decoder) > eddyi_decoder_memory(codec, &options))
		abort();
	if (result.r == 1 && result.len > SIZE_MAX_OUT)
		abort();
	eddy_decoder_free(decoder);
	return result;
}

static bool is_same(struct result one, struct result two)
{
	if (one.r != 1 || two.r != 1)
		return one.r != 1 && two.r != 1;
	return one.len == two.len && one.sum == two.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct eddy_codec *codec;
	struct result whole, cut, bytes;
	uint8_t how;

	if (!size)
		return 0;
	how = *data++;
	size--;
	if (eddy_codec_find(eddy_str_from(CODING), &codec) < 0)
		abort();
	whole = run(codec, data, size, size, 4096);
	cut = run(codec, data, size, 1 + how % 16 * 7, 1 + (how >> 4) * 99);
	if (!HAS_TWO_WAYS && !is_same(whole, cut))
		abort();
	if (HAS_TWO_WAYS) {
		bytes = run(codec, data, size, 1, 4096);
		if (whole.r == 1 && cut.r == 1 && !is_same(whole, cut))
			abort();
		if (whole.r == 1 && bytes.r == 1 && !is_same(whole, bytes))
			abort();
		cut = run(codec, data, size, 2 + how % (LESS_THAN_A_FRAME - 1),
			  1 + (how >> 4) * 99);
		if (!is_same(bytes, cut))
			abort();
	}
	return 0;
}
