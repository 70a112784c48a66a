/* value.h: what people write behind an option. Nothing is written where it is no such value, but lists may be half. */
#ifndef EDDY_BENCH_VALUE_H
#define EDDY_BENCH_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parse a size: "4096", "4K", "64M", "1G", or with "iB" behind. Return: whether it is one. */
bool value_size(const char *text, uint64_t *ret_bytes);

/* Parse a time: "0.5", "2s", "500ms"; a day at most. Return: whether it is one. */
bool value_seconds(const char *text, double *ret_seconds);

/* Parse a decimal number. Return: whether it is one from `least` to `most`. */
bool value_number(const char *text, double least, double most, double *ret_number);

/* Parse a whole number, which may be written as a size. Return: whether it is one from `least` to `most`. */
bool value_count(const char *text, unsigned least, unsigned most, unsigned *ret_count);

/* Parse a list with commas, in which nothing stands twice. Return: how many items it has; 0 when one is wrong or there
 * are more than `size`. */
size_t value_sizes(const char *text, uint64_t *ret_sizes, size_t size);
size_t value_counts(const char *text, unsigned most, unsigned *ret_counts, size_t size);

/* Whether it is "Name: value", and nothing that would make two lines of it. */
bool value_is_header(const char *text);

/* Whether it is a method of HTTP. */
bool value_is_method(const char *text);

/* Whether it is a SHA-256 in hexadecimal. */
bool value_is_digest(const char *text);

#endif
