#include "pace.h"

#include "clocks.h"

#include <eddy/loop.h>

/* Get the bytes required in this time. */
static int64_t due(const struct eddyi_pace_rule *rule, uint64_t ns)
{
	return (int64_t)((double)rule->rate_min * (double)ns / (double)EDDY_SECOND);
}

enum eddyi_verdict eddyi_pace_judge(struct eddyi_flow *flow, uint64_t waited_ns, uint64_t bytes,
				    const struct eddyi_pace_rule *rule)
{
	int64_t had_to = due(rule, waited_ns - flow->seen_ns);
	int64_t came = (int64_t)(bytes - flow->seen), most = due(rule, 2 * rule->grace_ns);

	flow->seen_ns = waited_ns;
	flow->seen = bytes;
	flow->ahead += came - had_to;
	if (flow->ahead > most)
		flow->ahead = most;
	if (flow->ahead < 0 && waited_ns >= rule->grace_ns)
		return EDDYI_PACE_TOO_SLOW;
	return came < had_to ? EDDYI_PACE_SLOW : EDDYI_PACE_ENOUGH;
}

void eddyi_pace_wait(struct eddyi_pace *pace, struct eddyi_flow *flow, struct eddyi_clocks *clocks)
{
	pace->waiting = flow;
	pace->since_ns = eddy_loop_now();
	if (!pace->timeout.node.next)
		eddy_timeout_arm(&pace->timeout, &clocks->pace);
}

void eddyi_pace_go_on(struct eddyi_pace *pace)
{
	if (!pace->waiting)
		return;
	pace->waiting->waited_ns += eddy_loop_now() - pace->since_ns;
	pace->waiting = NULL;
}
