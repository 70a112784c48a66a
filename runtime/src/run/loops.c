/* A group of loops. Each has a member structure, which lives until all have ended.
 *
 * Life of a member: its thread starts a loop and sends `ready` to the head, the member of the loop
 * that created the group. When all are ready or have failed, the head sends `go`; the function
 * runs; the member sends `ended` and waits for `leave`, which the head sends when all have ended.
 * So a loop exists for as long as any function of the group runs.
 *
 * Invariants:
 * 1. Only the head's thread accesses the group's fields, except `members`, which is set before any
 *    function runs.
 * 2. Each message of a member is posted at most once, or not again before it was delivered.
 */
#include "core/loop.h"
#include "core/recorded.h"
#include "core/wait.h"
#include "report/report.h"
#include "run.h"

#include <eddy/internal/log.h>
#include <eddy/internal/outside.h>
#include <eddy/event.h>
#include <eddy/loops.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct eddyi_member {
	struct eddyi_group *group;
	struct eddy_loop *loop;
	pthread_t thread;
	struct eddyi_track *track; /* of the thread, in a recording or replay */
	unsigned index;
	int result;
	bool has_thread;
	bool has_loop;
	bool is_to_run; /* on `go`: whether to call the function */
	bool cancelled;
	struct eddy_scope *scope;    /* of the running function; NULL before and after */
	struct eddy_message to_head; /* `ready`, later `ended` */
	struct eddy_message go, cancel, leave;
	struct eddy_event may_go, may_leave;
};

struct eddyi_group {
	const struct eddy_loops_options *options;
	eddy_task_fn *fn;
	void *arg;
	unsigned count;
	cpu_set_t allowed;            /* processors of the head's thread */
	struct eddyi_member *members; /* the first is the head */

	unsigned awaited; /* members whose next message has not arrived */
	struct eddy_event all_said;
	int failure; /* the first failure */
	bool cancelling;
};

/* ---- processors ---- */

static unsigned default_count(void)
{
	cpu_set_t allowed;
	unsigned count = 1;

	if (eddyi_sched_getaffinity_now(0, sizeof(allowed), &allowed) == 0)
		count = (unsigned)CPU_COUNT(&allowed);
	return count < EDDY_LOOPS_MAX ? count : EDDY_LOOPS_MAX;
}

/* Bind this thread to one of the group's processors, assigned round robin. */
static void pin(const struct eddyi_member *member)
{
	const cpu_set_t *allowed = &member->group->allowed;
	unsigned count = (unsigned)CPU_COUNT(allowed), skip;
	cpu_set_t one;
	int cpu = 0;

	/* Empty if the machine has more processors than the set can hold. */
	if (!count)
		return;
	skip = member->index % count;
	while (!CPU_ISSET(cpu, allowed) || skip-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	/* Optional: errors only cost speed. */
	sched_setaffinity(0, sizeof(one), &one);
}

/* ---- a member, on its own loop ---- */

static void deliver_go(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct eddyi_member, go)->may_go);
}

static void deliver_leave(struct eddy_message *message)
{
	eddy_event_set(&eddy_of(message, struct eddyi_member, leave)->may_leave);
}

static void deliver_cancel(struct eddy_message *message)
{
	struct eddyi_member *member = eddy_of(message, struct eddyi_member, cancel);

	member->cancelled = true;
	if (member->scope)
		eddy_scope_cancel(member->scope);
}

static void call_fn(struct eddyi_member *member)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	member->scope = &scope;
	if (member->cancelled)
		eddy_scope_cancel(&scope);
	member->result = member->group->fn(member->group->arg);
	member->scope = NULL;
	eddy_scope_end(&scope);
}

static int member_main(void *arg)
{
	struct eddyi_member *member = arg;
	struct eddy_loop *head = member->group->members[0].loop;

	member->loop = eddy_loop_self();
	member->loop->member = member;
	member->has_loop = true;
	eddy_loop_post(head, &member->to_head);
	eddy_event_wait(&member->may_go);
	if (member->is_to_run) {
		call_fn(member);
		eddy_loop_post(head, &member->to_head);
		eddy_event_wait(&member->may_leave);
	}
	member->loop->member = NULL;
	return 0;
}

static void *thread_main(void *arg)
{
	struct eddyi_member *member = arg;
	const struct eddy_loop *head = member->group->members[0].loop;
	struct eddy_loop_options options = member->group->options->loop;
	char name[16];
	int r;

	if (EDDYI_CAN_RECORD && member->track)
		eddyi_recorded_thread_begin(member->track);
	if (!options.name)
		options.name = "worker";
	if (!options.stack_size)
		options.stack_size = head->stacks.size;
	if (!options.stall_ns)
		options.stall_ns = eddyi_stall_limit(head);
	snprintf(name, sizeof(name), "%.10s-%u", options.name, member->index);
	pthread_setname_np(pthread_self(), name);
	if (member->group->options->pin)
		pin(member);
	r = eddyi_run(&options, member_main, member);
	if (!member->has_loop) {
		member->result = r;
		eddy_loop_post(member->group->members[0].loop, &member->to_head);
	}
	if (EDDYI_HAS_TRACK)
		eddyi_recorded_thread_end();
	return NULL;
}

/* ---- the head ---- */

static void cancel_all(struct eddyi_group *group)
{
	if (group->cancelling)
		return;
	group->cancelling = true;
	deliver_cancel(&group->members[0].cancel);
	for (unsigned i = 1; i < group->count; i++)
		if (group->members[i].is_to_run)
			eddy_loop_post(group->members[i].loop, &group->members[i].cancel);
}

static void take_result(struct eddyi_group *group, int result)
{
	if (result >= 0)
		return;
	if (!group->failure)
		group->failure = result;
	cancel_all(group);
}

static void deliver_to_head(struct eddy_message *message)
{
	struct eddyi_member *member = eddy_of(message, struct eddyi_member, to_head);
	struct eddyi_group *group = member->group;

	take_result(group, member->result);
	if (--group->awaited == 0)
		eddy_event_set(&group->all_said);
}

static void wait_until_all_said(struct eddyi_group *group)
{
	struct eddy_scope shield;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (group->awaited)
		eddy_event_wait(&group->all_said);
	eddy_scope_end(&shield);
	eddy_event_clear(&group->all_said);
}

static void start_members(struct eddyi_group *group)
{
	bool has_threads;

	for (unsigned i = 1; i < group->count && !group->failure; i++) {
		struct eddyi_member *member = &group->members[i];
		int r;

		if (EDDYI_HAS_TRACK)
			member->track = eddyi_recorded_thread();
		r = pthread_create(&member->thread, NULL, thread_main, member);
		member->has_thread = r == 0;
		group->awaited += r == 0;
		if (!r)
			continue;
		group->failure = -r;
		eddyi_log_failure("eddy::loop",
				  "can't start a thread for loop %u of %u: %s; raise the limit of "
				  "processes (`ulimit -u`, TasksMax= in a unit)",
				  i + 1, group->count, strerror(r));
	}
	has_threads = !group->failure;
	wait_until_all_said(group);
	if (has_threads && group->failure)
		eddyi_log_failure("eddy::loop", "can't start %u loops: %s", group->count,
				  eddyi_run_advice(&group->options->loop, group->failure));
}

/* Tell all members to start, or after a failure to end without having started. */
static void send_off(struct eddyi_group *group)
{
	for (unsigned i = 1; i < group->count; i++) {
		struct eddyi_member *member = &group->members[i];

		if (!member->has_loop)
			continue;
		member->is_to_run = !group->failure;
		group->awaited += member->is_to_run;
		eddy_loop_post(member->loop, &member->go);
	}
}

static void end_members(struct eddyi_group *group)
{
	struct eddy_loop *head = group->members[0].loop;
	bool by_ring = head->by_ring;

	/* This thread will block: post without the ring, and submit wake-ups queued so far. */
	head->by_ring = false;
	for (unsigned i = 1; i < group->count; i++)
		if (group->members[i].is_to_run)
			eddy_loop_post(group->members[i].loop, &group->members[i].leave);
	head->by_ring = by_ring;
	eddyi_loop_enter(head);
	if (EDDYI_HAS_TRACK)
		eddyi_blocked_begin();
	for (unsigned i = 1; i < group->count; i++)
		if (group->members[i].has_thread)
			pthread_join(group->members[i].thread, NULL);
	if (EDDYI_HAS_TRACK)
		eddyi_blocked_end();
}

/* A task alongside the head's function that passes on a cancellation. */
static int watch(void *arg)
{
	struct eddyi_group *group = arg;

	if (eddy_event_wait(&group->all_said) == -ECANCELED)
		cancel_all(group);
	return 0;
}

static void run_all(struct eddyi_group *group)
{
	struct eddyi_member *head = &group->members[0];
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn(&scope, "loops", watch, group);
	if (r < 0) {
		group->failure = r;
		eddy_scope_end(&scope);
		send_off(group);
		return;
	}
	send_off(group);
	group->awaited++;
	call_fn(head);
	deliver_to_head(&head->to_head);
	wait_until_all_said(group);
	eddy_scope_end(&scope);
}

static int group_init(struct eddyi_group *group)
{
	struct eddy_loop *loop = eddy_loop_self();

	group->members = calloc(group->count, sizeof(*group->members));
	if (!group->members)
		return -ENOMEM;
	eddy_event_init(&group->all_said);
	for (unsigned i = 0; i < group->count; i++) {
		struct eddyi_member *member = &group->members[i];

		member->group = group;
		member->index = i;
		member->to_head.deliver = deliver_to_head;
		member->go.deliver = deliver_go;
		member->cancel.deliver = deliver_cancel;
		member->leave.deliver = deliver_leave;
		eddy_event_init(&member->may_go);
		eddy_event_init(&member->may_leave);
	}
	group->members[0].loop = loop;
	loop->member = &group->members[0];
	pthread_getaffinity_np(pthread_self(), sizeof(group->allowed), &group->allowed);
	if (group->options->pin)
		pin(&group->members[0]);
	return 0;
}

static void group_deinit(struct eddyi_group *group)
{
	if (group->options->pin)
		sched_setaffinity(0, sizeof(group->allowed), &group->allowed);
	group->members[0].loop->member = NULL;
	free(group->members);
}

int eddy_loops_run(const struct eddy_loops_options *options, eddy_task_fn *fn, void *arg)
{
	static const struct eddy_loops_options defaults;
	struct eddyi_group group = {
		.options = options ? options : &defaults,
		.fn = fn,
		.arg = arg,
	};
	int r;

	eddyi_task();
	eddyi_assert(!eddyi_loop()->member, "eddy_loops_run() inside eddy_loops_run()");
	group.count = group.options->count ? group.options->count : default_count();
	if (group.count > EDDY_LOOPS_MAX) {
		eddyi_log_failure("eddy::loop", "%u loops are too many: at most %d", group.count,
				  EDDY_LOOPS_MAX);
		return -EINVAL;
	}
	if (eddy_is_cancelled())
		return -ECANCELED;
	r = group_init(&group);
	if (r < 0) {
		eddyi_log_failure("eddy::loop", "can't start %u loops: out of memory", group.count);
		return r;
	}
	start_members(&group);
	if (group.failure)
		send_off(&group);
	else
		run_all(&group);
	end_members(&group);
	r = group.failure ? group.failure : group.members[0].result;
	group_deinit(&group);
	return r;
}

struct blocking {
	const struct eddy_loops_options *options;
	eddy_task_fn *fn;
	void *arg;
};

static int run_blocking(void *arg)
{
	struct blocking *blocking = arg;

	return eddy_loops_run(blocking->options, blocking->fn, blocking->arg);
}

int eddy_loops_run_blocking(const struct eddy_loops_options *options, eddy_task_fn *fn, void *arg)
{
	struct blocking blocking = { options, fn, arg };

	return eddy_run(options ? &options->loop : NULL, run_blocking, &blocking);
}

unsigned eddy_loops_count(void)
{
	const struct eddyi_member *member = eddyi_loop()->member;

	return member ? member->group->count : 1;
}

unsigned eddy_loops_index(void)
{
	const struct eddyi_member *member = eddyi_loop()->member;

	return member ? member->index : 0;
}

struct eddy_loop *eddy_loops_at(unsigned index)
{
	struct eddy_loop *loop = eddyi_loop();

	eddyi_assert(index < eddy_loops_count(), "there is no loop %u: eddy_loops_count() is %u",
		     index, eddy_loops_count());
	return loop->member ? loop->member->group->members[index].loop : loop;
}

/* ---- calling a function in a task on another loop ---- */

/* Invariants:
 * 1. The call is on the caller's stack. `owed` counts the messages still to return for it: one for
 *    the task, one for a cancellation. The caller continues when it is 0.
 * 2. `scope`, `cancelled` and `result` belong to the other loop's thread until `done` is posted;
 *    `owed` and `waiter` belong to the caller's.
 * 3. Messages of one sender arrive in order: a cancellation never arrives before its call.
 */

struct call {
	struct eddyi_waiter waiter;
	struct eddy_loop *from, *to;
	const char *name, *where;
	eddy_task_fn *fn;
	void *arg;
	unsigned owed;

	struct eddy_scope *scope; /* while the function runs */
	bool cancelled;
	int result;

	struct eddy_message start, done;
	struct eddy_message cancel, cancel_seen;
};

static void came_back(struct call *call)
{
	if (--call->owed == 0)
		eddyi_wake(&call->waiter, call->result);
}

static void deliver_done(struct eddy_message *message)
{
	came_back(eddy_of(message, struct call, done));
}

static void deliver_cancel_seen(struct eddy_message *message)
{
	came_back(eddy_of(message, struct call, cancel_seen));
}

static int call_main(void *arg)
{
	struct call *call = arg;
	struct eddy_scope scope;

	if (call->cancelled) {
		call->result = -ECANCELED;
	} else {
		eddy_scope_begin(&scope, NULL);
		call->scope = &scope;
		call->result = call->fn(call->arg);
		call->scope = NULL;
		eddy_scope_end(&scope);
	}
	eddy_loop_post(call->from, &call->done);
	return 0;
}

static void deliver_start(struct eddy_message *message)
{
	struct call *call = eddy_of(message, struct call, start);

	call->result =
		(eddy_scope_spawn)(&call->to->root, call->name, call_main, call, call->where);
	if (call->result < 0)
		eddy_loop_post(call->from, &call->done);
}

static void deliver_call_cancel(struct eddy_message *message)
{
	struct call *call = eddy_of(message, struct call, cancel);

	call->cancelled = true;
	if (call->scope)
		eddy_scope_cancel(call->scope);
	eddy_loop_post(call->from, &call->cancel_seen);
}

static void cancel_call(struct eddyi_waiter *waiter)
{
	struct call *call = eddy_of(waiter, struct call, waiter);

	call->owed++;
	eddy_loop_post(call->to, &call->cancel);
}

int(eddy_loops_call)(struct eddy_loop *loop, const char *name, eddy_task_fn *fn, void *arg,
		     const char *where)
{
	struct call call = {
		.waiter = { .cancel = cancel_call, .what = "another loop", .on = loop },
		.from = eddyi_loop(),
		.to = loop,
		.name = name,
		.where = where,
		.fn = fn,
		.arg = arg,
		.owed = 1,
		.start = { .deliver = deliver_start },
		.done = { .deliver = deliver_done },
		.cancel = { .deliver = deliver_call_cancel },
		.cancel_seen = { .deliver = deliver_cancel_seen },
	};

	if (eddy_is_cancelled())
		return -ECANCELED;
	eddy_loop_post(loop, &call.start);
	return eddyi_wait(&call.waiter);
}
