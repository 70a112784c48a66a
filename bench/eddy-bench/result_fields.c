/* Which members of a result are in its file, by which names. */
#include "result_json.h"

#define NUMBER(of, member)                                                                         \
	{                                                                                          \
#member, FIELD_NUMBER, offsetof(struct of, member), NULL                           \
	}
#define TEXT(of, member)                                                                           \
	{                                                                                          \
#member, FIELD_TEXT, offsetof(struct of, member), NULL                             \
	}
#define FLAG(of, member)                                                                           \
	{                                                                                          \
#member, FIELD_FLAG, offsetof(struct of, member), NULL                             \
	}
#define QUANTILES(of, member)                                                                      \
	{                                                                                          \
#member, FIELD_NUMBERS, offsetof(struct of, member), quantile_fields               \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, FIELD_NUMBER, 0, NULL                                                        \
	}

/* clang-format off */
const struct field result_fields[] = {
	TEXT(result, title), TEXT(result, when), TEXT(result, command), END,
};

const struct field machine_fields[] = {
	TEXT(machine, cpu), NUMBER(machine, processors), NUMBER(machine, memory_bytes), TEXT(machine, kernel),
	TEXT(machine, virtual), NUMBER(machine, load_before), TEXT(machine, governor), TEXT(machine, mitigations), END,
};

const struct field settings_fields[] = {
	NUMBER(settings, rounds), NUMBER(settings, seconds), NUMBER(settings, warmup),
	NUMBER(settings, server_cpu), NUMBER(settings, client_cpu), END,
};

const struct field cell_fields[] = {
	TEXT(cell, title), TEXT(cell, group), TEXT(cell, work), NUMBER(cell, size), NUMBER(cell, connections),
	NUMBER(cell, depth), NUMBER(cell, rate), FLAG(cell, http2), FLAG(cell, cold), FLAG(cell, verified), TEXT(cell, against), END,
};

const struct field target_fields[] = {
	TEXT(target, url), TEXT(target, version), NUMBER(target, connections), END,
};

const struct field server_fields[] = {
	{ "pid", FIELD_NUMBER, offsetof(struct target, server.pid), NULL },
	{ "command", FIELD_TEXT, offsetof(struct target, server.command), NULL },
	END,
};

static const struct field quantile_fields[] = {
	NUMBER(quantiles, p50), NUMBER(quantiles, p90), NUMBER(quantiles, p99), NUMBER(quantiles, p999),
	NUMBER(quantiles, max), END,
};

const struct field sample_fields[] = {
	NUMBER(sample, seconds), NUMBER(sample, requests), NUMBER(sample, bytes), NUMBER(sample, errors),
	NUMBER(sample, cpu_seconds), NUMBER(sample, client_cpu_seconds),
	NUMBER(sample, voluntary_switches), NUMBER(sample, involuntary_switches), NUMBER(sample, system_calls),
	NUMBER(sample, retransmits), NUMBER(sample, resident_bytes), NUMBER(sample, resident_bytes_before),
	NUMBER(sample, threads), QUANTILES(sample, first_byte_us), QUANTILES(sample, total_us), END,
};

const struct field goal_fields[] = {
	TEXT(goal, target), TEXT(goal, against), TEXT(goal, figure),
	NUMBER(goal, at_least), NUMBER(goal, at_most), NUMBER(goal, aim), END,
};
/* clang-format on */
