#ifndef PAGE_H
#define PAGE_H

/* The files of the page, embedded by embed.py. The first is index.html, the answer to `GET /`; then come
 * the templates of the page without JavaScript, whose comments say what is written in their place; the
 * others are asked for as /page/NAME.
 *
 * Two values in index.html may be written over in a copy of it, none changing its length:
 * PAGE_UPLOAD_ON by PAGE_UPLOAD_OFF where nothing may be changed, and the twenty zeros after
 * PAGE_SIZE_MAX by the largest upload in bytes (%020llu); zero is no limit. Each occurs once. */

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
