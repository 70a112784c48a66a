/* op_name.h: names of io_uring operations. */
#ifndef EDDYI_OP_NAME_H
#define EDDYI_OP_NAME_H

/* Get the name of an IORING_OP_*, such as "recv" or "splice"; "op" if it is unknown. */
const char *eddyi_op_name(unsigned opcode);

#endif
