#include "technique.h"

#include "core/loop.h"

#include <errno.h>
#include <string.h>

#define LIMIT(least, most, member)                                                                 \
	if (options->member && (options->member < (least) || options->member > (most)))            \
		return -EINVAL;
#define DEFAULT(member, value)                                                                     \
	if (!filled->member)                                                                       \
		filled->member = (value);

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

static void fill_in(struct eddy_transfer_options *filled)
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
	fill_in(options);
}

int eddy_transfer_configure(const struct eddy_transfer_options *options)
{
	struct eddy_transfer_options filled = { 0 };

	if (options) {
		if (eddy_transfer_options_check(options) < 0)
			return -EINVAL;
		filled = *options;
	}
	fill_in(&filled);
	eddyi_loop()->transfer_options = filled;
	return 0;
}

const struct eddy_transfer_options *eddy_transfer_options(void)
{
	return &eddyi_loop()->transfer_options;
}

bool eddy_transfer_copies_out(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique == EDDY_TECHNIQUE_AUTO && len <= options->copied_out_max;
}

bool eddy_transfer_copies_in(uint64_t len)
{
	const struct eddy_transfer_options *options = eddy_transfer_options();

	return options->technique_in == EDDY_TECHNIQUE_AUTO && len < options->spliced_in_min;
}
