#include "track.h"

#include "watch.h"

#include "core/loop.h"
#include "core/task.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NUMBER_MAX 10 /* bytes of an encoded number */
#define EVENT_ROOM 512
#define OTHER_TASK 0x80 /* in the first byte of an event: the task's number follows */

_Static_assert(EDDYI_EVENTS < OTHER_TASK, "a kind of event is in the first byte");

static const char *const names[EDDYI_EVENTS + 1] = {
	[EDDYI_EVENT_VALUE] = "shared value",
	[EDDYI_EVENT_CLOCK] = "clock",
	[EDDYI_EVENT_RANDOM] = "getrandom",
	[EDDYI_EVENT_BEGIN] = "start of a loop",
	[EDDYI_EVENT_ENTER] = "wait",
	[EDDYI_EVENT_WORKERS] = "limit of workers",
	[EDDYI_EVENT_BUFFERS] = "buffer group",
	[EDDYI_EVENT_BLOCKED] = "wait for a thread",
	[EDDYI_EVENT_LOCK] = "wait for a lock",
#define NOW(type, call, ...) [EDDYI_EVENT_##call] = #call,
#define SYSCALL(type, call, ...) [EDDYI_EVENT_##call] = #call,
#define BY_HAND(type, call, ...) [EDDYI_EVENT_##call] = #call,
#define OTHER(type, call, ...) [EDDYI_EVENT_##call] = #call,
#include <eddy/internal/outside_calls.h>
	[EDDYI_EVENTS] = "end",
};

const char *eddyi_event_name(enum eddyi_event_kind kind)
{
	return kind <= EDDYI_EVENTS ? names[kind] : "unknown event";
}

/* ---- hashes ---- */

#define MIX 0x9e3779b97f4a7c15

static inline uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * MIX;
	return hash ^ hash >> 29;
}

static inline uint64_t load(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Both halves of the product of 128 bits. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Add 64 bytes to four sums, which do not wait for each other. */
static inline void add(uint64_t sums[4], const uint8_t *at)
{
	for (int i = 0; i < 4; i++, at += 16)
		sums[i] = fold(sums[i] ^ load(at), load(at + 8) ^ MIX);
}

uint64_t eddyi_digest(const void *bytes, size_t len)
{
	const uint8_t *at = bytes, *end = at + len;
	uint64_t sums[4] = { len, MIX, ~len, 1 };
	uint8_t last[64] = { 0 };

	for (; end - at >= 64; at += 64)
		add(sums, at);
	memcpy(last, at, (size_t)(end - at));
	add(sums, last);
	return mix(mix(sums[0], sums[1]), mix(sums[2], sums[3]));
}

/* ---- bytes of a recording ---- */

/* The process is about to end by a signal, on another thread. */
static inline void await_end(void)
{
	if (!__builtin_expect(atomic_load_explicit(&eddyi_recording_stops, memory_order_relaxed),
			      0))
		return;
	eddyi_track = NULL;
	for (;;)
		usleep(1000);
}

void eddyi_event_publish(struct eddyi_track *track)
{
	struct eddyi_chunk *chunk = track->chunk;

	await_end();
	track->done_hash = track->hash;
	track->done_events = track->events;
	if (chunk)
		atomic_store_explicit(&chunk->len, (size_t)(track->at - chunk->bytes),
				      memory_order_release);
}

/* Begin a new chunk. If the recording has ended, bytes go nowhere. */
static void next_chunk(struct eddyi_track *track)
{
	static __thread uint8_t nowhere[EVENT_ROOM];
	struct eddyi_chunk *full = track->chunk, *chunk = full ? eddyi_recording_chunk() : NULL;

	if (!chunk) {
		track->chunk = NULL;
		track->at = nowhere;
		track->end = nowhere + sizeof(nowhere);
		return;
	}
	atomic_store_explicit(&full->len, (size_t)(track->at - full->bytes), memory_order_release);
	full->next = chunk;
	eddyi_recording_chunk_full(full);
	track->chunk = chunk;
	track->at = chunk->bytes;
	track->end = chunk->bytes + sizeof(chunk->bytes);
}

static inline void need(struct eddyi_track *track, size_t len)
{
	if (__builtin_expect((size_t)(track->end - track->at) < len, 0))
		next_chunk(track);
}

static inline void put(struct eddyi_track *track, uint64_t number)
{
	need(track, NUMBER_MAX);
	for (; number >= 0x80; number >>= 7)
		*track->at++ = (uint8_t)(number | 0x80);
	*track->at++ = (uint8_t)number;
}

static void put_bytes(struct eddyi_track *track, const uint8_t *bytes, size_t len)
{
	while (len) {
		size_t part;

		need(track, 1);
		part = (size_t)(track->end - track->at);
		part = part < len ? part : len;
		memcpy(track->at, bytes, part);
		track->at += part;
		bytes += part;
		len -= part;
	}
}

/* ---- bytes of a replay ---- */

bool eddyi_track_is_at_end(struct eddyi_track *track)
{
	return track->at == track->end && !eddyi_recording_next_block(track);
}

static uint8_t get_byte(struct eddyi_track *track)
{
	if (eddyi_track_is_at_end(track))
		eddyi_replay_end();
	return *track->at++;
}

static uint64_t get(struct eddyi_track *track)
{
	uint64_t number = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		byte = get_byte(track);
		if (shift < 64)
			number |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 7 * NUMBER_MAX);
	return number;
}

static void get_bytes(struct eddyi_track *track, uint8_t *bytes, size_t len)
{
	while (len) {
		size_t part;

		if (eddyi_track_is_at_end(track))
			eddyi_replay_end();
		part = (size_t)(track->end - track->at);
		part = part < len ? part : len;
		memcpy(bytes, track->at, part);
		track->at += part;
		bytes += part;
		len -= part;
	}
}

/* ---- events ---- */

/* Read a number of the current block. */
static bool peek(const uint8_t **at, const uint8_t *end, uint64_t *ret_number)
{
	*ret_number = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*ret_number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* These bytes are in one block: the event has room for them as it begins. */
bool eddyi_track_is_next(struct eddyi_track *track, enum eddyi_event_kind kind, uint64_t issued)
{
	const uint8_t *at;
	uint64_t task, number;
	uint8_t head;

	if (eddyi_track_is_at_end(track))
		return false;
	at = track->at;
	head = *at++;
	return (head & (OTHER_TASK - 1)) == kind &&
	       (!(head & OTHER_TASK) || peek(&at, track->end, &task)) &&
	       peek(&at, track->end, &number) && number == issued;
}

/* The number of the running task. 0 is the loop itself, or a thread without one. */
static inline uint64_t running(void)
{
	const struct eddy_loop *loop = eddyi_this_loop;

	return loop && loop->running ? loop->running->id : 0;
}

void eddyi_event_begin(struct eddyi_track *track, enum eddyi_event_kind kind)
{
	uint64_t task = running();

	await_end();
	track->kind = kind;
	track->issued = track->locks = 0;
	if (eddyi_replays) {
		uint8_t head = get_byte(track);
		enum eddyi_event_kind next = head & (OTHER_TASK - 1);

		track->place =
			atomic_fetch_add_explicit(&eddyi_replay.events, 1, memory_order_relaxed) +
			1;
		if (head & OTHER_TASK)
			track->task = get(track);
		if (next != kind)
			eddyi_diverge(track, "the recording has %s here", eddyi_event_name(next));
		if (track->task != task)
			eddyi_diverge(track, "the recording has it in task %llu",
				      (unsigned long long)track->task);
		if (eddyi_replay.is_watched)
			eddyi_watch_begin(track->number, eddyi_event_name(kind));
	} else {
		need(track, EVENT_ROOM);
		*track->at++ = (uint8_t)(kind | (task != track->task ? OTHER_TASK : 0));
		if (task != track->task)
			put(track, task);
		track->task = task;
	}
	track->events++;
	track->hash = mix(track->hash, task << 8 | kind);
}

void eddyi_event_end(struct eddyi_track *track)
{
	eddyi_event_publish(track);
	if (eddyi_replay.is_watched)
		eddyi_watch_end();
}

void eddyi_issue(struct eddyi_track *track, uint64_t number)
{
	if (!track->issued++)
		track->first = number;
	track->hash = mix(track->hash, number);
	if (eddyi_replays) {
		uint64_t recorded = get(track);

		if (recorded != number)
			eddyi_diverge(track, "argument %u is %lld, and %lld in the recording",
				      track->issued, (long long)number, (long long)recorded);
		if (eddyi_replay.is_watched)
			eddyi_watch_number(number);
	} else {
		put(track, number);
	}
}

/* Issue a digest, in the four bytes that tell two contents apart. */
static void issue_digest(struct eddyi_track *track, uint64_t digest)
{
	uint32_t four = (uint32_t)(digest ^ digest >> 32), recorded;

	track->hash = mix(track->hash, four);
	if (eddyi_replays) {
		get_bytes(track, (uint8_t *)&recorded, sizeof(recorded));
		if (recorded != four)
			eddyi_diverge(track, "argument %u has other bytes than in the recording",
				      track->issued);
	} else {
		put_bytes(track, (const uint8_t *)&four, sizeof(four));
	}
}

void eddyi_issue_bytes(struct eddyi_track *track, const void *bytes, size_t len)
{
	eddyi_issue(track, len);
	if (eddyi_replay.is_watched)
		eddyi_watch_bytes(bytes, len);
	if (len && bytes)
		issue_digest(track, eddyi_digest(bytes, len));
}

void eddyi_issue_parts(struct eddyi_track *track, const struct iovec *parts, size_t count)
{
	uint64_t digest = 0;
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		digest = mix(digest, eddyi_digest(parts[i].iov_base, parts[i].iov_len));
		len += parts[i].iov_len;
		if (eddyi_replay.is_watched)
			eddyi_watch_bytes(parts[i].iov_base, parts[i].iov_len);
	}
	eddyi_issue(track, len);
	issue_digest(track, digest);
}

/* Compare a text with the recorded one. `coded` is its length and one more, or 0 of NULL. */
static void compare_text(struct eddyi_track *track, const char *text, uint64_t coded)
{
	uint64_t recorded = get(track);
	bool is_equal = recorded == coded;
	char shown[64] = "";

	for (uint64_t i = 0; i + 1 < recorded; i++) {
		char byte = (char)get_byte(track);

		if (i < sizeof(shown) - 1)
			shown[i] = byte;
		is_equal = is_equal && byte == text[i];
	}
	if (!is_equal)
		eddyi_diverge(track, "argument %u is \"%.60s\", and \"%s\" in the recording",
			      track->issued, text ? text : "", shown);
}

void eddyi_issue_text(struct eddyi_track *track, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	uint64_t coded = text ? len + 1 : 0;

	track->issued++;
	track->hash = mix(mix(track->hash, coded), eddyi_digest(text ? text : "", len));
	if (eddyi_replays) {
		compare_text(track, text, coded);
		if (eddyi_replay.is_watched)
			eddyi_watch_text(text);
	} else {
		put(track, coded);
		put_bytes(track, (const uint8_t *)text, len);
	}
}

uint64_t eddyi_learn(struct eddyi_track *track, uint64_t number)
{
	if (eddyi_replays)
		return get(track);
	put(track, number);
	return number;
}

static int64_t learn_signed(struct eddyi_track *track, int64_t number)
{
	uint64_t coded = eddyi_learn(track, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));

	return (int64_t)(coded >> 1 ^ -(coded & 1));
}

uint64_t eddyi_learn_clock(struct eddyi_track *track, int clock)
{
	uint64_t *last = &track->clocks[(unsigned)clock % 16], now = 0;

	if (!eddyi_replays) {
		eddyi_track = NULL;
		now = eddyi_clock(clock);
		eddyi_track = track;
	}
	*last += (uint64_t)learn_signed(track, (int64_t)(now - *last));
	if (eddyi_replays && clock == CLOCK_MONOTONIC)
		eddyi_watch_clock(*last);
	return *last;
}

int64_t eddyi_learn_signed(struct eddyi_track *track, int64_t number)
{
	number = learn_signed(track, number);
	if (eddyi_replay.is_watched)
		eddyi_watch_result(number);
	return number;
}

void eddyi_learn_bytes(struct eddyi_track *track, void *bytes, size_t len)
{
	if (eddyi_replays)
		get_bytes(track, bytes, len);
	else
		put_bytes(track, bytes, len);
	if (eddyi_replay.is_watched)
		eddyi_watch_bytes(bytes, len);
}

void eddyi_learn_parts(struct eddyi_track *track, const struct iovec *parts, size_t count,
		       size_t len)
{
	for (size_t i = 0; i < count && len; i++) {
		size_t part = parts[i].iov_len < len ? parts[i].iov_len : len;

		eddyi_learn_bytes(track, parts[i].iov_base, part);
		len -= part;
	}
}

void eddyi_diverge(struct eddyi_track *track, const char *format, ...)
{
	const struct eddy_loop *loop = eddyi_this_loop;
	const struct eddy_task *task = loop ? loop->running : NULL;
	char text[1024];
	va_list args;
	int len = snprintf(text, sizeof(text), "eddy: the replay diverges at event %llu",
			   (unsigned long long)track->place);
	size_t at = (size_t)len;

	if (task)
		at += (size_t)snprintf(text + at, sizeof(text) - at, ", in task %llu \"%.100s\"",
				       (unsigned long long)task->id, task->name);
	at += (size_t)snprintf(text + at, sizeof(text) - at,
			       ": %s: ", eddyi_event_name(track->kind));
	va_start(args, format);
	vsnprintf(text + at, sizeof(text) - at, format, args);
	va_end(args);
	eddyi_replay_exit(EDDYI_REPLAY_DIVERGED, text);
}

/* ---- tracks ---- */

struct eddyi_track *eddyi_track_make(void)
{
	struct eddyi_track *track = calloc(1, sizeof(*track));

	if (!track)
		return NULL;
	if (eddyi_replays)
		return track;
	track->chunk = track->oldest = eddyi_recording_chunk();
	if (!track->chunk) {
		free(track);
		return NULL;
	}
	track->at = track->chunk->bytes;
	track->end = track->at + sizeof(track->chunk->bytes);
	return track;
}
