/* The checks of EDDY_DEBUG: objects that are used without a loop, and descriptors that requests have opened and not
 * closed. Their findings are log records.
 *
 * Invariants:
 * 1. The lock guards everything but task->opened, which belongs to the task's loop.
 * 2. table.entries[fd] is NULL until `fd` is first noted. An entry is in its owner's list until the
 *    descriptor is known to be closed; node.next is NULL without an owner.
 * 3. A descriptor that is noted again was closed by a call of another library, and changes its
 *    owner. One that was closed so and not noted again refers to another file, or to none.
 */
#include "report.h"

#include "core/wait.h"
#include "dump.h"
#include "log/log.h"

#include <eddy/log.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TARGET "eddy::debug"
#define PLACES_MAX 64
#define LISTED_MAX 8
/* More than the description of one descriptor needs. */
#define ROOM_MIN 300

/* ---- objects without a loop ---- */

/* Return: whether it was not before. */
static bool remember(const char *place)
{
	static const char *_Atomic places[PLACES_MAX];

	for (size_t i = 0; i < PLACES_MAX; i++) {
		const char *before = NULL;

		if (atomic_compare_exchange_strong(&places[i], &before, place))
			return true;
		if (before == place)
			return false;
	}
	return false;
}

/* A data race, if a task uses the object too. But the thread may be preparing it for a loop of its
 * own. */
static void unowned(const char *what, const char *where, const char *user, const char *remedy)
{
	const char *place = eddyi_place(where);
	bool is_alone = eddy_list_is_empty(eddyi_registry_lock());

	eddyi_registry_unlock();
	/* The call may be repeated often. */
	if (is_alone || !remember(place))
		return;
	eddy_warn(
		TARGET,
		"%s: %s is used on %s while loops run, which is a data race if a task uses it too: %s",
		place, what, user, remedy);
}

/* ---- descriptors ---- */

struct entry {
	struct eddy_node node;
	int fd;
	dev_t dev;
	ino_t ino;
};

struct eddyi_opened {
	struct eddy_node entries;
};

static struct {
	pthread_mutex_t lock;
	struct entry **entries;
	size_t count;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Find the list for a descriptor that this task opens. Return: NULL if descriptors are not recorded. */
static struct eddyi_opened *find_owner(void)
{
	const struct eddy_task *task = eddy_task_self();

	if (!task)
		return NULL;
	if (task->opened)
		return task->opened;
	for (const struct eddy_scope *scope = task->scope; scope; scope = scope->parent)
		if (scope->host && scope->host->opened)
			return scope->host->opened;
	return NULL;
}

/* Lock held. Return: NULL on allocation failure. */
static struct entry *entry_of(int fd)
{
	if ((size_t)fd >= table.count) {
		size_t count = ((size_t)fd + 1) * 2;
		struct entry **grown = reallocarray(table.entries, count, sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + table.count, 0, (count - table.count) * sizeof(*grown));
		table.entries = grown;
		table.count = count;
	}
	if (!table.entries[fd])
		table.entries[fd] = calloc(1, sizeof(struct entry));
	return table.entries[fd];
}

/* Lock held. */
static void disown(struct entry *entry)
{
	if (entry->node.next)
		eddy_list_remove(&entry->node);
}

static void opened(int fd)
{
	struct eddyi_opened *owner = find_owner();
	struct entry *entry;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	pthread_mutex_lock(&table.lock);
	entry = entry_of(fd);
	if (entry) {
		disown(entry);
		entry->fd = fd;
		entry->dev = st.st_dev;
		entry->ino = st.st_ino;
		if (owner)
			eddy_list_append(&owner->entries, &entry->node);
	}
	pthread_mutex_unlock(&table.lock);
}

static void opened_forget(int fd)
{
	pthread_mutex_lock(&table.lock);
	if ((size_t)fd < table.count && table.entries[fd])
		disown(table.entries[fd]);
	pthread_mutex_unlock(&table.lock);
}

static void opened_begin(void)
{
	struct eddy_task *task = eddy_task_self();

	if (!task || task->opened)
		return;
	task->opened = malloc(sizeof(*task->opened));
	if (task->opened)
		eddy_list_init(&task->opened->entries);
}

static bool is_open(const struct entry *entry)
{
	struct stat st;

	return fstat(entry->fd, &st) == 0 && st.st_dev == entry->dev && st.st_ino == entry->ino;
}

/* Lock held. Return: how many are open. */
static size_t take_all(struct eddyi_opened *opened, struct eddyi_out *out)
{
	struct eddy_node *node;
	size_t count = 0, listed = 0;

	while ((node = eddy_list_shift(&opened->entries))) {
		const struct entry *entry = eddy_of(node, struct entry, node);

		if (!is_open(entry))
			continue;
		count++;
		/* A full buffer would be flushed. */
		if (listed < LISTED_MAX && sizeof(out->text) - out->len >= ROOM_MIN) {
			eddyi_out(out, "%s", listed++ ? ", " : "");
			eddyi_dump_fd(out, entry->fd);
		}
	}
	if (count > listed)
		eddyi_out(out, " and %zu more", count - listed);
	return count;
}

static void opened_end(void)
{
	struct eddyi_out out = { .fd = -1 };
	struct eddy_task *task = eddy_task_self();
	struct eddyi_opened *opened = task ? task->opened : NULL;
	const char *label;
	size_t count;

	if (!opened)
		return;
	label = task->label ? task->label : "a request";
	task->opened = NULL;
	pthread_mutex_lock(&table.lock);
	count = take_all(opened, &out);
	pthread_mutex_unlock(&table.lock);
	free(opened);
	if (!count)
		return;
	eddy_log(EDDY_LOG_WARN, TARGET,
		 EDDY_FIELDS(eddy_field_text("request", label), eddy_field_u64("count", count)),
		 "%s seems to have left %zu of the descriptors that it opened: %.*s; close them on "
		 "every path, unless they are kept on purpose, as in a pool",
		 label, count, (int)out.len, out.text);
}

/* ---- the variable ---- */

const struct eddyi_debug eddyi_debug_checks = {
	.unowned = unowned,
	.opened_begin = opened_begin,
	.opened_end = opened_end,
	.opened = opened,
	.opened_forget = opened_forget,
};

static void look(void)
{
	const char *text = secure_getenv("EDDY_DEBUG");

	if (!text || !*text || strcmp(text, "0") == 0)
		return;
	eddyi_log_stand_in();
	__atomic_store_n(&eddyi_debug, &eddyi_debug_checks, __ATOMIC_RELAXED);
	eddy_info(TARGET,
		  "EDDY_DEBUG is set: the program is slower, and mistakes in it are reported");
}

void eddyi_debug_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
}
