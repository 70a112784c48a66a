/* A form part by part: what the handler makes of each is said by the path.
 *
 *     read    read it in pieces of 7 bytes
 *     save    save files, read fields as text
 *     once    the same, but replace nothing and go on after a failure
 *     skip    look at the headers alone
 *     half    read 5 bytes of each
 *     first   save the first one and answer, whatever follows
 *     stale   read what is left of the one before, then this one
 *     twice   save each under its own name and what is left of it as "rest"
 *
 * Answers with a JSON array: an object a part.
 */
#include "limits_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct eddy_req *req;
	struct eddy_part *part;
	struct eddy_part *before;
	struct eddy_str how;
	int dir;
	json_t *said; /* of the part */
};

/* NULL for none; bytes that are not UTF-8 as Latin-1 would have them. */
static json_t *text_of(struct eddy_str str)
{
	json_t *text = str.ptr ? json_stringn(str.ptr, str.len) : json_null();
	char *copy;
	size_t len = 0;

	if (text || !(copy = malloc(2 * str.len + 1)))
		return text;
	for (size_t i = 0; i < str.len; i++) {
		unsigned char c = (unsigned char)str.ptr[i];

		if (c >= 0x80)
			copy[len++] = (char)(0xc0 | c >> 6);
		copy[len++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	text = json_stringn(copy, len);
	free(copy);
	return text;
}

/* Read up to `max` bytes, 7 at a time. */
static int read_in_pieces(struct reader *reader, size_t max)
{
	size_t len = 0, size = 0;
	char *text = NULL;
	ssize_t r;

	while (len < max) {
		if (size - len < 7) {
			char *larger = eddy_req_alloc(reader->req, 2 * size + 64);

			if (!larger)
				return -ENOMEM;
			size = 2 * size + 64;
			text = len ? memcpy(larger, text, len) : larger;
		}
		r = eddy_part_read(reader->part, text + len, max - len < 7 ? max - len : 7);
		if (r < 0)
			return (int)r;
		if (r == 0)
			break;
		len += (size_t)r;
	}
	json_object_set_new(reader->said, "text", text_of(eddy_str(len ? text : "", len)));
	return 0;
}

static int save(struct reader *reader, const struct eddy_save_options *options)
{
	struct eddy_saved saved;
	struct eddy_str text;
	int r;

	if (reader->part->filename.len) {
		r = eddy_part_save(reader->part, reader->dir, options, &saved);
		if (r == 0) {
			json_object_set_new(reader->said, "saved", text_of(saved.name));
			json_object_set_new(reader->said, "size",
					    json_integer((json_int_t)saved.size));
			json_object_set_new(reader->said, "replaced", json_boolean(saved.replaced));
		}
		return r;
	}
	r = eddy_part_text(reader->part, &text);
	if (r == 0)
		json_object_set_new(reader->said, "text", text_of(text));
	return r;
}

static int save_twice(struct reader *reader)
{
	struct eddy_saved saved;
	int r = save(reader, NULL);

	if (r == 0)
		r = eddy_part_save_at(reader->part, reader->dir, EDDY_STR("rest"), NULL, &saved);
	return r;
}

static int read_stale(struct reader *reader)
{
	char byte;

	json_object_set_new(reader->said, "stale",
			    reader->before ?
				    json_integer(eddy_part_read(reader->before, &byte, 1)) :
				    json_null());
	return read_in_pieces(reader, SIZE_MAX);
}

static int take(struct reader *reader)
{
	struct eddy_str how = reader->how;

	if (eddy_str_eq_z(how, "read"))
		return read_in_pieces(reader, SIZE_MAX);
	if (eddy_str_eq_z(how, "stale"))
		return read_stale(reader);
	if (eddy_str_eq_z(how, "half"))
		return read_in_pieces(reader, 5);
	if (eddy_str_eq_z(how, "save") || eddy_str_eq_z(how, "first"))
		return save(reader, NULL);
	if (eddy_str_eq_z(how, "twice"))
		return save_twice(reader);
	if (eddy_str_eq_z(how, "once")) {
		int r = save(reader, &(struct eddy_save_options){
					     .no_replace = true, .sync = true, .max = 1000 });

		json_object_set_new(reader->said, "error", json_integer(-r));
	}
	return 0;
}

static int read_form(struct reader *reader, json_t *parts)
{
	struct eddy_multipart *form;
	struct eddy_part *part;
	int r = eddy_req_multipart(reader->req, NULL, &form);

	while (r == 0 && (r = eddy_multipart_next(form, &part)) > 0) {
		reader->before = reader->part;
		reader->part = part;
		reader->said = json_object();
		json_array_append_new(parts, reader->said);
		json_object_set_new(reader->said, "field", text_of(part->name));
		json_object_set_new(reader->said, "filename", text_of(part->filename));
		json_object_set_new(reader->said, "safe", text_of(part->safe_name));
		json_object_set_new(reader->said, "type", text_of(part->type));
		r = take(reader);
		if (r == 0 && eddy_str_eq_z(reader->how, "first"))
			return 0;
	}
	return r;
}

static int parts(struct eddy_req *req, struct eddy_res *res)
{
	const struct limits *limits = eddy_req_context(req);
	struct reader reader = { .req = req, .dir = limits->dir };
	json_t *said;
	int r;

	if (eddy_req_path(req, EDDY_TO(&reader.how)) < 0)
		return 400;
	said = json_array();
	r = read_form(&reader, said);
	if (r == 0)
		return eddy_res_json(res, said);
	json_decref(said);
	return r;
}

void map_parts(struct eddy_app *app)
{
	eddy_app_map_post(app, "/parts/{how}", parts);
}
