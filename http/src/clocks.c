#include "clocks.h"

void eddyi_clocks_init(struct eddyi_clocks *clocks, const struct eddy_server_options *options,
		       uint64_t handshake_ns)
{
	eddy_timeout_queue_init(&clocks->idle, options->idle_timeout_ns);
	eddy_timeout_queue_init(&clocks->head, options->head_timeout_ns);
	eddy_timeout_queue_init(&clocks->handshake,
				handshake_ns ? handshake_ns : options->head_timeout_ns);
	eddy_timeout_queue_init(&clocks->body, options->body_timeout_ns);
	eddy_timeout_queue_init(&clocks->write, options->write_timeout_ns / EDDYI_WRITE_LOOKS);
	clocks->date_at = -1;
}

void eddyi_clocks_deinit(struct eddyi_clocks *clocks)
{
	eddy_timeout_queue_deinit(&clocks->idle);
	eddy_timeout_queue_deinit(&clocks->head);
	eddy_timeout_queue_deinit(&clocks->handshake);
	eddy_timeout_queue_deinit(&clocks->body);
	eddy_timeout_queue_deinit(&clocks->write);
}

struct eddy_str eddyi_clocks_date(struct eddyi_clocks *clocks)
{
	time_t now = time(NULL);

	if (now != clocks->date_at) {
		clocks->date_at = now;
		eddyi_date_format(now, clocks->date);
	}
	return eddy_str(clocks->date, EDDYI_DATE_LEN);
}
