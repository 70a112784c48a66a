/* on_asan.h: RUNNING_ON_ASAN, and AddressSanitizer's words, also where it is not there. */
#ifndef EDDY_TESTS_ON_ASAN_H
#define EDDY_TESTS_ON_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define RUNNING_ON_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNNING_ON_ASAN 1
#endif
#endif

#ifdef RUNNING_ON_ASAN
#include <sanitizer/asan_interface.h>
#else
#define RUNNING_ON_ASAN 0
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#endif
