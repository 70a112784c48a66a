/* Tests of http/src/message/head.h. */
#include "heads.h"

#include <stdio.h>

/* As one value, in their order. */
Test(head, joins_fields)
{
	static const char begin[] = "GET / HTTP/1.1\r\nA: 1\r\n" HOST "b: 2\r\na: 3\r\nA:\r\n";
	struct eddyi_arena arena = { 0 };
	struct eddyi_request_head request;
	struct eddyi_head head;
	struct eddy_str all;
	char text[8192];
	size_t len = 0;

	len = (size_t)sprintf(text, "%s", begin);
	for (int i = 0; i < 90; i++)
		len += (size_t)sprintf(text + len, "c: %050d\r\n", i);
	len += (size_t)sprintf(text + len, "\r\n");
	cr_assert(eq(int, feed(&request, &head, &arena, eddy_str(text, len), SIZE_MAX, &len), 200));
	all = eddyi_head_join(&head, "a");
	cr_expect(eddy_str_eq_z(all, "1, 3, "), "%.*s", EDDY_FMT(all));
	cr_expect(eddy_str_eq_z(eddyi_head_join(&head, "B"), "2"));
	cr_expect(eddyi_head_join(&head, "d").ptr == NULL);
	all = eddyi_head_join(&head, "c");
	cr_expect(eq(sz, all.len, 90 * 52 - 2));
	cr_expect(eddy_str_starts(all, eddy_str_from("00000")));
	cr_expect(all.ptr[all.len - 1] == '9');
	eddyi_arena_deinit(&arena);
}
