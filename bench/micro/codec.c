/* codec: what encoding costs beside the bare library at the same level and window.
 *
 *     codec eddy|bare zstd|br|gzip BYTES SECONDS
 *     codec steps zstd|br|gzip BYTES SECONDS
 *
 * The body is text that is the same each time, in pieces of 64 KiB. The bare library is used as one would use it for many
 * bodies: a context that is reset, where there is such a thing. A count is of KiB; with "steps" it is of steps, and what is
 * printed is the median of the slowest hundredth of them, in processor time of the thread. */
#include "micro.h"

#include <brotli/encode.h>
#include <eddy/encoder.h>
#include <eddy/loop.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE 65536
#define STEPS_MAX 1000000

static char *body, room[PIECE];
static size_t size;
static const struct eddy_codec *codec;
static ZSTD_CCtx *zstd;
static z_stream gzip;

static void make_body(void)
{
	char words[1000][12];
	uint64_t state = 1;
	size_t at = 0;

	body = malloc(size + sizeof(words[0]));
	for (int i = 0; i < 1000; i++) {
		int len = 2 + i % 8;

		for (int j = 0; j < len; j++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			words[i][j] = "etaoinshrdlucmfw"[state >> 60];
		}
		words[i][len] = ' ';
		words[i][len + 1] = 0;
	}
	while (at < size) {
		uint32_t dice;

		state = state * 6364136223846793005u + 1442695040888963407u;
		dice = (uint32_t)(state >> 32);
		/* Some are used often, most are not. */
		at += (size_t)(stpcpy(body + at, words[(dice >> 16) % (1 + dice % 1000)]) -
			       (body + at));
	}
}

static void encode_eddy(void)
{
	struct eddy_encoder *encoder;

	if (eddy_encoder_new(codec, NULL, &encoder) < 0)
		micro_die("encoder");
	for (size_t at = 0; at < size; at += PIECE) {
		struct eddy_codec_io io = { body + at, size - at < PIECE ? size - at : PIECE, NULL,
					    0 };
		enum eddy_codec_op op = at + PIECE < size ? EDDY_CODEC_RUN : EDDY_CODEC_END;
		int r;

		do {
			io.out = room;
			io.out_len = sizeof(room);
			r = eddy_encoder_step(encoder, &io, op);
		} while (r == 0);
		if (r < 0)
			micro_die("step");
	}
	eddy_encoder_free(encoder);
}

static void piece_zstd(char *at, size_t len, bool is_last)
{
	ZSTD_inBuffer in = { at, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { room, sizeof(room), 0 };

		left = ZSTD_compressStream2(zstd, &out, &in,
					    is_last ? ZSTD_e_end : ZSTD_e_continue);
	} while (in.pos < len || (is_last && left));
}

static void piece_gzip(char *at, size_t len, bool is_last)
{
	gzip.next_in = (void *)at;
	gzip.avail_in = (unsigned)len;
	do {
		gzip.next_out = (void *)room;
		gzip.avail_out = sizeof(room);
		deflate(&gzip, is_last ? Z_FINISH : Z_NO_FLUSH);
	} while (!gzip.avail_out);
}

static void piece_brotli(BrotliEncoderState *state, char *at, size_t len, bool is_last)
{
	const uint8_t *in = (void *)at;

	do {
		size_t left = sizeof(room);
		uint8_t *out = (void *)room;

		BrotliEncoderCompressStream(
			state, is_last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS, &len,
			&in, &left, &out, NULL);
	} while (len || BrotliEncoderHasMoreOutput(state));
}

static void encode_bare(void)
{
	const char *name = eddy_codec_name(codec);
	BrotliEncoderState *brotli = NULL;

	if (*name == 'b') {
		brotli = BrotliEncoderCreateInstance(NULL, NULL, NULL);
		BrotliEncoderSetParameter(brotli, BROTLI_PARAM_QUALITY, 4);
		BrotliEncoderSetParameter(brotli, BROTLI_PARAM_LGWIN, 18);
	}
	for (size_t at = 0; at < size; at += PIECE) {
		size_t len = size - at < PIECE ? size - at : PIECE;
		bool is_last = at + PIECE >= size;

		if (*name == 'z')
			piece_zstd(body + at, len, is_last);
		else if (brotli)
			piece_brotli(brotli, body + at, len, is_last);
		else
			piece_gzip(body + at, len, is_last);
	}
	if (brotli)
		BrotliEncoderDestroyInstance(brotli);
	deflateReset(&gzip);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

static void encode_steps(double seconds)
{
	uint64_t *took = malloc(STEPS_MAX * sizeof(*took)), end;
	size_t count = 0;

	end = micro_clock(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	do {
		struct eddy_codec_io io = { body, size, NULL, 0 };
		struct eddy_encoder *encoder;
		int r;

		if (eddy_encoder_new(codec, NULL, &encoder) < 0)
			micro_die("encoder");
		do {
			uint64_t begun;

			io.out = room;
			io.out_len = sizeof(room);
			begun = micro_clock(CLOCK_THREAD_CPUTIME_ID);
			r = eddy_encoder_step(encoder, &io, EDDY_CODEC_END);
			took[count++] = micro_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
		} while (r == 0 && count < STEPS_MAX);
		eddy_encoder_free(encoder);
	} while (micro_clock(CLOCK_MONOTONIC) < end && count < STEPS_MAX);
	qsort(took, count, sizeof(*took), compare);
	printf("{\"step_us\": %.3f, \"worst_us\": %.3f, \"count\": %zu}\n",
	       (double)took[count / 200] / 1000, (double)took[0] / 1000, count);
	free(took);
}

struct job {
	const char *what;
	double seconds;
};

/* In a loop, which has the pool. */
static int measure(void *arg)
{
	const struct job *job = arg;
	bool is_bare = strcmp(job->what, "bare") == 0;
	struct micro micro;

	if (strcmp(job->what, "steps") == 0) {
		encode_steps(job->seconds);
		return 0;
	}
	micro = micro_begin(job->seconds);
	do {
		if (is_bare)
			encode_bare();
		else
			encode_eddy();
	} while (micro_goes_on(&micro, (size + 1023) / 1024));
	micro_print(&micro);
	return 0;
}

int main(int argc, char **argv)
{
	struct job job = { argc == 5 ? argv[1] : "", argc == 5 ? strtod(argv[4], NULL) : 0 };

	size = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	if (!size || eddy_codec_find(eddy_str_from(argv[2]), &codec) < 0) {
		fputs("usage: codec eddy|bare|steps CODING BYTES SECONDS\n", stderr);
		return 2;
	}
	make_body();
	zstd = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 3);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, 18);
	if (deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		micro_die("deflateInit2");
	return eddy_run(NULL, measure, &job) < 0;
}
