/* upload.h: what whole bodies and parts of forms have in common when they become files. */
#ifndef EDDYI_UPLOAD_H
#define EDDYI_UPLOAD_H

#include "exchange/exchange_state.h"
#include "incoming.h"

#include <eddy/upload.h>

/* The options that NULL stands for. */
extern const struct eddy_save_options eddyi_upload_defaults;

/* The most bytes that the body may have. */
uint64_t eddyi_upload_max(const struct eddy_req *req, const struct eddy_save_options *options);

/* The length that the client announced; 0 when nobody knows. */
uint64_t eddyi_upload_expected(const struct eddy_req *req);

/* Whether a name creates an entry of the folder itself, and nothing hidden. Return: 0, -EINVAL. */
int eddyi_upload_check_name(struct eddy_str name, const struct eddy_save_options *options);

/* Give a file that has arrived its name, with all that `sync` asks for. Suspends.
 * Return: 0, -EEXIST, -errno. */
int eddyi_upload_publish(struct eddyi_incoming *incoming, const char *name,
			 const struct eddy_save_options *options, bool *ret_replaced);

#endif
