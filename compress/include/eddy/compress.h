/* eddy/compress.h: all headers of eddy's compression of responses, requests and buffers. */
#ifndef EDDY_COMPRESS_H
#define EDDY_COMPRESS_H

#include <eddy/codec.h>
#include <eddy/compression.h>
#include <eddy/decoder.h>
#include <eddy/decompression.h>
#include <eddy/encoder.h>

#endif
