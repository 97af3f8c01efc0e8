/* libflashbench-worker-cpu.so and libflashbench-worker-cuda.so: everything a worker process does
 * but the implementations. A plugin in C needs none of this: flashbench-worker-plugin calls it. A
 * plugin in another language calls it from its own process.
 */
#ifndef FLASHBENCH_WORKER_H
#define FLASHBENCH_WORKER_H

#include "flashbench/attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Serves these implementations on `descriptor`, an end of a socket pair, until the other end says
 * bye or closes; so it returns once, at the end. The process's stdout goes to stderr from then on.
 * name: what the rows' source calls the plugin, as "plugin:NAME"; as a rule its file's name.
 * Returns the exit code for main: 0, or 2 with a sentence on stderr where the table cannot be
 * served. */
FLASHBENCH_EXPORT int flashbench_serve(const FlashbenchPlugin* plugin, const char* name,
                                       int descriptor);

#ifdef __cplusplus
}
#endif

#endif
