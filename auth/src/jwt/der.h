/* der.h: the subset of DER (ITU-T X.690) that keys use. */
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

/* Take an element with this tag off the front of `*rest`. Return: false if there is none. */
bool eddyi_der_take(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content);

/* Take an optional element: .ptr is NULL if it is missing. Return: false if it is malformed. */
bool eddyi_der_take_if(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content);

/* Take a non-negative INTEGER: its bytes, without a leading zero byte unless it is 0. */
bool eddyi_der_take_number(struct eddy_str *rest, struct eddy_str *ret_number);

/* Take a BIT STRING of whole bytes. */
bool eddyi_der_take_bits(struct eddy_str *rest, struct eddy_str *ret_bytes);

#endif
