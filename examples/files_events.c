/* GET /api/events: an event stream that tells when the list of a folder changes.
 *
 * The time of the folder's last modification is read once a second. It changes when any program
 * adds, replaces, renames or removes an entry, also through a symbolic link and on a network file
 * system. It does not when a file grows. inotify(7) would tell that, but the sandbox forbids it, as
 * it also tells about files outside of the folder.
 */
#include "files.h"

#include <eddy/events.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define STREAMS_MAX 1000
#define LOOK_EVERY_NS EDDY_SECOND
/* A file system's clock may stand still for so long: a later change can have the same time. */
#define TICK_NS (20 * EDDY_MS)
/* A client may have loaded the list so long before it begins the stream. */
#define LOADED_NS (2 * EDDY_SECOND)
/* No time that a look gets. It gets 0 of a folder that has gone. */
#define UNKNOWN UINT64_MAX

static atomic_uint streams;

static uint64_t ns_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * EDDY_SECOND + (uint64_t)time.tv_nsec;
}

/* Get when the folder was modified. Suspends. Return: 0, -ENOENT, -errno. */
static int look(const struct files *files, const char *path, uint64_t *ret_time)
{
	int fd = files_open(files, path, O_PATH | O_DIRECTORY), r;
	struct stat st;

	if (fd < 0)
		return fd;
	r = fstat(fd, &st) < 0 ? -errno : 0;
	close(fd);
	if (r == 0)
		*ret_time = ns_of(st.st_mtim);
	return r;
}

/* Whether a time is within `ns` of now. Clocks of network file systems may be ahead. */
static bool is_near(uint64_t time, uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ns_of(now) - time + ns <= 2 * ns;
}

/* Send an event for each change. A time that the next change may have too is UNKNOWN. */
static int tell(struct eddy_req *req, struct eddy_res *res, const char *path, struct eddy_str data)
{
	const struct eddy_events_message change = { .event = EDDY_STR("change"), .data = data };
	uint64_t seen, time = 0;
	int r = look(eddy_req_context(req), path, &time);

	if (r < 0)
		return r;
	seen = is_near(time, LOADED_NS) ? UNKNOWN : time;
	eddy_res_set_z(res, "x-accel-buffering", "no"); /* or nginx would keep events back */
	r = eddy_res_events(res, NULL);
	while (r == 0) {
		struct eddy_case cases[] = { eddy_case_event(eddy_req_stopping(req)),
					     eddy_case_after(LOOK_EVERY_NS) };

		r = eddy_select(cases, 2);
		if (r < 0 || cases[0].ready)
			return r < 0 ? r : 0;
		if (look(eddy_req_context(req), path, &time) < 0)
			time = 0;
		r = time == seen ? 0 : eddy_events_send(res, &change);
		seen = is_near(time, TICK_NS) ? UNKNOWN : time;
	}
	return r;
}

int files_events(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	char *copy, *data;
	json_t *json;
	size_t len;
	int r = files_folder_of(req, &path);

	if (r < 0)
		return r;
	copy = eddy_req_strdup(req, path);
	json = json_pack("{s:s%}", "path", path.ptr, path.len);
	len = json_dumpb(json, NULL, 0, JSON_COMPACT);
	data = eddy_req_alloc(req, len);
	if (data)
		json_dumpb(json, data, len, JSON_COMPACT);
	json_decref(json);
	if (!copy || !data || !len)
		return -ENOMEM;
	if (atomic_fetch_add(&streams, 1) < STREAMS_MAX)
		r = tell(req, res, copy, eddy_str(data, len));
	else
		r = eddy_res_problem(res, 503, "too many event streams; try again later");
	atomic_fetch_sub(&streams, 1);
	return r;
}
