#ifndef PAGE_H
#define PAGE_H

/* The files of the page, embedded by embed.py. The first is index.html, the response to `GET /`;
 * then come the templates of the page without JavaScript, whose comments are placeholders; the
 * others are served as /page/NAME.
 *
 * Two values are replaced in a copy of index.html, without changing its length. Each occurs once:
 * PAGE_UPLOAD_ON becomes PAGE_UPLOAD_OFF if changes are rejected, and the twenty zeros after
 * PAGE_SIZE_MAX become the largest upload in bytes (%020llu); zero is no limit. */

#include <stddef.h>

enum page { PAGE_INDEX, PAGE_PLAIN, PAGE_FAILED, PAGE_ASSETS };

#define PAGE_UPLOAD_ON "data-upload=\"on\""
#define PAGE_UPLOAD_OFF "data-upload=\"no\""
#define PAGE_SIZE_MAX "data-max-size=\""

#ifdef __cplusplus
extern "C" {
#endif

struct page_file {
	const char *name; /* "page.css" */
	const char *type; /* its content-type */
	const char *data; /* also NUL-terminated */
	size_t len;
};

extern const struct page_file page_files[];
extern const size_t page_files_count;

#ifdef __cplusplus
}
#endif

#endif
