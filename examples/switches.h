/* switches.h: values of command-line options. A bad value is reported, and ends the program.
 */
#ifndef SWITCHES_H
#define SWITCHES_H

#include <eddy/technique.h>
#include <eddy/tls.h>
#include <stdint.h>

/* Parse the number of option `--name`. Exits with 2 unless it is from `least` to `most`. */
uint64_t switch_number(const char *name, const char *text, uint64_t least, uint64_t most);

/* Parse the technique of option `--name`, a member of `options`. Exits with 2 if it is invalid. */
void switch_technique(const char *name, const char *text, struct eddy_transfer_options *options,
		      enum eddy_technique *ret_technique);

/* Serve HTTPS if --cert or --key is given. Exits with 2 if eddy was built without TLS. */
void switch_tls(struct eddy_app *app, const struct eddy_tls_options *options);

/* Open the folder for transfers, and remove unfinished uploads. Exits with 1 on failure. */
int switch_folder(const char *path);

#endif
