#include "client_source.h"

#include "text/date.h"
#include "text/disposition.h"
#include "text/syntax.h"

#include <eddy/internal/outside.h>
#include <stdio.h>

/* Keep the last segment of a name, if it is valid. */
static void set_name(char name[EDDYI_NAME_SIZE], struct eddy_str text)
{
	if (eddyi_filename_clean(text, &text) == 0)
		snprintf(name, EDDYI_NAME_SIZE, "%.*s", EDDY_FMT(text));
}

void eddyi_source_name_from_url(const char *url, char name[EDDYI_NAME_SIZE])
{
	char decoded[3 * EDDYI_NAME_SIZE];
	struct eddy_str segment = EDDY_STR(""), rest;
	struct eddyi_url parsed;
	ssize_t len;

	strcpy(name, "index.html");
	if (eddyi_url_parse(eddy_str_from(url), &parsed) < 0)
		return;
	rest = parsed.path;
	while (eddy_str_split(&rest, '/', &segment))
		;
	if (segment.len <= sizeof(decoded) && (len = eddyi_syntax_unescape(segment, decoded)) >= 0)
		set_name(name, eddy_str(decoded, (size_t)len));
}

void eddyi_source_name_from_response(struct eddy_response *response, char name[EDDYI_NAME_SIZE])
{
	struct eddy_str value = eddy_response_header(response, "content-disposition");
	struct eddyi_disposition disposition;

	if (value.ptr && eddyi_disposition_parse(&response->arena, value, &disposition) == 0 &&
	    disposition.filename.ptr)
		set_name(name, disposition.filename);
}

/* Whether no later change of the file can have the same modification time (RFC 9110 section
 * 8.8.2.2). */
static bool date_is_strong(const struct eddy_response *response, struct eddy_str modified)
{
	time_t now = eddyi_clock_seconds(), at, sent;

	return eddyi_date_parse(modified, now, &at) == 0 &&
	       eddyi_date_parse(eddy_response_header(response, "date"), now, &sent) == 0 &&
	       at < sent;
}

void eddyi_source_validator(const struct eddy_response *response,
			    char validator[EDDYI_VALIDATOR_SIZE])
{
	struct eddy_str etag = eddy_response_header(response, "etag"), value = EDDY_STR("");
	struct eddy_str modified = eddy_response_header(response, "last-modified");

	if (etag.len > 2 && etag.ptr[0] == '"' && etag.ptr[etag.len - 1] == '"')
		value = etag;
	else if (!etag.ptr && modified.ptr && date_is_strong(response, modified))
		value = modified;
	if (value.len >= EDDYI_VALIDATOR_SIZE)
		value.len = 0;
	snprintf(validator, EDDYI_VALIDATOR_SIZE, "%.*s", EDDY_FMT(value));
}
