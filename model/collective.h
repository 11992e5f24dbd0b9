/* Collective operations: what algbw and busbw mean, and alpha-beta times.
 * S = bytes of the full vector, n = ranks, t = seconds, GB = 10^9. */
#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include <stddef.h>

enum collective {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_COUNT
};

const char *collective_name(enum collective c);
/* busbw = algbw x this (nccl-tests, doc/PERFORMANCE.md): all-reduce 2(n-1)/n; reduce-scatter,
 * all-gather, all-to-all (n-1)/n; broadcast, send/recv 1. n < 1 gives NaN; n = 1 gives 0 where the
 * formula does. */
double collective_bus_factor(enum collective c, size_t n);
double collective_algbw(double size_bytes, double seconds);
double collective_busbw(enum collective c, size_t n, double size_bytes, double seconds);
/* Seconds of an all-reduce from a bus bandwidth: 2(n-1)/n x S / busbw; 0 for n = 1. */
double collective_allreduce_s_from_busbw(size_t n, double size_bytes, double busbw_bytes_per_s);

/* Hockney's alpha-beta model: a message of m bytes takes alpha + m / beta. */
struct alpha_beta {
    double alpha_s, beta_bytes_per_s;
};
double collective_half_rate_bytes(struct alpha_beta link); /* alpha x beta */
/* All-reduce of S bytes over n ranks (textbook; Thakur, Rabenseifner, Gropp 2005):
 *   ring                   2(n-1) alpha + 2(n-1)/n S/beta
 *   double tree            2 log2(n) alpha + 2 S/beta
 *   halving and doubling   2 log2(n) alpha + 2(n-1)/n S/beta */
double collective_ring_s(struct alpha_beta link, size_t n, double size_bytes);
double collective_tree_s(struct alpha_beta link, size_t n, double size_bytes);
double collective_halving_doubling_s(struct alpha_beta link, size_t n, double size_bytes);
/* Two levels: g devices a region joined by `local`, r regions joined by one `wide` link each:
 * reduce-scatter inside, ring all-reduce of S/g over the regions by each device, all-gather inside.
 * The wide link carries all g shares at once, so its time is that of S bytes. */
double collective_wide_area_s(struct alpha_beta local, size_t g, struct alpha_beta wide, size_t r,
                              double size_bytes);

#endif
