/* Fuzzes the one pass over a token's JSON: it takes and refuses what jansson does, and finds the same values. */
#include "../auth/same.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	expect_same_object(eddy_str((const char *)data, size));
	return 0;
}
