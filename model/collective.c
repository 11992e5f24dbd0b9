#include "model/collective.h"

#include <math.h>

/* bus factor = scale x (n - 1) / n, or plainly scale where each rank moves the whole vector once */
static const struct {
    const char *name;
    double scale;
    int shared;
} rows[COLLECTIVE_COUNT] = {
    [COLLECTIVE_ALLREDUCE] = {"allreduce", 2, 1},   [COLLECTIVE_REDUCE_SCATTER] = {"reduce_scatter", 1, 1},
    [COLLECTIVE_ALL_GATHER] = {"all_gather", 1, 1}, [COLLECTIVE_BROADCAST] = {"broadcast", 1, 0},
    [COLLECTIVE_ALL_TO_ALL] = {"all_to_all", 1, 1}, [COLLECTIVE_SEND_RECV] = {"send_recv", 1, 0},
};

const char *collective_name(enum collective c) {
    return c < COLLECTIVE_COUNT ? rows[c].name : "?";
}

double collective_bus_factor(enum collective c, size_t n) {
    if (n < 1 || c >= COLLECTIVE_COUNT)
        return NAN;
    return rows[c].shared ? rows[c].scale * (double)(n - 1) / (double)n : rows[c].scale;
}

double collective_algbw(double size_bytes, double seconds) {
    return size_bytes / seconds;
}

double collective_busbw(enum collective c, size_t n, double size_bytes, double seconds) {
    return collective_algbw(size_bytes, seconds) * collective_bus_factor(c, n);
}

double collective_allreduce_s_from_busbw(size_t n, double size_bytes, double busbw_bytes_per_s) {
    return n == 1 ? 0 : collective_bus_factor(COLLECTIVE_ALLREDUCE, n) * size_bytes / busbw_bytes_per_s;
}

double collective_half_rate_bytes(struct alpha_beta link) {
    return link.alpha_s * link.beta_bytes_per_s;
}

/* steps messages of latency alpha, and `volume` vectors over the link; nothing at all for one rank */
static double allreduce_s(struct alpha_beta link, size_t n, double size_bytes, double steps, double volume) {
    if (n < 1)
        return NAN;
    return n == 1 ? 0 : steps * link.alpha_s + volume * size_bytes / link.beta_bytes_per_s;
}

double collective_ring_s(struct alpha_beta link, size_t n, double size_bytes) {
    return allreduce_s(link, n, size_bytes, 2 * ((double)n - 1), 2 * ((double)n - 1) / (double)n);
}

double collective_tree_s(struct alpha_beta link, size_t n, double size_bytes) {
    return allreduce_s(link, n, size_bytes, 2 * log2((double)n), 2);
}

double collective_halving_doubling_s(struct alpha_beta link, size_t n, double size_bytes) {
    return allreduce_s(link, n, size_bytes, 2 * log2((double)n), 2 * ((double)n - 1) / (double)n);
}

/* A ring's reduce-scatter and all-gather are the two halves of its all-reduce. */
double collective_wide_area_s(struct alpha_beta local, size_t g, struct alpha_beta wide, size_t r,
                              double size_bytes) {
    return collective_ring_s(local, g, size_bytes) + collective_ring_s(wide, r, size_bytes);
}
