/* der.h: as much of DER (ITU-T X.690) as keys are written in. */
#ifndef EDDYI_DER_H
#define EDDYI_DER_H

#include <eddy/str.h>

enum eddyi_der_tag {
	EDDYI_DER_INTEGER = 0x02,
	EDDYI_DER_BITS = 0x03,
	EDDYI_DER_OCTETS = 0x04,
	EDDYI_DER_NULL = 0x05,
	EDDYI_DER_OID = 0x06,
	EDDYI_DER_SEQUENCE = 0x30,
	EDDYI_DER_CONTEXT_0 = 0xa0,
	EDDYI_DER_CONTEXT_1 = 0xa1,
};

/* Take an element of this tag off the front of `*rest`. Return: false when there is none. */
bool eddyi_der_take(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content);

/* The same if it is there: .ptr is NULL when not. Return: false when it is there, and broken. */
bool eddyi_der_take_if(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content);

/* Take an INTEGER that is not negative: its bytes without a zero in front, but for 0 itself. */
bool eddyi_der_take_number(struct eddy_str *rest, struct eddy_str *ret_number);

/* Take a BIT STRING of whole bytes. */
bool eddyi_der_take_bits(struct eddy_str *rest, struct eddy_str *ret_bytes);

#endif
