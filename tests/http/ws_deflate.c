/* Tests of http/src/ws/ws_deflate.h. */
#include "ws/ws_deflate.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void both(struct eddyi_ws_deflate *out, struct eddyi_ws_deflate *in, bool keeps,
		 uint8_t bits)
{
	*out = (struct eddyi_ws_deflate){ .side = { keeps, bits }, .level = 6 };
	*in = (struct eddyi_ws_deflate){ .side = { keeps, bits }, .inflates = true };
}

/* Send a message in pieces of this size. Return: the size of its payload. */
static size_t send(struct eddyi_ws_deflate *out, struct eddyi_ws_deflate *in, struct eddy_str text,
		   size_t piece)
{
	struct eddyi_ws_buffer sent = { 0 }, received = { 0 };
	size_t len;

	for (size_t at = 0; at == 0 || at < text.len; at += piece) {
		struct eddy_str rest = eddy_str_skip(text, at);
		bool is_last = rest.len <= piece;

		cr_assert_eq(eddyi_ws_deflate_feed(out,
						   eddy_str(rest.ptr, is_last ? rest.len : piece),
						   is_last, &sent, UINT64_MAX),
			     0);
	}
	for (size_t at = 0; at < sent.len; at++)
		cr_assert_eq(eddyi_ws_deflate_feed(in, eddy_str(sent.bytes + at, 1),
						   at + 1 == sent.len, &received, text.len),
			     0);
	cr_assert_eq(received.len, text.len);
	cr_assert(!text.len || memcmp(received.bytes, text.ptr, text.len) == 0);
	len = sent.len;
	eddyi_ws_buffer_deinit(&sent);
	eddyi_ws_buffer_deinit(&received);
	return len;
}

Test(ws_deflate, messages_come_back)
{
	static char text[100000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i % 251 ^ i >> 9);
	for (int keeps = 0; keeps < 2; keeps++) {
		for (uint8_t bits = EDDYI_WS_WINDOW_MIN; bits <= EDDYI_WS_WINDOW_MAX; bits += 3) {
			struct eddyi_ws_deflate out, in;

			both(&out, &in, keeps, bits);
			for (size_t len = 0; len <= sizeof(text); len = 3 * len + 1)
				send(&out, &in, eddy_str(text, len), 1 + len / 3);
			eddyi_ws_deflate_deinit(&out);
			eddyi_ws_deflate_deinit(&in);
		}
	}
}

Test(ws_deflate, a_message_refers_to_others_only_if_they_are_kept)
{
	struct eddy_str text = EDDY_STR("a message that is much like the one before");
	struct eddyi_ws_deflate out, in;
	size_t first, second;

	both(&out, &in, true, 15);
	first = send(&out, &in, text, 100);
	second = send(&out, &in, text, 100);
	cr_expect_lt(second, first / 2);
	eddyi_ws_deflate_deinit(&out);
	eddyi_ws_deflate_deinit(&in);
	both(&out, &in, false, 15);
	first = send(&out, &in, text, 100);
	cr_expect_eq(send(&out, &in, text, 100), first);
	cr_expect_null(out.stream);
	cr_expect_null(in.stream);
}

/* The examples of RFC 7692 section 7.2.3. */
Test(ws_deflate, the_rfcs_examples)
{
	static const struct {
		const char *payload;
		size_t len;
		const char *text;
	} cases[] = {
		{ "\xf2\x48\xcd\xc9\xc9\x07\x00", 7, "Hello" },
		{ "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", 11, "Hello" }, /* stored */
		{ "\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8, "Hello" },              /* BFINAL */
		{ "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", 13, "Hello" },
		{ "\x00", 1, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_ws_deflate in = { .side = { true, 15 }, .inflates = true };
		struct eddyi_ws_buffer out = { 0 };
		int r = eddyi_ws_deflate_feed(&in, eddy_str(cases[i].payload, cases[i].len), true,
					      &out, 100);

		cr_expect_eq(r, 0, "%zu: %d", i, r);
		cr_expect_eq(out.len, strlen(cases[i].text), "%zu", i);
		cr_expect(!out.len || memcmp(out.bytes, cases[i].text, out.len) == 0, "%zu", i);
		eddyi_ws_buffer_deinit(&out);
		eddyi_ws_deflate_deinit(&in);
	}
}

Test(ws_deflate, what_is_wrong_or_too_long)
{
	struct eddyi_ws_deflate in = { .side = { false, 15 }, .inflates = true },
				deflate = { .side = { false, 15 }, .level = 9 };
	struct eddyi_ws_buffer sent = { 0 }, out = { 0 };
	char *zeros = calloc(1, 1 << 20);

	cr_expect_eq(eddyi_ws_deflate_feed(&in, EDDY_STR("\xff\xff\xff"), true, &out, 100),
		     -EBADMSG);
	cr_assert_eq(eddyi_ws_deflate_feed(&deflate, eddy_str(zeros, 1 << 20), true, &sent,
					   UINT64_MAX),
		     0);
	eddyi_ws_buffer_deinit(&out);
	cr_expect_eq(eddyi_ws_deflate_feed(&in, eddy_str(sent.bytes, sent.len), true, &out, 10000),
		     -EMSGSIZE);
	cr_expect_lt(out.size, 40000);
	eddyi_ws_buffer_deinit(&out);
	eddyi_ws_buffer_deinit(&sent);
	free(zeros);
}

/* Expand a message of `count` pieces and an empty block, which comes at once or piece by piece;
 * twice. */
static int expand(struct eddy_str piece, size_t count, bool at_once)
{
	struct eddyi_ws_deflate in = { .side = { true, 15 }, .inflates = true };
	struct eddyi_ws_buffer out = { 0 };
	size_t len = piece.len * count + 1;
	char *message = malloc(len);
	int r = 0;

	for (size_t i = 0; i < count; i++)
		memcpy(message + i * piece.len, piece.ptr, piece.len);
	message[len - 1] = 0;
	for (int round = 0; round < 2; round++) {
		size_t step = at_once ? len : piece.len;

		for (size_t at = 0; at < len && r == 0; at += step) {
			bool is_last = len - at <= step;

			r = eddyi_ws_deflate_feed(&in,
						  eddy_str(message + at, is_last ? len - at : step),
						  is_last, &out, UINT64_MAX);
		}
	}
	free(message);
	eddyi_ws_buffer_deinit(&out);
	eddyi_ws_deflate_deinit(&in);
	return r;
}

Test(ws_deflate, streams_that_end_within_a_message)
{
	/* An empty stream, "Hello", and a stored block of 11 bytes; each is the last of its
	 * stream. */
	struct eddy_str empty = EDDY_STR("\x03\x00"),
			hello = EDDY_STR("\xf3\x48\xcd\xc9\xc9\x07\x00"),
			stored = EDDY_STR("\x01\x0b\x00\xf4\xffhello world");

	for (int at_once = 0; at_once < 2; at_once++) {
		cr_expect_eq(expand(empty, 2, at_once), 0);
		cr_expect_eq(expand(empty, 3, at_once), -EBADMSG);
		cr_expect_eq(expand(empty, 32000, at_once), -EBADMSG);
		cr_expect_eq(expand(hello, 2, at_once), 0);
		cr_expect_eq(expand(stored, 1000, at_once), 0);
	}
}
