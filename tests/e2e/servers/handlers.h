/* handlers.h: what more than one of the programs here answers with. */
#ifndef HANDLERS_H
#define HANDLERS_H

#include <eddy/http.h>

/* The body, sent back while it arrives. */
int pump(struct eddy_req *req, struct eddy_res *res);

/* 409, whatever was sent. */
int refuse(struct eddy_req *req, struct eddy_res *res);

#endif
