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
	/* Check several times within a short grace period, too. */
	eddy_timeout_queue_init(&clocks->pace, options->rate_grace_ns < 8 * EDDYI_PACE_LOOK_NS ?
						       options->rate_grace_ns / 8 :
						       EDDYI_PACE_LOOK_NS);
	clocks->date_at = -1;
}

void eddyi_clocks_deinit(struct eddyi_clocks *clocks)
{
	eddy_timeout_queue_deinit(&clocks->idle);
	eddy_timeout_queue_deinit(&clocks->head);
	eddy_timeout_queue_deinit(&clocks->handshake);
	eddy_timeout_queue_deinit(&clocks->body);
	eddy_timeout_queue_deinit(&clocks->write);
	eddy_timeout_queue_deinit(&clocks->pace);
}

void eddyi_clocks_set_date(struct eddyi_clocks *clocks, time_t now)
{
	char *date = clocks->own + sizeof(EDDYI_OWN_LINES) - 1;

	clocks->date_at = now;
	memcpy(clocks->own, EDDYI_OWN_LINES, sizeof(EDDYI_OWN_LINES) - 1);
	eddyi_date_format(now, date);
	memcpy(date + EDDYI_DATE_LEN, "\r\n", 2);
}
