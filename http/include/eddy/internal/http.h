/* eddy/internal/http.h: checks of URLs and fields; for eddy's own layers. */
#ifndef EDDY_INTERNAL_HTTP_H
#define EDDY_INTERNAL_HTTP_H

#include <eddy/client.h>
#include <eddy/res.h>

EDDY_BEGIN_DECLS

/* Check whether a client accepts a URL; nothing is sent.
 * Return: 0; -EINVAL; -EPROTONOSUPPORT if it is not http or https, or TLS is not built in. */
EDDY_API int eddyi_client_check_url(const char *url);

/* Tell whether a request may set this field: a token, and not one that the client sets itself. */
EDDY_API bool eddyi_client_may_set(const char *name);

/* Tell whether a response may set this field: a token, and not one that the server sets itself
 * (connection, content-length, date, server, transfer-encoding). */
EDDY_API bool eddyi_res_may_set(const char *name);

EDDY_END_DECLS

#endif
