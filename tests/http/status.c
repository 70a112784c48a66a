/* Tests of http/src/message/status.h. */
#include "message/status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

Test(status, phrases_are_the_registered_ones)
{
	cr_expect_str_eq(eddyi_status_phrase(200), "OK");
	cr_expect_str_eq(eddyi_status_phrase(413), "Content Too Large");
	cr_expect_str_eq(eddyi_status_phrase(422), "Unprocessable Content");
	cr_expect_str_eq(eddyi_status_phrase(511), "Network Authentication Required");
	/* Not registered, or no longer used. */
	cr_expect_str_eq(eddyi_status_phrase(306), "Unknown");
	cr_expect_str_eq(eddyi_status_phrase(599), "Unknown");
}

/* A phrase goes into the status line, a detail into a sentence: neither has a byte that does not fit there. */
Test(status, texts_fit_where_they_are_put)
{
	for (int status = 200; status < 600; status++) {
		const char *phrase = eddyi_status_phrase(status);

		cr_expect(phrase[0] >= 'A' && phrase[0] <= 'Z', "%d: %s", status, phrase);
		for (const char *c = phrase; *c; c++)
			cr_expect(c[0] >= ' ' && c[0] < 0x7f, "%d: %s", status, phrase);
	}
	for (int status = 400; status < 600; status++) {
		const char *detail = eddyi_status_detail(status);

		cr_expect(detail[0] >= 'a' && detail[0] <= 'z', "%d: %s", status, detail);
		cr_expect(detail[strlen(detail) - 1] != '.', "%d: %s", status, detail);
	}
}

Test(status, details_blame_the_right_side)
{
	cr_expect_str_eq(eddyi_status_detail(413), "the body exceeds the size limit");
	cr_expect_str_eq(eddyi_status_detail(418), "the request can't be processed");
	cr_expect_str_eq(eddyi_status_detail(505), "the server can't process the request");
}

Test(status, errors_have_statuses)
{
	static const struct {
		int error, status;
	} cases[] = {
		{ -ENOENT, 404 },     { -EACCES, 403 },    { -EEXIST, 409 },
		{ -EINVAL, 400 },     { -EBADMSG, 400 },   { -EFBIG, 413 },
		{ -ENOSPC, 507 },     { -ETIMEDOUT, 504 }, { -ECONNREFUSED, 502 },
		{ -ECONNRESET, 502 }, { -EBUSY, 503 },     { -ECONNABORTED, 503 },
		{ -EIO, 500 },        { -ENOMEM, 500 },    { -1, 500 } /* EPERM */,
		{ -4096, 500 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(eddyi_status_of(cases[i].error), cases[i].status, "%d gives %d",
			     cases[i].error, eddyi_status_of(cases[i].error));
}

Test(status, has_a_body)
{
	cr_expect(eddyi_status_has_body(200));
	cr_expect(eddyi_status_has_body(404));
	cr_expect(not(eddyi_status_has_body(204)));
	cr_expect(not(eddyi_status_has_body(304)));
}
