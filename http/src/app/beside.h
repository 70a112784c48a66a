/* beside.h: the tasks of eddy_app_add_task(), which run while an app runs. */
#ifndef EDDYI_BESIDE_H
#define EDDYI_BESIDE_H

#include "app.h"

#include <eddy/event.h>
#include <eddy/scope.h>

/* Invariant: the tasks are in a shielded scope, which a task of its own ends after the last
 * request, also if the program cancels its app. */
struct eddyi_beside_keeper {
	const struct eddy_app *app;
	struct eddy_event begun, served;
	int result;
};

void eddyi_beside_init(struct eddyi_beside_keeper *keeper, const struct eddy_app *app);

/* Start the tasks. Suspends, and is not cancelled. Return: 0; -errno, and log records say why. */
int eddyi_beside_begin(struct eddyi_beside_keeper *keeper, struct eddy_scope *scope);

/* Cancel the tasks after the last request. The end of the scope waits for them. */
void eddyi_beside_end(struct eddyi_beside_keeper *keeper);

#endif
