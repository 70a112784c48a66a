/* The loop's thresholds between techniques. */
#include "transfer_state.h"

#include "core/loop.h"

#include <eddy/internal/transfer.h>

#define DEFAULT(member, value)                                                                     \
	if (!filled->member)                                                                       \
		filled->member = (value);

void eddyi_transfer_options_fill_in(struct eddy_transfer_options *filled)
{
	DEFAULT(copied_out_max, 8 * EDDY_KIB)
	DEFAULT(sendfile_out_max, 64 * EDDY_KIB)
	DEFAULT(spliced_in_min, 64 * EDDY_KIB)
	DEFAULT(corked_min, 256 * EDDY_KIB + 1)
	DEFAULT(turn_max, EDDY_MIB)
	DEFAULT(pipe_size, EDDY_MIB)
	DEFAULT(pipes_kept, 8)
	DEFAULT(pipes_held_max, 32)
	DEFAULT(slow_write_ns, 2 * EDDY_MS)
}

void eddyi_transfer_options_init(struct eddy_transfer_options *options)
{
	*options = (struct eddy_transfer_options){ 0 };
	eddyi_transfer_options_fill_in(options);
}

const struct eddy_transfer_options *eddy_transfer_options(void)
{
	return &eddyi_loop()->transfer_options;
}

bool eddyi_transfer_copies_out(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique == EDDY_TECHNIQUE_AUTO && len <= options->copied_out_max;
}

bool eddyi_transfer_copies_in(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique_in == EDDY_TECHNIQUE_AUTO && len < options->spliced_in_min;
}
