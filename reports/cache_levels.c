#include "reports/cache_levels.h"

#include "base/mem.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static const double rise = 1.15, step = 1.5;
enum { LEAST_POINTS = 3 };

static double running_median(const struct cache_point *points, size_t count, size_t i) {
    size_t first = i == 0 ? 0 : i + 1 == count ? count - 3 : i - 1;
    const double three[] = {points[first].latency_s, points[first + 1].latency_s,
                            points[first + 2].latency_s};
    return stats_median(three, 3);
}

static double plateau_latency(const struct cache_point *points, size_t begin, size_t end) {
    double *values = xmalloc((end - begin + 1) * sizeof *values);
    for (size_t i = begin; i <= end; i++)
        values[i - begin] = points[i].latency_s;
    double median = stats_median(values, end - begin + 1);
    free(values);
    return median;
}

size_t cache_levels(const struct cache_point *points, size_t count,
                    struct cache_level out[CACHE_LEVELS_MAX]) {
    size_t levels = 0, begin = 0;
    if (count < LEAST_POINTS)
        return 0;
    double *smooth = xmalloc(count * sizeof *smooth);
    for (size_t i = 0; i < count; i++)
        smooth[i] = running_median(points, count, i);
    for (size_t i = 0; i + 1 < count && levels + 1 < CACHE_LEVELS_MAX;) {
        size_t top = i;
        while (top + 1 < count && smooth[top + 1] > rise * smooth[top])
            top++;
        if (smooth[top] > step * smooth[i]) {
            out[levels++] =
                (struct cache_level){points[i].footprint_bytes, plateau_latency(points, begin, i)};
            begin = top;
        }
        i = top > i ? top : i + 1;
    }
    out[levels++] = (struct cache_level){NAN, plateau_latency(points, begin, count - 1)};
    free(smooth);
    return levels;
}
