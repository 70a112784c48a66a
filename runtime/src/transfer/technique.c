/* Names of techniques, and the options of a loop. */
#include "transfer_state.h"

#include "core/loop.h"

#include <errno.h>
#include <string.h>

#define LIMIT(least, most, member)                                                                 \
	if (options->member && (options->member < (least) || options->member > (most)))            \
		return -EINVAL;

static const char *const names[EDDY_TECHNIQUES] = {
	[EDDY_TECHNIQUE_AUTO] = "auto",
	[EDDY_TECHNIQUE_SPLICE] = "splice",
	[EDDY_TECHNIQUE_RING_SPLICE] = "ring-splice",
	[EDDY_TECHNIQUE_SENDFILE] = "sendfile",
	[EDDY_TECHNIQUE_READ_SEND] = "read-send",
	[EDDY_TECHNIQUE_MMAP] = "mmap",
	[EDDY_TECHNIQUE_SEND_ZC] = "send-zc",
	[EDDY_TECHNIQUE_RECV_WRITE] = "recv-write",
};

const char *eddy_technique_name(enum eddy_technique technique)
{
	return (unsigned)technique < EDDY_TECHNIQUES ? names[technique] : "?";
}

int eddy_technique_parse(struct eddy_str name, enum eddy_technique *ret_technique)
{
	for (unsigned i = 0; i < EDDY_TECHNIQUES; i++) {
		if (eddy_str_eq_z(name, names[i])) {
			*ret_technique = (enum eddy_technique)i;
			return 0;
		}
	}
	return -EINVAL;
}

int eddy_transfer_options_check(const struct eddy_transfer_options *options)
{
	if (!eddyi_technique_out(options->technique) || !eddyi_technique_in(options->technique_in))
		return -EINVAL;
	LIMIT(1, EDDY_MIB, copied_out_max)
	LIMIT(4 * EDDY_KIB, EDDY_MIB, turn_max)
	LIMIT(4 * EDDY_KIB, EDDY_GIB, pipe_size)
	LIMIT(1, 1024, pipes_kept)
	LIMIT(1, 1024, pipes_held_max)
	return 0;
}

int eddy_transfer_configure(const struct eddy_transfer_options *options)
{
	struct eddy_transfer_options filled = { 0 };

	if (options) {
		if (eddy_transfer_options_check(options) < 0)
			return -EINVAL;
		filled = *options;
	}
	eddyi_transfer_options_fill_in(&filled);
	eddyi_loop()->transfer_options = filled;
	return 0;
}
