#define CODING "deflate"
#include "decode.h"
