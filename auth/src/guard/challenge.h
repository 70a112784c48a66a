/* challenge.h: www-authenticate of rejected requests (RFC 6750 section 3, RFC 9728 section 5.1). */
#ifndef EDDYI_CHALLENGE_H
#define EDDYI_CHALLENGE_H

#include <eddy/req.h>
#include <eddy/res.h>

/* Parameters in the order they are sent; NULL ones are left out. */
struct eddyi_challenge {
	const char *realm;
	const char *error;
	const char *description;
	const char *scope;
	const char *resource_metadata;
};

/* Set the field. Return: 0; -EINVAL if a value has a byte that no field may have; -ENOMEM. */
int eddyi_challenge_set(const struct eddyi_challenge *challenge, struct eddy_req *req,
			struct eddy_res *res);

#endif
