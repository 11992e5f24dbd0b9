#include "base/clock.h"

#include <errno.h>
#include <time.h>

enum { RESOLUTION_STEPS = 64 };
static const uint64_t ns_per_s = 1000000000u;

uint64_t clock_monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * ns_per_s + (uint64_t)t.tv_nsec;
}

uint64_t clock_resolution_ns(void) {
    uint64_t smallest = UINT64_MAX;
    for (int i = 0; i < RESOLUTION_STEPS; i++) {
        uint64_t before = clock_monotonic_ns(), after;
        do
            after = clock_monotonic_ns();
        while (after == before);
        if (after - before < smallest)
            smallest = after - before;
    }
    return smallest;
}

char *clock_wall_text(char *out) {
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return out;
}

void clock_sleep_ns(uint64_t duration_ns) {
    uint64_t end_ns = clock_monotonic_ns() + duration_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / ns_per_s), .tv_nsec = (long)(end_ns % ns_per_s)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
}
