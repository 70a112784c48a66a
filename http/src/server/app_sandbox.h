/* app_sandbox.h: the sandbox of an app that runs. */
#ifndef EDDYI_APP_SANDBOX_H
#define EDDYI_APP_SANDBOX_H

struct eddy_app;

/* Enter it, if the app has one. Return: 0; -errno, and a record says why. */
int eddyi_app_sandbox_enter(const struct eddy_app *app);

#endif
