#include "wire.h"

#include <eddy/io.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LINGER_NS (5 * EDDY_SECOND)
#define LINGER_MAX (16 * EDDY_MIB)

struct eddy_str eddyi_wire_pending(const struct eddyi_wire *wire)
{
	if (!wire->inbox)
		return eddy_str("", 0);
	return eddy_str(wire->inbox + wire->inbox_at, wire->inbox_len - wire->inbox_at);
}

void eddyi_wire_consume(struct eddyi_wire *wire, size_t len)
{
	wire->inbox_at += (uint32_t)len;
	if (wire->inbox_at == wire->inbox_len)
		eddyi_wire_clear(wire);
}

void eddyi_wire_clear(struct eddyi_wire *wire)
{
	free(wire->inbox);
	wire->inbox = NULL;
}

bool eddyi_wire_keep(struct eddyi_wire *wire, struct eddy_str bytes)
{
	if (!bytes.len)
		return true;
	wire->inbox = malloc(EDDYI_INBOX_SIZE);
	if (!wire->inbox)
		return false;
	memcpy(wire->inbox, bytes.ptr, bytes.len);
	wire->inbox_at = 0;
	wire->inbox_len = (uint32_t)bytes.len;
	return true;
}

void eddyi_wire_guard(struct eddyi_wire *wire, struct eddy_timeout_queue *queue)
{
	eddy_timeout_arm(&wire->timeout, queue);
}

void eddyi_wire_unguard(struct eddyi_wire *wire)
{
	eddy_timeout_disarm(&wire->timeout);
}

ssize_t eddyi_wire_recv(struct eddyi_wire *wire, void *buf, size_t len)
{
	ssize_t r;

	eddyi_wire_guard(wire, &wire->clocks->body);
	r = eddy_recv(wire->fd, buf, len, 0);
	eddyi_wire_unguard(wire);
	return r == 0 ? -ECONNRESET : r;
}

ssize_t eddyi_wire_fill(struct eddyi_wire *wire)
{
	char *inbox = malloc(EDDYI_INBOX_SIZE);
	ssize_t r;

	if (!inbox)
		return -ENOMEM;
	r = eddyi_wire_recv(wire, inbox, EDDYI_INBOX_SIZE);
	if (r < 0) {
		free(inbox);
		return r;
	}
	wire->inbox = inbox;
	wire->inbox_at = 0;
	wire->inbox_len = (uint32_t)r;
	return r;
}

int eddyi_wire_send(struct eddyi_wire *wire, const void *buf, size_t len)
{
	const char *at = buf;
	int r = 0;

	eddyi_wire_guard(wire, &wire->clocks->write);
	while (len) {
		ssize_t sent = eddy_send(wire->fd, at, len, 0);

		if (sent < 0) {
			r = (int)sent;
			break;
		}
		at += sent;
		len -= (size_t)sent;
		eddy_timeout_touch(&wire->timeout);
	}
	eddyi_wire_unguard(wire);
	return r;
}

int eddyi_wire_sendv(struct eddyi_wire *wire, struct iovec *pieces, size_t count)
{
	int r = 0;

	eddyi_wire_guard(wire, &wire->clocks->write);
	while (count) {
		struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = count };
		ssize_t sent = eddy_sendmsg(wire->fd, &msg, 0);

		if (sent < 0) {
			r = (int)sent;
			break;
		}
		eddy_timeout_touch(&wire->timeout);
		while (count && (size_t)sent >= pieces->iov_len) {
			sent -= (ssize_t)pieces->iov_len;
			pieces++;
			count--;
		}
		if (count) {
			pieces->iov_base = (char *)pieces->iov_base + sent;
			pieces->iov_len -= (size_t)sent;
		}
	}
	eddyi_wire_unguard(wire);
	return r;
}

void eddyi_wire_linger(struct eddyi_wire *wire)
{
	struct eddy_scope scope;
	uint64_t thrown_away = 0;
	ssize_t r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = LINGER_NS });
	if (eddy_shutdown(wire->fd, SHUT_WR) == 0) {
		do {
			/* TCP takes MSG_TRUNC for "count, don't copy". */
			r = eddy_recv(wire->fd, NULL, EDDY_MIB, MSG_TRUNC);
			if (r > 0)
				thrown_away += (uint64_t)r;
		} while (r > 0 && thrown_away < LINGER_MAX);
	}
	eddy_scope_end(&scope);
}
