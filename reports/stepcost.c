#include "reports/stepcost.h"

#include "base/stats.h"
#include "model/collective.h"

#include <math.h>

/* A walk in progress: compute done, time gone by. */
struct walk {
    double backward_s, kappa_compute, kappa_comm;
    double done_s, now_s;
};

static void walk_bucket(struct walk *w, double ready_s, double comm_s) {
    if (w->done_s < ready_s) {
        w->now_s += ready_s - w->done_s;
        w->done_s = ready_s;
    }
    double both_s = fmin((w->backward_s - w->done_s) * w->kappa_compute, comm_s * w->kappa_comm);
    w->done_s += both_s / w->kappa_compute;
    w->now_s += both_s + (comm_s - both_s / w->kappa_comm);
}

/* When the transfer outlives the compute, both_s / kappa_compute may fall short of the rest by a rounding
 * error: no harm, it is added here. */
static double walk_finish(const struct walk *w) {
    return w->now_s + fmax(0, w->backward_s - w->done_s);
}

double overlap_walk_s(double backward_s, const struct overlap_bucket *buckets, size_t count,
                      double kappa_compute, double kappa_comm) {
    struct walk w = {.backward_s = backward_s, .kappa_compute = kappa_compute, .kappa_comm = kappa_comm};
    for (size_t i = 0; i < count; i++)
        walk_bucket(&w, fmin(buckets[i].ready_s, backward_s), buckets[i].comm_s);
    return walk_finish(&w);
}

static double part_s(const struct step_part *p, const struct step_factors *f) {
    return p->compute_s * f->compute + p->memory_s * f->memory;
}

/* Cuts the gradients into buckets as they become ready and walks over them. Within a stage gradients are
 * taken to appear evenly. */
static double walk_stages(const struct step_model *m, const struct step_factors *f, double backward_s) {
    struct walk w = {
        .backward_s = backward_s, .kappa_compute = m->kappa_compute, .kappa_comm = m->kappa_comm};
    double per_byte_s =
        f->comm * collective_allreduce_s_from_busbw((size_t)m->devices, 1, m->busbw_bytes_per_s);
    double pending_bytes = 0, ready_s = 0;
    for (size_t i = 0; i < m->stage_count; i++) {
        double stage_s = part_s(&m->stages[i].part, f), bytes = m->stages[i].gradient_bytes, used = 0;
        while (pending_bytes + bytes - used >= STEP_BUCKET_BYTES) {
            used += STEP_BUCKET_BYTES - pending_bytes;
            pending_bytes = 0;
            walk_bucket(&w, fmin(ready_s + stage_s * used / bytes, backward_s),
                        STEP_BUCKET_BYTES * per_byte_s);
        }
        pending_bytes += bytes - used;
        ready_s += stage_s;
    }
    if (pending_bytes > 0)
        walk_bucket(&w, backward_s, pending_bytes * per_byte_s);
    return walk_finish(&w);
}

void step_evaluate(const struct step_model *m, const struct step_factors *f, struct step_times *out) {
    struct step_part backward = {0, 0};
    for (size_t i = 0; i < m->stage_count; i++) {
        backward.compute_s += m->stages[i].part.compute_s;
        backward.memory_s += m->stages[i].part.memory_s;
    }
    out->compute_s = m->micro_batches * (m->forward.compute_s + backward.compute_s) * f->compute;
    out->memory_s = m->micro_batches * (m->forward.memory_s + backward.memory_s) * f->memory;
    out->optimizer_s = part_s(&m->optimizer, f);
    out->exposed_comm_s = 0;
    if (m->devices > 1) {
        double backward_s = part_s(&backward, f);
        out->exposed_comm_s = walk_stages(m, f, backward_s) - backward_s;
    }
    double busy_s = out->compute_s + out->memory_s + out->optimizer_s;
    out->straggler_s = stats_expected_max_normal((size_t)m->devices) * m->jitter * busy_s;
    out->total_s = busy_s + out->exposed_comm_s + out->straggler_s;
}
