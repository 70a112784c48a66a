#include "hold.h"

#include "limit.h"
#include "load.h"
#include "secure.h"

#include <eddy/io.h>
#include <eddy/loop.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a stalled upload says that it has. */
#define UPLOAD ((uint64_t)1 << 30)

struct hold {
	const struct options *options;
	struct plan plan;
	struct body body;
	struct secure *secure;
	struct load load;
	bool interrupted; /* never: Ctrl-C ends the process */
	char error[OPTIONS_ERROR_SIZE];
};

/* Those that the server has not ended meanwhile. */
static unsigned count_open(const struct load *load)
{
	unsigned count = 0;

	for (unsigned i = 0; i < load->count; i++) {
		struct pollfd pollfd = { load->conns[i].fd, POLLRDHUP, 0 };

		/* One that is closed is at no place in poll(2), and has no events. */
		count += pollfd.fd >= 0 && poll(&pollfd, 1, 0) == 0;
	}
	return count;
}

static int await_end_of_input(void)
{
	char bytes[256];
	ssize_t r;

	do
		r = eddy_read(STDIN_FILENO, bytes, sizeof(bytes), EDDY_OFFSET_NONE);
	while (r > 0);
	return (int)r;
}

static int hold(void *arg)
{
	struct hold *hold = arg;
	const struct options *options = hold->options;
	uint64_t size = options->size_count ? options->sizes[0] : PLAN_SIZE_NONE;
	int r = limit_raise(options->connections[0], hold->error);

	if (options->stall == STALL_PUT)
		hold->body = (struct body){ .fd = -1, .size = options->size_count ? size : UPLOAD };
	if (r == 0)
		r = secure_open(options, &hold->secure, hold->error);
	if (r == 0)
		r = plan_init(&hold->plan, options, hold->secure, &options->urls[0], size,
			      hold->body.size ? &hold->body : NULL, hold->error);
	if (r == 0)
		r = load_open(&hold->load, &hold->plan, options->connections[0], &hold->interrupted,
			      hold->error);
	if (r == 0) {
		printf("{\"connections\": %u}\n", hold->load.count);
		fflush(stdout);
		r = await_end_of_input();
		printf("{\"open\": %u}\n", count_open(&hold->load));
		load_close(&hold->load);
	}
	secure_close(hold->secure);
	return r;
}

int hold_main(int argc, char **argv)
{
	struct hold held = { .error = "" };
	struct options options;
	int r = options_parse(argc, argv, &options, held.error);

	if (r < 0) {
		fprintf(stderr, "eddy-bench: %s\n", r == -EINVAL ? held.error : strerror(-r));
		return 2;
	}
	held.options = &options;
	r = eddy_run(NULL, hold, &held);
	if (r < 0)
		fprintf(stderr, "eddy-bench: %s\n",
			*held.error                 ? held.error :
			r == -EPERM || r == -ENOSYS ? eddy_ring_advice(r) :
						      strerror(-r));
	options_deinit(&options);
	return r < 0 ? 1 : 0;
}
