/* stream.h: the interface between a request and its connection, independent of the protocol.
 *
 * A request reads its body and sends its response by eight verbs, and asks two questions. Framing,
 * persistence of the connection, timeouts of the transfer and encryption are left to the
 * implementation: http1/ over a socket, server/test.c in memory. */
#ifndef EDDYI_STREAM_H
#define EDDYI_STREAM_H

#include <eddy/event.h>
#include <eddy/str.h>

struct eddy_client;
struct eddy_events_channel;
struct eddy_header;
struct eddy_req;
struct eddy_transfer;
struct eddyi_end;
struct eddyi_post;
struct eddyi_tls;

/* Shared resources held by the requests of one address, on one loop. An address may hold as
 * much as it leaves free: the first gets at most half, a second one a third, and so on. */
struct eddyi_holding {
	uint64_t body_memory; /* bytes */
	unsigned files;       /* of uploads */
};

/* The connection of a request. */
struct eddyi_party {
	struct eddyi_holding *holding; /* of its address; NULL: not counted */
};

/* Services of a loop for the handlers of all its requests. */
struct eddyi_service {
	struct eddy_event stop;     /* set when the server begins to stop */
	struct eddy_client *client; /* NULL: not yet created */
	/* A pointer, so that programs without a client don't link it. */
	void (*free_client)(struct eddy_client *client);
};

static inline void eddyi_service_init(struct eddyi_service *service)
{
	*service = (struct eddyi_service){ .client = NULL };
	eddy_event_init(&service->stop);
}

/* Call it in a task. */
static inline void eddyi_service_deinit(struct eddyi_service *service)
{
	if (service->client)
		service->free_client(service->client);
}

/* `read`, `file_in`, `interim`, `send` and `file_out` may suspend. The response is one `send_head`,
 * then bytes and files of the body, of which the last call has `last` set: with no bytes if the
 * response has no body. */
struct eddyi_stream_verbs {
	/* Read some of the body. Return: bytes; 0 at its end; -errno as eddy_req_read(). */
	ssize_t (*read)(struct eddy_req *req, void *buf, size_t len);
	/* Move up to `file->len` bytes of the body into a file, if that is better than reading and
	 * writing them. `file->moved` counts them, also on failure.
	 * Return: 1; 0 at the end of the body; -EAGAIN to read them; -EFBIG if more than `max` are
	 * known to follow; -errno. */
	int (*file_in)(struct eddy_req *req, struct eddy_transfer *file, uint64_t max);
	/* Send an interim response before the head, if the client knows these. `fields` are valid;
	 * NULL: none. Return: 0, -errno. */
	int (*interim)(struct eddy_req *req, int status, const struct eddy_header *fields);
	/* Send the head; it may wait for what follows it, to be sent together. `length` is that of
	 * the body; EDDY_LENGTH_UNKNOWN: the head does not tell. */
	void (*send_head)(struct eddy_req *req, uint64_t length);
	/* Send some of the body. Return: 0, -errno. */
	int (*send)(struct eddy_req *req, struct eddy_str bytes, bool last);
	/* Send `file->head`, which belongs to the body, and a part of a file.
	 * Return: 0, -ENODATA if the file is too short, -errno. */
	int (*file_out)(struct eddy_req *req, struct eddy_transfer *file, bool last);
	/* Take the messages of a channel from `at` on, a reference that it takes, for a stream that goes
	 * on when the exchange has ended. The topic is copied. NULL: it has to be sent within the
	 * exchange. Return: 0, -EBUSY, -ENOMEM. */
	int (*listen)(struct eddy_req *req, struct eddy_events_channel *channel,
		      struct eddy_str topic, struct eddyi_post *at);
	/* End an incomplete response, so that the client does not take it for complete. */
	void (*cut)(struct eddy_req *req);

	/* Count the bytes of the body that can be read without waiting. */
	size_t (*arrived)(const struct eddy_req *req);
	/* Get the other end, determined on first use. Return: NULL if it is unknown. */
	const struct eddyi_end *(*end)(const struct eddy_req *req);
};

/* One connection's, or one of several at a time over it. */
struct eddyi_stream {
	const struct eddyi_stream_verbs *verbs;
	struct eddyi_service *service;
	struct eddyi_party *party;   /* NULL: not counted */
	const struct eddyi_tls *tls; /* NULL: not encrypted by this server */
	const uint64_t *sent;        /* bytes of responses so far, also of earlier requests */
	const char *bound;           /* the address that accepted the connection, as configured */
	int number;                  /* of the connection in timelines: its descriptor; -1: none */
};

#endif
