#include "reply_chunk.h"

#include "message/chunked.h"
#include "message/status.h"
#include "reply_head.h"
#include "req.h"

#include <errno.h>
#include <sys/uio.h>

void eddyi_reply_unsize(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	bool has_end = !eddyi_status_has_body(res->status);

	res->unsized = true;
	res->chunked = req->head.minor > 0 && !has_end;
	req->keep = (res->chunked || has_end) && eddyi_req_may_keep(req);
}

/* Room for the framing of a chunk. */
#define AROUND_CHUNK 32

static struct iovec piece(struct eddy_str bytes)
{
	return (struct iovec){ (void *)bytes.ptr, bytes.len };
}

int eddyi_reply_chunk(struct eddy_req *req, struct eddy_str bytes, bool last)
{
	bool begins = !req->res.head_sent;
	/* An empty chunk would be the last one. */
	bool has_body = eddyi_reply_has_body(req) && (bytes.len || last);
	bool copied = begins && last && bytes.len <= EDDYI_REPLY_COPY_MAX;
	struct iovec pieces[4];
	struct eddy_str head;
	char line[EDDYI_CHUNK_LINE_SIZE];
	size_t count = 0;

	if (begins) {
		head = eddyi_reply_head(req, EDDY_LENGTH_UNKNOWN,
					copied ? bytes.len + AROUND_CHUNK : 0);
		if (!head.ptr)
			return -ENOMEM;
		req->res.head_sent = true;
		pieces[count++] = piece(head);
	}
	if (has_body && req->res.chunked && bytes.len)
		pieces[count++] = piece(eddy_str(line, eddyi_chunked_line(bytes.len, line)));
	if (has_body && bytes.len)
		pieces[count++] = piece(bytes);
	if (has_body && req->res.chunked) {
		const char *tail = &"\r\n0\r\n\r\n"[bytes.len ? 0 : 2];

		pieces[count++] = piece(eddy_str(tail, last ? strlen(tail) : 2));
	}
	if (!copied)
		return count ? eddyi_wire_sendv(req->wire, pieces, count) : 0;
	for (size_t i = 1; i < count; i++) {
		memcpy((char *)head.ptr + head.len, pieces[i].iov_base, pieces[i].iov_len);
		head.len += pieces[i].iov_len;
	}
	return eddyi_wire_answer(req->wire, head, eddyi_reply_is_followed(req));
}
