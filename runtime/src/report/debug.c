#include "debug.h"

#include "log/log.h"

#include <eddy/log.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int eddyi_debug;

static void look(void)
{
	const char *text = secure_getenv("EDDY_DEBUG");

	if (!text || !*text || strcmp(text, "0") == 0)
		return;
	/* Its findings are records. */
	eddyi_log_stand_in();
	__atomic_store_n(&eddyi_debug, 1, __ATOMIC_RELAXED);
	eddy_info("eddy::debug",
		  "EDDY_DEBUG is set: the program is slower, and mistakes in it are reported");
}

void eddyi_debug_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look);
}
