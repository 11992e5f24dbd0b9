#include "reports/rank_parts.h"

#include "base/text.h"
#include "base/units.h"
#include "model/collective.h"

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

/* Rates of one subject: the ops of a step repeat layer by layer, and again in the next layout. */
struct rate_cache {
    struct cached_rate {
        struct op op;
        struct rate rate;
        bool found;
    } * items;
    size_t count, capacity, next;
};

static bool same_op(const struct op *a, const struct op *b) {
    return a->kind == b->kind && a->pass == b->pass && a->dtype == b->dtype && a->m == b->m && a->n == b->n &&
           a->k == b->k && a->batch == b->batch && a->elements == b->elements && a->trans_a == b->trans_a &&
           a->trans_b == b->trans_b && a->causal == b->causal && a->accumulate == b->accumulate;
}

static const struct cached_rate *rate_of(struct rank_work *w, const struct evidence_subject *s,
                                         struct rate_cache *cache, const struct op *op) {
    for (size_t i = 0; i < cache->count; i++) { /* from where the last one was: layers repeat in order */
        size_t at = (cache->next + i) % cache->count;
        if (same_op(&cache->items[at].op, op)) {
            cache->next = at + 1;
            return &cache->items[at];
        }
    }
    cache->items = xgrow(cache->items, sizeof *cache->items, cache->count, &cache->capacity);
    struct cached_rate *made = &cache->items[cache->count++];
    *made = (struct cached_rate){.op = *op};
    made->found = evidence_rate(&w->base, s, op, &made->rate);
    return made;
}

static int sum_ops(struct rank_work *w, struct rank_group *g, const struct step_ops *ops,
                   struct rate_cache *cache) {
    double grade_s[EVIDENCE_D + 1] = {0};
    for (size_t i = 0; i < ops->count; i++) {
        const struct step_op *item = &ops->items[i];
        const struct cached_rate *cached = rate_of(w, &g->subject, cache, &item->op);
        const struct rate rate = cached->rate;
        const char *unit;
        if (!cached->found) {
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

/* ---- collectives ---- */

/* Shares of an all-reduce that the gradients and the weights move: a reduce-scatter or an all-gather is half
 * of one (Rajbhandari et al. 2020, section 7). Stages 0 to 2 leave the weights' gather to the last
 * micro-batch. */
static const struct zero_row {
    double gradient_last, gather_last, gradient_early, gather_early, gather_forward;
} zero_rows[] = {{1, 0, 0, 0, 0}, {0.5, 0.5, 0, 0, 0}, {0.5, 0.5, 0.5, 0, 0}, {0.5, 0.5, 0.5, 0.5, 0.5}};

static void spread_gradients(const struct workload *w, struct rank_group *g) {
    struct step_model *m = &g->model;
    const struct layout *l = &g->layout;
    const struct zero_row *row = &zero_rows[l->zero];
    struct workload_parameters p;
    double width = dtype_bytes(l->dtype), bytes = width < 4 ? 2 : width, trained = 0;
    for (size_t i = 0; i < m->stage_count; i++)
        trained += workload_stage_parameters(w, l, i);
    workload_parameters(w, &p);
    /* stage 3 gathers what is frozen too */
    double frozen = l->zero == 3 ? (p.total - p.trained) / (double)(l->tensor * l->pipeline) : 0;
    for (size_t i = 0; i < m->stage_count; i++) {
        double gradient = bytes * workload_stage_parameters(w, l, i);
        double gather = gradient + bytes * frozen / (double)m->stage_count;
        m->stages[i].gradient_bytes = row->gradient_last * gradient + row->gather_last * gather;
        m->stages[i].early_bytes = row->gradient_early * gradient + row->gather_early * gather;
    }
    m->forward_bytes = row->gather_forward * bytes * (trained + frozen);
}

/* A collective that compute waits for: over how many ranks, and how many bytes of a micro-batch. */
struct critical {
    int64_t ranks;
    enum collective kind;
    double size_bytes;
};

/* Of a micro-batch, forward and backward. Tensor ranks: 4 all-reduces of s b h a block (Shoeybi et al. 2019,
 * section 3; 2 more when it is recomputed). Experts: 2 all-to-alls each way, of each token once for each
 * expert it meets (Lepikhin et al. 2020, section 3.2). Pipeline: the activations on and their gradients back,
 * both of s b h over the tensor ranks. */
static void list_critical(const struct workload *w, const struct layout *l, struct critical out[3]) {
    double width = dtype_bytes(l->dtype), layers = (double)w->layers / (double)l->pipeline;
    double passes = l->recompute ? 1.5 : 1;
    double sbh = (double)(l->micro_batch * w->sequence * w->hidden) * (width < 4 ? 2 : width);
    out[0] = (struct critical){l->tensor, COLLECTIVE_ALLREDUCE, passes * 4 * layers * sbh};
    out[1] = (struct critical){l->expert, COLLECTIVE_ALL_TO_ALL,
                               passes * 4 * layers * sbh * (double)w->experts_active};
    out[2] = (struct critical){l->pipeline > 1 ? 2 : 1, COLLECTIVE_SEND_RECV, 2 * sbh / (double)l->tensor};
}

static int add_collective(struct rank_work *w, struct rank_group *g, int64_t ranks, double bus_bytes,
                          double *busbw_bytes_per_s) {
    struct rate rate;
    bool assumed;
    if (!evidence_busbw(&w->base, &g->subject, ranks, &rate, &assumed)) {
        g->reason = "several devices without an all-reduce in their record";
        return -1;
    }
    g->comm_assumed |= assumed;
    *busbw_bytes_per_s = rate.per_s;
    group_add_rate(g, RANK_COMM, &rate, bus_bytes / rate.per_s);
    return 0;
}

/* Its share of the step is known only after the walk: it takes no part in the grade. */
static int add_comm(struct rank_work *w, struct rank_group *g) {
    struct critical critical[3];
    struct step_model *m = &g->model;
    int64_t ranks = layout_data_ranks(&g->layout);
    double busbw, bytes = 0;
    list_critical(w->request->workload, &g->layout, critical);
    for (size_t i = 0; i < sizeof critical / sizeof critical[0]; i++) {
        if (critical[i].ranks < 2)
            continue;
        double factor = collective_bus_factor(critical[i].kind, (size_t)critical[i].ranks);
        double bus_bytes = factor * critical[i].size_bytes;
        if (add_collective(w, g, critical[i].ranks, m->micro_batches * bus_bytes, &busbw))
            return -1;
        m->critical_comm_s += bus_bytes / busbw;
    }
    for (size_t i = 0; i < m->stage_count; i++)
        bytes += m->stages[i].gradient_bytes + (m->micro_batches - 1) * m->stages[i].early_bytes;
    if (ranks < 2 || !(bytes > 0))
        return 0;
    double factor = collective_bus_factor(COLLECTIVE_ALLREDUCE, (size_t)ranks);
    return add_collective(w, g, ranks, factor * bytes, &m->busbw_bytes_per_s);
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

static int model_layout(struct rank_work *w, struct rank_group *g, struct rate_cache *cache) {
    const struct workload *load = w->request->workload;
    const struct uncertainty *u = &w->base.uncertainty;
    struct step_ops ops = {0};
    size_t stages = workload_stages(load, &g->layout);
    workload_expand(load, &g->layout, &ops);
    g->model = (struct step_model){.stages = arena_alloc(&w->base.arena, stages * sizeof *g->model.stages),
                                   .stage_count = stages,
                                   .micro_batches = (double)g->layout.accumulation,
                                   .devices = g->devices,
                                   .data_ranks = layout_data_ranks(&g->layout),
                                   .pipeline = g->layout.pipeline,
                                   .kappa_compute = u->kappa_compute,
                                   .kappa_comm = u->kappa_comm,
                                   .jitter = u->step_jitter};
    spread_gradients(load, g);
    int result = sum_ops(w, g, &ops, cache) || add_comm(w, g) ? -1 : 0;
    for (size_t i = 0; i < RANK_CLASS_COUNT; i++)
        class_finish(&g->classes[i]);
    step_ops_free(&ops);
    return result;
}

/* Sequences that all devices have at once. */
static int64_t held_at_once(const struct layout *l) {
    return l->micro_batch * layout_data_ranks(l);
}

/* Plain data parallelism is what anybody runs where it fits and no other layout holds more at once. */
static bool plain_is_enough(const struct layout_fits *fits) {
    const struct layout *first = &fits->items[0].layout;
    bool enough = layout_is_plain(first);
    for (size_t i = 1; i < fits->count; i++)
        enough = enough && held_at_once(&fits->items[i].layout) <= held_at_once(first);
    return enough;
}

/* Else, of all that fit, the one whose step is shortest at the mean rates. */
static void choose_layout(struct rank_work *w, struct rank_group *g, const struct layout_fits *fits) {
    const struct step_factors means = {1, 1, 1};
    struct rate_cache cache = {0};
    struct rank_group best = *g;
    double best_s = INFINITY;
    size_t count = plain_is_enough(fits) ? 1 : fits->count;
    for (size_t i = 0; i < count; i++) {
        struct rank_group tried = *g;
        struct step_times times;
        tried.layout = fits->items[i].layout;
        tried.memory = fits->items[i].memory;
        if (model_layout(w, &tried, &cache)) {
            best = tried;
            break;
        }
        step_evaluate(&tried.model, &means, &times);
        if (times.total_s < best_s) {
            best = tried;
            best_s = times.total_s;
        }
    }
    *g = best;
    free(cache.items);
}

static void build(struct rank_work *w, struct rank_group *g) {
    const struct evidence_subject *s = &g->subject;
    const char *name = s->gpu ? s->gpu->name : s->record->record->device_name;
    struct layout_device d = {.devices = g->devices,
                              .memory_bytes = s->gpu ? s->gpu->figures[GPU_MEMORY].value
                                                     : s->record->record->device_memory_bytes,
                              .is_gpu = s->gpu || s->record->is_gpu};
    struct layout_fits fits;
    g->reason = g->doubt = "";
    if (choose_precision(w, g, &d.dtype))
        return;
    layout_enumerate(w->request->workload, &d, &fits);
    if (fits.count > 0) {
        choose_layout(w, g, &fits);
    } else {
        char needs_text[UNITS_TEXT_SIZE], has_text[UNITS_TEXT_SIZE];
        g->reason = arena_printf(&w->arena, "does not fit: needs %s on each %s, has %s",
                                 units_format_bytes(fits.smallest.memory.total, needs_text), name,
                                 units_format_bytes(d.memory_bytes, has_text));
    }
    free(fits.items);
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
