#include "base/mem.h"
#include "base/units.h"
#include "cli/diagnostics.h"
#include "reports/cache_levels.h"
#include "reports/record_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_footprint(const void *a, const void *b) {
    const struct cache_point *x = a, *y = b;
    return (x->footprint_bytes > y->footprint_bytes) - (x->footprint_bytes < y->footprint_bytes);
}

/* Of every case of the chase; a later round's beside the first's. */
static size_t read_points(const struct record *r, struct cache_point *out) {
    size_t count = 0;
    for (size_t i = 0; i < r->case_count; i++) {
        struct record_figure f;
        const struct record_case *c = &r->cases[i];
        if (c->op.kind == OP_CHASE && record_case_figure(r, c, &f))
            out[count++] = (struct cache_point){op_bytes(&c->op), 1 / f.per_s};
    }
    qsort(out, count, sizeof *out, by_footprint);
    return count;
}

static void print_kernel(const struct record *r, FILE *out) {
    const char *before = "the kernel says: ";
    for (int level = 1; level <= 4; level++) {
        char key[32], size[UNITS_TEXT_SIZE];
        snprintf(key, sizeof key, "cache_l%d_bytes", level);
        const char *bytes = record_fact(r, key);
        if (!*bytes)
            continue;
        fprintf(out, "%sL%d %s", before, level, units_format_bytes(strtod(bytes, NULL), size));
        before = ", ";
    }
    fputs(*before == ',' ? "\n" : "the kernel says nothing of its caches\n", out);
}

void cache_report_print(const struct record *r, FILE *out) {
    struct cache_point *points = xmalloc((r->case_count + 1) * sizeof *points);
    struct cache_level levels[CACHE_LEVELS_MAX];
    size_t count = cache_levels(points, read_points(r, points), levels);
    for (size_t i = 0; i < count; i++) {
        char size[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
        units_format_duration(levels[i].latency_s, time);
        if (isnan(levels[i].size_bytes))
            fprintf(out, "%s%s an access beyond\n", i ? "" : "caches: no step seen; ", time);
        else
            fprintf(out, "%sup to %s %s, ", i ? "" : "caches seen by dependent loads: ",
                    units_format_bytes(levels[i].size_bytes, size), time);
    }
    if (count > 0)
        print_kernel(r, out);
    free(points);
}
