/* EDDY_RECORD and EDDY_REPLAY are refused by a build without recordings. */
#include <eddy/internal/outside.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Defined here, so that static programs link this file. */
__thread struct eddyi_track *eddyi_track;
bool eddyi_replays;

static __attribute__((constructor)) void begin(void)
{
	if (!secure_getenv("EDDY_RECORD") && !secure_getenv("EDDY_REPLAY"))
		return;
	fputs("eddy: EDDY_RECORD or EDDY_REPLAY is set, and this eddy was built without recordings; "
	      "build it with libzstd and -Drecord=enabled, or unset them\n",
	      stderr);
	_exit(EXIT_FAILURE);
}
