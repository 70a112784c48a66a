/* client_source.h: what a server tells of a file: its name, and a validator of its bytes. */
#ifndef EDDYI_CLIENT_SOURCE_H
#define EDDYI_CLIENT_SOURCE_H

#include "client.h"
#include "client_partial.h"

/* Get the name that a URL has for a file, "index.html" if it has none. */
void eddyi_source_name_from_url(const char *url, char name[EDDYI_NAME_SIZE]);

/* Get the name in the content-disposition; `name` stays if there is no valid one. */
void eddyi_source_name_from_response(struct eddy_response *response, char name[EDDYI_NAME_SIZE]);

/* Get the validator of the bytes: a strong entity tag, or, if there is no entity tag, a
 * modification time that identifies them; empty if there is none. */
void eddyi_source_validator(const struct eddy_response *response,
			    char validator[EDDYI_VALIDATOR_SIZE]);

#endif
