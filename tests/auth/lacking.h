/* lacking.h: libraries whose allocations fail as well. */
#ifndef EDDY_TESTS_LACKING_H
#define EDDY_TESTS_LACKING_H

/* From now on what wolfCrypt and jansson allocate comes by failing.h, too. */
void lacking_in_libraries(void);

/* What may come of reading a key then. jansson 2.14 calls a string that it has no memory for an invalid token, or drops
 * bytes of it without a word; a key that lacks some is malformed, or too short. */
#define LACKING(r) ((r) == -ENOMEM || (r) == -EBADMSG || (r) == -EKEYREJECTED)

#endif
