/* The web page, which is embedded in the program. */
#include "files.h"

#include "page/page.h"

#include <stdio.h>

/* Content security policy: resources of this server only, nothing inline. */
static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
			     "img-src 'self' data:; media-src 'self'; frame-src 'self'; "
			     "connect-src 'self'; base-uri 'none'; form-action 'self'; "
			     "frame-ancestors 'none'";

void files_page_fields(struct eddy_res *res)
{
	eddy_res_set_z(res, "content-security-policy", policy);
	eddy_res_set_z(res, "cache-control", "no-cache");
	/* With "no-referrer", browsers would also withhold the origin of a form. */
	eddy_res_set_z(res, "referrer-policy", "same-origin");
}

static int send_file(struct eddy_res *res, const struct page_file *file, struct eddy_str data)
{
	files_page_fields(res);
	return eddy_res_bytes(res, file->type, data);
}

int files_index(struct eddy_req *req, struct eddy_res *res)
{
	const struct files *files = eddy_req_context(req);
	const struct page_file *page = &page_files[PAGE_INDEX];
	char *copy = eddy_req_alloc(req, page->len + 1), digits[24], *at;

	if (!copy)
		return 503;
	memcpy(copy, page->data, page->len + 1);
	at = strstr(copy, PAGE_UPLOAD_ON);
	if (at && !files_may_change(files))
		memcpy(at, PAGE_UPLOAD_OFF, sizeof(PAGE_UPLOAD_OFF) - 1);
	at = strstr(copy, PAGE_SIZE_MAX);
	if (at && files->max_size != EDDY_NEVER) {
		snprintf(digits, sizeof(digits), "%020llu", (unsigned long long)files->max_size);
		memcpy(at + sizeof(PAGE_SIZE_MAX) - 1, digits, 20);
	}
	return send_file(res, page, eddy_str(copy, page->len));
}

int files_asset(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	for (size_t i = PAGE_ASSETS; i < page_files_count; i++)
		if (eddy_str_eq_z(name, page_files[i].name))
			return send_file(res, &page_files[i],
					 eddy_str(page_files[i].data, page_files[i].len));
	return 404;
}
