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

#include <eddy/log.h>
#include <inttypes.h>
#include <liburing.h>
#include <string.h>

/* Write 0x and hexadecimal digits. */
static void put_hex(struct eddyi_text *text, uint64_t value)
{
	char digits[16];
	size_t at = sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	eddyi_text(text, "0x");
	eddyi_text_put(text, digits + at, sizeof(digits) - at);
}

/* Write nanoseconds as microseconds with three decimal places. */
static void put_us(struct eddyi_text *text, uint64_t ns)
{
	unsigned rest = ns % 1000;
	char places[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			  (char)('0' + rest % 10) };

	eddyi_text_u64(text, ns / 1000);
	eddyi_text_put(text, places, sizeof(places));
}

/* Write `,"name":VALUE`. */
static inline void put_number(struct eddyi_text *text, const char *name, int64_t value)
{
	eddyi_text(text, ",\"");
	eddyi_text(text, name);
	eddyi_text(text, "\":");
	eddyi_text_i64(text, value);
}

/* Begin an event: `{"ph":…`, to which more may be appended. */
static inline void begin_event(struct eddyi_text *text, const char *phase, uint32_t group,
			       uint32_t track)
{
	eddyi_text(text, ",\n{\"ph\":\"");
	eddyi_text(text, phase);
	eddyi_text(text, "\"");
	put_number(text, "pid", group);
	put_number(text, "tid", track);
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

static void put_time(struct eddyi_text *text, uint64_t at_ns)
{
	eddyi_text(text, ",\"ts\":");
	put_us(text, behind_zero(at_ns));
	eddyi_text(text, HALF_NS);
}

static inline void put_name(struct eddyi_text *text, const char *category, const char *name)
{
	eddyi_text(text, ",\"cat\":\"");
	eddyi_text(text, category);
	eddyi_text(text, "\",\"name\":");
	eddyi_text_json_str(text, eddy_str_from(name));
}

/* Begin a slice, up to its arguments. */
static void begin_slice(struct eddyi_text *text, uint32_t group, uint32_t track, uint64_t begin_ns,
			uint64_t end_ns)
{
	begin_event(text, "X", group, track);
	put_time(text, begin_ns);
	eddyi_text(text, ",\"dur\":");
	put_us(text, end_ns > begin_ns ? behind_zero(end_ns) - behind_zero(begin_ns) : 0);
}

/* Ids are counted for each group. */
static void put_id(struct eddyi_text *text, uint32_t group, uint32_t id)
{
	eddyi_text(text, ",\"id\":\"");
	put_hex(text, (uint64_t)group << 32 | id);
	eddyi_text(text, "\"");
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
	eddyi_text(text, "}");
	begin_event(text, "f", group, track);
	put_time(text, at_ns);
	put_name(text, "arrow", name);
	put_id(text, group, flow);
	eddyi_text(text, ",\"bp\":\"e\"}");
}

/* ---- names ---- */

static void put_meta(struct eddyi_text *text, const char *what, uint32_t group, uint32_t track,
		     const char *name)
{
	begin_event(text, "M", group, track);
	eddyi_text(text, ",\"name\":\"");
	eddyi_text(text, what);
	eddyi_text(text, "\",\"args\":{\"name\":");
	eddyi_text_json_str(text, eddy_str_from(name));
}

static void put_order(struct eddyi_text *text, const char *what, uint32_t group, uint32_t track,
		      uint32_t order)
{
	begin_event(text, "M", group, track);
	eddyi_text(text, ",\"name\":\"");
	eddyi_text(text, what);
	eddyi_text(text, "\",\"args\":{\"sort_index\":");
	eddyi_text_u64(text, order);
	eddyi_text(text, "}}");
}

void eddyi_timeline_json_group(struct eddyi_text *text, uint32_t group, const char *name)
{
	put_meta(text, "process_name", group, 0, name);
	eddyi_text(text, "}}");
	put_order(text, "process_sort_index", group, 0, group);
}

static void put_track(struct eddyi_text *text, const struct eddyi_tape *tape,
		      const struct eddyi_mark *mark, const char *name)
{
	const char *where = name + strlen(name) + 1;

	put_meta(text, "thread_name", tape->group, mark->track, *name ? name : "(no name)");
	if (*where) {
		eddyi_text(text, ",\"where\":");
		eddyi_text_json_str(text, eddy_str_from(where));
	}
	eddyi_text(text, "}}");
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
	eddyi_text(text, ",\"args\":{\"fd\":");
	eddyi_text_i64(text, mark->op.fd);
	if (mark->op.fd2 >= 0)
		put_number(text, "fd2", mark->op.fd2);
	put_number(text, "result", mark->op.result);
	if (mark->op.result >= 0 && is_one_of(mark, MOVES_BYTES))
		put_number(text, "bytes", mark->op.result);
	if (is_one_of(mark, HAS_LEN))
		put_number(text, "len", mark->op.len);
	if (mark->op.task)
		put_number(text, "track", mark->op.task);
	if (mark->op.own)
		eddyi_text(text, ",\"own\":true");
	if (mark->worked)
		eddyi_text(text, ",\"io-wq\":\"always\"");
	eddyi_text(text, "}}");
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
	eddyi_text(text, "}");
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
		eddyi_text(text, ",\"args\":{\"task\":");
		eddyi_text_u64(text, mark->run.task);
		if (mark->run.fd >= 0)
			put_number(text, "fd", mark->run.fd);
		eddyi_text(text, "}}");
	}
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "run", "run");
	eddyi_text(text, ",\"args\":{\"task\":");
	eddyi_text_u64(text, mark->run.task);
	eddyi_text(text, "}}");
	if (mark->run.flow)
		put_arrow(text, mark->run.since_ns ? "wake" : "spawn", tape->group, mark->run.from,
			  woken, tape->group, mark->track, mark->begin_ns, mark->run.flow);
}

static void put_ring(struct eddyi_text *text, const struct eddyi_tape *tape,
		     const struct eddyi_mark *mark, const char *name, const char *unit)
{
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "ring", name);
	eddyi_text(text, ",\"args\":{\"");
	eddyi_text(text, unit);
	eddyi_text(text, "\":");
	eddyi_text_u64(text, mark->ring.count);
	eddyi_text(text, "}}");
}

static void put_job(struct eddyi_text *text, const struct eddyi_tape *tape,
		    const struct eddyi_mark *mark)
{
	begin_slice(text, tape->group, mark->track, mark->begin_ns, mark->end_ns);
	put_name(text, "offload", "job");
	if (!mark->job.from) {
		eddyi_text(text, "}");
		return;
	}
	eddyi_text(text, ",\"args\":{\"track\":");
	eddyi_text_u64(text, mark->job.from);
	eddyi_text(text, "}}");
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

	eddyi_text_json_str(text, eddy_str_from(name));
	eddyi_text(text, ":");
	at = name + strlen(name) + 1;
	if (type == EDDY_FIELD_STR) {
		memcpy(&len, at, sizeof(len));
		eddyi_text_json_str(text, eddy_str(at + sizeof(len), len));
		return at + sizeof(len) + len;
	}
	memcpy(&i64, at, sizeof(i64));
	memcpy(&f64, at, sizeof(f64));
	if (type == EDDY_FIELD_I64)
		eddyi_text_i64(text, i64);
	else if (type == EDDY_FIELD_U64)
		eddyi_text_u64(text, (uint64_t)i64);
	else if (type == EDDY_FIELD_BOOL)
		eddyi_text(text, i64 ? "true" : "false");
	else if (f64 - f64 == 0)
		eddyi_text_f64(text, f64);
	else
		eddyi_text(text, "null");
	return at + sizeof(i64);
}

static void put_span(struct eddyi_text *text, const struct eddyi_tape *tape,
		     const struct eddyi_mark *mark, const char *name)
{
	const char *at = name + strlen(name) + 1;
	bool is_first = true;

	begin_event(text, "b", tape->group, mark->track);
	put_time(text, mark->begin_ns);
	put_name(text, "span", name);
	put_id(text, tape->group, mark->span.id);
	eddyi_text(text, ",\"args\":{");
	while (*at) {
		if (!is_first)
			eddyi_text(text, ",");
		is_first = false;
		at = put_field(text, at);
	}
	eddyi_text(text, "}}");
	begin_event(text, "e", tape->group, mark->track);
	put_time(text, mark->end_ns);
	put_name(text, "span", name);
	put_id(text, tape->group, mark->span.id);
	eddyi_text(text, "}");
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
		put_ring(text, tape, mark, "io_uring_enter", "completions");
		break;
	case EDDYI_MARK_MESSAGES:
		put_ring(text, tape, mark, "messages", "count");
		break;
	case EDDYI_MARK_TIMERS:
		put_ring(text, tape, mark, "timers", "count");
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
	eddyi_text(text, ",\"s\":\"p\"");
	put_name(text, "timeline", "dropped");
	eddyi_text(text, ",\"args\":{\"records\":");
	eddyi_text_u64(text, count);
	eddyi_text(text, "}}");
}

void eddyi_timeline_json_counter(struct eddyi_text *text, uint32_t group, uint64_t at_ns,
				 const char *name, const char *unit, uint64_t value)
{
	begin_event(text, "C", group, 0);
	put_time(text, at_ns);
	eddyi_text(text, ",\"name\":\"");
	eddyi_text(text, name);
	eddyi_text(text, "\",\"args\":{\"");
	eddyi_text(text, unit);
	eddyi_text(text, "\":");
	eddyi_text_u64(text, value);
	eddyi_text(text, "}}");
}
