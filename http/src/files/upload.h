/* upload.h: saving bodies and parts of forms as files. */
#ifndef EDDYI_UPLOAD_H
#define EDDYI_UPLOAD_H

#include "exchange/exchange_state.h"
#include "incoming.h"

#include <eddy/part.h>
#include <eddy/upload.h>

/* The options for NULL. */
extern const struct eddy_save_options eddyi_upload_defaults;

/* Get the limit of the body in bytes. */
uint64_t eddyi_upload_max(const struct eddy_req *req, const struct eddy_save_options *options);

/* Get the length that the client announced; 0 if it is unknown. */
uint64_t eddyi_upload_expected(const struct eddy_req *req);

/* Check that a name is an entry of the folder itself, and not hidden. Return: 0, -EINVAL. */
int eddyi_upload_check_name(struct eddy_str name, const struct eddy_save_options *options);

/* Check the request's conditions on the existing file (RFC 9110 section 13). `*ret_no_replace`:
 * there must be none, which is checked again at publishing.
 * Return: 0; -EEXIST if a condition fails (412). */
int eddyi_upload_check_conditions(struct eddy_req *req, int dir, const char *name,
				  bool *ret_no_replace);

/* Judge a body that has been received, before it is published. It may change the folder and the
 * name. May suspend. Return: 0; a status or -errno, as a handler's. */
typedef int eddyi_upload_judge_fn(void *arg, const struct eddyi_incoming *incoming, int *dir,
				  const char **name);

/* Save the body as eddy_req_save_at() does. Without `judge` nothing is asked. Suspends.
 * Return: as eddy_req_save_at(); what `judge` returned. */
int eddyi_upload_save(struct eddy_req *req, int dir, struct eddy_str name,
		      const struct eddy_save_options *options, eddyi_upload_judge_fn *judge,
		      void *arg, struct eddy_saved *ret_saved);

/* Give a received file its name, with `sync` durably. Suspends. Return: 0, -EEXIST, -errno. */
int eddyi_upload_publish(struct eddyi_incoming *incoming, const char *name,
			 const struct eddy_save_options *options, bool *ret_replaced);

/* Append the rest of a part to a file. Suspends. Return: 0, -errno. */
int eddyi_part_receive(struct eddy_part *part, struct eddyi_incoming *incoming);

#endif
