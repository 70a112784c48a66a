/* Tests of auth/src/jwt/der.h. */
#include "jwt/der.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define DER(bytes)                                                                                 \
	{                                                                                          \
		bytes, sizeof(bytes) - 1                                                           \
	}

#define BYTES_16 "0123456789abcdef"
#define BYTES_64 BYTES_16 BYTES_16 BYTES_16 BYTES_16
#define BYTES_128 BYTES_64 BYTES_64

Test(der, has_one_form)
{
	static const struct {
		struct eddy_str der;
		const char *number; /* NULL: refused */
	} rows[] = {
		{ DER("\x02\x01\x00"), "\x00" },
		{ DER("\x02\x01\x7f"), "\x7f" },
		{ DER("\x02\x02\x00\x80"), "\x80" },
		{ DER("\x02\x02\x00\x7f"), NULL },           /* a zero too much */
		{ DER("\x02\x01\x80"), NULL },               /* negative */
		{ DER("\x02\x00"), NULL },                   /* nothing */
		{ DER("\x02\x81\x01\x01"), NULL },           /* a length that is too long */
		{ DER("\x02\x82\x00\x01\x01"), NULL },       /* the same */
		{ DER("\x02\x82\x00\x80" BYTES_128), NULL }, /* where it has to be long */
		{ DER("\x02\x80\x01\x00\x00"), NULL },       /* no length */
		{ DER("\x02\x85\x00\x00\x00\x00\x01\x01"), NULL },
		{ DER("\x02\x84\xff\xff\xff\xff\x01"), NULL },
		{ DER("\x02\x02\x01"), NULL }, /* the end is missing */
		{ DER("\x02\x82\x01"), NULL },
		{ DER("\x02"), NULL },
		{ DER(""), NULL },
		{ DER("\x03\x01\x00"), NULL }, /* something else */
	};
	struct eddy_str bits;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_str rest = rows[i].der, number;
		bool is_read = eddyi_der_take_number(&rest, &number);

		cr_expect(eq(int, is_read, rows[i].number != NULL), "%zu", i);
		if (is_read) {
			cr_expect(zero(sz, rest.len));
			cr_expect(eq(sz, number.len, 1));
			cr_expect(eq(int, number.ptr[0], rows[i].number[0]));
		}
	}
	bits = (struct eddy_str)DER("\x03\x02\x01\x80");
	cr_expect(not(eddyi_der_take_bits(&bits, &bits)), "a part of a byte");
	bits = (struct eddy_str)DER("\x03\x00");
	cr_expect(not(eddyi_der_take_bits(&bits, &bits)));
	bits = (struct eddy_str)DER("\x03\x02\x00\x80");
	cr_expect(eddyi_der_take_bits(&bits, &bits));
}
