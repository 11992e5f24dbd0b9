/* Progress of a run on stderr: one line that is written over on a terminal, plain lines otherwise. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/money.h"

#include <stdbool.h>

struct progress {
    bool quiet, overwrite, pending, announced;
    struct price price; /* of this machine; NaN when unknown */
};

void progress_begin(struct progress *p, bool quiet, bool verbose);
/* A run_request's `say`: context is the struct progress. */
struct run_progress;
void progress_say(void *context, const struct run_progress *now);
void progress_end(struct progress *p);

#endif
