/* The limits that a run works under, in words: for stderr before it and for the report after it. */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

/* Into out, from the head's "host": "0.5 of 2 CPUs by the cgroup's quota: 1 thread; 2.00 GiB of 8.00 GiB
 * memory by the cgroup". False, and nothing written, when the whole machine may be used or nothing is known.
 */
bool limits_describe(const json_t *host, struct text *out);

#endif
