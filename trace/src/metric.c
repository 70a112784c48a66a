#include "metric.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/list.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Invariant: metrics and families are only added, and complete when added: readers need no lock. */
struct eddy_metric {
	struct eddy_metric *next;  /* in the family */
	struct eddy_metric *other; /* in the bucket; with the lock */
	const struct family *family;
	char *labels;  /* text, sorted, without braces; "" for none */
	unsigned cell; /* the first of its cells; a histogram has its buckets and their sum */
	int (*read)(void *arg, uint64_t *ret_value); /* NULL: it has cells */
	void *arg;
};

/* All metrics of one name. */
struct family {
	struct family *next;
	struct eddy_metric *first;
	struct eddy_metric **end; /* where to add the next; with the lock */
	char *name;
	char *help;
	enum eddy_metric_type type;
	unsigned decimals;
	size_t bound_count;
	uint64_t bounds[EDDY_METRIC_BOUNDS_MAX];
};

#define SECONDS 9 /* decimals of nanoseconds */

#define BUCKETS 8192

static const uint64_t default_bounds[] = {
	100 * EDDY_US,  250 * EDDY_US,  500 * EDDY_US,   EDDY_MS,
	2500 * EDDY_US, 5 * EDDY_MS,    10 * EDDY_MS,    25 * EDDY_MS,
	50 * EDDY_MS,   100 * EDDY_MS,  250 * EDDY_MS,   500 * EDDY_MS,
	EDDY_SECOND,    2500 * EDDY_MS, 5 * EDDY_SECOND, 10 * EDDY_SECOND,
};

static struct {
	pthread_mutex_t lock; /* held to declare */
	struct family *first;
	struct eddy_metric *buckets[BUCKETS];
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- growing text ---- */

#define SIZE_MIN 1024

static bool make_room(struct eddyi_metric_out *out, size_t len)
{
	size_t size = out->size ? out->size : SIZE_MIN;
	char *bytes;

	if (out->failed)
		return false;
	while (size - out->len < len)
		size *= 2;
	if (size == out->size)
		return true;
	bytes = realloc(out->bytes, size);
	out->failed = !bytes;
	if (!bytes)
		return false;
	out->bytes = bytes;
	out->size = size;
	return true;
}

static void put(struct eddyi_metric_out *out, const char *bytes, size_t len)
{
	if (!make_room(out, len))
		return;
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
}

static void put_all(struct eddyi_metric_out *out, const char *const *strings)
{
	for (; *strings; strings++)
		put(out, *strings, strlen(*strings));
}

#define put_texts(out, ...) put_all(out, (const char *const[]){ __VA_ARGS__, NULL })

/* Write text escaped for format 0.0.4, for a label or a HELP line; invalid UTF-8 becomes U+FFFD. */
static void put_escaped(struct eddyi_metric_out *out, const char *text, bool is_label)
{
	struct eddy_str rest = eddy_str_from(text);

	while (rest.len) {
		size_t len = eddyi_str_utf8_len(rest);

		if (!len)
			put_texts(out, "\xef\xbf\xbd");
		else if (*rest.ptr == '\n')
			put_texts(out, "\\n");
		else if (*rest.ptr == '\\' || (*rest.ptr == '"' && is_label))
			put(out, (char[]){ '\\', *rest.ptr }, 2);
		else
			put(out, rest.ptr, len);
		rest = eddy_str_skip(rest, len ? len : 1);
	}
}

#define NUMBER_SIZE 24

/* Format a number with `decimals` decimal places, without trailing zeros. */
static size_t format_number(uint64_t value, unsigned decimals, char text[NUMBER_SIZE])
{
	char places[EDDY_U64_SIZE];
	uint64_t unit = 1;
	size_t len;

	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	len = eddy_u64_format(value / unit, text);
	if (value % unit == 0)
		return len;
	/* A leading 1 keeps the zeros; the point replaces it. */
	eddy_u64_format(unit + value % unit, places);
	places[0] = '.';
	memcpy(text + len, places, decimals + 2);
	len += decimals + 1;
	while (text[len - 1] == '0')
		text[--len] = 0;
	return len;
}

static void put_number(struct eddyi_metric_out *out, int64_t value, unsigned decimals)
{
	char text[NUMBER_SIZE];
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (value < 0)
		put_texts(out, "-");
	put(out, text, format_number(size, decimals, text));
}

/* ---- validation by Prometheus's data model ---- */

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

static bool may_declare(const struct eddy_metric_options *options)
{
	return options->type <= EDDY_METRIC_HISTOGRAM && options->decimals <= 9 && options->help &&
	       is_name(options->name, ":") && is_name_of(options->type, options->name) &&
	       are_labels(options->labels) && are_bounds(options);
}

/* ---- cells: counters without locks, each thread has its own ---- */

#define PIECE 1024
#define PIECES 128

/* Invariants:
 * 1. A thread's cells are written only by it, without locked instructions, and read by any. They
 *    are in `threads` from its first count to its end.
 * 2. `rest` has the sums of ended threads, and counts of threads on allocation failure. A piece of
 *    it exists before any cell of that piece is used.
 * 3. Threads are added and removed, and sums are made, under `lock`: what a thread leaves is
 *    counted once.
 */
struct cells {
	struct eddy_node node;
	uint64_t *pieces[PIECES]; /* NULL: all 0 */
};

static struct {
	pthread_mutex_t lock;
	struct eddy_node threads;
	struct cells rest;
	unsigned used;
	pthread_once_t once;
	pthread_key_t key; /* its destructor runs when a thread ends */
	int key_error;
} counts = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.threads = { &counts.threads, &counts.threads },
	.once = PTHREAD_ONCE_INIT,
};

static _Thread_local struct cells *mine __attribute__((tls_model("initial-exec")));

static uint64_t *piece_of(const struct cells *cells, size_t at)
{
	return __atomic_load_n(&cells->pieces[at], __ATOMIC_ACQUIRE);
}

static uint64_t load(const uint64_t *cell)
{
	return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

static void leave_piece(uint64_t *rest, uint64_t *piece)
{
	for (size_t i = 0; i < PIECE; i++)
		__atomic_fetch_add(&rest[i], piece[i], __ATOMIC_RELAXED);
	free(piece);
}

static void thread_ends(void *arg)
{
	struct cells *cells = arg;

	pthread_mutex_lock(&counts.lock);
	eddy_list_remove(&cells->node);
	for (size_t i = 0; i < PIECES; i++)
		if (cells->pieces[i])
			leave_piece(counts.rest.pieces[i], cells->pieces[i]);
	mine = NULL;
	pthread_mutex_unlock(&counts.lock);
	free(cells);
}

static void make_key(void)
{
	counts.key_error = pthread_key_create(&counts.key, thread_ends);
}

static struct cells *begin_thread(void)
{
	struct cells *cells;

	pthread_once(&counts.once, make_key);
	cells = counts.key_error ? NULL : calloc(1, sizeof(*cells));
	if (!cells)
		return NULL;
	if (pthread_setspecific(counts.key, cells) != 0) {
		free(cells);
		return NULL;
	}
	pthread_mutex_lock(&counts.lock);
	eddy_list_append(&counts.threads, &cells->node);
	pthread_mutex_unlock(&counts.lock);
	mine = cells;
	return cells;
}

static uint64_t *begin_piece(unsigned at)
{
	struct cells *cells = mine ? mine : begin_thread();
	uint64_t *piece = cells ? calloc(PIECE, sizeof(*piece)) : NULL;

	if (piece)
		__atomic_store_n(&cells->pieces[at], piece, __ATOMIC_RELEASE);
	return piece;
}

/* Reserve `count` adjacent cells, which are 0. Return: 0, -ENOSPC, -ENOMEM. */
static int cells_reserve(size_t count, unsigned *ret_first)
{
	unsigned first, at;
	int r = 0;

	pthread_mutex_lock(&counts.lock);
	first = counts.used;
	if (first % PIECE + count > PIECE)
		first += PIECE - first % PIECE;
	at = first / PIECE;
	if (at >= PIECES)
		r = -ENOSPC;
	else if (!counts.rest.pieces[at]) {
		uint64_t *piece = calloc(PIECE, sizeof(*piece));

		__atomic_store_n(&counts.rest.pieces[at], piece, __ATOMIC_RELEASE);
		r = piece ? 0 : -ENOMEM;
	}
	if (r == 0) {
		counts.used = first + (unsigned)count;
		*ret_first = first;
	}
	pthread_mutex_unlock(&counts.lock);
	return r;
}

/* Add to a cell. Any thread may call it. */
static void cells_add(unsigned cell, uint64_t by)
{
	unsigned at = cell / PIECE;
	uint64_t *piece = mine ? mine->pieces[at] : NULL;

	if (__builtin_expect(!piece, 0))
		piece = begin_piece(at);
	if (__builtin_expect(!piece, 0)) {
		__atomic_fetch_add(&piece_of(&counts.rest, at)[cell % PIECE], by, __ATOMIC_RELAXED);
		return;
	}
	piece += cell % PIECE;
	__atomic_store_n(piece, *piece + by, __ATOMIC_RELAXED);
}

static void add_all(const struct cells *cells, unsigned first, size_t count, uint64_t *sums)
{
	const uint64_t *piece = piece_of(cells, first / PIECE);

	for (size_t i = 0; piece && i < count; i++)
		sums[i] += load(&piece[first % PIECE + i]);
}

/* Sum `count` adjacent cells over all threads. */
static void cells_sum(unsigned first, size_t count, uint64_t *ret_sums)
{
	for (size_t i = 0; i < count; i++)
		ret_sums[i] = 0;
	pthread_mutex_lock(&counts.lock);
	add_all(&counts.rest, first, count, ret_sums);
	for (const struct eddy_node *node = counts.threads.next; node != &counts.threads;
	     node = node->next)
		add_all(eddy_of(node, const struct cells, node), first, count, ret_sums);
	pthread_mutex_unlock(&counts.lock);
}

/* ---- families ---- */

static struct eddy_metric_options filled_in(struct eddy_metric_options options)
{
	if (options.type == EDDY_METRIC_HISTOGRAM && !options.bounds &&
	    options.decimals == SECONDS) {
		options.bounds = default_bounds;
		options.bound_count = sizeof(default_bounds) / sizeof(default_bounds[0]);
	}
	return options;
}

static bool fits(const struct family *family, const struct eddy_metric_options *options)
{
	return family->type == options->type && family->decimals == options->decimals &&
	       family->bound_count == options->bound_count &&
	       (!family->bound_count || memcmp(family->bounds, options->bounds,
					       family->bound_count * sizeof(*family->bounds)) == 0);
}

static void family_free(struct family *family)
{
	free(family->name);
	free(family->help);
	free(family);
}

static struct family *family_new(const struct eddy_metric_options *options)
{
	struct family *family = calloc(1, sizeof(*family));

	if (!family)
		return NULL;
	family->end = &family->first;
	family->name = strdup(options->name);
	family->help = strdup(options->help);
	family->type = options->type;
	family->decimals = options->decimals;
	family->bound_count = options->bound_count;
	if (family->bound_count)
		memcpy(family->bounds, options->bounds,
		       family->bound_count * sizeof(*family->bounds));
	if (!family->name || !family->help) {
		family_free(family);
		return NULL;
	}
	return family;
}

/* Return: the link to the family of this name, or where to add it. */
static struct family **find_family(const char *name)
{
	struct family **at = &all.first;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	return at;
}

/* ---- metrics ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct eddy_metric_label *)a)->name,
		      ((const struct eddy_metric_label *)b)->name);
}

/* Return: the sorted label text, to be freed; NULL on allocation failure. */
static char *format_labels(const struct eddy_metric_label *labels)
{
	struct eddy_metric_label sorted[EDDY_METRIC_LABELS_MAX];
	struct eddyi_metric_out out = { 0 };
	size_t count = 0;

	for (; labels && labels[count].name; count++)
		sorted[count] = labels[count];
	qsort(sorted, count, sizeof(sorted[0]), by_name);
	for (size_t i = 0; i < count; i++) {
		put_texts(&out, i ? "," : "", sorted[i].name, "=\"");
		put_escaped(&out, sorted[i].value, true);
		put_texts(&out, "\"");
	}
	put(&out, "", 1);
	if (!out.failed)
		return out.bytes;
	free(out.bytes);
	return NULL;
}

static struct eddy_metric **bucket_of(const char *name, const char *labels)
{
	uint64_t h = 14695981039346656037u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	for (; *labels; labels++)
		h = (h ^ (unsigned char)*labels) * 1099511628211u;
	return &all.buckets[(h ^ h >> 32) % BUCKETS];
}

static struct eddy_metric *find_metric(const struct family *family, const char *labels)
{
	struct eddy_metric *metric = *bucket_of(family->name, labels);

	while (metric && (metric->family != family || strcmp(metric->labels, labels) != 0))
		metric = metric->other;
	return metric;
}

/* Takes ownership of `labels` on success. */
static int metric_new(const struct family *family, const struct eddy_metric_options *options,
		      char *labels, struct eddy_metric **ret_metric)
{
	struct eddy_metric *metric = calloc(1, sizeof(*metric));
	int r = 0;

	if (!metric)
		return -ENOMEM;
	*metric = (struct eddy_metric){
		.family = family,
		.labels = labels,
		.read = options->read,
		.arg = options->arg,
	};
	if (!metric->read)
		r = cells_reserve(family->type == EDDY_METRIC_HISTOGRAM ? family->bound_count + 2 :
									  1,
				  &metric->cell);
	if (r < 0)
		free(metric);
	else
		*ret_metric = metric;
	return r;
}

/* Make a metric visible to readers. */
static void publish(struct family *family, struct eddy_metric *metric)
{
	struct eddy_metric **bucket = bucket_of(family->name, metric->labels);

	metric->other = *bucket;
	*bucket = metric;
	__atomic_store_n(family->end, metric, __ATOMIC_RELEASE);
	family->end = &metric->next;
}

/* With the lock. Takes ownership of `*labels` if it becomes NULL. Return: as
 * eddy_metric_declare(). */
static int declare(const struct eddy_metric_options *options, char **labels,
		   struct eddy_metric **ret_metric)
{
	struct family **at = find_family(options->name), *family = *at;
	struct eddy_metric *metric;
	int r;

	if (family && !fits(family, options))
		return -EEXIST;
	if (!family)
		family = family_new(options);
	if (!family)
		return -ENOMEM;
	metric = find_metric(family, *labels);
	if (metric) {
		*ret_metric = metric;
		return 0;
	}
	r = metric_new(family, options, *labels, &metric);
	if (r < 0) {
		if (!*at)
			family_free(family);
		return r;
	}
	*labels = NULL;
	publish(family, metric);
	if (!*at)
		__atomic_store_n(at, family, __ATOMIC_RELEASE);
	*ret_metric = metric;
	return 0;
}

int eddy_metric_declare(const struct eddy_metric_options *options, struct eddy_metric **ret_metric)
{
	struct eddy_metric_options whole = filled_in(*options);
	char *labels;
	int r;

	if (!may_declare(&whole))
		return -EINVAL;
	labels = format_labels(whole.labels);
	if (!labels)
		return -ENOMEM;
	pthread_mutex_lock(&all.lock);
	r = declare(&whole, &labels, ret_metric);
	pthread_mutex_unlock(&all.lock);
	free(labels);
	return r;
}

/* ---- counting ---- */

void eddy_metric_add(struct eddy_metric *metric, int64_t by)
{
	if (metric && !metric->read && metric->family->type != EDDY_METRIC_HISTOGRAM &&
	    (by >= 0 || metric->family->type == EDDY_METRIC_GAUGE))
		cells_add(metric->cell, (uint64_t)by);
}

void eddy_metric_observe(struct eddy_metric *metric, uint64_t value)
{
	const struct family *family;
	size_t at = 0;

	if (!metric || metric->family->type != EDDY_METRIC_HISTOGRAM)
		return;
	family = metric->family;
	while (at < family->bound_count && value > family->bounds[at])
		at++;
	cells_add(metric->cell + (unsigned)at, 1);
	cells_add(metric->cell + (unsigned)family->bound_count + 1, value);
}

/* ---- text format ---- */

static void write_line(struct eddyi_metric_out *out, const struct eddy_metric *metric,
		       int64_t value)
{
	const struct family *family = metric->family;
	bool has_labels = *metric->labels;

	put_texts(out, family->name, has_labels ? "{" : "", metric->labels,
		  has_labels ? "} " : " ");
	put_number(out, value, family->decimals);
	put_texts(out, "\n");
}

/* Write a line's name and labels; `le` may be NULL. */
static void write_part(struct eddyi_metric_out *out, const struct eddy_metric *metric,
		       const char *part, const char *le)
{
	const char *labels = metric->labels;

	put_texts(out, metric->family->name, part);
	if (le)
		put_texts(out, "{", labels, *labels ? "," : "", "le=\"", le, "\"}");
	else if (*labels)
		put_texts(out, "{", labels, "}");
	put_texts(out, " ");
}

static void write_histogram(struct eddyi_metric_out *out, const struct eddy_metric *metric)
{
	const struct family *family = metric->family;
	uint64_t sums[EDDY_METRIC_BOUNDS_MAX + 2], count = 0;

	cells_sum(metric->cell, family->bound_count + 2, sums);
	for (size_t i = 0; i <= family->bound_count; i++) {
		char le[NUMBER_SIZE] = "+Inf";

		if (i < family->bound_count)
			format_number(family->bounds[i], family->decimals, le);
		count += sums[i];
		write_part(out, metric, "_bucket", le);
		put_number(out, (int64_t)count, 0);
		put_texts(out, "\n");
	}
	write_part(out, metric, "_sum", NULL);
	put_number(out, (int64_t)sums[family->bound_count + 1], family->decimals);
	put_texts(out, "\n");
	write_part(out, metric, "_count", NULL);
	put_number(out, (int64_t)count, 0);
	put_texts(out, "\n");
}

static void write_metric(struct eddyi_metric_out *out, const struct eddy_metric *metric)
{
	uint64_t value;

	if (metric->family->type == EDDY_METRIC_HISTOGRAM)
		write_histogram(out, metric);
	else if (metric->read ? metric->read(metric->arg, &value) == 0 :
				(cells_sum(metric->cell, 1, &value), true))
		write_line(out, metric, (int64_t)value);
}

/* Write a family; its HELP and TYPE lines are removed if no metric has a value. */
static void write_family(struct eddyi_metric_out *out, const struct family *family)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const struct eddy_metric *metric;
	size_t before = out->len, above;

	put_texts(out, "# HELP ", family->name, " ");
	put_escaped(out, family->help, false);
	put_texts(out, "\n# TYPE ", family->name, " ", types[family->type], "\n");
	above = out->len;
	for (metric = __atomic_load_n(&family->first, __ATOMIC_ACQUIRE); metric;
	     metric = __atomic_load_n(&metric->next, __ATOMIC_ACQUIRE))
		write_metric(out, metric);
	if (out->len == above)
		out->len = before;
}

void eddyi_metric_write_all(struct eddyi_metric_out *out)
{
	const struct family *family;

	for (family = __atomic_load_n(&all.first, __ATOMIC_ACQUIRE); family;
	     family = __atomic_load_n(&family->next, __ATOMIC_ACQUIRE))
		write_family(out, family);
}
