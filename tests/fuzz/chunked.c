/* Fuzzes http/src/http1/chunked.h.
 *
 * The first byte says how the rest is cut into pieces; whole and in pieces must come to the same, and
 * what is taken for a body must be one to a reader that only knows the grammar without its margins. */
#include "http1/chunked.h"

#include <errno.h>
#include <stdlib.h>

struct outcome {
	size_t data;
	size_t used; /* framing and data */
	int end;     /* 0: more is needed */
};

static struct outcome run(const char *bytes, size_t len, size_t piece)
{
	struct eddyi_chunked chunked = { 0 };
	struct outcome outcome = { 0 };

	while (len && outcome.end == 0) {
		size_t here = len < piece ? len : piece;
		char *exact = malloc(here);
		struct eddy_str rest = eddy_str(memcpy(exact, bytes, here), here);
		int r;

		while ((r = eddyi_chunked_next(&chunked, &rest)) == 1) {
			size_t n = rest.len < chunked.left ? rest.len : (size_t)chunked.left;

			if (!n || !eddyi_chunked_has_data(&chunked))
				abort();
			outcome.data += n;
			chunked.left -= n;
			rest = eddy_str_skip(rest, n);
		}
		if (r == 0 && rest.len)
			abort();
		outcome.used += here - rest.len;
		outcome.end = r;
		free(exact);
		bytes += here;
		len -= here;
	}
	return outcome;
}

/* The length of the line at `at`, without its CRLF. */
static size_t line_len(const char *at, const char *end)
{
	const char *feed = memmem(at, (size_t)(end - at), "\r\n", 2);

	if (!feed)
		abort();
	return (size_t)(feed - at);
}

/* Read a whole body once more, naively. Return: its bytes of data. */
static size_t read_again(const char *at, const char *end)
{
	size_t data = 0, size, len;

	do {
		char *behind;
		size_t blanks;

		len = line_len(at, end);
		size = strtoul(at, &behind, 16);
		/* Blanks are allowed before an extension only (RFC 9112 section 7.1.1). */
		for (blanks = 0; behind[blanks] == ' ' || behind[blanks] == '\t'; blanks++)
			;
		if (behind == at || (behind[blanks] != ';' && (blanks || behind[blanks] != '\r')))
			abort();
		at += len + 2;
		if (!size)
			break;
		if ((size_t)(end - at) < size + 2 || memcmp(at + size, "\r\n", 2) != 0)
			abort();
		data += size;
		at += size + 2;
	} while (true);
	while ((len = line_len(at, end)) != 0) {
		if (!memchr(at, ':', len))
			abort();
		at += len + 2;
	}
	if (at + 2 != end)
		abort();
	return data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct outcome whole, cut;

	if (size < 2)
		return 0;
	whole = run(text, size - 1, size);
	cut = run(text, size - 1, data[0] % 64 + 1);
	if (whole.end != cut.end || whole.data != cut.data || whole.used != cut.used)
		abort();
	if (whole.end == -ENODATA && read_again(text, text + whole.used) != whole.data)
		abort();
	return 0;
}
