/* eddy/json_text.h: JSON (RFC 8259) from structs and into structs by tables of members
 * (eddy/member.h), in one pass and without a tree.
 *
 *     struct eddy_json_reader reader = { .alloc = alloc, .arg = &memory };
 *
 *     if (eddy_json_read(&reader, text, order_members, &order) == -EINVAL)
 *             for (size_t i = 0; i < reader.fault_count; i++)
 *                     show(reader.faults[i].pointer, reader.faults[i].why);
 *
 *     struct eddy_json_writer writer = { 0 };
 *
 *     if (eddy_json_write(&writer, order_members, &order) == 0)
 *             send(writer.text);
 *     free(writer.text.ptr);
 *
 * With http, use eddy_req_json_into() and eddy_res_json_from(). Nothing here suspends.
 */
#ifndef EDDY_JSON_TEXT_H
#define EDDY_JSON_TEXT_H

#include <eddy/member.h>

EDDY_BEGIN_DECLS

/* ---- reading ---- */

/* A value that the table does not allow. */
struct eddy_json_fault {
	struct eddy_str pointer; /* JSON pointer as a URI fragment: "#/items/0/name" (RFC 6901) */
	struct eddy_str why;     /* "must be an integer from 1 to 9" */
};

struct eddy_json_reader {
	/* Allocate memory of arrays, of names and strings with escapes, and of faults, which the
	 * caller frees as a whole, also after an error. Aligned for any type. NULL: none is allocated, and a text
	 * that needs memory gives -ENOMEM. */
	void *(*alloc)(void *arg, size_t size);
	void *arg;
	unsigned depth_max; /* of nested arrays and objects, 1024 at most; default 128 */
	size_t values_max;  /* default 16,384 */

	/* Results: */
	struct eddy_json_fault *faults; /* the first 32 */
	size_t fault_count;
	bool has_unknown;        /* a fault is a member that a strict table does not name */
	char why[EDDY_WHY_SIZE]; /* the first fault, or why the text is not JSON, and where */
};

/* Read all of a text, which is an object, into `*ret_target`: all members or none. Strings without
 * escapes are borrowed from the text. A value of another JSON type is a fault; null stands for a
 * missing optional value. Objects of a table may be nested 32 deep. Also rejected: duplicates of
 * members that the table names, a NUL in a string, and real numbers of the table that overflow.
 * Return: 0; -EBADMSG if it is not JSON; -EINVAL with `faults`; -EMSGSIZE for too many values;
 * -ENOMEM; -EDOM if the table is wrong, which is logged. */
#define eddy_json_read(reader, text, members, ret_target)                                          \
	eddyi_json_text_read((reader), (text), EDDY_SHAPE(*(ret_target), members), (ret_target),   \
			     NULL)

/* Read all of a text, which is an array of objects. `*ret_array`, a pointer to the struct of the
 * table, gets the first of `*ret_count`, in memory of the reader. Return: as eddy_json_read(). */
#define eddy_json_read_array(reader, text, members, ret_array, ret_count)                          \
	eddyi_json_text_read((reader), (text), EDDY_SHAPE(**(ret_array), members), (ret_array),    \
			     (ret_count))
EDDY_API int eddyi_json_text_read(struct eddy_json_reader *reader, struct eddy_str text,
				  const struct eddy_shape *shape, void *ret_target,
				  size_t *ret_count);

/* ---- writing ---- */

/* A text that grows. Zeroed, its memory is of malloc(3): free(writer.text.ptr). */
struct eddy_json_writer {
	/* Make room for `size` bytes in place of `text`. Return: the bytes, with those of `text` in
	 * front; NULL on allocation failure. */
	void *(*grow)(void *arg, struct eddy_str text, size_t size);
	void *arg;

	struct eddy_str text; /* the result */
	size_t size;
};

/* Append an object. Members are left out (.null: are null) if their .present is false, and so are
 * optional strings without .ptr. An integer with .names is written as its name; invalid UTF-8 as
 * U+FFFD; an infinite number as null.
 * Return: 0; -ENOMEM; -EDOM, logged: an integer has no name, or objects are nested over 32 deep. */
#define eddy_json_write(writer, members, source)                                                   \
	eddyi_json_text_write((writer), EDDY_SHAPE(*(source), members), (source), EDDYI_JSON_OBJECT)

/* Append an array of `count` objects. Return: as eddy_json_write(). */
#define eddy_json_write_array(writer, members, array, count)                                       \
	eddyi_json_text_write((writer), EDDY_SHAPE(*(array), members), (array), (count))
#define EDDYI_JSON_OBJECT SIZE_MAX
EDDY_API int eddyi_json_text_write(struct eddy_json_writer *writer, const struct eddy_shape *shape,
				   const void *source, size_t count);

EDDY_END_DECLS

#endif
