#include "seccomp.h"

#include <eddy/internal/outside.h>
#include <stdlib.h>
#include <unistd.h>

const char *eddyi_seccomp_remedy(void)
{
	if (eddyi_getenv_now("KUBERNETES_SERVICE_HOST"))
		return "set `securityContext: {seccompProfile: {type: Unconfined}}` for the pod, or "
		       "type: Localhost with a profile that allows io_uring_setup, io_uring_enter and "
		       "io_uring_register";
	if (eddyi_access_now("/run/.containerenv", F_OK) == 0)
		return "`podman run --security-opt seccomp=unconfined …`, or a profile that allows "
		       "io_uring_setup, io_uring_enter and io_uring_register";
	if (eddyi_access_now("/.dockerenv", F_OK) == 0)
		return "`docker run --security-opt seccomp=unconfined …`, or a profile that allows "
		       "io_uring_setup, io_uring_enter and io_uring_register";
	if (eddyi_getenv_now("INVOCATION_ID"))
		return "`SystemCallFilter=io_uring_setup io_uring_enter io_uring_register` after the "
		       "other ones in the unit";
	return "`docker run --security-opt seccomp=unconfined …`, or allow io_uring_setup, "
	       "io_uring_enter and io_uring_register in the profile of whatever runs this";
}
