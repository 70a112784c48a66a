/* format.h: figures as people read them. Each writes into the room that it is given, and returns it. */
#ifndef EDDY_BENCH_FORMAT_H
#define EDDY_BENCH_FORMAT_H

#include "verdict.h"

#define FORMAT_SIZE 64
#define FORMAT_LINE_SIZE 1024

/* A value with its unit: "76,650/s", "3.16 GB/s", "12.9 µs"; "–" where nobody knows it. */
const char *format_value(char text[FORMAT_SIZE], enum unit unit, double value);

/* A ratio: "0.87", "12.3"; "–". */
const char *format_ratio(char text[FORMAT_SIZE], double ratio);

/* "352 B", "4 KiB", "1.5 GiB". */
const char *format_bytes(char text[FORMAT_SIZE], double bytes);

/* "GB/s", "µs": the unit by itself. */
const char *unit_title(enum unit unit);

/* How a figure is held against another target: "1.31 ×", or a value for what is a difference. */
const char *format_against(char text[FORMAT_SIZE], const struct figure *figure,
			   const struct cell *cell, double value);

/* "1.28–1.40", as format_against() or format_value() has them; "–" without an interval. */
const char *format_interval(char text[FORMAT_LINE_SIZE], const struct figure *figure,
			    const struct cell *cell, bool is_against,
			    const struct estimate *estimate);

/* What is asked: "throughput ≥ 1.05 × nginx, aim 1.2". */
const char *format_goal(char text[FORMAT_LINE_SIZE], const struct cell *cell,
			const struct goal *goal);

/* How many bytes the first characters take, `count` at most. */
size_t format_prefix(const char *text, size_t count);

/* How many characters a text has. */
size_t format_width(const char *text);

/* The text, cut to `count` characters and an ellipsis where it has more. */
const char *format_cut(char text[FORMAT_LINE_SIZE], const char *whole, size_t count);

#endif
