/* beside.h: tasks that go on while an app runs (eddy_app_add_task()). */
#ifndef EDDYI_BESIDE_H
#define EDDYI_BESIDE_H

#include "app.h"

#include <eddy/event.h>
#include <eddy/scope.h>

/* Invariant: they are in a shielded scope, which a task of its own ends: they see the last of the requests, also
 * where the program cancels its app. */
struct eddyi_beside_keeper {
	const struct eddy_app *app;
	struct eddy_event begun, served;
	int result;
};

void eddyi_beside_init(struct eddyi_beside_keeper *keeper, const struct eddy_app *app);

/* Begin them. Suspends, and is not cancelled. Return: 0; -errno, and the records say why. */
int eddyi_beside_begin(struct eddyi_beside_keeper *keeper, struct eddy_scope *scope);

/* All requests are over: they are cancelled, and the scope's end awaits them. */
void eddyi_beside_end(struct eddyi_beside_keeper *keeper);

#endif
