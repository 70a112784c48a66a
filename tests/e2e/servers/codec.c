/* codec: stdin through an encoder or a decoder to stdout, in pieces of random sizes.
 *
 *     codec encode|decode CODING [LEVEL [SEED]]
 *
 * Ends with 0; with 1 and the name of what went wrong on stderr. */
#include <eddy/decoder.h>
#include <eddy/encoder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct eddy_encoder *encoder;
static struct eddy_decoder *decoder;

static int step(struct eddy_codec_io *io, enum eddy_codec_op op)
{
	return encoder ? eddy_encoder_step(encoder, io, op) : eddy_decoder_step(decoder, io, op);
}

static int run(struct eddy_codec_io *io, enum eddy_codec_op op)
{
	static char room[70000];
	int r;

	do {
		size_t size = 1 + (size_t)rand() % sizeof(room);

		io->out = room;
		io->out_len = size;
		r = step(io, op);
		if (r < 0)
			return r;
		if (fwrite(room, 1, size - io->out_len, stdout) != size - io->out_len)
			return -1;
	} while (r == 0);
	return 0;
}

static int go(void)
{
	static char piece[200000];
	struct eddy_codec_io io;
	ssize_t n;
	int r;

	while ((n = read(STDIN_FILENO, piece, 1 + (size_t)rand() % sizeof(piece))) > 0) {
		io = (struct eddy_codec_io){ piece, (size_t)n, NULL, 0 };
		r = run(&io, rand() % 8 ? EDDY_CODEC_RUN : EDDY_CODEC_FLUSH);
		if (r < 0)
			return r;
	}
	io = (struct eddy_codec_io){ NULL, 0, NULL, 0 };
	return run(&io, EDDY_CODEC_END);
}

int main(int argc, char **argv)
{
	struct eddy_encoder_options options = { .level = argc > 3 ? atoi(argv[3]) : 0 };
	const struct eddy_codec *codec;
	int r;

	if (argc < 3)
		return 2;
	srand(argc > 4 ? (unsigned)atoi(argv[4]) : 1);
	r = eddy_codec_find(eddy_str_from(argv[2]), &codec);
	if (r == 0)
		r = strcmp(argv[1], "encode") == 0 ? eddy_encoder_new(codec, &options, &encoder) :
						     eddy_decoder_new(codec, NULL, &decoder);
	if (r == 0)
		r = go();
	eddy_encoder_free(encoder);
	eddy_decoder_free(decoder);
	if (r < 0)
		fprintf(stderr, "%s\n", strerrorname_np(-r));
	return r < 0 || fflush(stdout) != 0;
}
