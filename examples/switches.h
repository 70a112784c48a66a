/* switches.h: what the programs here do with the values of their switches. A value that is of no use is said
 * under the program's name, and ends it.
 */
#ifndef SWITCHES_H
#define SWITCHES_H

#include <eddy/technique.h>
#include <stdint.h>

/* The number that `--name` was given; exits with 2 unless it is from `least` to `most`. */
uint64_t switch_number(const char *name, const char *text, uint64_t least, uint64_t most);

/* Set the technique that `--name` was given in `options`, of which it is a member; exits with 2 unless there is one
 * of that name that goes there. */
void switch_technique(const char *name, const char *text, struct eddy_transfer_options *options,
		      enum eddy_technique *ret_technique);

/* Open the folder that files are served from and saved to, and clean it of uploads that never got their name; exits with
 * 1 where it can't be opened. */
int switch_folder(const char *path);

#endif
