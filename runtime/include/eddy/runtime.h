/* eddy/runtime.h: all of the runtime: tasks on io_uring, and the calls that suspend them. */
#ifndef EDDY_RUNTIME_H
#define EDDY_RUNTIME_H

#include <eddy/base.h>
#include <eddy/buffers.h>
#include <eddy/chan.h>
#include <eddy/dump.h>
#include <eddy/event.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/join.h>
#include <eddy/lines.h>
#include <eddy/list.h>
#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/loops.h>
#include <eddy/main.h>
#include <eddy/member.h>
#include <eddy/mutex.h>
#include <eddy/net.h>
#include <eddy/offload.h>
#include <eddy/op.h>
#include <eddy/pairs.h>
#include <eddy/process.h>
#include <eddy/sandbox.h>
#include <eddy/scope.h>
#include <eddy/select.h>
#include <eddy/semaphore.h>
#include <eddy/serve.h>
#include <eddy/shared_event.h>
#include <eddy/signal.h>
#include <eddy/stats.h>
#include <eddy/str.h>
#include <eddy/task.h>
#include <eddy/technique.h>
#include <eddy/ticker.h>
#include <eddy/timeline.h>
#include <eddy/timer.h>
#include <eddy/to.h>
#include <eddy/transfer.h>

#endif
