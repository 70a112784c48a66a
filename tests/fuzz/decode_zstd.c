#define CODING "zstd"
#include "decode.h"
