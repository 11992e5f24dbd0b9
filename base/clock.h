/* Time. Durations come from the monotonic clock; the wall clock is a label only. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

enum { CLOCK_TEXT_SIZE = 24 };

/* CLOCK_MONOTONIC in nanoseconds: the same origin for all processes of one host. */
uint64_t clock_monotonic_ns(void);
/* Smallest step that clock_monotonic_ns was seen to make, in ns (measured over 64 steps). */
uint64_t clock_resolution_ns(void);
/* Now in UTC as "2026-11-30T08:15:00Z"; writes CLOCK_TEXT_SIZE bytes into out and returns it. */
char *clock_wall_text(char *out);
void clock_sleep_ns(uint64_t duration_ns);

#endif
