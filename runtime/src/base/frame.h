/* frame.h: names for addresses of code. */
#ifndef EDDYI_FRAME_H
#define EDDYI_FRAME_H

#include <eddy/base.h>

#define EDDYI_FRAME_SIZE 256

/* Format an address: "function+0x1c (libc.so.6)", or "app+0x1a2f" if the function is unknown. */
void eddyi_frame_format(char *text, size_t size, const void *address);

/* Load what eddyi_frame_of_call() needs, which a sandbox or a broken heap may prevent later. */
void eddyi_frame_prepare(void);

/* Find the function of eddy that this thread is in, and where the program called it. Works if eddy is
 * linked as shared libraries. Takes the loader's lock, so not for signal handlers.
 * Return: false if the stack does not tell; `function` is "" if only the place is known. */
bool eddyi_frame_of_call(char function[EDDYI_FRAME_SIZE], char place[EDDYI_FRAME_SIZE]);

#endif
