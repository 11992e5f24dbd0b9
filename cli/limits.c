#include "cli/limits.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>

/* The kernel keeps part of the memory for itself before it counts MemTotal: less than this is no limit. */
static const double limited_share = 0.99;

bool limits_describe(const json_t *host, struct text *out) {
    const json_t *limits = json_object_get(host, "limits");
    double all_cpus = json_as_number(json_object_get(json_object_get(host, "cpu"), "threads"));
    double cpus = json_as_number(json_object_get(limits, "cpus"));
    double quota = json_as_number(json_object_get(limits, "cpu_quota"));
    double usable = json_as_number(json_object_get(limits, "usable_cpus"));
    double all_bytes = json_as_number(json_object_get(host, "memory_bytes"));
    double bytes = json_as_number(json_object_get(limits, "memory_bytes"));
    char own[UNITS_TEXT_SIZE], all[UNITS_TEXT_SIZE];
    size_t before = out->length;
    if (quota < all_cpus)
        text_printf(out, "%.3g of %.0f CPUs by the cgroup's quota: %.0f thread%s", quota, all_cpus, usable,
                    usable == 1 ? "" : "s");
    else if (cpus < all_cpus)
        text_printf(out, "%.0f of %.0f CPUs by the affinity mask: %.0f thread%s", cpus, all_cpus, usable,
                    usable == 1 ? "" : "s");
    if (bytes > 0 && bytes < limited_share * all_bytes)
        text_printf(out, "%s%s of %s memory by the cgroup: working sets are sized by that",
                    out->length > before ? "; " : "", units_format_bytes(bytes, own),
                    units_format_bytes(all_bytes, all));
    return out->length > before;
}
