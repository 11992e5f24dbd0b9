#include "reports/stepcost.h"

#include "base/stats.h"
#include "model/collective.h"

#include <math.h>
#include <stdbool.h>

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

/* ---- the gradients' way through the stages ---- */

static size_t data_ranks(const struct step_model *m) {
    return (size_t)(m->data_ranks ? m->data_ranks : m->devices);
}

static double per_byte_s(const struct step_model *m, const struct step_factors *f) {
    return f->comm * collective_allreduce_s_from_busbw(data_ranks(m), 1, m->busbw_bytes_per_s);
}

/* What a backward pass does not hide: cuts the bytes into buckets as they become ready and walks over them.
 * Within a stage gradients are taken to appear evenly. */
static double exposed_backward_s(const struct step_model *m, const struct step_factors *f, double backward_s,
                                 bool last) {
    struct walk w = {
        .backward_s = backward_s, .kappa_compute = m->kappa_compute, .kappa_comm = m->kappa_comm};
    double byte_s = per_byte_s(m, f), pending_bytes = 0, ready_s = 0;
    for (size_t i = 0; i < m->stage_count; i++) {
        const struct step_stage *stage = &m->stages[i];
        double stage_s = part_s(&stage->part, f), used = 0;
        double bytes = last ? stage->gradient_bytes : stage->early_bytes;
        while (pending_bytes + bytes - used >= STEP_BUCKET_BYTES) {
            used += STEP_BUCKET_BYTES - pending_bytes;
            pending_bytes = 0;
            walk_bucket(&w, fmin(ready_s + stage_s * used / bytes, backward_s), STEP_BUCKET_BYTES * byte_s);
        }
        pending_bytes += bytes - used;
        ready_s += stage_s;
    }
    if (pending_bytes > 0)
        walk_bucket(&w, backward_s, pending_bytes * byte_s);
    return walk_finish(&w) - backward_s;
}

/* The first block's weights are waited for; the rest are gathered while the blocks before them compute. */
static double exposed_forward_s(const struct step_model *m, const struct step_factors *f, double forward_s) {
    double comm_s = m->forward_bytes * per_byte_s(m, f), lead_s = comm_s / (double)m->stage_count;
    struct walk w = {.backward_s = forward_s, .kappa_compute = m->kappa_compute, .kappa_comm = m->kappa_comm};
    walk_bucket(&w, 0, comm_s - lead_s);
    return walk_finish(&w) - forward_s + lead_s;
}

static double exposed_s(const struct step_model *m, const struct step_factors *f, double backward_s) {
    double sum_s = 0;
    if (data_ranks(m) < 2)
        return 0;
    sum_s += exposed_backward_s(m, f, backward_s, true);
    if (m->stages[m->stage_count / 2].early_bytes > 0)
        sum_s += (m->micro_batches - 1) * exposed_backward_s(m, f, backward_s, false);
    if (m->forward_bytes > 0)
        sum_s += m->micro_batches * exposed_forward_s(m, f, part_s(&m->forward, f));
    return sum_s;
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
    double backward_s = part_s(&backward, f), critical_s = m->critical_comm_s * f->comm;
    out->exposed_comm_s = m->micro_batches * critical_s + exposed_s(m, f, backward_s);
    double waits = m->pipeline > 1 ? (double)(m->pipeline - 1) : 0;
    out->bubble_s = waits * (part_s(&m->forward, f) + backward_s + critical_s);
    double busy_s = out->compute_s + out->memory_s + out->optimizer_s;
    out->straggler_s = stats_expected_max_normal((size_t)m->devices) * m->jitter * busy_s;
    out->total_s = busy_s + out->exposed_comm_s + out->bubble_s + out->straggler_s;
}
