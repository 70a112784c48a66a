/* A result from its file, which anybody may have written: a mistake is said with its place. */
#include "result_json.h"

#include <eddy/file.h>
#include <eddy/internal/json.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

/* Where in the file one is, for the message: a member of what is above, or an element of it. */
struct place {
	const struct place *up;
	const char *member; /* NULL: element `index` */
	size_t index;
};

struct load {
	struct result *result;
	char *error; /* of RESULT_ERROR_SIZE bytes; empty as long as nothing is wrong */
	const char *path;
};

static int print_place(char *text, size_t size, const struct place *place)
{
	int used = place->up ? print_place(text, size, place->up) : 0;

	if ((size_t)used >= size)
		return used;
	if (place->member)
		return used +
		       snprintf(text + used, size - used, "%s%s", used ? "." : "", place->member);
	return used + snprintf(text + used, size - used, "[%zu]", place->index);
}

/* The first thing that is wrong is said. Return: -EBADMSG. */
static int wrong(struct load *load, const struct place *place, const char *what)
{
	char where[128] = "";

	if (place)
		print_place(where, sizeof(where), place);
	snprintf(load->error, RESULT_ERROR_SIZE, "%.150s: %s%s%.200s", load->path, where,
		 place ? " " : "", what);
	return -EBADMSG;
}

static int load_number(struct load *load, const json_t *value, const struct place *place,
		       double *ret_number)
{
	double number = json_number_value(value);

	if (!json_is_number(value))
		return wrong(load, place, "is not a number");
	if (!isfinite(number) || number < 0 || number > RESULT_NUMBER_MAX)
		return wrong(load, place, "is a number out of range");
	*ret_number = number;
	return 0;
}

/* Members that are not there, or null, keep what they have; so it is with an object that is one. */
static int load_fields(struct load *load, const json_t *object, const struct place *place,
		       const struct field *fields, void *of)
{
	int r = 0;

	if (!object || (json_is_null(object) && place && place->member))
		return 0;
	if (!json_is_object(object))
		return wrong(load, place, "is not an object");
	for (; fields->name && !r; fields++) {
		const struct place here = { place, fields->name, 0 };
		const json_t *value = json_object_get(object, fields->name);
		void *member = (char *)of + fields->offset;

		if (!value || json_is_null(value))
			continue;
		if (fields->kind == FIELD_NUMBER)
			r = load_number(load, value, &here, member);
		else if (fields->kind == FIELD_NUMBERS)
			r = load_fields(load, value, &here, fields->fields, member);
		else if (fields->kind == FIELD_FLAG && json_is_boolean(value))
			*(bool *)member = json_is_true(value);
		else if (fields->kind == FIELD_TEXT && json_is_string(value))
			*(const char **)member =
				result_text(load->result, json_string_value(value));
		else
			r = wrong(load, &here,
				  fields->kind == FIELD_TEXT ? "is not a string" :
							       "is neither true nor false");
	}
	return r;
}

typedef int load_item_fn(struct load *load, const json_t *item, const struct place *place,
			 void *of);

/* Each element of a member that is an array, or is not there. */
static int load_items(struct load *load, const json_t *object, const struct place *place,
		      const char *name, size_t max, load_item_fn *load_item, void *of)
{
	const struct place here = { place, name, 0 };
	const json_t *array = json_object_get(object, name);
	int r = 0;

	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array))
		return wrong(load, &here, "is not an array");
	if (json_array_size(array) > max)
		return wrong(load, &here, "has too many elements");
	for (size_t i = 0; i < json_array_size(array) && !r; i++) {
		const struct place element = { &here, NULL, i };

		r = load_item(load, json_array_get(array, i), &element, of);
	}
	return r;
}

/* The name of what is to be added. Return: NULL once it is said what is wrong. */
static const char *load_name(struct load *load, const json_t *object, const struct place *place)
{
	const char *name = json_string_value(json_object_get(object, "name"));

	if (!json_is_object(object))
		wrong(load, place, "is not an object");
	else if (!name || !*name)
		wrong(load, place, "has no name");
	else
		return result_text(load->result, name);
	return NULL;
}

static int load_remark(struct load *load, const json_t *item, const struct place *place, void *of)
{
	if (!json_is_string(item))
		return wrong(load, place, "is not a string");
	if (of == load->result)
		result_add_remark(load->result, json_string_value(item));
	else
		cell_add_remark(load->result, of, json_string_value(item));
	return 0;
}

static int load_goal(struct load *load, const json_t *item, const struct place *place, void *of)
{
	struct goal *goal = cell_add_goal(load->result, of);
	int r = load_fields(load, item, place, goal_fields, goal);

	if (r < 0)
		return r;
	if (!goal->target || !goal->figure)
		return wrong(load, place, "needs a target and a figure");
	if (isnan(goal->at_least) && isnan(goal->at_most))
		return wrong(load, place, "needs at_least or at_most");
	return 0;
}

static int load_sample(struct load *load, const json_t *item, const struct place *place, void *of)
{
	return load_fields(load, item, place, sample_fields, target_add_sample(load->result, of));
}

/* As it is saved: of two that differ behind that, one would not be above the other when it is read again. */
static double to_15_digits(double number)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", number);
	return strtod(text, NULL);
}

static int load_bucket(struct load *load, const json_t *item, const struct place *place, void *of)
{
	struct buckets *buckets = of;
	double us = 0, count = 0;

	if (json_array_size(item) != 2)
		return wrong(load, place, "is not a pair of microseconds and a count");
	if (load_number(load, json_array_get(item, 0), place, &us) < 0 ||
	    load_number(load, json_array_get(item, 1), place, &count) < 0)
		return -EBADMSG;
	us = to_15_digits(us);
	if (buckets->count && us <= buckets->of[buckets->count - 1].us)
		return wrong(load, place, "is not above the one before");
	buckets_add(load->result, buckets, us, count);
	return 0;
}

static int load_target(struct load *load, const json_t *item, const struct place *place, void *of)
{
	const char *name = load_name(load, item, place);
	const struct place in_server = { place, "server", 0 };
	const struct place in_histogram = { place, "histogram", 0 };
	const json_t *server = json_object_get(item, "server");
	const json_t *histogram = json_object_get(item, "histogram");
	struct target *target;
	int r;

	if (!name)
		return -EBADMSG;
	if (cell_target(of, name))
		return wrong(load, place, "has the name of another target");
	target = cell_add_target(load->result, of, name);
	r = load_fields(load, item, place, target_fields, target);
	if (!r)
		r = load_fields(load, server, &in_server, server_fields, target);
	if (!r)
		r = load_items(load, item, place, "samples", RESULT_SAMPLES_MAX, load_sample,
			       target);
	if (!r)
		r = load_items(load, histogram, &in_histogram, "first_byte", RESULT_BUCKETS_MAX,
			       load_bucket, &target->histogram.first_byte);
	if (!r)
		r = load_items(load, histogram, &in_histogram, "total", RESULT_BUCKETS_MAX,
			       load_bucket, &target->histogram.total);
	return r;
}

static int load_cell(struct load *load, const json_t *item, const struct place *place, void *of)
{
	const char *name = load_name(load, item, place);
	struct cell *cell;
	int r;

	if (!name)
		return -EBADMSG;
	if (result_cell(of, name))
		return wrong(load, place, "has the name of another cell");
	cell = result_add_cell(load->result, name);
	r = load_fields(load, item, place, cell_fields, cell);
	if (!r)
		r = load_items(load, item, place, "targets", RESULT_TARGETS_MAX, load_target, cell);
	if (!r)
		r = load_items(load, item, place, "goals", RESULT_LINES_MAX, load_goal, cell);
	if (!r)
		r = load_items(load, item, place, "remarks", RESULT_LINES_MAX, load_remark, cell);
	return r;
}

static int load_result(struct load *load, const json_t *root)
{
	static const struct place in_machine = { NULL, "machine", 0 },
				  in_settings = { NULL, "settings", 0 };
	const json_t *version = json_object_get(root, "eddy_bench");
	const json_t *machine = json_object_get(root, "machine");
	const json_t *settings = json_object_get(root, "settings");
	struct result *result = load->result;
	int r;

	if (!json_is_integer(version))
		return wrong(load, NULL, "this is not a result of eddy-bench");
	if (json_integer_value(version) != 1)
		return wrong(load, NULL, "this result is of another version of eddy-bench");
	r = load_fields(load, root, NULL, result_fields, result);
	if (!r)
		r = load_fields(load, machine, &in_machine, machine_fields, &result->machine);
	if (!r)
		r = load_fields(load, settings, &in_settings, settings_fields, &result->settings);
	if (!r)
		r = load_items(load, root, NULL, "cells", RESULT_CELLS_MAX, load_cell, result);
	if (!r)
		r = load_items(load, root, NULL, "remarks", RESULT_LINES_MAX, load_remark, result);
	return r;
}

/* Each takes up to some 250 bytes once it is parsed, however short it is written. */
static bool has_too_many_values(const char *text, size_t len)
{
	size_t count = 1;

	for (size_t i = 0; i < len; i++)
		count += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return count > RESULT_VALUES_MAX;
}

static int parse(struct load *load, const char *text, size_t len)
{
	json_error_t error;
	json_t *root;
	int r;

	/* jansson reads over a NUL between two tokens. */
	if (memchr(text, 0, len))
		return wrong(load, NULL, "this is not JSON: it contains a NUL byte");
	if (eddyi_json_depth(eddy_str(text, len), NULL) > DEPTH_MAX)
		return wrong(load, NULL, "values are nested too deeply");
	if (has_too_many_values(text, len))
		return wrong(load, NULL, "it has too many values");
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		char what[RESULT_ERROR_SIZE];

		/* It may quote the text. */
		snprintf(what, sizeof(what), "line %d: %s", error.line,
			 result_text(load->result, error.text));
		return wrong(load, NULL, what);
	}
	r = load_result(load, root);
	json_decref(root);
	return r;
}

int result_parse(const char *path, const char *bytes, size_t len, struct result **ret_result,
		 char error[RESULT_ERROR_SIZE])
{
	struct load load = { .result = result_new(), .path = path, .error = error };
	int r = parse(&load, bytes, len);

	if (r < 0)
		result_free(load.result);
	else
		*ret_result = load.result;
	return r;
}

int result_load(const char *path, struct result **ret_result, char error[RESULT_ERROR_SIZE])
{
	char *bytes;
	ssize_t len = eddy_file_load(path, RESULT_BYTES_MAX, &bytes);
	int r;

	if (len < 0) {
		snprintf(error, RESULT_ERROR_SIZE, "%.255s: %s", path,
			 len == -EISDIR ? "is not a regular file" : strerror(-len));
		return len;
	}
	r = result_parse(path, bytes, (size_t)len, ret_result, error);
	free(bytes);
	return r;
}
