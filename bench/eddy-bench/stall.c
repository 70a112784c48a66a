#include "stall.h"

#include "receive.h"
#include "upload.h"

#include <errno.h>

/* Of a body that is not to be sent as a whole. */
#define BEGINNING 65536
/* A body that is not larger has been received already, as far as the server is concerned. */
#define DOWNLOAD_MIN (1 << 20)

static int stall_download(struct conn *conn)
{
	struct response response;
	uint64_t first_ns;
	int r = receive_head(conn, &response, &first_ns);

	if (r < 0)
		return r;
	if (response.status >= 300) {
		conn->wrong = "the response has no body that could stall, by its status";
		return -EBADMSG;
	}
	if (!response.chunked && response.length < DOWNLOAD_MIN) {
		conn->wrong = "a body of less than 1 MiB does not stall: request a larger one";
		return -EMSGSIZE;
	}
	return 0;
}

static int stall_upload(struct conn *conn)
{
	static const char beginning[BEGINNING];
	uint64_t size = conn->plan->body->size;

	if (size <= sizeof(beginning)) {
		conn->wrong = "a body of 64 KiB does not stall: use --sizes 1M";
		return -EMSGSIZE;
	}
	return upload_send_bytes(conn, beginning, sizeof(beginning), 0);
}

int stall_begin(struct conn *conn)
{
	int r;

	conn->busy = true;
	r = conn_begin(conn);
	if (r == 0)
		r = conn->plan->body ? stall_upload(conn) : stall_download(conn);
	conn->busy = false;
	if (r < 0 && r != -ECANCELED)
		conn_failed(conn, 1, r);
	return r;
}
