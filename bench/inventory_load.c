#include "base/clock.h"
#include "base/text.h"
#include "bench/host_load.h"
#include "bench/inventory_parts.h"

#include <stdlib.h>
#include <string.h>

/* Long enough for 20 of the kernel's ticks. */
static const uint64_t look_ns = 200 * UINT64_C(1000000);

/* "some avg10=0.12 avg60=... avg300=... total=...": part of the time in which somebody waited. */
static json_t *pressure(const char *root, const char *path) {
    char line[256];
    bool got = text_read_line(root, path, line, sizeof line);
    const char *found = got ? strstr(line, "avg60=") : NULL;
    return found ? json_number(strtod(found + strlen("avg60="), NULL) / 100) : json_null();
}

/* Averages over 1, 5 and 15 minutes. */
static json_t *load_average(const char *root) {
    char line[256];
    double load[3];
    bool got = text_read_line(root, "/proc/loadavg", line, sizeof line) &&
               sscanf(line, "%lf %lf %lf", &load[0], &load[1], &load[2]) == 3;
    return got ? json_numbers(load, 3) : json_null();
}

/* Work that was here before the run began; the members of others_now are those of a done line's host. */
json_t *inventory_load(const char *root) {
    struct host_load before, after;
    struct arena names = {0};
    host_load_read(root, &before);
    clock_sleep_ns(look_ns);
    host_load_read(root, &after);
    struct record_host others = host_load_between(&before, &after, &names);
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o}", "average", load_average(root), "cpu_pressure_60s",
                            pressure(root, "/proc/pressure/cpu"), "memory_pressure_60s",
                            pressure(root, "/proc/pressure/memory"), "io_pressure_60s",
                            pressure(root, "/proc/pressure/io"), "others_now", record_host_body(&others));
    host_load_free(&before);
    host_load_free(&after);
    arena_free(&names);
    return out;
}
