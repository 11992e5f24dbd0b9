/* How fast price files are read: base/csv alone and the whole way to merged offers, on a generated file of
 * each layout, against a plain search for line ends in the same bytes. Wanted: CSV at 100 MB/s at least.
 *
 * usage: perf_csv_speed [MEGABYTES]      (64 by default; best of 3 rounds, interleaved) */
#include "base/clock.h"
#include "base/csv.h"
#include "base/rng.h"
#include "base/text.h"
#include "reports/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3, TYPES = 2000 };

struct layout_text {
    const char *name, *header;
    void (*row)(struct text *out, struct rng *rng, size_t i);
};

static const char *const names[] = {"A100-80GB", "H100", "L4", "T4", "RTX4090"};

/* As the big catalogues are: TYPES machine types, each at its own price in every region and zone. */
static void sky_row(struct text *out, struct rng *rng, size_t i) {
    size_t type = i % TYPES;
    text_printf(
        out,
        "type-%zu.xlarge,%s,%d,%zu.0,%zu.0,\"{'Gpus': [{'MemoryInfo': {'SizeInMiB': 81559}}]}\",%.4f,%.4f,"
        "region-%zu\n",
        type, names[type % 5], 1 << type % 4, 8 + type % 100, 64 + type % 1000, 1 + 30 * rng_uniform(rng),
        0.5 + 10 * rng_uniform(rng), i / TYPES);
}

static void own_row(struct text *out, struct rng *rng, size_t i) {
    size_t type = i % TYPES;
    text_printf(out, "acme,region-%zu,type-%zu,%s,%d,on-demand,%.4f USD/h,2026-11-30\n", i / TYPES, type,
                names[type % 5], 1 << type % 4, 1 + 30 * rng_uniform(rng));
}

static const struct layout_text layouts[] = {
    {"skypilot",
     "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n",
     sky_row},
    {"own", "provider,region,sku,device,device_count,term,price,observed\n", own_row},
};

static double seconds_since(uint64_t start_ns) {
    return (double)(clock_monotonic_ns() - start_ns) * 1e-9;
}

static void stop(const struct err *e) {
    fprintf(stderr, "%s\n", e->text);
    exit(3);
}

static double scan_s(const struct text *t, size_t *lines) {
    uint64_t start_ns = clock_monotonic_ns();
    const char *at = t->data, *end = t->data + t->length;
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        ++*lines;
        at++;
    }
    return seconds_since(start_ns);
}

static double csv_s(const struct text *t, size_t *rows) {
    uint64_t start_ns = clock_monotonic_ns();
    struct err e = {0};
    char **fields;
    size_t count;
    int got;
    struct csv *csv = csv_open_memory("generated", t->data, t->length, &e);
    if (!csv)
        stop(&e);
    while ((got = csv_next(csv, &fields, &count, &e)) == 1)
        ++*rows;
    if (got < 0)
        stop(&e);
    csv_close(csv);
    return seconds_since(start_ns);
}

static double offers_s(const char *path, const struct gpu_table *gpus, size_t *kept) {
    uint64_t start_ns = clock_monotonic_ns();
    struct offer_set set = {0};
    struct err e = {0};
    if (offers_read(&set, gpus, path, &e))
        stop(&e);
    *kept = set.count;
    double seconds = seconds_since(start_ns);
    offers_free(&set);
    return seconds;
}

static double measure(const struct layout_text *l, size_t bytes, const struct gpu_table *gpus) {
    char path[] = "/tmp/stepcost-csv-XXXXXX.csv";
    struct rng rng = rng_make(3);
    struct text t = {0};
    double scan = INFINITY, csv = INFINITY, offers = INFINITY;
    size_t lines = 0, rows = 0, kept = 0;
    text_add(&t, l->header);
    for (size_t i = 0; t.length < bytes; i++)
        l->row(&t, &rng, i);
    int fd = mkstemps(path, 4);
    if (fd < 0 || write(fd, t.data, t.length) != (ssize_t)t.length) {
        perror(path);
        exit(3);
    }
    for (int round = 0; round < ROUNDS; round++) {
        scan = fmin(scan, scan_s(&t, &lines));
        csv = fmin(csv, csv_s(&t, &rows));
        offers = fmin(offers, offers_s(path, gpus, &kept));
    }
    double mb = (double)t.length / 1e6;
    printf("%-8s  %.0f MB, %zu rows, %zu offers: csv %.0f MB/s (%.1f times a scan for line ends), to offers "
           "%.0f "
           "MB/s (%.1f times)\n",
           l->name, mb, rows / ROUNDS, kept, mb / csv, csv / scan, mb / offers, offers / scan);
    unlink(path);
    close(fd);
    text_free(&t);
    return mb / csv;
}

int main(int argc, char **argv) {
    size_t megabytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
    struct gpu_table gpus;
    struct err e = {0};
    bool held = true;
    if (gpu_table_load(NULL, &gpus, &e))
        stop(&e);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        held &= measure(&layouts[i], megabytes * 1000000, &gpus) >= 100;
    printf("at least 100 MB/s: %s\n", held ? "yes" : "no");
    gpu_table_free(&gpus);
    return held ? 0 : 1;
}
