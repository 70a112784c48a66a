/* eddy/app_sandbox.h: run an app in a sandbox, where injected code reaches only the app's files.
 *
 *     static const char *const uploads[] = { "/srv/uploads", NULL };
 *
 *     eddy_app_sandbox(app, &(struct eddy_sandbox_options){ .writable = uploads });
 *
 * The process enters the sandbox when all addresses listen, before the first request, and cannot
 * leave it. eddy/sandbox.h lists what is forbidden inside.
 */
#ifndef EDDY_APP_SANDBOX_H
#define EDDY_APP_SANDBOX_H

#include <eddy/app.h>
#include <eddy/sandbox.h>

EDDY_BEGIN_DECLS

/* Enter a sandbox whenever the app runs. Copied. `options` may be NULL.
 *
 * Readable besides the options' paths: the folders of eddy_app_map_files() and
 * eddy_app_keep_files_open(), and the folders of certificate and key files, with those that
 * symbolic links lead to. So keep certificates in a folder with nothing else in it.
 *
 * In the sandbox, which stays after eddy_app_run():
 * - SIGHUP reloads certificates; SIGUSR2 and eddy_app_restart() are rejected with an ERROR record.
 * - Files opened later, such as rotated logs or a timeline, must be in a writable folder.
 * - A unix socket's file stays, unless its folder is writable; the next start replaces it.
 * - eddy_client and exporters require .connects.
 *
 * eddy_app_run() requires a loop made with .confined; eddy_app_run_blocking() makes one. Until the
 * sandbox is entered, open files by blocking calls (eddy_offload()), not on the ring.
 *
 * If the sandbox cannot be entered, eddy_app_run() fails, and an ERROR log record says why. */
EDDY_API void eddy_app_sandbox(struct eddy_app *app, const struct eddy_sandbox_options *options);

EDDY_END_DECLS

#endif
