/* How ranking grows with the number of offers, reading excluded: seconds (best of 3), the growth from one n
 * to the next beside that of n log n, and the process's peak memory. What is done once a device model (its
 * draws) does not depend on n: it is most of the time of small ones.
 *
 * usage: perf_rank_scale [LARGEST]      (1000000 by default; wanted there: under 1 s and 600 MB)
 *
 * The offers are synthetic: every GPU of the table, 1 to 8 devices, both terms, prices spread over a factor
 * of ten around $2 a device. */
#include "base/clock.h"
#include "base/rng.h"
#include "reports/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { SKUS = 1000, REGIONS = 40, MAX_STEPS = 16, MAX_GPUS = 1000 };

struct names {
    char skus[SKUS][24], regions[REGIONS][16];
};

static void make_names(struct names *n) {
    for (size_t i = 0; i < SKUS; i++)
        snprintf(n->skus[i], sizeof n->skus[i], "gpu-%zu", i);
    for (size_t i = 0; i < REGIONS; i++)
        snprintf(n->regions[i], sizeof n->regions[i], "region-%zu", i);
}

static struct offer make_offer(const struct gpu_table *gpus, const struct names *names, struct rng *rng) {
    static struct gpu_match matches[MAX_GPUS];
    size_t which = (size_t)(rng_uniform(rng) * (double)gpus->count) % MAX_GPUS;
    const struct gpu *gpu = &gpus->gpus[which];
    matches[which] = (struct gpu_match){.candidates = {gpu}, .count = 1};
    size_t sku = (size_t)(rng_uniform(rng) * SKUS);
    struct offer o = {.provider = sku % 2 ? "acme" : "globex",
                      .sku = names->skus[sku],
                      .region = names->regions[(size_t)(rng_uniform(rng) * REGIONS)],
                      .device = gpu->name,
                      .match = &matches[which],
                      .device_count = 1 << (int)(rng_uniform(rng) * 4),
                      .term = rng_uniform(rng) < 0.7 ? TERM_ON_DEMAND : TERM_SPOT,
                      .observed = "",
                      .file = "synthetic",
                      .merged = 1,
                      .note = ""};
    double per_hour = (double)o.device_count * 2 * pow(10, rng_uniform(rng) - 0.5);
    o.price.per_hour = money_make(floor(per_hour * 1e4) / 1e4, "USD");
    return o;
}

static double peak_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* Seconds of one ranking of the first n offers. */
static double rank_once(struct rank_request *r, struct offer_set *set, size_t n, struct ranking *out) {
    struct err e = {0};
    set->count = n;
    uint64_t start_ns = clock_monotonic_ns();
    if (rank_offers(r, out, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(3);
    }
    return (double)(clock_monotonic_ns() - start_ns) * 1e-9;
}

int main(int argc, char **argv) {
    size_t largest = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    struct gpu_table gpus;
    struct workload workload;
    struct err e = {0};
    static struct names names;
    if (largest < 1000) {
        fprintf(stderr, "usage: perf_rank_scale [LARGEST], 1000 or more\n");
        return 2;
    }
    if (gpu_table_load(NULL, &gpus, &e) || workload_load(NULL, "gpt2-124m", &workload, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 3;
    }
    make_names(&names);
    struct rng rng = rng_make(7);
    struct offer_set set = {.offers = malloc(largest * sizeof(struct offer))};
    for (size_t i = 0; i < largest; i++)
        set.offers[i] = make_offer(&gpus, &names, &rng);
    struct data data = {0};
    struct rank_request request = {.workload = &workload,
                                   .offers = &set,
                                   .gpus = &gpus,
                                   .data = &data,
                                   .own_price = {money_unknown()},
                                   .checkpoint_s = 60,
                                   .restart_s = 300,
                                   .seed = 1};
    size_t n[MAX_STEPS] = {0}, steps = 0;
    double seconds[MAX_STEPS] = {0};
    for (size_t count = 1000; count <= largest && steps < MAX_STEPS; count *= 10, steps++) {
        size_t ranked = 0;
        n[steps] = count;
        seconds[steps] = INFINITY;
        for (int round = 0; round < 3; round++) {
            struct ranking ranking = {0};
            seconds[steps] = fmin(seconds[steps], rank_once(&request, &set, count, &ranking));
            ranked = ranking.count;
            ranking_free(&ranking);
        }
        printf("%8zu offers: %8.3f ms, %6.0f ns an offer; %zu ranked; peak memory %.0f MB\n", count,
               seconds[steps] * 1e3, seconds[steps] * 1e9 / (double)count, ranked, peak_bytes() / 1e6);
    }
    for (size_t i = 1; i < steps; i++)
        printf("%8zu offers: %.2f times the time of %zu; n log n would be %.1f times\n", n[i],
               seconds[i] / seconds[i - 1], n[i - 1],
               (double)n[i] * log((double)n[i]) / ((double)n[i - 1] * log((double)n[i - 1])));
    bool held = seconds[steps - 1] < 1.0 && peak_bytes() < 600e6;
    printf("under 1 s and 600 MB at %zu offers: %s\n", n[steps - 1], held ? "yes" : "no");
    free(set.offers);
    workload_free(&workload);
    gpu_table_free(&gpus);
    return held ? 0 : 1;
}
