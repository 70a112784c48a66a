/* redirect.h: direct calls of the program and of other libraries become recorded ones. */
#ifndef EDDYI_REDIRECT_H
#define EDDYI_REDIRECT_H

/* Redirect them, once a process, before other threads exist. */
void eddyi_redirect(void);

#endif
