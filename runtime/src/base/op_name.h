/* op_name.h: what the entries of a ring are called. */
#ifndef EDDYI_OP_NAME_H
#define EDDYI_OP_NAME_H

/* The name of an IORING_OP_*, such as "recv" or "splice"; "op" for one that is not known. */
const char *eddyi_op_name(unsigned opcode);

#endif
