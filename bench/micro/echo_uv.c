/* echo_uv: libuv's echo.
 *
 *     echo_uv guide|quick PORT
 *
 * "guide" is what libuv's guide teaches: a buffer as large as libuv suggests is allocated for each read,
 * given to uv_write() together with a request, and freed when that has been written. "quick" is what can
 * be made of it: a small buffer belongs to its connection for good, and what can be sent at once is, by
 * uv_try_write().
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define ROOM 4096

struct conn {
	uv_tcp_t tcp;
	uv_write_t write;
	char bytes[ROOM];
};

/* ---- guide ---- */

struct request {
	uv_write_t write;
	uv_buf_t buf;
};

static void allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)handle;
	*ret_buf = uv_buf_init(malloc(suggested), (unsigned)suggested);
}

static void free_request(uv_write_t *write, int status)
{
	struct request *request = (struct request *)write;

	(void)status;
	free(request->buf.base);
	free(request);
}

static void closed(uv_handle_t *handle);

static void echo(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
	struct request *request;

	if (len > 0) {
		request = malloc(sizeof(*request));
		request->buf = uv_buf_init(buf->base, (unsigned)len);
		uv_write(&request->write, stream, &request->buf, 1, free_request);
		return;
	}
	if (len < 0)
		uv_close((uv_handle_t *)stream, closed);
	free(buf->base);
}

/* ---- quick ---- */

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	struct conn *conn = (struct conn *)handle;

	(void)suggested;
	*ret_buf = uv_buf_init(conn->bytes, ROOM);
}

static void closed(uv_handle_t *handle)
{
	free(handle);
}

static void on_bytes(uv_stream_t *stream, ssize_t len, const uv_buf_t *unused);

static void on_written(uv_write_t *write, int status)
{
	if (status < 0)
		uv_close((uv_handle_t *)write->handle, closed);
	else
		uv_read_start(write->handle, give_room, on_bytes);
}

static void on_bytes(uv_stream_t *stream, ssize_t len, const uv_buf_t *unused)
{
	struct conn *conn = (struct conn *)stream;
	uv_buf_t buf;
	int sent;

	(void)unused;
	if (len < 0) {
		uv_close((uv_handle_t *)stream, closed);
		return;
	}
	if (len == 0)
		return;
	buf = uv_buf_init(conn->bytes, (unsigned)len);
	sent = uv_try_write(stream, &buf, 1);
	if (sent == len)
		return;
	if (sent > 0) {
		buf.base += sent;
		buf.len -= (size_t)sent;
	}
	/* The socket is full: nothing is read until it has taken the rest. */
	uv_read_stop(stream);
	uv_write(&conn->write, stream, &buf, 1, on_written);
}

/* ---- both ---- */

static bool is_guide;

static void on_connection(uv_stream_t *listener, int status)
{
	struct conn *conn = status < 0 ? NULL : malloc(sizeof(*conn));

	if (!conn)
		return;
	uv_tcp_init(listener->loop, &conn->tcp);
	if (uv_accept(listener, (uv_stream_t *)&conn->tcp) < 0) {
		uv_close((uv_handle_t *)&conn->tcp, closed);
		return;
	}
	uv_tcp_nodelay(&conn->tcp, 1);
	uv_read_start((uv_stream_t *)&conn->tcp, is_guide ? allocate : give_room,
		      is_guide ? echo : on_bytes);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	struct sockaddr_in address;
	uv_tcp_t listener;

	if (argc != 3) {
		fputs("usage: echo_uv guide|quick PORT\n", stderr);
		return 2;
	}
	is_guide = strcmp(argv[1], "guide") == 0;
	uv_ip4_addr("127.0.0.1", atoi(argv[2]), &address);
	uv_tcp_init(loop, &listener);
	if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) < 0 ||
	    uv_listen((uv_stream_t *)&listener, 4096, on_connection) < 0) {
		fputs("echo_uv: cannot listen\n", stderr);
		return 1;
	}
	return uv_run(loop, UV_RUN_DEFAULT);
}
