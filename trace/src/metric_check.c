/* Validation of names, labels and bounds by Prometheus's data model. */
#include "metric.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name, const char *other)
{
	if (!name || !*name || !(is_letter(*name) || strchr(other, *name)))
		return false;
	for (; *name; name++)
		if (!is_letter(*name) && !(*name >= '0' && *name <= '9') && !strchr(other, *name))
			return false;
	return true;
}

static bool ends(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* The suffix tells the type. */
static bool is_name_of(enum eddy_metric_type type, const char *name)
{
	if (type == EDDY_METRIC_COUNTER)
		return ends(name, "_total");
	return !ends(name, "_total") && !ends(name, "_bucket") && !ends(name, "_count") &&
	       !ends(name, "_sum");
}

static bool are_labels(const struct eddy_metric_label *labels)
{
	for (size_t i = 0; labels && labels[i].name; i++) {
		if (i == EDDY_METRIC_LABELS_MAX || !labels[i].value ||
		    !is_name(labels[i].name, "") || strncmp(labels[i].name, "__", 2) == 0 ||
		    strcmp(labels[i].name, "le") == 0)
			return false;
		for (size_t j = 0; j < i; j++)
			if (strcmp(labels[i].name, labels[j].name) == 0)
				return false;
	}
	return true;
}

static bool are_bounds(const struct eddy_metric_options *options)
{
	if (options->type != EDDY_METRIC_HISTOGRAM)
		return !options->bounds && !options->bound_count;
	if (!options->bounds || !options->bound_count ||
	    options->bound_count > EDDY_METRIC_BOUNDS_MAX || options->read)
		return false;
	for (size_t i = 1; i < options->bound_count; i++)
		if (options->bounds[i] <= options->bounds[i - 1])
			return false;
	return true;
}

bool eddyi_metric_may_declare(const struct eddy_metric_options *options)
{
	return options->type <= EDDY_METRIC_HISTOGRAM && options->decimals <= 9 && options->help &&
	       is_name(options->name, ":") && is_name_of(options->type, options->name) &&
	       are_labels(options->labels) && are_bounds(options);
}
