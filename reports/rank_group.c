#include "reports/rank_parts.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums over the op list ---- */

static struct rank_spread *spread_of(struct rank_class *c, size_t source) {
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].source == source)
            return &c->items[i];
    if (c->count == RANK_MAX_SPREADS)
        return &c->items[c->count - 1];
    c->items[c->count] = (struct rank_spread){.source = source};
    return &c->items[c->count++];
}

/* share collects seconds and sigma seconds x sigma until class_finish. */
static void class_add(struct rank_class *c, const struct rate *rate, double seconds) {
    struct rank_spread *s = spread_of(c, rate->source);
    s->share += seconds;
    s->sigma += seconds * rate->sigma;
    s->grade = rate->grade;
}

static void class_finish(struct rank_class *c) {
    double total_s = 0;
    for (size_t i = 0; i < c->count; i++)
        total_s += c->items[i].share;
    for (size_t i = 0; i < c->count; i++) {
        c->items[i].sigma /= c->items[i].share;
        c->items[i].share /= total_s;
    }
}

static void group_add_rate(struct rank_group *g, int class, const struct rate *rate, double seconds) {
    class_add(&g->classes[class], rate, seconds);
    g->unverified |= rate->unverified;
    g->interpolated |= rate->interpolated;
    if (*rate->doubt)
        g->doubt = rate->doubt;
}

static struct step_part *part_of(struct step_model *m, const struct step_op *item) {
    switch (item->phase) {
    case STEP_FORWARD:
        return &m->forward;
    case STEP_BACKWARD:
        return &m->stages[item->layer_from_end].part;
    case STEP_OPTIMIZER:
        return &m->optimizer;
    }
    return &m->optimizer;
}

static const char *rate_reason(struct rank_work *w, const struct rank_group *g, const struct op *op) {
    char name[OP_NAME_SIZE];
    const struct record_case *above = evidence_above_peak(&g->subject, op);
    if (above)
        return arena_printf(&w->arena,
                            "finding above_peak: case %s of %s is above 102 %% of the peak and not used, and "
                            "no other case gives the rate of %s",
                            above->id, g->subject.record->name, op_name(op, name));
    return arena_printf(&w->arena, "no rate for %s%s%s: no record, reference or datasheet has one",
                        op_name(op, name), g->subject.gpu ? " on " : "",
                        g->subject.gpu ? g->subject.gpu->name : "");
}

static int sum_ops(struct rank_work *w, struct rank_group *g, const struct step_ops *ops) {
    double grade_s[EVIDENCE_D + 1] = {0};
    for (size_t i = 0; i < ops->count; i++) {
        const struct step_op *item = &ops->items[i];
        struct rate rate;
        const char *unit;
        if (!evidence_rate(&w->base, &g->subject, &item->op, &rate)) {
            g->reason = rate_reason(w, g, &item->op);
            return -1;
        }
        double seconds = item->count * op_work(&item->op, &unit) / rate.per_s;
        bool compute = op_is_compute_bound(&item->op);
        struct step_part *part = part_of(&g->model, item);
        *(compute ? &part->compute_s : &part->memory_s) += seconds;
        double times = item->phase == STEP_OPTIMIZER ? 1 : g->model.micro_batches;
        group_add_rate(g, compute ? RANK_COMPUTE : RANK_MEMORY, &rate, seconds * times);
        grade_s[rate.grade] += seconds * times;
        if (grade_s[rate.grade] > grade_s[g->grade])
            g->grade = rate.grade;
    }
    return 0;
}

/* ---- the gradient's way through the stages ---- */

/* Parameters of one transformer block: attention 4 h^2 + 4 h, feed-forward 2 h f + h + f, two layer
 * norms 4 h. */
static double block_parameters(const struct workload *w) {
    double h = (double)w->hidden, f = (double)w->ffn;
    return 4 * h * h + 2 * h * f + 9 * h + f;
}

/* Blocks finish in stages 1 to `layers` (the head is stage 0); the rest, with an embedding that shares its
 * weights with the head, is final only in the last stage. */
static void spread_gradients(const struct workload *w, struct rank_group *g) {
    double total = workload_gradient_bytes(w, g->layout.dtype);
    double block = fmin(total * block_parameters(w) / w->parameters, total / (double)w->layers);
    struct step_model *m = &g->model;
    for (size_t i = 1; i <= (size_t)w->layers && i < m->stage_count; i++) {
        m->stages[i].gradient_bytes = block;
        total -= block;
    }
    m->stages[m->stage_count - 1].gradient_bytes += total;
}

static size_t count_stages(const struct step_ops *ops) {
    int64_t last = 0;
    for (size_t i = 0; i < ops->count; i++)
        if (ops->items[i].phase == STEP_BACKWARD && ops->items[i].layer_from_end > last)
            last = ops->items[i].layer_from_end;
    return (size_t)last + 1;
}

/* ---- the group ---- */

static int choose_precision(struct rank_work *w, struct rank_group *g, enum dtype *out) {
    const struct workload *load = w->request->workload;
    for (size_t i = 0; i < load->precision_count; i++)
        if (evidence_has_precision(&g->subject, load->precisions[i])) {
            *out = load->precisions[i];
            return 0;
        }
    g->reason = arena_printf(&w->arena, "%s has none of the precisions of %s natively",
                             g->subject.gpu ? g->subject.gpu->name : "the CPU", load->name);
    return -1;
}

static int choose_layout(struct rank_work *w, struct rank_group *g) {
    const struct evidence_subject *s = &g->subject;
    double has = s->gpu ? s->gpu->figures[GPU_MEMORY].value : s->record->record->device_memory_bytes;
    const char *name = s->gpu ? s->gpu->name : s->record->record->device_name;
    bool is_gpu = s->gpu || s->record->is_gpu;
    enum dtype dtype;
    if (choose_precision(w, g, &dtype))
        return -1;
    if (layout_choose(w->request->workload, g->devices, dtype, has, is_gpu, &g->layout, &g->memory))
        return 0;
    char needs_text[UNITS_TEXT_SIZE], has_text[UNITS_TEXT_SIZE];
    g->reason = arena_printf(&w->arena, "does not fit: needs %s on each %s, has %s",
                             units_format_bytes(g->memory.total, needs_text), name,
                             units_format_bytes(has, has_text));
    return -1;
}

/* Its share of the step is known only after the walk: it takes no part in the grade. */
static int add_comm(struct rank_work *w, struct rank_group *g) {
    struct rate rate;
    if (g->devices < 2)
        return 0;
    if (!evidence_busbw(&w->base, &g->subject, g->devices, &rate, &g->comm_assumed)) {
        g->reason = "several devices without an all-reduce in their record";
        return -1;
    }
    g->model.busbw_bytes_per_s = rate.per_s;
    group_add_rate(g, RANK_COMM, &rate, 1);
    return 0;
}

static void build(struct rank_work *w, struct rank_group *g) {
    const struct workload *load = w->request->workload;
    const struct uncertainty *u = &w->base.uncertainty;
    g->reason = g->doubt = "";
    if (choose_layout(w, g))
        return;
    struct step_ops ops = {0};
    workload_expand(load, &g->layout, &ops);
    size_t stages = count_stages(&ops);
    g->model = (struct step_model){.stages = arena_alloc(&w->base.arena, stages * sizeof *g->model.stages),
                                   .stage_count = stages,
                                   .micro_batches = (double)g->layout.accumulation,
                                   .devices = g->devices,
                                   .kappa_compute = u->kappa_compute,
                                   .kappa_comm = u->kappa_comm,
                                   .jitter = u->step_jitter};
    if (sum_ops(w, g, &ops) == 0 && add_comm(w, g) == 0) {
        spread_gradients(load, g);
        for (size_t i = 0; i < RANK_CLASS_COUNT; i++)
            class_finish(&g->classes[i]);
    }
    step_ops_free(&ops);
}

/* ---- finding it again ---- */

static bool group_is(const struct rank_group *g, const struct evidence_subject *s, int64_t devices) {
    return g->devices == devices && g->subject.gpu == s->gpu && g->subject.record == s->record &&
           g->subject.grade == s->grade && g->subject.own == s->own;
}

/* Where it is, or the free slot where it belongs. The sum of the parts is mixed by MurmurHash3's finalizer.
 */
static uint32_t *slot_of(const struct rank_work *w, const struct evidence_subject *s, int64_t devices) {
    uint64_t h = (uint64_t)(uintptr_t)s->gpu * 3 + (uint64_t)(uintptr_t)s->record * 5 +
                 (uint64_t)devices * 7 + (uint64_t)s->grade * 11 + s->own;
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    size_t mask = w->slot_count - 1, at = (size_t)(h ^ h >> 33) & mask;
    while (w->group_slots[at] && !group_is(&w->groups[w->group_slots[at] - 1], s, devices))
        at = (at + 1) & mask;
    return &w->group_slots[at];
}

/* At most half full. */
static void grow_slots(struct rank_work *w) {
    if (2 * (w->group_count + 1) <= w->slot_count)
        return;
    w->slot_count = w->slot_count ? 2 * w->slot_count : 64;
    free(w->group_slots);
    w->group_slots = xcalloc(w->slot_count, sizeof *w->group_slots);
    for (size_t i = 0; i < w->group_count; i++)
        *slot_of(w, &w->groups[i].subject, w->groups[i].devices) = (uint32_t)i + 1;
}

size_t rank_group_of(struct rank_work *w, const struct evidence_subject *s, int64_t devices) {
    grow_slots(w);
    uint32_t *slot = slot_of(w, s, devices);
    if (*slot)
        return *slot - 1;
    w->groups = xgrow(w->groups, sizeof *w->groups, w->group_count, &w->group_capacity);
    struct rank_group *g = &w->groups[w->group_count];
    *g = (struct rank_group){.subject = *s, .devices = devices};
    build(w, g);
    *slot = (uint32_t)++w->group_count;
    return w->group_count - 1;
}
