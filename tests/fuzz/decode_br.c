#define CODING "br"
#include "decode.h"
