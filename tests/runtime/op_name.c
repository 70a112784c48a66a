#include "base/op_name.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <liburing.h>
#include <limits.h>

/* The table has no numbers of its own. */
Test(op_name, are_listed_by_number)
{
	cr_expect(eq(str, (char *)eddyi_op_name(IORING_OP_NOP), "nop"));
	cr_expect(eq(str, (char *)eddyi_op_name(IORING_OP_ACCEPT), "accept"));
	cr_expect(eq(str, (char *)eddyi_op_name(IORING_OP_SPLICE), "splice"));
	cr_expect(eq(str, (char *)eddyi_op_name(IORING_OP_MSG_RING), "msg_ring"));
	cr_expect(eq(str, (char *)eddyi_op_name(IORING_OP_SENDMSG_ZC), "sendmsg_zc"));
	cr_expect(eq(str, (char *)eddyi_op_name(62), "pipe"));
}

Test(op_name, of_an_unknown_number)
{
	cr_expect(eq(str, (char *)eddyi_op_name(200), "op"));
	cr_expect(eq(str, (char *)eddyi_op_name(UINT_MAX), "op"));
}
