/* Lists of folders. files_html.c and files_plain.c have those for people.
 *
 * Listing a large folder takes long, and any client may request it: concurrent requests share one.
 * It begins after the request that it answers, so that a client finds what it has uploaded.
 *
 * Invariants of a struct list, which a folder has for each format while it is being requested. The
 * lock of `lists` guards all of them, and the reference counts:
 * 1. `next` is a listing that has not begun. New requests join it.
 * 2. `current` is the only listing in progress. No request joins it any more.
 * 3. A listing that has begun and not ended is `current`. If the request that makes it is
 *    cancelled, it ends with -ECANCELED, and the other requests try again.
 * 4. A text is shared by all responses that send it, and by later listings while the folder gives
 *    the same text. Texts in memory have `lists.texts` bytes; none is added beyond TEXTS_MAX.
 * 5. Each request has a reference to its list until the response has been sent. So a list lives
 *    longer than its listings and texts, and there are no more lists than requests.
 */
#include "files.h"

#include <eddy/layer.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <time.h>

/* Return: NULL on allocation failure. */
static json_t *describe(const struct files_entry *entry)
{
	bool is_folder = S_ISDIR(entry->mode);
	char date[32] = "1970-01-01T00:00:00Z"; /* of years that gmtime_r() does not know */
	struct tm tm;

	if (gmtime_r(&entry->mtime, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_pack("{s:s, s:o, s:s, s:s}", "name", entry->dirent->d_name, "size",
			 is_folder ? json_null() : json_integer((json_int_t)entry->size), "mtime",
			 date, "type", is_folder ? "folder" : "file");
}

/* ---- lists ---- */

struct list {
	const struct files_format *format;
	const char *path; /* behind the structure */
	unsigned refs;
	struct listing *next;
	struct listing *current;
	struct text *last; /* the latest text, while it is in memory */
};

static struct {
	pthread_mutex_t lock;
	void *root;   /* of the tree of tsearch(3) */
	size_t texts; /* bytes */
} lists = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int compare(const void *one, const void *other)
{
	const struct list *a = one, *b = other;

	if (a->format != b->format)
		return a->format < b->format ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* Return: NULL on allocation failure. */
static struct list *list_get(const struct files_format *format, struct eddy_str path)
{
	struct list *list = malloc(sizeof(*list) + path.len + 1), **found;
	char *copy = (char *)(list + 1);

	if (!list)
		return NULL;
	*list = (struct list){ .format = format, .path = copy };
	*(char *)mempcpy(copy, path.ptr, path.len) = '\0';
	pthread_mutex_lock(&lists.lock);
	found = tsearch(list, &lists.root, compare);
	if (!found || *found != list)
		free(list);
	list = found ? *found : NULL;
	if (list)
		list->refs++;
	pthread_mutex_unlock(&lists.lock);
	return list;
}

static void list_put(struct list *list)
{
	pthread_mutex_lock(&lists.lock);
	if (--list->refs == 0) {
		tdelete(list, &lists.root, compare);
		free(list);
	}
	pthread_mutex_unlock(&lists.lock);
}

/* ---- the text ---- */

/* No new text beyond these bytes: a client that reads slowly keeps an old text in memory. */
#define TEXTS_MAX (64 * EDDY_MIB)

struct text {
	struct list *list;
	unsigned refs;
	size_t len;
	char *bytes;
};

static struct text *text_ref(struct text *text)
{
	if (text)
		text->refs++;
	return text;
}

/* The lock is held. NULL is accepted. */
static void text_unref(struct text *text)
{
	if (!text || --text->refs)
		return;
	if (text->list->last == text)
		text->list->last = NULL;
	lists.texts -= text->len;
	free(text->bytes);
	free(text);
}

/* The lock is held. Takes ownership of `bytes`, also on failure. */
static int text_new(struct list *list, char *bytes, size_t len, struct text **ret_text)
{
	bool has_room = lists.texts <= TEXTS_MAX;
	struct text *text = has_room ? malloc(sizeof(*text)) : NULL;

	if (!text) {
		free(bytes);
		return has_room ? -ENOMEM : -EBUSY;
	}
	*text = (struct text){ .list = list, .refs = 1, .len = len, .bytes = bytes };
	lists.texts += len;
	*ret_text = list->last = text;
	return 0;
}

/* ---- the listing ---- */

struct making {
	const struct files *files;
	const struct list *list;
	const struct text *last;
	struct files_entries entries;
	char *bytes;
	size_t len;
	bool is_same; /* as the last one */
};

/* Runs on the offload pool: formatting a large list takes long. */
static int make_bytes(void *arg)
{
	struct making *making = arg;
	FILE *out = open_memstream(&making->bytes, &making->len);
	json_t *list = json_array();
	int r = out && list ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < making->entries.count; i++)
		r = json_array_append_new(list, describe(&making->entries.entries[i])) < 0 ?
			    -ENOMEM :
			    0;
	if (r == 0)
		making->list->format->write(out, making->files, making->list->path, list);
	if (r == 0 && ferror(out))
		r = -ENOMEM;
	if (out && fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	json_decref(list);
	files_entries_free(&making->entries);
	making->is_same = r == 0 && making->last && making->last->len == making->len &&
			  memcmp(making->last->bytes, making->bytes, making->len) == 0;
	if (r < 0 || making->is_same)
		free(making->bytes);
	return r;
}

struct listing {
	unsigned refs;
	struct eddy_shared_event ended;
	bool has_ended;
	int result;
	struct text *text; /* once it has ended with 0 */
};

static struct listing *join(struct list *list)
{
	struct listing *listing;

	pthread_mutex_lock(&lists.lock);
	listing = list->next;
	if (!listing) {
		listing = list->next = calloc(1, sizeof(*listing));
		if (listing)
			eddy_shared_event_init(&listing->ended);
	}
	if (listing)
		listing->refs++;
	pthread_mutex_unlock(&lists.lock);
	return listing;
}

static void leave(struct list *list, struct listing *listing)
{
	pthread_mutex_lock(&lists.lock);
	if (--listing->refs == 0) {
		if (list->next == listing)
			list->next = NULL;
		text_unref(listing->text);
		free(listing);
	}
	pthread_mutex_unlock(&lists.lock);
}

/* Begin the listing unless one is in progress.
 * Return: NULL if the caller has to make it; else a reference to the one to wait for. */
static struct listing *begin(struct list *list, struct listing *listing)
{
	struct listing *first;

	pthread_mutex_lock(&lists.lock);
	first = listing->has_ended ? listing : list->current;
	if (first) {
		first->refs++;
	} else {
		list->current = listing;
		list->next = NULL;
	}
	pthread_mutex_unlock(&lists.lock);
	return first;
}

/* Suspends. */
static void make(struct list *list, struct listing *listing, const struct files *files)
{
	struct making making = { .files = files, .list = list };
	struct text *last;
	int r;

	pthread_mutex_lock(&lists.lock);
	making.last = last = text_ref(list->last);
	pthread_mutex_unlock(&lists.lock);
	r = files_read(files, list->path, false, &making.entries);
	if (r == 0)
		r = eddy_offload(make_bytes, &making);
	files_entries_free(&making.entries);
	pthread_mutex_lock(&lists.lock);
	if (making.is_same)
		listing->text = text_ref(last);
	else if (r == 0)
		r = text_new(list, making.bytes, making.len, &listing->text);
	text_unref(last);
	listing->result = r;
	listing->has_ended = true;
	list->current = NULL;
	pthread_mutex_unlock(&lists.lock);
	eddy_shared_event_set(&listing->ended);
}

/* Wait until the listing has ended, or make it. Suspends. Return: 0, -ECANCELED. */
static int await(struct list *list, struct listing *listing, const struct files *files)
{
	bool is_last;
	int r;

	do {
		struct listing *first = begin(list, listing);

		if (!first) {
			make(list, listing, files);
			return 0;
		}
		r = eddy_shared_event_wait(&first->ended);
		is_last = first == listing;
		leave(list, first);
	} while (r == 0 && !is_last);
	return r;
}

/* Suspends. */
static int get_text(struct list *list, const struct files *files, struct text **ret_text)
{
	int r;

	do {
		struct listing *listing = join(list);

		if (!listing)
			return -ENOMEM;
		r = await(list, listing, files);
		if (r == 0)
			r = listing->result;
		if (r == 0) {
			pthread_mutex_lock(&lists.lock);
			*ret_text = text_ref(listing->text);
			pthread_mutex_unlock(&lists.lock);
		}
		leave(list, listing);
	} while (r == -ECANCELED && !eddy_is_cancelled());
	return r;
}

/* ---- the response ---- */

/* Kept by a response until it has been sent. */
struct kept {
	struct list *list;
	struct text *text;
};

static void let_go(void *arg)
{
	struct kept *kept = arg;

	if (!kept->list)
		return;
	pthread_mutex_lock(&lists.lock);
	text_unref(kept->text);
	pthread_mutex_unlock(&lists.lock);
	list_put(kept->list);
}

static const struct eddy_req_layer layer = { "list", sizeof(struct kept), let_go };

int files_send_list(struct eddy_req *req, struct eddy_res *res, const struct files_format *format,
		    struct eddy_str path)
{
	struct kept *kept = eddy_req_layer(req, &layer);
	int r = -ENOMEM;

	if (kept)
		kept->list = list_get(format, path);
	if (kept && kept->list)
		r = get_text(kept->list, eddy_req_context(req), &kept->text);
	if (r == -EBUSY)
		return eddy_res_problem(
			res, 503, "too many older lists are still being sent; try again later");
	if (r < 0 && r != -ENOMEM && r != -ECANCELED && r != -ENOENT)
		return eddy_res_problem(res, 503, "the folder can't be read: %s", strerror(-r));
	if (r < 0)
		return r;
	eddy_res_set_z(res, "cache-control", "no-cache");
	return eddy_res_bytes(res, format->type, eddy_str(kept->text->bytes, kept->text->len));
}

static void write_json(FILE *out, const struct files *files, const char *path, const json_t *list)
{
	json_t *name = json_string(path);

	(void)files;
	fputs("{\"path\":", out);
	json_dumpf(name, out, JSON_ENCODE_ANY);
	fputs(",\"files\":", out);
	json_dumpf(list, out, JSON_COMPACT);
	fputc('}', out);
	json_decref(name);
}

static const struct files_format json = { "application/json", write_json };

/* Whether a list of media types has this one by name. */
static bool names(struct eddy_str list, const char *type)
{
	struct eddy_str member, name;

	while (eddy_str_split(&list, ',', &member))
		if (eddy_str_split(&member, ';', &name) &&
		    eddy_str_eq_nocase(eddy_str_trim(name), eddy_str_from(type)))
			return true;
	return false;
}

int files_send_index(struct eddy_req *req, struct eddy_res *res, struct eddy_str path)
{
	struct eddy_str accept = eddy_req_header_joined(req, "accept");
	int r = eddy_res_merge(res, "vary", EDDY_STR("accept"));

	if (r < 0)
		return r;
	/* Browsers name text/html. */
	if (names(accept, json.type) && !names(accept, "text/html"))
		return files_send_list(req, res, &json, path);
	return files_send_list(req, res, &files_html, path);
}

int files_folder_of(struct eddy_req *req, struct eddy_str *ret_path)
{
	struct eddy_str path = EDDY_STR("");
	int r = eddy_req_query_get(req, "path", &path);

	if (r < 0 && r != -ENOENT)
		return r;
	if (path.len > 1 && path.ptr[path.len - 1] == '/')
		path.len--;
	if (!eddy_path_is_public(path))
		return -ENOENT;
	*ret_path = path;
	return 0;
}

int files_api(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	int r = files_folder_of(req, &path);

	return r < 0 ? r : files_send_list(req, res, &json, path);
}
