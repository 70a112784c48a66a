/* A result into its file, which is replaced as a whole. */
#include "figures_json.h"
#include "must.h"
#include "result_json.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXACT_MAX 9007199254740992.0 /* beyond it a double is no count */

static void set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		must_end();
}

static json_t *append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		must_end();
	return value;
}

static json_t *number(double value)
{
	if (isnan(value))
		return json_null();
	if (value == floor(value) && fabs(value) <= EXACT_MAX)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : json_null();
}

static void save_fields(json_t *object, const struct field *fields, const void *of)
{
	for (; fields->name; fields++) {
		const void *member = (const char *)of + fields->offset;
		json_t *value = NULL;

		switch (fields->kind) {
		case FIELD_NUMBER:
			value = number(*(const double *)member);
			break;
		case FIELD_TEXT:
			value = text(*(const char *const *)member);
			break;
		case FIELD_FLAG:
			value = json_boolean(*(const bool *)member);
			break;
		case FIELD_NUMBERS:
			value = json_object();
			save_fields(value, fields->fields, member);
			break;
		}
		set(object, fields->name, value);
	}
}

static json_t *object_of(const struct field *fields, const void *of)
{
	json_t *object = json_object();

	save_fields(object, fields, of);
	return object;
}

/* Those from `from` on; there may be no array at all. */
static json_t *texts(const char *const *of, size_t from, size_t end)
{
	json_t *array = json_array();

	for (size_t i = from; i < end; i++)
		append(array, text(of[i]));
	return array;
}

static void save_remarks(json_t *object, const char *const *remarks, size_t count, size_t derived)
{
	set(object, "remarks", texts(remarks, 0, count - derived));
	set(object, "derived_remarks", texts(remarks, count - derived, count));
}

static json_t *buckets(const struct buckets *of)
{
	json_t *array = json_array();

	for (size_t i = 0; i < of->count; i++) {
		json_t *pair = append(array, json_array());

		append(pair, number(of->of[i].us));
		append(pair, number(of->of[i].count));
	}
	return array;
}

static json_t *save_target(const struct cell *cell, const struct target *target)
{
	json_t *object = json_object(), *samples = json_array(), *histogram = json_object();

	set(object, "name", text(target->name));
	save_fields(object, target_fields, target);
	set(object, "server",
	    target->server.command || !isnan(target->server.pid) ?
		    object_of(server_fields, target) :
		    json_null());
	for (size_t i = 0; i < target->sample_count; i++)
		append(samples, object_of(sample_fields, target->samples[i]));
	set(object, "samples", samples);
	set(histogram, "first_byte", buckets(&target->histogram.first_byte));
	set(histogram, "total", buckets(&target->histogram.total));
	set(object, "histogram", histogram);
	set(object, "figures", figures_json(cell, target));
	return object;
}

static json_t *save_cell(const struct cell *cell)
{
	json_t *object = json_object(), *targets = json_array(), *goals = json_array();

	set(object, "name", text(cell->name));
	save_fields(object, cell_fields, cell);
	for (size_t i = 0; i < cell->target_count; i++)
		append(targets, save_target(cell, cell->targets[i]));
	for (size_t i = 0; i < cell->goal_count; i++) {
		json_t *goal = append(goals, object_of(goal_fields, cell->goals[i]));

		set(goal, "outcome", outcome_json(cell, cell->goals[i]));
	}
	set(object, "targets", targets);
	set(object, "goals", goals);
	save_remarks(object, cell->remarks, cell->remark_count, cell->derived_count);
	return object;
}

static json_t *save_result(const struct result *result)
{
	json_t *root = json_object(), *cells = json_array();

	set(root, "eddy_bench", json_integer(1));
	save_fields(root, result_fields, result);
	set(root, "machine", object_of(machine_fields, &result->machine));
	set(root, "settings", object_of(settings_fields, &result->settings));
	for (size_t i = 0; i < result->cell_count; i++)
		append(cells, save_cell(result->cells[i]));
	set(root, "cells", cells);
	save_remarks(root, result->remarks, result->remark_count, result->derived_count);
	return root;
}

int result_save(const struct result *result, const char *path, char error[RESULT_ERROR_SIZE])
{
	json_t *root = save_result(result);
	/* 15 digits are what a double keeps of a decimal number: 0.1 stays 0.1. */
	char *bytes = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
	int r = -ENOMEM;

	json_decref(root);
	if (bytes)
		r = save_file(path, bytes, strlen(bytes), error);
	else
		snprintf(error, RESULT_ERROR_SIZE, "%.255s: %s", path, strerror(ENOMEM));
	free(bytes);
	return r;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t wrote = write(fd, bytes, len);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		if (wrote > 0) {
			bytes += wrote;
			len -= (size_t)wrote;
		}
	}
	return 0;
}

/* Under another name first, in the same folder; without bytes it is only tried. A link stays one: /dev/stdout is. */
static int replace(const char *link, const char *bytes, size_t len)
{
	char *real = realpath(link, NULL), *other;
	const char *path = real ? real : link;
	int fd, r;

	if (asprintf(&other, "%s.%d.new", path, (int)getpid()) < 0) {
		free(real);
		return -ENOMEM;
	}
	fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	r = fd < 0 ? -errno : write_all(fd, bytes, len);
	if (fd >= 0 && close(fd) < 0 && !r)
		r = -errno;
	if (!r && bytes && rename(other, path) < 0)
		r = -errno;
	if ((r < 0 || !bytes) && fd >= 0)
		unlink(other);
	free(other);
	free(real);
	return r;
}

int save_check(const char *path, char error[RESULT_ERROR_SIZE])
{
	struct stat st;
	int r = 0;

	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		r = replace(path, NULL, 0);
	else if (S_ISDIR(st.st_mode))
		r = -EISDIR;
	else if (access(path, W_OK) < 0)
		r = -errno;
	if (r < 0)
		snprintf(error, RESULT_ERROR_SIZE, "%.255s: %s", path, strerror(-r));
	return r;
}

int save_file(const char *path, const char *bytes, size_t len, char error[RESULT_ERROR_SIZE])
{
	struct stat st;
	int fd, r;

	if (strcmp(path, "-") == 0) {
		r = write_all(STDOUT_FILENO, bytes, len);
	} else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		/* A pipe or a device stays what it is. */
		fd = open(path, O_WRONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : write_all(fd, bytes, len);
		if (fd >= 0)
			close(fd);
	} else {
		r = replace(path, bytes, len);
	}
	if (r < 0)
		snprintf(error, RESULT_ERROR_SIZE, "%.255s: %s", path, strerror(-r));
	return r;
}
