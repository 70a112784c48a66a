/* acceptor.h: acceptors that pause for want of descriptors. */
#ifndef EDDYI_ACCEPTOR_H
#define EDDYI_ACCEPTOR_H

struct eddy_loop;

/* A descriptor has been closed: whoever had none tries again. */
void eddyi_acceptors_resume(struct eddy_loop *loop);

#endif
