/* eddy/app_sandbox.h: run an app in a sandbox: injected code reaches only the files that the app serves.
 *
 *     static const char *const uploads[] = { "/srv/uploads", NULL };
 *
 *     eddy_app_sandbox(app, &(struct eddy_sandbox_options){ .writable = uploads });
 *
 * The process enters it when all addresses listen, before the first request. eddy/sandbox.h lists what it can't do from then on.
 */
#ifndef EDDY_APP_SANDBOX_H
#define EDDY_APP_SANDBOX_H

#include <eddy/app.h>
#include <eddy/sandbox.h>

EDDY_BEGIN_DECLS

/* Have the process enter a sandbox whenever the app runs; NULL is all defaults. The options are copied. Beside what they
 * name these may be read: the folders of eddy_app_map_files() and eddy_app_keep_files_open(), and those of the files that
 * eddy_app_use_tls() and eddy_app_add_tls_cert() name. Symbolic links are followed: the folders of their targets are readable, too. So
 * keep certificates in a folder with nothing else in it.
 *
 * Nothing leads out of a sandbox: what the process does besides, also after eddy_app_run(), is done in it.
 * - SIGUSR2 and eddy_app_restart() are refused with an ERROR record, since no program can be started; SIGHUP reads
 *   certificates as ever.
 * - What is opened later (log files that are rotated by name, a timeline that is started by a call) has to be in a folder that is
 *   writable. A unix socket's file stays behind at the end, unless its folder is; the next start replaces it.
 * - eddy_app_run() wants its loop made with .confined; eddy_app_run_blocking() makes it so. Before it, and in functions of
 *   eddy_app_at_start(), files are opened by calls that block (eddy_offload()), not by the ring.
 * - eddy_client and exporters need .connects.
 *
 * run fails when the sandbox can't be entered, with an ERROR record that says why. */
EDDY_API void eddy_app_sandbox(struct eddy_app *app, const struct eddy_sandbox_options *options);

EDDY_END_DECLS

#endif
