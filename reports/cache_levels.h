/* The steps of a latency curve: nanoseconds an access over the footprint of a pointer chase. Pure. */
#ifndef REPORTS_CACHE_LEVELS_H
#define REPORTS_CACHE_LEVELS_H

#include <stddef.h>

struct cache_point {
    double footprint_bytes, latency_s; /* of one access */
};
struct cache_level {
    double size_bytes; /* the largest footprint still served by it; NaN of the last: where the sweep ended */
    double latency_s;  /* median over its plateau */
};
enum { CACHE_LEVELS_MAX = 6 };

/* points by rising footprint, two an octave; returns how many levels there are, the last being the memory, or
 * whatever the sweep ended in. A step is a run of rises by over 15 % a point, over 50 % in all, in the
 * running median of three (so a single point that is off makes none); the level before it ends where it
 * begins. 0 for fewer than three points. */
size_t cache_levels(const struct cache_point *points, size_t count, struct cache_level out[CACHE_LEVELS_MAX]);

#endif
