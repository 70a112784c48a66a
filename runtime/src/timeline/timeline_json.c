/* Events written for each kind of mark:
 *   NAME      the track's name (ph M)
 *   RUN       slices on the task's track for its wait and its run (X), and an arrow (s, f) from
 *             its waker
 *   OP, MORE  a slice on the ring's track for the completion (X); OP also a pair (b, e) from start
 *             to completion, since ops overlap
 *   KERNEL …  a slice on the ring's track
 *   JOB       a slice on the track of the pool's thread, with an arrow from the task
 *   SPAN      a pair on the loop's track of spans
 * So begins and ends, and both ends of an arrow, are always written together, and slices of a track
 * in order.
 */
#include "timeline_json.h"

#include "base/op_name.h"

#include <eddy/internal/json.h>
#include <eddy/log.h>
#include <liburing.h>
#include <string.h>

/* Write a member. */
#define put_number(text, name, value)                                                              \
	(eddyi_json_name((text), name), eddyi_json_i64((text), (value)))

/* Begin an event, to which more may be appended. */
static inline void begin_event(struct eddyi_text *text, const char *phase, uint32_t group,
			       uint32_t track)
{
	eddyi_json_begin(text, ",\n{");
	eddyi_json_plain(text, "ph", phase);
	put_number(text, "pid", group);
	put_number(text, "tid", track);
}

/* End an event, and its arguments. */
static inline void end_event(struct eddyi_text *text)
{
	eddyi_json_last(text, '}');
}

static inline void end_args(struct eddyi_text *text)
{
	eddyi_json_last(text, '}');
	eddyi_text(text, "}");
}

/* Perfetto reads a time as a double and truncates it to nanoseconds. If the double is slightly too
 * small, the slice would begin before the previous one ends, and be left out. Adding half a
 * nanosecond prevents that. */
#define HALF_NS "5"

/* Times are relative to this: after months of uptime, times have more digits than a double. */
static uint64_t zero_ns;

void eddyi_timeline_json_begin(uint64_t began_ns)
{
	zero_ns = began_ns;
}

static uint64_t behind_zero(uint64_t at_ns)
{
	return at_ns > zero_ns ? at_ns - zero_ns : 0;
}

/* Write nanoseconds as microseconds with three decimal places, and what follows. */
static inline void put_us(struct eddyi_text *text, uint64_t ns, const char *after)
{
	char digits[EDDY_U64_SIZE + 8];
	unsigned rest = ns % 1000;
	char *at = digits + eddy_u64_format(ns / 1000, digits);

	*at++ = '.';
	*at++ = (char)('0' + rest / 100);
	*at++ = (char)('0' + rest / 10 % 10);
	*at++ = (char)('0' + rest % 10);
	at = stpcpy(at, after);
	eddyi_text_put(text, digits, (size_t)(at - digits));
}

static void put_time(struct eddyi_text *text, uint64_t at_ns)
{
	eddyi_json_name(text, "ts");
	put_us(text, behind_zero(at_ns), HALF_NS ",");
}

static inline void put_name(struct eddyi_text *text, const char *category, const char *name)
{
	eddyi_json_plain(text, "cat", category);
	eddyi_json_name(text, "name");
	eddyi_json_str(text, eddy_str_from(name));
}

/* Begin a slice, up to its arguments. */
static void begin_slice(struct eddyi_text *text, uint32_t group, uint32_t track, uint64_t begin_ns,
			uint64_t end_ns)
{
	begin_event(text, "X", group, track);
	put_time(text, begin_ns);
	eddyi_json_name(text, "dur");
	put_us(text, end_ns > begin_ns ? behind_zero(end_ns) - behind_zero(begin_ns) : 0, ",");
}

/* Ids are counted for each group. */
static void put_id(struct eddyi_text *text, uint32_t group, uint32_t id)
{
	char digits[EDDYI_HEX_SIZE];

	eddyi_text(text, "\"id\":\"0x");
	eddyi_text_put(text, digits, eddyi_u64_format_hex((uint64_t)group << 32 | id, digits));
	eddyi_text(text, "\",");
}

/* Write an arrow from a track to a later time on another; the slices there are written before. */
static void put_arrow(struct eddyi_text *text, const char *name, uint32_t from_group, uint32_t from,
		      uint64_t from_ns, uint32_t group, uint32_t track, uint64_t at_ns,
		      uint32_t flow)
{
	begin_event(text, "s", from_group, from);
	put_time(text, from_ns < at_ns ? from_ns : at_ns);
	put_name(text, "arrow", name);
	put_id(text, group, flow);
	end_event(text);
	begin_event(text, "f", group, track);
	put_time(text, at_ns);
	put_name(text, "arrow", name);
	put_id(text, group, flow);
	eddyi_json_plain(text, "bp", "e");
	end_event(text);
}

/* ---- names ---- */

static void begin_meta(struct eddyi_text *text, const char *what, uint32_t group, uint32_t track)
{
	begin_event(text, "M", group, track);
	eddyi_json_plain(text, "name", what);
	eddyi_json_open(text, "args", "{");
}

static void put_meta(struct eddyi_text *text, const char *what, uint32_t group, uint32_t track,
		     const char *name)
{
	begin_meta(text, what, group, track);
	eddyi_json_name(text, "name");
	eddyi_json_str(text, eddy_str_from(name));
}

static void put_order(struct eddyi_text *text, const char *what, uint32_t group, uint32_t track,
		      uint32_t order)
{
	begin_meta(text, what, group, track);
	put_number(text, "sort_index", order);
	end_args(text);
}

void eddyi_timeline_json_group(struct eddyi_text *text, uint32_t group, const char *name)
{
	put_meta(text, "process_name", group, 0, name);
	end_args(text);
	put_order(text, "process_sort_index", group, 0, group);
}

static void put_track(struct eddyi_text *text, const struct eddyi_tape *tape,
		      const struct eddyi_mark *mark, const char *name)
{
	const char *where = name + strlen(name) + 1;

	put_meta(text, "thread_name", tape->group, mark->track, *name ? name : "(no name)");
	if (*where) {
		eddyi_json_name(text, "where");
		eddyi_json_str(text, eddy_str_from(where));
	}
	end_args(text);
	put_order(text, "thread_sort_index", tape->group, mark->track,
		  mark->name.is_ring ? 0 : mark->track);
}

/* ---- ops ---- */

#define BIT(opcode) ((uint64_t)1 << ((opcode)&63))

/* Ops whose result is a number of bytes. */
#define MOVES_BYTES                                                                                \
	(BIT(IORING_OP_READV) | BIT(IORING_OP_WRITEV) | BIT(IORING_OP_READ_FIXED) |                \
	 BIT(IORING_OP_WRITE_FIXED) | BIT(IORING_OP_SENDMSG) | BIT(IORING_OP_RECVMSG) |            \
	 BIT(IORING_OP_READ) | BIT(IORING_OP_WRITE) | BIT(IORING_OP_SEND) | BIT(IORING_OP_RECV) |  \
	 BIT(IORING_OP_SPLICE) | BIT(IORING_OP_TEE) | BIT(IORING_OP_SEND_ZC))

/* Ops whose `len` is a number of bytes. */
#define HAS_LEN                                                                                    \
	(BIT(IORING_OP_READ_FIXED) | BIT(IORING_OP_WRITE_FIXED) | BIT(IORING_OP_READ) |            \
	 BIT(IORING_OP_WRITE) | BIT(IORING_OP_SEND) | BIT(IORING_OP_RECV) |                        \
	 BIT(IORING_OP_SPLICE) | BIT(IORING_OP_TEE) | BIT(IORING_OP_SEND_ZC))

static bool is_one_of(const struct eddyi_mark *mark, uint64_t opcodes)
{
	return mark->opcode < 64 && BIT(mark->opcode) & opcodes;
}

static void put_op_args(struct eddyi_text *text, const struct eddyi_mark *mark)
{
	eddyi_json_open(text, "args", "{");
	put_number(text, "fd", mark->op.fd);
	if (mark->op.fd2 >= 0)
		put_number(text, "fd2", mark->op.fd2);
	put_number(text, "result", mark->op.result);
	if (mark->op.result >= 0 && is_one_of(mark, MOVES_BYTES))
		put_number(text, "bytes", mark->op.result);
	if (is_one_of(mark, HAS_LEN))
		put_number(text, "len", mark->op.len);
	if (mark->op.task)
		put_number(text, "track", mark->op.task);
	if (mark->op.own) {
		eddyi_json_name(text, "own");
		eddyi_json_bool(text, true);
	}
	if (mark->worked)
		eddyi_json_plain(text, "io-wq", "always");
	end_args(text);
}

static void put_op(struct eddyi_text *text, const struct eddyi_tape *tape,
		   const struct eddyi_mark *mark)
{
	const char *name = eddyi_op_name(mark->opcode);
	uint64_t since = mark->op.since_ns < mark->begin_ns ? mark->op.since_ns : mark->begin_ns;

	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "completion", name);
	put_op_args(text, mark);
	if (mark->kind != EDDYI_MARK_OP)
		return;
	begin_event(text, "b", tape->group, mark->track);
	put_time(text, since);
	put_name(text, "op", name);
	put_id(text, tape->group, mark->op.id);
	put_op_args(text, mark);
	begin_event(text, "e", tape->group, mark->track);
	put_time(text, mark->begin_ns);
	put_name(text, "op", name);
	put_id(text, tape->group, mark->op.id);
	end_event(text);
}

/* ---- tasks and jobs ---- */

static void put_run(struct eddyi_text *text, const struct eddyi_tape *tape,
		    const struct eddyi_mark *mark)
{
	uint64_t woken = mark->run.ready_ns ? mark->run.ready_ns : mark->begin_ns;

	/* A task that yields while no other is ready does not wait. */
	if (mark->run.since_ns && mark->run.since_ns < woken) {
		begin_slice(text, tape->group, mark->track, mark->run.since_ns, woken);
		put_name(text, "wait",
			 mark->run.what ? mark->run.what : eddyi_op_name(mark->opcode));
		eddyi_json_open(text, "args", "{");
		put_number(text, "task", mark->run.task);
		if (mark->run.fd >= 0)
			put_number(text, "fd", mark->run.fd);
		end_args(text);
	}
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "run", "run");
	eddyi_json_open(text, "args", "{");
	put_number(text, "task", mark->run.task);
	end_args(text);
	if (mark->run.flow)
		put_arrow(text, mark->run.since_ns ? "wake" : "spawn", tape->group, mark->run.from,
			  woken, tape->group, mark->track, mark->begin_ns, mark->run.flow);
}

/* Write the argument of an event, and end it. */
static void put_count(struct eddyi_text *text, struct eddy_str unit, uint64_t count)
{
	eddyi_json_open(text, "args", "{");
	eddyi_json_name_str(text, unit);
	eddyi_json_u64(text, count);
	end_args(text);
}

static void put_ring(struct eddyi_text *text, const struct eddyi_tape *tape,
		     const struct eddyi_mark *mark, const char *name, struct eddy_str unit)
{
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "ring", name);
	put_count(text, unit, mark->ring.count);
}

static void put_job(struct eddyi_text *text, const struct eddyi_tape *tape,
		    const struct eddyi_mark *mark)
{
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "offload", "job");
	if (!mark->job.from) {
		end_event(text);
		return;
	}
	eddyi_json_open(text, "args", "{");
	put_number(text, "track", mark->job.from);
	end_args(text);
	put_arrow(text, "offload", mark->job.group, mark->job.from, mark->job.queued_ns,
		  tape->group, mark->track, mark->begin_ns, mark->job.flow);
}

/* ---- spans ---- */

/* Write a field as encoded by tape.c. Return: its end. */
static const char *put_field(struct eddyi_text *text, const char *at)
{
	enum eddy_field_type type = (enum eddy_field_type)(*at - 1);
	const char *name = at + 1;
	uint16_t len;
	int64_t i64;
	double f64;

	eddyi_json_name_str(text, eddy_str_from(name));
	at = name + strlen(name) + 1;
	if (type == EDDY_FIELD_STR) {
		memcpy(&len, at, sizeof(len));
		eddyi_json_str(text, eddy_str(at + sizeof(len), len));
		return at + sizeof(len) + len;
	}
	memcpy(&i64, at, sizeof(i64));
	memcpy(&f64, at, sizeof(f64));
	if (type == EDDY_FIELD_I64)
		eddyi_json_i64(text, i64);
	else if (type == EDDY_FIELD_U64)
		eddyi_json_u64(text, (uint64_t)i64);
	else if (type == EDDY_FIELD_BOOL)
		eddyi_json_bool(text, i64 != 0);
	else
		eddyi_json_f64(text, f64);
	return at + sizeof(i64);
}

static void put_span(struct eddyi_text *text, const struct eddyi_tape *tape,
		     const struct eddyi_mark *mark, const char *name)
{
	const char *at = name + strlen(name) + 1;

	begin_event(text, "b", tape->group, mark->track);
	put_time(text, mark->begin_ns);
	put_name(text, "span", name);
	put_id(text, tape->group, mark->span.id);
	eddyi_json_open(text, "args", "{");
	while (*at)
		at = put_field(text, at);
	end_args(text);
	begin_event(text, "e", tape->group, mark->track);
	put_time(text, mark->end_ns);
	put_name(text, "span", name);
	put_id(text, tape->group, mark->span.id);
	end_event(text);
}

void eddyi_timeline_json_mark(struct eddyi_text *text, struct eddyi_tape *tape, size_t at)
{
	const struct eddyi_mark *mark = eddyi_tape_at(tape, at);
	char copied[EDDYI_MARK_TEXT_MAX + 1] = "";

	for (size_t i = 0; i < mark->more; i++)
		memcpy(copied + i * sizeof(*mark), eddyi_tape_at(tape, at + 1 + i), sizeof(*mark));
	switch ((enum eddyi_mark_kind)mark->kind) {
	case EDDYI_MARK_NONE:
		break;
	case EDDYI_MARK_NAME:
		put_track(text, tape, mark, copied);
		break;
	case EDDYI_MARK_RUN:
		put_run(text, tape, mark);
		break;
	case EDDYI_MARK_OP:
	case EDDYI_MARK_MORE:
		put_op(text, tape, mark);
		break;
	case EDDYI_MARK_KERNEL:
		put_ring(text, tape, mark, "io_uring_enter", EDDY_STR("completions"));
		break;
	case EDDYI_MARK_MESSAGES:
		put_ring(text, tape, mark, "messages", EDDY_STR("count"));
		break;
	case EDDYI_MARK_TIMERS:
		put_ring(text, tape, mark, "timers", EDDY_STR("count"));
		break;
	case EDDYI_MARK_JOB:
		put_job(text, tape, mark);
		break;
	case EDDYI_MARK_SPAN:
		put_span(text, tape, mark, copied);
		break;
	}
}

/* ---- other events ---- */

void eddyi_timeline_json_dropped(struct eddyi_text *text, const struct eddyi_tape *tape,
				 uint64_t at_ns, uint64_t count)
{
	begin_event(text, "i", tape->group, tape->span_track);
	put_time(text, at_ns);
	eddyi_json_plain(text, "s", "p");
	put_name(text, "timeline", "dropped");
	put_count(text, EDDY_STR("records"), count);
}

void eddyi_timeline_json_counter(struct eddyi_text *text, uint32_t group, uint64_t at_ns,
				 const char *name, const char *unit, uint64_t value)
{
	begin_event(text, "C", group, 0);
	put_time(text, at_ns);
	eddyi_json_plain(text, "name", name);
	put_count(text, eddy_str_from(unit), value);
}
