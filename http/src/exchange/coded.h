/* coded.h: bodies on their way out through a coder. */
#ifndef EDDYI_CODED_H
#define EDDYI_CODED_H

#include "exchange_state.h"

/* Let everybody look at the response who asked for it. */
void eddyi_coded_look(struct eddy_req *req);

/* Send the whole of a response that is unsized and no stream. Suspends. Return: 0, -errno. */
int eddyi_coded_reply(struct eddy_req *req);

/* Send some of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_write(struct eddy_req *req, struct eddy_str bytes);

/* Send the end of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_end(struct eddy_req *req);

/* Give back what the response's body still has. */
void eddyi_coded_deinit(struct eddy_req *req);

#endif
