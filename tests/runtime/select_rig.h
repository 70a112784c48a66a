/* select_rig.h: a selection over one of each kind, which waits, and what tests do to it. */
#ifndef EDDY_TESTS_SELECT_RIG_H
#define EDDY_TESTS_SELECT_RIG_H

#include "cases.h"
#include "expect.h"

#include <string.h>

/* Lets the kernel finish what it can, and dispatches none of it. */
static inline void let_complete(void)
{
	eddyi_loop_enter(eddyi_loop());
	eddyi_loop_enter(eddyi_loop());
}

/* A select over two channels, an event, a socket and, far away, a time. */
struct selector {
	struct eddy_chan *in, *out;
	struct eddy_event *event;
	int fd, listener;
	struct eddy_case cases[6];
	int in_item, out_item;
	char bytes[8];
	int result, runs;
};

static inline int run_selector(void *arg)
{
	struct selector *s = arg;

	memset(s->cases, 0, sizeof(s->cases));
	if (s->in)
		s->cases[0] = eddy_case_chan_recv(s->in, &s->in_item);
	if (s->out)
		s->cases[1] = eddy_case_chan_send(s->out, &s->out_item);
	if (s->event)
		s->cases[2] = eddy_case_event(s->event);
	if (s->fd)
		s->cases[3] = case_recv(s->fd, s->bytes, sizeof(s->bytes));
	if (s->listener)
		s->cases[4] = case_accept(s->listener);
	s->cases[5] = eddy_case_after(100 * EDDY_SECOND);
	s->result = eddy_select(s->cases, 6);
	s->runs++;
	return 0;
}

struct rig {
	struct eddy_chan in, out;
	struct eddy_event event;
	struct eddy_scope scope;
	struct selector selector;
	struct sockaddr_in addr;
	int fds[2], listener;
};

/* Everything there is, and a select that waits for it. */
static inline void rig_up(struct rig *rig)
{
	eddy_chan_init(&rig->in, sizeof(int), 0);
	eddy_chan_init(&rig->out, sizeof(int), 0);
	eddy_event_init(&rig->event);
	stream_pair(rig->fds);
	rig->listener = tcp_listen(&rig->addr, 4);
	rig->selector = (struct selector){
		.in = &rig->in,
		.out = &rig->out,
		.event = &rig->event,
		.fd = rig->fds[0],
		.listener = rig->listener,
		.out_item = 33,
	};
	eddy_scope_begin(&rig->scope, NULL);
	eddy_scope_spawn(&rig->scope, "selector", run_selector, &rig->selector);
	expect_turns(2);
	EXPECT_EQ(rig->selector.runs, 0);
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops + 2);
}

static inline void expect_ready(struct rig *rig, const char *wanted)
{
	EXPECT_EQ(rig->selector.runs, 1);
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(rig->selector.cases[i].ready, wanted[i] == '1');
}

/* Nothing of the select is left anywhere. */
static inline void rig_down(struct rig *rig)
{
	EXPECT_EQ(eddyi_loop()->ops, eddyi_loop()->own_ops);
	EXPECT(eddy_list_is_empty(&rig->event.waiters));
	eddy_chan_deinit(&rig->in);
	eddy_chan_deinit(&rig->out);
	close(rig->fds[0]);
	close(rig->fds[1]);
	close(rig->listener);
}

#endif
