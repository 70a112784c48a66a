/* basic.h: the Basic authentication scheme (RFC 7617), for the programs that use it. */
#ifndef BASIC_H
#define BASIC_H

#include <eddy/http.h>

/* Get the decoded credentials of a request, NAME:PASSWORD, in request memory.
 * Return: 0; -ENOENT if it has no Authorization field; -EINVAL if that is malformed or of another
 * scheme; -ENOMEM. */
int basic_credentials(struct eddy_req *req, struct eddy_str *ret_text);

#endif
