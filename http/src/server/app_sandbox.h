/* app_sandbox.h: the sandbox of a running app. */
#ifndef EDDYI_APP_SANDBOX_H
#define EDDYI_APP_SANDBOX_H

struct eddy_app;

/* Enter the app's sandbox, if it has one. Return: 0; -errno, and a log record says why. */
int eddyi_app_sandbox_enter(const struct eddy_app *app);

#endif
