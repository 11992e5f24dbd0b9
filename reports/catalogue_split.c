#include "reports/catalogue_split.h"

#include "base/text.h"
#include "reports/catalogue_parts.h"
#include "reports/offer_merge.h"

#include <stdlib.h>
#include <string.h>

/* skypilot-org/skypilot sky/catalog/gcp_catalog.py, after cloud.google.com/compute/docs/gpus; a3-edgegpu:
 * Google's GKE documentation pairs it with nvidia-h100-80gb. */
static const struct host_row {
    const char *type, *gpu;
    int64_t count;
} hosts[] = {
    {"a2-highgpu-1g", "A100", 1},       {"a2-highgpu-2g", "A100", 2},
    {"a2-highgpu-4g", "A100", 4},       {"a2-highgpu-8g", "A100", 8},
    {"a2-megagpu-16g", "A100", 16},     {"a2-ultragpu-1g", "A100-80GB", 1},
    {"a2-ultragpu-2g", "A100-80GB", 2}, {"a2-ultragpu-4g", "A100-80GB", 4},
    {"a2-ultragpu-8g", "A100-80GB", 8}, {"g2-standard-4", "L4", 1},
    {"g2-standard-8", "L4", 1},         {"g2-standard-12", "L4", 1},
    {"g2-standard-16", "L4", 1},        {"g2-standard-32", "L4", 1},
    {"g2-standard-24", "L4", 2},        {"g2-standard-48", "L4", 4},
    {"g2-standard-96", "L4", 8},        {"a3-highgpu-1g", "H100", 1},
    {"a3-highgpu-2g", "H100", 2},       {"a3-highgpu-4g", "H100", 4},
    {"a3-highgpu-8g", "H100", 8},       {"a3-edgegpu-8g", "H100", 8},
    {"a3-megagpu-8g", "H100-MEGA", 8},  {"a3-ultragpu-8g", "H200", 8},
    {"a4-highgpu-8g", "B200", 8},
};

/* The largest N1 machine that so many GPUs may be attached to: the same file. One vCPU is the least. */
static const struct n1_row {
    const char *gpu;
    int64_t count;
    double vcpus, memory_gib;
} n1_limits[] = {
    {"K80", 1, 8, 52},    {"K80", 2, 16, 104},  {"K80", 4, 32, 208},  {"K80", 8, 64, 208},
    {"V100", 1, 12, 78},  {"V100", 2, 24, 156}, {"V100", 4, 48, 312}, {"V100", 8, 96, 624},
    {"T4", 1, 48, 312},   {"T4", 2, 48, 312},   {"T4", 4, 96, 624},   {"P4", 1, 24, 156},
    {"P4", 2, 48, 312},   {"P4", 4, 96, 624},   {"P100", 1, 16, 104}, {"P100", 2, 32, 208},
    {"P100", 4, 96, 624},
};

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const double gib = 1073741824.0;

/* The same machine without its local SSD has "-nolssd" behind its name. */
static const struct host_row *host_row(const char *type) {
    static const char suffix[] = "-nolssd";

    for (size_t i = 0; i < COUNT(hosts); i++) {
        size_t length = strlen(hosts[i].type);

        if (strncmp(type, hosts[i].type, length) == 0 &&
            (!type[length] || strcmp(type + length, suffix) == 0)) {
            return &hosts[i];
        }
    }
    return NULL;
}

bool split_is_host(const char *instance_type) {
    return host_row(instance_type) != NULL;
}

bool split_is_n1(const char *instance_type) {
    return strncmp(instance_type, "n1-", 3) == 0;
}

static const struct n1_row *n1_row(const struct catalogue_half *gpu) {
    for (size_t i = 0; i < COUNT(n1_limits); i++) {
        if (n1_limits[i].count == gpu->row.said.count &&
            strcmp(n1_limits[i].gpu, gpu->row.said.device) == 0) {
            return &n1_limits[i];
        }
    }
    return NULL;
}

void split_add(struct catalogue_file *f, const struct catalogue_row *row, const char *zone, double on_demand,
               double spot) {
    struct catalogue_half *h;

    f->halves = xgrow(f->halves, sizeof *f->halves, f->half_count, &f->half_capacity);
    h = &f->halves[f->half_count++];
    *h = (struct catalogue_half){.row = *row,
                                 .place = f->account.rows_read - 1,
                                 .zone = arena_strdup(f->arena, zone),
                                 .on_demand = on_demand,
                                 .spot = spot};
    h->row.region = arena_strdup(f->arena, row->region);
    h->row.said.sku = arena_strdup(f->arena, row->said.sku);
    h->row.said.device = arena_strdup(f->arena, row->said.device);
}

/* ---- order: by zone, then GPUs by name and count, then N1 hosts by size, then the rest ---- */

static int compare_places(const struct catalogue_half *a, const struct catalogue_half *b) {
    int order = strcmp(a->row.region, b->row.region);

    return order != 0 ? order : strcmp(a->zone, b->zone);
}

static int compare_gpus(const struct catalogue_half *a, const struct catalogue_half *b) {
    int order = compare_places(a, b);

    order = order != 0 ? order : strcmp(a->row.said.device, b->row.said.device);
    return order != 0 ? order
                      : (a->row.said.count > b->row.said.count) - (a->row.said.count < b->row.said.count);
}

static int compare_hosts(const struct catalogue_half *a, const struct catalogue_half *b) {
    int order = compare_places(a, b);

    order = order != 0 ? order : (a->row.vcpus > b->row.vcpus) - (a->row.vcpus < b->row.vcpus);
    return order != 0 ? order : (a->on_demand > b->on_demand) - (a->on_demand < b->on_demand);
}

static int sort_gpus(const void *left, const void *right) {
    const struct catalogue_half *a = *(struct catalogue_half *const *)left;
    const struct catalogue_half *b = *(struct catalogue_half *const *)right;
    int order = compare_gpus(a, b);

    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static int sort_hosts(const void *left, const void *right) {
    const struct catalogue_half *a = *(struct catalogue_half *const *)left;
    const struct catalogue_half *b = *(struct catalogue_half *const *)right;
    int order = compare_hosts(a, b);

    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

struct joiner {
    struct catalogue_file *f;
    struct catalogue_half **gpus, **n1;
    size_t gpu_count, n1_count;
};

typedef int (*half_order)(const struct catalogue_half *, const struct catalogue_half *);

/* The first of the sorted halves that does not come before wanted. */
static size_t lower_bound(struct catalogue_half *const *sorted, size_t count,
                          const struct catalogue_half *wanted, half_order order) {
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (order(sorted[middle], wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- joining ---- */

static void quote_sum(struct joiner *j, const struct catalogue_half *founder,
                      const struct catalogue_half *gpu, const struct catalogue_half *host, const char *note) {
    struct catalogue_row row = gpu->row;
    double on_demand = gpu->on_demand + host->on_demand, spot = gpu->spot + host->spot;
    struct quote *q;

    row.line = founder->row.line;
    row.said.sku = host->row.said.sku;
    row.vcpus = host->row.vcpus;
    row.host_memory_bytes = host->row.host_memory_bytes;
    row.note = note;
    if (money_is_price(on_demand)) {
        q = catalogue_quote(j->f, &row, TERM_ON_DEMAND, money_make(on_demand, "USD"));
        q->row = founder->place;
    }
    if (money_is_price(spot)) {
        q = catalogue_quote(j->f, &row, TERM_SPOT, money_make(spot, "USD"));
        q->row = founder->place;
        q->spot_above_on_demand = spot > on_demand;
        q->spot_at_on_demand = !q->spot_above_on_demand && offers_same_price(spot, on_demand);
    }
}

static void refuse_half(struct joiner *j, const struct catalogue_half *h, const char *reason) {
    catalogue_refuse(j->f, h->row.line, reason);
}

static bool has_a_sum(const struct catalogue_half *a, const struct catalogue_half *b) {
    return money_is_price(a->on_demand + b->on_demand) || money_is_price(a->spot + b->spot);
}

static void join_host(struct joiner *j, const struct catalogue_half *host) {
    const struct host_row *sells = host_row(host->row.said.sku);
    struct catalogue_half wanted = *host;
    size_t at;

    wanted.row.said.device = sells->gpu;
    wanted.row.said.count = sells->count;
    at = lower_bound(j->gpus, j->gpu_count, &wanted, compare_gpus);
    if (at == j->gpu_count || compare_gpus(j->gpus[at], &wanted) != 0 || !has_a_sum(j->gpus[at], host)) {
        refuse_half(j, host,
                    "InstanceType: the price of a host without its GPUs, and no row of this zone has theirs; "
                    "write the sum in the layout of docs/offers.md");
        return;
    }
    j->gpus[at]->used = true;
    quote_sum(j, host, j->gpus[at], host, "price of the host and of its GPUs");
}

static bool join_n1(struct joiner *j, const struct catalogue_half *gpu) {
    const struct n1_row *limit = n1_row(gpu);
    struct catalogue_half wanted = *gpu;

    wanted.row.vcpus = 0;
    wanted.on_demand = 0;
    for (size_t i = lower_bound(j->n1, j->n1_count, &wanted, compare_hosts);
         limit && i < j->n1_count && compare_places(j->n1[i], gpu) == 0; i++) {
        const struct catalogue_half *host = j->n1[i];

        if (host->row.vcpus <= limit->vcpus && host->row.host_memory_bytes <= limit->memory_gib * gib &&
            has_a_sum(gpu, host)) {
            quote_sum(j, gpu, gpu, host,
                      "price of the GPUs and of the smallest N1 host listed in their zone");
            return true;
        }
    }
    return false;
}

/* Of two rows for one GPU, count and zone the first is taken; an equal price is a duplicate. */
static bool is_repeated(struct joiner *j, size_t i) {
    const struct catalogue_half *before = i > 0 ? j->gpus[i - 1] : NULL, *h = j->gpus[i];

    if (!before || compare_gpus(before, h) != 0) {
        return false;
    }
    if (offers_same_price(before->on_demand, h->on_demand)) {
        j->f->rows_joined++;
    } else {
        refuse_half(j, h, "Price: another row has this GPU, count and zone at another price; drop one");
    }
    return true;
}

static void join_gpu(struct joiner *j, size_t i) {
    const struct catalogue_half *h = j->gpus[i];

    if (is_repeated(j, i)) {
        return;
    }
    if (h->used) {
        j->f->rows_joined++;
    } else if (!join_n1(j, h)) {
        refuse_half(j, h,
                    "InstanceType: empty, the price of a GPU without its host, and no row of this zone has a "
                    "host for it; add the host's price and write the sum in the layout of docs/offers.md");
    }
}

static int compare_refusals(const void *left, const void *right) {
    const struct offer_refusal *a = left, *b = right;

    return (a->line > b->line) - (a->line < b->line);
}

void split_join(struct catalogue_file *f) {
    struct joiner j = {.f = f};

    if (f->half_count == 0) {
        return;
    }
    j.gpus = xcalloc(f->half_count, sizeof(struct catalogue_half *));
    j.n1 = xcalloc(f->half_count, sizeof(struct catalogue_half *));
    for (size_t i = 0; i < f->half_count; i++) {
        if (f->halves[i].row.said.device[0]) {
            j.gpus[j.gpu_count++] = &f->halves[i];
        } else if (split_is_n1(f->halves[i].row.said.sku)) {
            j.n1[j.n1_count++] = &f->halves[i];
        }
    }
    qsort(j.gpus, j.gpu_count, sizeof(struct catalogue_half *), sort_gpus);
    qsort(j.n1, j.n1_count, sizeof(struct catalogue_half *), sort_hosts);
    f->row_note = "";
    for (size_t i = 0; i < f->half_count; i++) {
        if (split_is_host(f->halves[i].row.said.sku)) {
            join_host(&j, &f->halves[i]);
        }
    }
    for (size_t i = 0; i < j.gpu_count; i++) {
        join_gpu(&j, i);
    }
    if (f->refusal_count > 0) {
        qsort(f->refusals, f->refusal_count, sizeof *f->refusals, compare_refusals);
    }
    free(j.gpus);
    free(j.n1);
}
