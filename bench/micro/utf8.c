/* utf8: what it costs to check that text is UTF-8.
 *
 *     utf8 parts|characters ascii|german|chinese SECONDS
 *
 * "parts" checks text as it arrives, in parts of 8 KiB; "characters" goes from character to
 * character, and needs all of the text. A count is of KiB. */
#include "micro.h"

#include "text/utf8.h"

#include <eddy/internal/text.h>
#include <string.h>

#define SIZE 65536
#define PART 8192

static const struct {
	const char *name;
	const char *text;
} texts[] = {
	{ "ascii", "The quick brown fox jumps over the lazy dog, and then it takes a nap. " },
	{ "german", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. " },
	{ "chinese", "我能吞下玻璃而不伤身体。天地玄黄,宇宙洪荒。" },
};

static bool check_parts(struct eddy_str body)
{
	struct eddyi_utf8 utf8 = { 0 };
	bool ok = true;

	for (; ok && body.len; body = eddy_str_skip(body, PART))
		ok = eddyi_utf8_check(&utf8, eddy_str(body.ptr, body.len < PART ? body.len : PART));
	return ok && eddyi_utf8_is_whole(&utf8);
}

int main(int argc, char **argv)
{
	static char body[SIZE];
	size_t len = 0, text = 0, size;
	bool in_parts, ok = true;
	struct micro micro;

	if (argc != 4)
		return 2;
	in_parts = strcmp(argv[1], "parts") == 0;
	while (strcmp(texts[text].name, argv[2]) != 0)
		if (++text == sizeof(texts) / sizeof(*texts))
			return 2;
	for (size = strlen(texts[text].text); len + size <= SIZE; len += size)
		memcpy(body + len, texts[text].text, size);
	memset(body + len, ' ', SIZE - len);
	micro = micro_begin(atof(argv[3]));
	do {
		ok &= in_parts ? check_parts(eddy_str(body, SIZE)) :
				 eddyi_str_is_utf8(eddy_str(body, SIZE));
	} while (micro_goes_on(&micro, SIZE / 1024) && ok);
	if (!ok)
		micro_die("valid text is refused");
	micro_print(&micro);
	return 0;
}
