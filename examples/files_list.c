/* The list of the folder as JSON; files_plain.c has the HTML page.
 *
 * Listing a large folder takes long, and any client may request it: concurrent requests share one.
 * It begins after the request that it answers, so that a client finds what it has uploaded.
 *
 * Invariants of a struct files_list, whose lock guards all of it and the reference counts:
 * 1. `next` is a listing that has not begun. New requests join it.
 * 2. `current` is the only listing in progress. No request joins it any more.
 * 3. A listing that has begun and not ended is `current`. If the request that makes it is
 *    cancelled, it ends with -ECANCELED, and the other requests try again.
 * 4. A text is shared by all responses that send it, and by later listings while the folder gives
 *    the same text. Texts in memory have `texts` bytes; none is added beyond TEXTS_MAX.
 */
#include "files.h"

#include <eddy/layer.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <eddy/shared_event.h>
#include <errno.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static json_t *describe(int dir, const char *name)
{
	char date[32];
	struct stat st;
	struct tm tm;

	if (!files_name_is_public(eddy_str_from(name)) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (!gmtime_r(&st.st_mtim.tv_sec, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	/* NULL also for a name that is not UTF-8, which JSON can't express. */
	return json_pack("{s:s, s:I, s:s}", "name", name, "size", (json_int_t)st.st_size, "mtime",
			 date);
}

static int list_folder(int dir, json_t *list)
{
	struct dirent **entries;
	int count = scandirat(dir, ".", &entries, NULL, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		json_t *file = describe(dir, entries[i]->d_name);

		if (file)
			json_array_append_new(list, file);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* ---- the text ---- */

/* No new text beyond these bytes: a client that reads slowly keeps an old text in memory. */
#define TEXTS_MAX (32 * EDDY_MIB)

struct text {
	struct files_list *list;
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
	text->list->texts -= text->len;
	free(text->bytes);
	free(text);
}

/* The lock is held. Takes ownership of `bytes`, also on failure. */
static int text_new(struct files_list *list, char *bytes, size_t len, struct text **ret_text)
{
	bool has_room = list->texts <= TEXTS_MAX;
	struct text *text = has_room ? malloc(sizeof(*text)) : NULL;

	if (!text) {
		free(bytes);
		return has_room ? -ENOMEM : -EBUSY;
	}
	*text = (struct text){ .list = list, .refs = 1, .len = len, .bytes = bytes };
	list->texts += len;
	*ret_text = list->last = text;
	return 0;
}

/* ---- the listing ---- */

struct making {
	const struct files *files;
	files_write_fn *write;
	const struct text *last;
	char *bytes;
	size_t len;
	bool is_same; /* as the last one */
};

/* Runs on the offload pool: the disk may be slow, and so is formatting a large list. */
static int make_bytes(void *arg)
{
	struct making *making = arg;
	FILE *out = open_memstream(&making->bytes, &making->len);
	json_t *list = json_array();
	int r = out && list ? list_folder(making->files->dir, list) : -ENOMEM;

	if (r == 0)
		making->write(out, making->files, list);
	if (r == 0 && ferror(out))
		r = -ENOMEM;
	if (out && fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	json_decref(list);
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

static struct listing *join(struct files_list *list)
{
	struct listing *listing;

	pthread_mutex_lock(&list->lock);
	listing = list->next;
	if (!listing) {
		listing = list->next = calloc(1, sizeof(*listing));
		if (listing)
			eddy_shared_event_init(&listing->ended);
	}
	if (listing)
		listing->refs++;
	pthread_mutex_unlock(&list->lock);
	return listing;
}

static void leave(struct files_list *list, struct listing *listing)
{
	pthread_mutex_lock(&list->lock);
	if (--listing->refs == 0) {
		if (list->next == listing)
			list->next = NULL;
		text_unref(listing->text);
		free(listing);
	}
	pthread_mutex_unlock(&list->lock);
}

/* Begin the listing unless one is in progress.
 * Return: NULL if the caller has to make it; else a reference to the one to wait for. */
static struct listing *begin(struct files_list *list, struct listing *listing)
{
	struct listing *first;

	pthread_mutex_lock(&list->lock);
	first = listing->has_ended ? listing : list->current;
	if (first) {
		first->refs++;
	} else {
		list->current = listing;
		list->next = NULL;
	}
	pthread_mutex_unlock(&list->lock);
	return first;
}

/* Suspends. */
static void make(struct files_list *list, struct listing *listing, const struct files *files)
{
	struct making making = { .files = files, .write = list->write };
	struct text *last;
	int r;

	pthread_mutex_lock(&list->lock);
	making.last = last = text_ref(list->last);
	pthread_mutex_unlock(&list->lock);
	r = eddy_offload(make_bytes, &making);
	pthread_mutex_lock(&list->lock);
	if (making.is_same)
		listing->text = text_ref(last);
	else if (r == 0)
		r = text_new(list, making.bytes, making.len, &listing->text);
	text_unref(last);
	listing->result = r;
	listing->has_ended = true;
	list->current = NULL;
	pthread_mutex_unlock(&list->lock);
	eddy_shared_event_set(&listing->ended);
}

/* Wait until the listing has ended, or make it. Suspends. Return: 0, -ECANCELED. */
static int await(struct files_list *list, struct listing *listing, const struct files *files)
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
static int get_text(struct files_list *list, const struct files *files, struct text **ret_text)
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
			pthread_mutex_lock(&list->lock);
			*ret_text = text_ref(listing->text);
			pthread_mutex_unlock(&list->lock);
		}
		leave(list, listing);
	} while (r == -ECANCELED && !eddy_is_cancelled());
	return r;
}

/* ---- the response ---- */

static void let_go(void *kept)
{
	struct text *text = *(struct text **)kept;
	struct files_list *list = text ? text->list : NULL;

	if (!text)
		return;
	pthread_mutex_lock(&list->lock);
	text_unref(text);
	pthread_mutex_unlock(&list->lock);
}

/* The text of a response, kept until it has been sent. */
static const struct eddy_req_layer layer = { "list", sizeof(struct text *), let_go };

int files_send_list(struct eddy_req *req, struct eddy_res *res, struct files_list *list)
{
	struct text **kept = eddy_req_layer(req, &layer);
	int r = kept ? get_text(list, eddy_req_context(req), kept) : -ENOMEM;

	if (r == -EBUSY)
		return eddy_res_problem(
			res, 503, "too many older lists are still being sent; try again later");
	if (r < 0 && r != -ENOMEM && r != -ECANCELED)
		return eddy_res_problem(res, 503, "the folder can't be read: %s", strerror(-r));
	if (r < 0)
		return r;
	eddy_res_set_z(res, "cache-control", "no-cache");
	return eddy_res_bytes(res, list->type, eddy_str((*kept)->bytes, (*kept)->len));
}

static void write_json(FILE *out, const struct files *files, const json_t *list)
{
	(void)files;
	fputs("{\"files\":", out);
	json_dumpf(list, out, JSON_COMPACT);
	fputc('}', out);
}

int files_api(struct eddy_req *req, struct eddy_res *res)
{
	static struct files_list list = {
		.type = "application/json",
		.write = write_json,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	return files_send_list(req, res, &list);
}
