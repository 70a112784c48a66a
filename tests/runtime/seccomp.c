#include "base/seccomp.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(seccomp, remedy_is_that_of_the_environment)
{
	setenv("INVOCATION_ID", "1", 1);
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	cr_expect(strstr(eddyi_seccomp_remedy(), "securityContext"));
	unsetenv("KUBERNETES_SERVICE_HOST");
	if (access("/run/.containerenv", F_OK) == 0) {
		cr_expect(strstr(eddyi_seccomp_remedy(), "podman run"));
	} else if (access("/.dockerenv", F_OK) == 0) {
		cr_expect(strstr(eddyi_seccomp_remedy(), "docker run"));
	} else {
		cr_expect(strstr(eddyi_seccomp_remedy(), "SystemCallFilter="));
		unsetenv("INVOCATION_ID");
		cr_expect(strstr(eddyi_seccomp_remedy(), "the profile of whatever runs this"));
	}
}
