/* structured.h: structured fields (RFC 9651), parsed strictly.
 *
 *     while (rest.len)
 *             if (eddyi_structured_take_entry(&rest, &key, &value) < 0)
 *                     return -EBADMSG;
 *
 * Parameters, and the items of inner lists, are validated and skipped. */
#ifndef EDDYI_STRUCTURED_H
#define EDDYI_STRUCTURED_H

#include <eddy/str.h>

enum eddyi_structured_type {
	EDDYI_STRUCTURED_INTEGER,
	EDDYI_STRUCTURED_DECIMAL,
	EDDYI_STRUCTURED_STRING,
	EDDYI_STRUCTURED_TOKEN,
	EDDYI_STRUCTURED_BYTES,
	EDDYI_STRUCTURED_BOOLEAN,
	EDDYI_STRUCTURED_DATE,
	EDDYI_STRUCTURED_DISPLAY,
	EDDYI_STRUCTURED_LIST, /* an inner list */
};

struct eddyi_structured {
	enum eddyi_structured_type type;
	int64_t integer;      /* of an integer, a date, or a boolean (0, 1) */
	struct eddy_str text; /* as it stands in the field, within its delimiters */
};

/* Take the first entry, and the comma after it, off a dictionary, the joined lines of a field. A
 * key without a value is the boolean true. An entry replaces earlier ones of the same key (RFC 9651
 * section 3.2).
 * Return: 0; -EBADMSG if it is malformed, and so the whole field. */
int eddyi_structured_take_entry(struct eddy_str *rest, struct eddy_str *ret_key,
				struct eddyi_structured *ret_value);

/* Parse an item, the joined lines of a field. Return: 0, -EBADMSG. */
int eddyi_structured_parse_item(struct eddy_str field, struct eddyi_structured *ret_item);

#endif
