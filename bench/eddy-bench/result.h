/* result.h: what eddy-bench has measured, and the file that keeps it.
 *
 *     struct result *result = result_new();
 *     struct cell *cell = result_add_cell(result, "get-4k-16");
 *     struct target *target = cell_add_target(result, cell, "eddy");
 *     struct sample *sample = target_add_sample(result, target);
 *     sample->requests = 12345;
 *     r = result_save(result, "result.json", error);
 *     result_free(result);
 *
 * A file is a JSON object in which "eddy_bench" is 1; its members are called like those of the structures here, and
 * are null where a number is not known. Members that are not known are passed over; of the others everything is looked
 * at, as if a stranger had written it.
 *
 * Invariants:
 * 1. All that a result points to is the result's own, stays where it is, and is freed with it.
 * 2. Every number is NAN where nobody knows it, or finite, from 0 to RESULT_NUMBER_MAX.
 * 3. Every text is UTF-8 without characters that control a terminal, turn the direction of writing around, or
 *    may not stand in XML: whoever prints one has only its own language's quotes to care for.
 * 4. No two cells of a result have one name, nor two targets of a cell.
 */
#ifndef EDDY_BENCH_RESULT_H
#define EDDY_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

/* Limits of a file. */
#define RESULT_BYTES_MAX (64 << 20)
#define RESULT_VALUES_MAX (4 << 20)
#define RESULT_CELLS_MAX 1000
#define RESULT_TARGETS_MAX 64
#define RESULT_SAMPLES_MAX 1000
#define RESULT_BUCKETS_MAX 20000
#define RESULT_LINES_MAX 100 /* goals of a cell, and remarks */
#define RESULT_TEXT_MAX 4096 /* bytes of one text; what is longer is cut */
#define RESULT_NUMBER_MAX 1e18

/* Room for what went wrong. */
#define RESULT_ERROR_SIZE 512

struct machine {
	const char *cpu; /* NULL, as every text, where nobody knows it */
	double processors;
	double memory_bytes;
	const char *kernel;
	const char *virtual; /* "kvm" */
	double load_before;  /* of one minute */
	const char *governor;
	const char *mitigations;
};

struct settings {
	double rounds;
	double seconds;                /* of a sample */
	double warmup;                 /* seconds */
	double server_cpu, client_cpu; /* which processor is theirs alone; NAN: any */
};

/* Quantiles of latency in microseconds. */
struct quantiles {
	double p50, p90, p99, p999, max;
};

/* One round of one target. What the server used is of its whole process. */
struct sample {
	double seconds;
	double requests;
	double bytes; /* of bodies */
	double errors;
	double cpu_seconds; /* user and system, all threads */
	double client_cpu_seconds;
	double voluntary_switches, involuntary_switches;
	double system_calls;
	double retransmits; /* segments of TCP, in both directions */
	double resident_bytes, resident_bytes_before;
	double threads;
	struct quantiles first_byte_us, total_us;
};

/* `count` requests took `us` at most, and longer than the bucket before. */
struct bucket {
	double us, count;
};

struct buckets {
	struct bucket *of;
	size_t count;
};

/* One of those that take turns in a cell. */
struct target {
	const char *name;
	const char *url;
	const char *version;
	struct {
		double pid;
		const char *command;
	} server;
	double connections;      /* that were open, where they are counted */
	struct sample **samples; /* in the order of rounds */
	size_t sample_count;
	struct {
		struct buckets first_byte, total; /* all rounds together, ascending */
	} histogram;
};

/* What is to come of a cell. */
struct goal {
	const char *target;
	const char *against; /* NULL: the figure itself is held against the limits, in its own unit */
	const char *figure;       /* as in figures.h */
	double at_least, at_most; /* one of them at least; NAN: no limit on that side */
	double aim;               /* a better value that is hoped for */
};

/* One thing that is measured, of several targets. */
struct cell {
	const char *name;  /* "get-4k-16" */
	const char *title; /* "GET 4 KiB × 16"; never NULL */
	const char *group; /* the report's heading above it */
	const char *work;  /* "get", "put", "req" */
	double size;       /* bytes of a body */
	double connections;
	double depth; /* requests on a connection at once */
	double rate;  /* requests a second that were asked for; NAN: as many as go */
	bool http2;
	bool cold;           /* nothing of it was in the page cache */
	bool verified;       /* every body was compared */
	const char *against; /* the target that others are held against */
	struct target **targets;
	size_t target_count;
	struct goal **goals;
	size_t goal_count;
	const char **remarks;
	size_t remark_count,
		derived_count; /* the last ones follow from all else: a file has them apart */
};

struct result {
	const char *title;
	const char *when; /* RFC 3339 */
	const char *command;
	struct machine machine;
	struct settings settings;
	struct cell **cells;
	size_t cell_count;
	const char **remarks;
	size_t remark_count, derived_count; /* as those of cells */
	struct memory *memory;              /* private */
};

/* Make an empty one; numbers are NAN. Where memory is out the process ends, here and below: there is nothing that a
 * bench could do about it. */
struct result *result_new(void);
void result_free(struct result *result);

/* Copy a text, made clean as invariant 3 has it. Return: it; NULL of NULL. */
const char *result_text(struct result *result, const char *text);

/* Append one; numbers in it are NAN. `name` is copied, and becomes the title as well. Return: it, never NULL. The
 * limits of a file are the caller's to keep. */
struct cell *result_add_cell(struct result *result, const char *name);
struct target *cell_add_target(struct result *result, struct cell *cell, const char *name);
struct sample *target_add_sample(struct result *result, struct target *target);
struct goal *cell_add_goal(struct result *result, struct cell *cell);
void cell_add_remark(struct result *result, struct cell *cell, const char *text);
void result_add_remark(struct result *result, const char *text);

/* Append to a histogram, in ascending order. */
void buckets_add(struct result *result, struct buckets *buckets, double us, double count);

/* Find by name. Return: NULL where there is none. */
struct cell *result_cell(const struct result *result, const char *name);
struct target *cell_target(const struct cell *cell, const char *name);

/* Read a file. Return: 0, -errno of reading, -EFBIG, -EBADMSG where it is no result; `error` then says in one line what
 * is wrong and where. */
int result_load(const char *path, struct result **ret_result, char error[RESULT_ERROR_SIZE]);

/* The same of what such a file holds; `path` is for the error. */
int result_parse(const char *path, const char *bytes, size_t len, struct result **ret_result,
		 char error[RESULT_ERROR_SIZE]);

/* Write it, as save_file() does. Return: 0, -errno, and a line in `error`. */
int result_save(const struct result *result, const char *path, char error[RESULT_ERROR_SIZE]);

/* Write a whole file, or nothing: it takes its name once it is whole. "-" is stdout. Return: 0, -errno, and a line in
 * `error`. */
int save_file(const char *path, const char *bytes, size_t len, char error[RESULT_ERROR_SIZE]);

/* See whether save_file() could write it, and leave what is there. Return: 0, -errno, and a line in `error`. */
int save_check(const char *path, char error[RESULT_ERROR_SIZE]);

#endif
