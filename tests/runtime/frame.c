#include "base/frame.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

Test(frame, an_exported_function_is_named)
{
	char text[EDDYI_FRAME_SIZE];

	eddyi_frame_format(text, sizeof(text), (const char *)getpid + 2);
	cr_expect(strstr(text, "getpid+0x2 (") != NULL, "%s", text);
}

static int counter;

Test(frame, other_addresses)
{
	char text[EDDYI_FRAME_SIZE];

	eddyi_frame_format(text, sizeof(text), &counter);
	/* With the name by which Criterion has started this program. */
	cr_expect(strstr(text, "+0x") != NULL && !strchr(text, '('), "%s", text);
	eddyi_frame_format(text, sizeof(text), (const void *)0x10);
	cr_expect(eq(str, text, "0x10"));
	eddyi_frame_format(text, 3, (const void *)0x10);
	cr_expect(eq(str, text, "0x"));
}

/* This program is linked statically. */
Test(frame, calls_can_not_be_told_without_shared_libraries)
{
	char function[EDDYI_FRAME_SIZE], place[EDDYI_FRAME_SIZE];

	eddyi_frame_prepare();
	cr_expect(zero(int, eddyi_frame_of_call(function, place)));
}
