#include "reports/evidence.h"

#include "base/stats.h"
#include "base/text.h"
#include "reports/record_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 90 % of a normal lies within this many sigma. */
static const double sigmas_90 = 1.6448536269514722;

int evidence_open(struct evidence_base *b, const struct rank_request *r, struct err *e) {
    memset(b, 0, sizeof *b);
    b->gpus = r->gpus;
    if (references_load(r->data, &b->references, e) || uncertainty_load(r->data, &b->uncertainty, e)) {
        evidence_close(b);
        return -1;
    }
    b->records = arena_alloc(&b->arena, (r->record_count + 1) * sizeof *b->records);
    b->record_count = r->record_count;
    for (size_t i = 0; i < r->record_count; i++)
        record_view_make(&b->arena, b->gpus, &r->records[i], r->allow_simulated, &b->records[i]);
    return 0;
}

void evidence_close(struct evidence_base *b) {
    if (!b)
        return;
    references_free(&b->references);
    free(b->sources);
    arena_free(&b->arena);
    memset(b, 0, sizeof *b);
}

/* ---- which record ---- */

bool evidence_made_on(const struct record *r, const struct offer *o) {
    return *r->offer_provider && text_equal_nocase(r->offer_provider, o->provider) &&
           text_equal_nocase(r->offer_sku, o->sku) &&
           (!*r->offer_region || text_equal_nocase(r->offer_region, o->region));
}

/* A simulated device never stands for a real one: only for itself. */
static bool made_on_model(const struct evidence_record *r, const struct offer *o) {
    return r->gpu && o->match->count == 1 && r->gpu == o->match->candidates[0];
}

bool evidence_contradicts(const struct evidence_record *r, const struct offer *o) {
    for (size_t i = 0; i < o->match->count; i++)
        if (o->match->candidates[i] == r->gpu)
            return false;
    return o->match->count > 0 && (r->gpu || !r->is_gpu);
}

static bool is_later(const struct evidence_record *a, const struct evidence_record *b) {
    return !b || strcmp(a->record->created, b->record->created) > 0;
}

struct evidence_subject evidence_of_offer(const struct evidence_base *b, const struct offer *offer) {
    const struct evidence_record *same_offer = NULL, *same_model = NULL;
    for (size_t i = 0; i < b->record_count; i++) {
        const struct evidence_record *r = &b->records[i];
        if (*r->refused)
            continue;
        if (evidence_made_on(r->record, offer) && !evidence_contradicts(r, offer) && is_later(r, same_offer))
            same_offer = r;
        if (made_on_model(r, offer) && is_later(r, same_model))
            same_model = r;
    }
    struct evidence_subject s = {.record = same_offer ? same_offer : same_model,
                                 .grade = same_offer ? EVIDENCE_A : EVIDENCE_B};
    s.gpu = same_offer ? same_offer->gpu : offer->match->count == 1 ? offer->match->candidates[0] : NULL;
    return s;
}

/* ---- sources ---- */

static size_t source_of(struct evidence_base *b, const char *id, const char *text) {
    for (size_t i = 0; i < b->source_count; i++)
        if (strcmp(b->sources[i].id, id) == 0)
            return i;
    b->sources = xgrow(b->sources, sizeof *b->sources, b->source_count, &b->source_capacity);
    b->sources[b->source_count] = (struct evidence_source){.id = id, .text = text};
    return b->source_count++;
}

/* ---- grades A and B: a record ---- */

static double record_sigma(const struct evidence_base *b, const struct evidence_subject *s, double within) {
    const struct uncertainty *u = &b->uncertainty;
    double node = s->own ? 0 : u->between_node;
    within = isnan(within) ? u->few_samples : within;
    double provider = s->grade == EVIDENCE_B ? u->between_provider : 0;
    return sqrt(within * within + u->between_run * u->between_run + node * node + provider * provider);
}

static bool rate_from_record(struct evidence_base *b, const struct evidence_subject *s, const struct op *op,
                             struct rate *out) {
    struct record_figure f;
    if (!s->record || !record_view_rate(s->record, op, b->uncertainty.interpolated, &f))
        return false;
    const char *what = op_is_compute_bound(op) ? "GEMM" : "memory bandwidth";
    *out = (struct rate){.per_s = f.per_s,
                         .sigma = record_sigma(b, s, f.sigma),
                         .grade = s->grade,
                         .interpolated = f.interpolated,
                         .doubt = f.doubt};
    out->source = source_of(b, arena_printf(&b->arena, "record/%s/%s", s->record->record->path, what),
                            arena_printf(&b->arena, "%s measured in %s%s%s", what, s->record->name,
                                         *f.doubt ? ", " : "", f.doubt));
    return true;
}

/* ---- grades C and D: tables ---- */

static enum quantity quantity_for(const struct op *op) {
    return op_is_compute_bound(op) ? QUANTITY_GEMM : QUANTITY_MEMBW;
}

static const char *quantity_text(enum quantity q) {
    return q == QUANTITY_GEMM ? "GEMM" : "memory bandwidth";
}

static bool rate_from_reference(struct evidence_base *b, const struct gpu *gpu, const struct op *op,
                                struct rate *out) {
    enum quantity q = quantity_for(op);
    const struct reference *row = references_find(&b->references, gpu->name, q, op->dtype, 1);
    if (!row)
        return false;
    *out = (struct rate){.per_s = row->value,
                         .sigma = b->uncertainty.reference_c,
                         .grade = EVIDENCE_C,
                         .doubt = "",
                         .unverified = !row->verified};
    const char *dtype = q == QUANTITY_GEMM ? dtype_name(op->dtype) : "";
    out->source =
        source_of(b, arena_printf(&b->arena, "reference/%s/%s/%s", gpu->name, quantity_text(q), dtype),
                  arena_printf(&b->arena, "%s reference of %s%s", quantity_text(q), gpu->name,
                               row->verified ? "" : ", unverified"));
    return true;
}

/* The figure behind gpu_peak: types of one width share one. */
static const enum gpu_field peak_fields[DTYPE_COUNT] = {
    [DTYPE_FP64] = GPU_PEAK_FP64,     [DTYPE_FP32] = GPU_PEAK_FP32,     [DTYPE_TF32] = GPU_PEAK_TF32,
    [DTYPE_BF16] = GPU_PEAK_TENSOR16, [DTYPE_FP16] = GPU_PEAK_TENSOR16, [DTYPE_FP8_E4M3] = GPU_PEAK_FP8,
    [DTYPE_FP8_E5M2] = GPU_PEAK_FP8,  [DTYPE_FP4] = GPU_PEAK_FP4,       [DTYPE_INT8] = GPU_PEAK_INT8,
};

static struct gpu_figure datasheet_figure(const struct gpu *gpu, enum quantity q, enum dtype t) {
    if (q != QUANTITY_GEMM)
        return gpu->figures[GPU_BANDWIDTH];
    struct gpu_figure f = gpu->figures[peak_fields[t]];
    f.value = gpu_peak(gpu, t);
    return f;
}

/* Of this op's class: all memory, or the types of one peak figure. */
static bool same_class(const struct reference *row, const struct op *op) {
    if (row->quantity != quantity_for(op))
        return false;
    return row->quantity != QUANTITY_GEMM || peak_fields[row->dtype] == peak_fields[op->dtype];
}

/* One published figure may stand for several GPUs (A100 of 40 and of 80 GB): it counts once. */
static bool is_repeat(const struct reference *row, const struct reference *const *taken, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (taken[i]->value == row->value && strcmp(taken[i]->source, row->source) == 0)
            return true;
    return false;
}

static bool is_simulated(const struct gpu *gpu) {
    return strcmp(gpu->vendor, "sim") == 0;
}

/* Achieved share of the datasheet: the median over the reference rows of this op's class in the GPU's family,
 * else over all families. Rows of the simulator count only for the simulator. NaN when there is none. */
static double achieved_share(const struct evidence_base *b, const struct gpu *gpu, const struct op *op,
                             bool whole_table) {
    size_t rows = b->references.count, count = 0;
    double *shares = xmalloc((rows + 1) * sizeof *shares);
    const struct reference **taken = xmalloc((rows + 1) * sizeof *taken);
    for (size_t i = 0; i < rows; i++) {
        const struct reference *row = &b->references.rows[i];
        const struct gpu *other = same_class(row, op) ? gpu_by_name(b->gpus, row->gpu) : NULL;
        if (!other || is_simulated(other) != is_simulated(gpu) || is_repeat(row, taken, count) ||
            (!whole_table && strcmp(other->family, gpu->family) != 0))
            continue;
        double peak = datasheet_figure(other, row->quantity, row->dtype).value;
        if (!(peak > 0))
            continue;
        taken[count] = row;
        shares[count++] = row->value / peak;
    }
    double median = stats_median(shares, count);
    free(shares);
    free(taken);
    return isnan(median) && !whole_table ? achieved_share(b, gpu, op, true) : median;
}

static bool rate_from_datasheet(struct evidence_base *b, const struct gpu *gpu, const struct op *op,
                                struct rate *out) {
    enum quantity q = quantity_for(op);
    struct gpu_figure f = datasheet_figure(gpu, q, op->dtype);
    double share = achieved_share(b, gpu, op, false);
    if (!(f.value > 0) || !(share > 0))
        return false;
    *out = (struct rate){.per_s = f.value * share,
                         .sigma = b->uncertainty.datasheet_d,
                         .grade = EVIDENCE_D,
                         .doubt = "",
                         .unverified = !f.verified};
    const char *dtype = q == QUANTITY_GEMM ? dtype_name(op->dtype) : "";
    out->source =
        source_of(b, arena_printf(&b->arena, "datasheet/%s/%s/%s", gpu->name, quantity_text(q), dtype),
                  arena_printf(&b->arena, "datasheet %s of %s%s", quantity_text(q), gpu->name,
                               f.verified ? "" : ", unverified"));
    return true;
}

bool evidence_rate(struct evidence_base *b, const struct evidence_subject *s, const struct op *op,
                   struct rate *out) {
    if (rate_from_record(b, s, op, out))
        return true;
    if (evidence_above_peak(s, op))
        return false;
    return s->gpu && (rate_from_reference(b, s->gpu, op, out) || rate_from_datasheet(b, s->gpu, op, out));
}

const struct record_case *evidence_above_peak(const struct evidence_subject *s, const struct op *op) {
    return s->record && s->grade == EVIDENCE_A ? record_view_left_out(s->record, op) : NULL;
}

/* ---- all-reduce ---- */

static bool busbw_from_record(struct evidence_base *b, const struct evidence_subject *s, int64_t devices,
                              struct rate *out) {
    struct record_figure f;
    if (!s->record || s->record->record->device_count != devices || !record_view_allreduce(s->record, &f))
        return false;
    *out = (struct rate){
        .per_s = f.per_s, .sigma = record_sigma(b, s, f.sigma), .grade = s->grade, .doubt = f.doubt};
    out->source = source_of(b, arena_printf(&b->arena, "record/%s/all-reduce", s->record->record->path),
                            arena_printf(&b->arena, "all-reduce measured in %s", s->record->name));
    return true;
}

static bool busbw_from_reference(struct evidence_base *b, const struct gpu *gpu, int64_t devices,
                                 struct rate *out) {
    const struct reference *row =
        references_find(&b->references, gpu->name, QUANTITY_ALLREDUCE_BUSBW, DTYPE_COUNT, devices);
    if (!row)
        return false;
    bool verified = row->verified && row->devices == devices;
    *out = (struct rate){.per_s = row->value,
                         .sigma = b->uncertainty.reference_c,
                         .grade = EVIDENCE_C,
                         .doubt = "",
                         .unverified = !verified};
    out->source = source_of(
        b, arena_printf(&b->arena, "reference/%s/all-reduce/%lld", gpu->name, (long long)row->devices),
        arena_printf(&b->arena, "all-reduce reference of %lld x %s%s", (long long)row->devices, gpu->name,
                     verified ? "" : ", unverified"));
    return true;
}

/* The bounds of the assumed share are taken as the 5 % and 95 % points of a lognormal. */
static bool busbw_from_line(struct evidence_base *b, const struct gpu *gpu, struct rate *out) {
    const struct uncertainty *u = &b->uncertainty;
    double line = gpu->figures[GPU_LINK].value;
    bool nvlink = line > 0 && strcmp(gpu->p2p, "nvlink") == 0;
    double low = nvlink ? u->comm_nvlink_low : u->comm_pcie_low;
    double high = nvlink ? u->comm_nvlink_high : u->comm_pcie_high;
    if (!(line > 0))
        line = u->pcie_line_bytes_per_s;
    *out = (struct rate){.per_s = line * sqrt(low * high),
                         .sigma = log(high / low) / (2 * sigmas_90),
                         .grade = EVIDENCE_D,
                         .doubt = "",
                         .unverified = true};
    out->source =
        source_of(b, arena_printf(&b->arena, "line/%s/all-reduce", gpu->name),
                  arena_printf(&b->arena, "all-reduce of %s, assumed from the line rate", gpu->name));
    return true;
}

bool evidence_busbw(struct evidence_base *b, const struct evidence_subject *s, int64_t devices,
                    struct rate *out, bool *assumed) {
    *assumed = false;
    if (busbw_from_record(b, s, devices, out))
        return true;
    if (!s->gpu)
        return false;
    if (busbw_from_reference(b, s->gpu, devices, out))
        return true;
    *assumed = true;
    return busbw_from_line(b, s->gpu, out);
}

bool evidence_has_precision(const struct evidence_subject *s, enum dtype t) {
    if (s->gpu && gpu_has_native(s->gpu, t))
        return true;
    if (s->gpu)
        return false;
    return t == DTYPE_FP32 || (s->record && record_view_has_gemm(s->record, t));
}
