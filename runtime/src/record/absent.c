/* EDDY_RECORD and EDDY_REPLAY are refused by a build without recordings. */
#include <eddy/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((constructor)) void begin(void)
{
	if (!secure_getenv("EDDY_RECORD") && !secure_getenv("EDDY_REPLAY"))
		return;
	fputs("eddy: EDDY_RECORD or EDDY_REPLAY is set, and this eddy was built without recordings; "
	      "build it with libzstd and -Drecord=enabled, or unset them\n",
	      stderr);
	_exit(EXIT_FAILURE);
}
