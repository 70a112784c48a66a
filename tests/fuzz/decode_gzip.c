#define CODING "gzip"
#include "decode.h"
