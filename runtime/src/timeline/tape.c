#include "tape.h"

#include "base/out.h"
#include "core/wait.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>
#include <eddy/timeline.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MIN (64 * sizeof(struct eddyi_mark))

_Static_assert(sizeof(struct eddyi_mark) == 64, "a mark is a line of the cache");

struct eddyi_tape *eddyi_tape_new(size_t size)
{
	struct eddyi_tape *tape = aligned_alloc(64, sizeof(*tape));
	size_t count = SIZE_MIN / sizeof(struct eddyi_mark);

	if (!tape)
		return NULL;
	*tape = (struct eddyi_tape){ 0 };
	while (count * 2 * sizeof(struct eddyi_mark) <= size)
		count *= 2;
	tape->size = count;
	tape->marks = malloc(count * sizeof(*tape->marks));
	if (!tape->marks) {
		free(tape);
		return NULL;
	}
	return tape;
}

void eddyi_tape_free(struct eddyi_tape *tape)
{
	free(tape->marks);
	free(tape);
}

struct eddyi_mark *eddyi_tape_take(struct eddyi_tape *tape, unsigned more)
{
	size_t head = atomic_load_explicit(&tape->head, memory_order_relaxed);

	if (tape->size - (head - tape->tail_seen) <= more)
		tape->tail_seen = atomic_load_explicit(&tape->tail, memory_order_acquire);
	if (tape->size - (head - tape->tail_seen) <= more) {
		/* Release: the reader may see `dropped` before any mark, and needs `span_track`. */
		__atomic_store_n(&tape->dropped, tape->dropped + 1, __ATOMIC_RELEASE);
		return NULL;
	}
	return eddyi_tape_at(tape, head);
}

void eddyi_tape_put_text(struct eddyi_tape *tape, const struct eddyi_mark *mark, const char *text,
			 size_t len)
{
	size_t at = (size_t)(mark - tape->marks) + 1;

	for (size_t done = 0; done < len; done += sizeof(*mark), at++)
		memcpy(eddyi_tape_at(tape, at), text + done,
		       len - done < sizeof(*mark) ? len - done : sizeof(*mark));
}

void eddyi_tape_commit(struct eddyi_tape *tape, unsigned more)
{
	size_t head = atomic_load_explicit(&tape->head, memory_order_relaxed) + 1 + more;

	atomic_store_explicit(&tape->head, head, memory_order_release);
	if (__builtin_expect(head - tape->tail_seen < tape->size / 2, 1))
		return;
	tape->tail_seen = atomic_load_explicit(&tape->tail, memory_order_acquire);
	if (tape->called && head - tape->tail_seen >= tape->size / 2 &&
	    !atomic_exchange_explicit(&tape->is_called, true, memory_order_relaxed))
		sem_post(tape->called);
}

/* ---- tracks ---- */

#define NAME_LEN_MAX 80
#define WHERE_LEN_MAX 46

/* Copy as much of `text` as fits, and a NUL. Return: the end of the copy. */
static char *copy(char *to, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	memcpy(to, text, len);
	to[len] = '\0';
	return to + len + 1;
}

/* Tracks are never reused for another name. */
static atomic_uint last_track;

uint32_t eddyi_tape_last_track(void)
{
	return atomic_load(&last_track);
}

uint32_t eddyi_tape_name(struct eddyi_tape *tape, const char *name, const char *where, bool is_ring)
{
	char text[2 * sizeof(struct eddyi_mark)] = "";
	struct eddyi_mark *mark = eddyi_tape_take(tape, 2);
	uint32_t track;

	_Static_assert(NAME_LEN_MAX + WHERE_LEN_MAX + 2 <= sizeof(text), "both fit");
	if (!mark)
		return 0;
	copy(copy(text, name ? name : "", NAME_LEN_MAX), where ? where : "", WHERE_LEN_MAX);
	track = atomic_fetch_add(&last_track, 1) + 1;
	*mark = (struct eddyi_mark){
		.kind = EDDYI_MARK_NAME,
		.more = 2,
		.track = track,
		.name = { .is_ring = is_ring },
	};
	eddyi_tape_put_text(tape, mark, text, sizeof(text));
	eddyi_tape_commit(tape, 2);
	return track;
}

/* ---- slices of time ---- */

/* Number of the slice since the timeline began. */
static uint64_t slice_at(const struct eddyi_tape *tape, uint64_t now)
{
	return now > tape->began_ns ? (now - tape->began_ns) / EDDY_TRACE_SLICE_NS : 0;
}

bool eddyi_tape_is_in_slice(const struct eddyi_tape *tape, uint64_t now_ns)
{
	return slice_at(tape, now_ns) % tape->sample == 0;
}

uint64_t eddyi_tape_edge_after(const struct eddyi_tape *tape, uint64_t now)
{
	uint64_t slice = slice_at(tape, now), left = slice % tape->sample;

	if (tape->sample == 1)
		return EDDY_NEVER;
	slice += left ? tape->sample - left : 1;
	return tape->began_ns + slice * EDDY_TRACE_SLICE_NS;
}

/* ---- tasks, ops and work of a loop ---- */

static struct eddyi_tape *tape_of(struct eddyi_guest *guest)
{
	return eddy_of(guest, struct eddyi_tape, guest);
}

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (; name && *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static void forget_left(struct eddyi_tape *tape, uint32_t at)
{
	tape->left_count--;
	memmove(&tape->left[at], &tape->left[at + 1],
		(tape->left_count - at) * sizeof(tape->left[0]));
}

/* Get the task's track. A reused one must have been left before `since_ns`. Return: 0 if there is
 * no room for its name. */
static uint32_t track_of(struct eddyi_tape *tape, struct eddy_task *task, uint64_t since_ns)
{
	uint32_t hash;

	if (task->track >= tape->first_track)
		return task->track;
	hash = hash_of(task->name);
	for (uint32_t i = tape->left_count; i-- > 0;) {
		if (tape->left[i].hash != hash || tape->left[i].ran_ns >= since_ns)
			continue;
		task->track = tape->left[i].track;
		forget_left(tape, i);
		return task->track;
	}
	task->track = eddyi_tape_name(tape, task->name, eddyi_place(task->where), false);
	return task->track;
}

void eddyi_tape_run(struct eddyi_guest *guest, struct eddy_task *task)
{
	struct eddyi_tape *tape = tape_of(guest);
	const struct eddyi_waiter *waiter = task->waiter;
	struct eddyi_mark *mark = &tape->run;
	uint64_t since = tape->at_ns;

	/* A wait is recorded from the begin of this slice at the earliest. */
	if (waiter)
		since = waiter->since_ns > tape->opened_ns ? waiter->since_ns : tape->opened_ns;
	*mark = (struct eddyi_mark){
		.kind = EDDYI_MARK_RUN,
		.track = track_of(tape, task, since),
		.begin_ns = tape->at_ns,
		.run = { .fd = -1, .task = (uint32_t)task->id },
	};
	if (waiter) {
		mark->run.since_ns = since;
		mark->run.what = waiter->what;
		if (waiter->op) {
			mark->run.what = NULL;
			mark->run.fd = waiter->op->fd;
			mark->opcode = waiter->op->opcode;
		}
	}
	/* Only from this slice: marks of an earlier one may have been dropped. */
	if (task->ready_ns >= tape->opened_ns &&
	    (!task->woken_by || task->woken_by >= tape->first_track)) {
		mark->run.ready_ns = task->ready_ns;
		mark->run.from = task->woken_by;
		if (task->woken_by)
			mark->run.flow = ++tape->last_flow;
	}
	task->ready_ns = 0;
}

void eddyi_tape_back(struct eddyi_guest *guest, struct eddyi_waiter *waiter)
{
	struct eddyi_tape *tape = tape_of(guest);
	struct eddyi_mark *mark;

	tape->at_ns = tape->run.end_ns = eddyi_clock_seen();
	if (waiter)
		waiter->since_ns = tape->at_ns;
	/* A track without a name is useless; the lack of room for it has been counted. */
	if (tape->run.kind && tape->run.track && (mark = eddyi_tape_take(tape, 0))) {
		*mark = tape->run;
		eddyi_tape_commit(tape, 0);
	}
	tape->run.kind = EDDYI_MARK_NONE;
}

bool eddyi_tape_ready(struct eddyi_guest *guest, struct eddy_task *task)
{
	struct eddyi_tape *tape = tape_of(guest);

	task->ready_ns = tape->run.kind ? eddyi_clock_seen() : tape->at_ns;
	task->woken_by = tape->run.kind ? tape->run.track : tape->ring_track;
	/* The waker is not recorded: eddy_run(), or activity before this slice. */
	if (!tape->run.kind && tape->at_ns == tape->opened_ns)
		task->woken_by = 0;
	return false;
}

void eddyi_tape_start(struct eddyi_guest *guest, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	(void)guest;
	(void)sqe;
	op->since_ns = eddyi_clock_seen();
}

void eddyi_tape_completing(struct eddyi_guest *guest, const struct eddy_op *op, int result,
			   unsigned flags)
{
	struct eddyi_tape *tape = tape_of(guest);
	const struct eddy_task *task = op->waiter ? op->waiter->task : NULL;

	tape->op = (struct eddyi_mark){
		.kind = flags & IORING_CQE_F_MORE ? EDDYI_MARK_MORE : EDDYI_MARK_OP,
		.opcode = op->opcode,
		.worked = op->worked,
		.track = tape->ring_track,
		.begin_ns = tape->at_ns,
		.op = {
			.since_ns = op->since_ns,
			.fd = op->fd,
			.fd2 = op->fd2,
			.result = result,
			.len = op->len,
			.id = ++tape->last_flow,
			.own = op->own,
			.task = task && task->track >= tape->first_track ? task->track : 0,
		},
	};
}

void eddyi_tape_completed(struct eddyi_guest *guest)
{
	struct eddyi_tape *tape = tape_of(guest);
	struct eddyi_mark *mark;

	if (!tape->op.kind)
		return;
	tape->at_ns = tape->op.end_ns = eddyi_clock_seen();
	mark = eddyi_tape_take(tape, 0);
	if (mark) {
		*mark = tape->op;
		eddyi_tape_commit(tape, 0);
	}
	tape->op.kind = EDDYI_MARK_NONE;
}

void eddyi_tape_ended(struct eddyi_guest *guest, struct eddy_task *task)
{
	struct eddyi_tape *tape = tape_of(guest);

	if (task->track < tape->first_track)
		return;
	/* Drop the oldest: names that are never used again would fill the table. */
	if (tape->left_count == EDDYI_TRACKS_LEFT)
		forget_left(tape, 0);
	tape->left[tape->left_count].hash = hash_of(task->name);
	tape->left[tape->left_count].ran_ns = tape->at_ns;
	tape->left[tape->left_count++].track = task->track;
}

void eddyi_tape_worked(struct eddyi_tape *tape, enum eddyi_work work, uint64_t count)
{
	static const uint8_t kinds[] = {
		[EDDYI_WORK_KERNEL] = EDDYI_MARK_KERNEL,
		[EDDYI_WORK_MESSAGES] = EDDYI_MARK_MESSAGES,
		[EDDYI_WORK_TIMERS] = EDDYI_MARK_TIMERS,
	};
	struct eddyi_mark *mark = eddyi_tape_take(tape, 0);
	uint64_t now = eddyi_clock_seen();

	if (mark) {
		*mark = (struct eddyi_mark){
			.kind = kinds[work],
			.track = tape->ring_track,
			.begin_ns = tape->at_ns,
			.end_ns = now,
			.ring = { .count = (uint32_t)count },
		};
		eddyi_tape_commit(tape, 0);
	}
	tape->at_ns = now;
}

/* ---- spans of a program, and their fields ---- */

/* The remaining room of a span's text. */
struct room {
	char *at;
	char *end;
};

#define SPAN_LEN_MAX 96

/* Write a text and a NUL, cut at the first NUL inside it. Return: false if it does not fit. */
static bool put_z(struct room *room, struct eddy_str str)
{
	size_t len = str.len ? strnlen(str.ptr, str.len) : 0;

	if (len >= (size_t)(room->end - room->at))
		return false;
	if (len)
		memcpy(room->at, str.ptr, len);
	room->at[len] = '\0';
	room->at += len + 1;
	return true;
}

static bool put_bytes(struct room *room, const void *bytes, size_t len)
{
	if (len > (size_t)(room->end - room->at))
		return false;
	if (len)
		memcpy(room->at, bytes, len);
	room->at += len;
	return true;
}

static bool put_str(struct room *room, struct eddy_str str)
{
	size_t max = (size_t)(room->end - room->at);
	uint16_t len;

	if (max < sizeof(len) + 1)
		return false;
	/* Cut a long text at its end. */
	len = (uint16_t)(str.len < max - sizeof(len) ? str.len : max - sizeof(len));
	return put_bytes(room, &len, sizeof(len)) && put_bytes(room, str.ptr, len);
}

/* Write a field: type + 1, name, NUL, then a length of 16 bits and the bytes, or 64 bits. */
static bool put_field(struct room *room, const struct eddy_field *field)
{
	char lazy[EDDY_FIELD_LAZY_MAX], type = (char)(field->type + 1);
	struct eddy_field written;
	uint64_t flag;

	if (field->type == EDDY_FIELD_LAZY) {
		size_t len = field->value.lazy.write(field->value.lazy.data, lazy);

		written = eddy_field_str(field->name, eddy_str(lazy, len));
		return put_field(room, &written);
	}
	if (!put_bytes(room, &type, 1) || !put_z(room, eddy_str_from(field->name)))
		return false;
	if (field->type == EDDY_FIELD_STR)
		return put_str(room, field->value.str);
	if (field->type == EDDY_FIELD_BOOL) {
		flag = field->value.flag;
		return put_bytes(room, &flag, sizeof(flag));
	}
	return put_bytes(room, &field->value.u64, sizeof(field->value.u64));
}

/* Write the name and a NUL, the fields, a NUL. Return: the length. */
static size_t encode(char text[EDDYI_MARK_TEXT_MAX], struct eddy_str name,
		     const struct eddy_field *fields)
{
	/* The last byte is for the NUL after the fields. */
	struct room room = { text, text + EDDYI_MARK_TEXT_MAX - 1 };

	if (name.len > SPAN_LEN_MAX)
		name.len = SPAN_LEN_MAX;
	put_z(&room, name);
	for (; fields && fields->name; fields++) {
		char *before = room.at;

		if (!put_field(&room, fields)) {
			room.at = before;
			break;
		}
	}
	*room.at++ = '\0';
	return (size_t)(room.at - text);
}

void eddyi_tape_span(struct eddyi_tape *tape, struct eddy_str name, uint64_t begin_ns,
		     uint64_t end_ns, const struct eddy_field *fields)
{
	char text[EDDYI_MARK_TEXT_MAX];
	size_t len = encode(text, name, fields);
	unsigned more =
		(unsigned)((len + sizeof(struct eddyi_mark) - 1) / sizeof(struct eddyi_mark));
	struct eddyi_mark *mark = eddyi_tape_take(tape, more);

	if (!mark)
		return;
	*mark = (struct eddyi_mark){
		.kind = EDDYI_MARK_SPAN,
		.more = (uint8_t)more,
		.track = tape->span_track,
		.begin_ns = begin_ns,
		.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
		.span = { .id = ++tape->last_flow },
	};
	eddyi_tape_put_text(tape, mark, text, len);
	eddyi_tape_commit(tape, more);
}
