#include "reports/record_view.h"

#include "model/collective.h"
#include "reports/disturbance.h"

#include <math.h>
#include <string.h>

/* Of a normal, 95 % lie within +-1.96 sigma. */
static const double sigmas_95 = 1.959963984540054;

/* NaN when there is no interval: too few samples to say. A shift is taken as a spread to both sides. */
static double within_sigma(const struct record_rate *r) {
    double sigma = (r->high - r->low) / (2 * sigmas_95 * r->rate);
    return r->state == SERIES_UNSTEADY ? fmax(sigma, fabs(r->shift) / 2) : sigma;
}

static const char *doubt_of(const struct record_rate *r) {
    if (r->state == SERIES_UNSTEADY || r->state == SERIES_WIDE)
        return series_state_name(r->state);
    return isnan(r->low) ? "few samples" : "";
}

/* What disturbed the case comes before what its samples look like. */
static const char *disturbance_of(const struct record *r, const struct record_case *c) {
    struct throttling ignored;
    struct contamination by;
    for (size_t i = 0; i < c->rank_count; i++)
        if (rank_throttled(r, &c->ranks[i], &ignored))
            return "throttled";
    return case_contaminated(r, c, &by) ? "contaminated" : "";
}

bool record_case_figure(const struct record *r, const struct record_case *c, struct record_figure *out) {
    *out = (struct record_figure){.per_s = NAN};
    if (c->status != CASE_MEASURED)
        return false;
    for (size_t i = 0; i < c->rank_count; i++) {
        struct record_rate rate = record_rank_rate(&c->ranks[i]);
        if (!(rate.rate > 0) || rate.rate >= out->per_s)
            continue;
        out->per_s = rate.rate;
        out->sigma = within_sigma(&rate);
        out->doubt = doubt_of(&rate);
    }
    const char *disturbance = disturbance_of(r, c);
    if (*disturbance)
        out->doubt = disturbance;
    return out->per_s > 0;
}

/* ---- what no rate can pass ---- */

static const double peak_tolerance = 1.02;

struct peak {
    double per_s; /* NaN = not known */
    const char *of;
};

bool record_is_stream(const struct op *op) {
    return op->kind == OP_COPY || op->kind == OP_SCALE || op->kind == OP_ADD || op->kind == OP_TRIAD;
}

/* A GPU's products may run on units that the calibration loop does not use: its peak is the datasheet's.
 * A CPU's memory has no peak that we know. */
static struct peak peak_for(const struct record *r, const struct gpu *gpu, const struct op *op) {
    if (op->kind == OP_GEMM && gpu)
        return (struct peak){gpu_peak(gpu, op->dtype), "the datasheet's peak"};
    if (op->kind == OP_GEMM && !record_is_gpu(r))
        return (struct peak){findings_calibrated_peak(r, op->dtype), "the calibrated peak"};
    if (record_is_stream(op) && gpu)
        return (struct peak){gpu->figures[GPU_BANDWIDTH].value, "the datasheet's bandwidth"};
    return (struct peak){NAN, ""};
}

bool record_case_above_peak(const struct record *r, const struct gpu *gpu, const struct record_case *c,
                            struct record_excess *out) {
    struct peak peak = peak_for(r, gpu, &c->op);
    for (size_t i = 0; i < c->rank_count && !isnan(peak.per_s); i++) {
        struct record_rate rate = record_rank_rate(&c->ranks[i]);
        /* what the interval cannot exclude is no excess */
        double ratio = (isnan(rate.low) ? rate.rate : rate.low) / peak.per_s;
        *out = (struct record_excess){.rank = c->ranks[i].rank, .ratio = ratio, .of = peak.of};
        if (ratio > peak_tolerance)
            return true;
    }
    return false;
}

/* ---- the record as a whole ---- */

bool record_is_gpu(const struct record *r) {
    const json_t *first = json_array_get(json_object_get(r->head, "devices"), 0);
    return json_is_true(json_object_get(first, "is_gpu"));
}

const char *record_fact(const struct record *r, const char *key) {
    const json_t *first = json_array_get(json_object_get(r->head, "devices"), 0);
    const char *value = json_string_value(json_object_get(json_object_get(first, "facts"), key));
    return value ? value : "";
}

bool record_case_is_emulated(const struct record *r, const struct record_case *c) {
    const char *name = dtype_name(c->op.dtype), *words = record_fact(r, "emulated_gemm");
    size_t length = strlen(name);
    for (const char *word = words; *word && c->op.kind == OP_GEMM;
         word += strcspn(word, " "), word += strspn(word, " "))
        if (strncmp(word, name, length) == 0 && (word[length] == ' ' || word[length] == '\0'))
            return true;
    return false;
}

const struct gpu *record_gpu(const struct record *r, const struct gpu_table *gpus) {
    if (!record_is_gpu(r))
        return NULL;
    struct gpu_match m = gpu_match_name(gpus, r->device_name, r->device_memory_bytes);
    return m.count == 1 ? m.candidates[0] : NULL;
}

static const char *refusal(const struct record *r, bool allow_simulated) {
    if (r->state == RECORD_BROKEN)
        return "record whose hash chain is broken: not used";
    if (r->simulated && !allow_simulated)
        return "record of a simulated device: not used unless asked for";
    return "";
}

void record_view_make(struct arena *arena, const struct gpu_table *gpus, const struct record *record,
                      bool allow_simulated, struct evidence_record *out) {
    const char *slash = strrchr(record->path, '/');
    *out = (struct evidence_record){.record = record,
                                    .name = slash ? slash + 1 : record->path,
                                    .is_gpu = record_is_gpu(record),
                                    .refused = refusal(record, allow_simulated)};
    out->gpu = record_gpu(record, gpus);
    out->cases = arena_alloc(arena, (record->case_count + 1) * sizeof *out->cases);
    out->left_out = arena_alloc(arena, (record->case_count + 1) * sizeof *out->left_out);
    for (size_t i = 0; i < record->case_count && !*out->refused; i++) {
        struct record_figure f;
        struct record_excess excess;
        const struct record_case *c = &record->cases[i];
        if (!record_case_figure(record, c, &f) || record_case_is_emulated(record, c))
            continue;
        if (record_case_above_peak(record, out->gpu, c, &excess))
            out->left_out[out->left_out_count++] = c;
        else
            out->cases[out->case_count++] =
                (struct evidence_case){.test = c, .per_s = f.per_s, .sigma = f.sigma, .doubt = f.doubt};
    }
}

/* ---- which case answers ---- */

static struct record_figure figure_of(const struct evidence_case *c) {
    return (struct record_figure){.per_s = c->per_s, .sigma = c->sigma, .doubt = c->doubt};
}

static bool find_exact(const struct evidence_record *r, const struct op *op, struct record_figure *out) {
    for (size_t i = 0; i < r->case_count; i++)
        if (op_equal(&r->cases[i].test->op, op)) {
            *out = figure_of(&r->cases[i]);
            return true;
        }
    return false;
}

static bool find_nearest(const struct evidence_record *r, const struct op *op, double interpolated_sigma,
                         struct record_figure *out) {
    const struct evidence_case *best = NULL;
    double best_distance = INFINITY;
    for (size_t i = 0; i < r->case_count; i++) {
        const struct op *other = &r->cases[i].test->op;
        if (other->kind != op->kind || other->dtype != op->dtype)
            continue;
        double distance = fabs(log(op_flop(other) / op_flop(op)));
        if (distance < best_distance) {
            best = &r->cases[i];
            best_distance = distance;
        }
    }
    if (!best)
        return false;
    *out = figure_of(best);
    out->sigma = hypot(out->sigma, interpolated_sigma);
    out->interpolated = true;
    return true;
}

/* The triad of the largest arrays: a smaller one may have run from a cache. */
static bool find_bandwidth(const struct evidence_record *r, struct record_figure *out) {
    const struct evidence_case *best = NULL;
    for (size_t i = 0; i < r->case_count; i++) {
        const struct op *op = &r->cases[i].test->op;
        if (op->kind == OP_TRIAD && (!best || op_bytes(op) > op_bytes(&best->test->op)))
            best = &r->cases[i];
    }
    if (best)
        *out = figure_of(best);
    return best != NULL;
}

/* The rate of the whole from the seconds of its parts. */
static bool find_unfused(const struct evidence_record *r, const struct op *attention,
                         double interpolated_sigma, struct record_figure *out) {
    struct op parts[OP_MAX_PARTS];
    const char *unit;
    size_t count = op_unfused_attention(attention, parts);
    double seconds = 0, weighted_sigma = 0;
    *out = (struct record_figure){.doubt = ""};
    for (size_t i = 0; i < count; i++) {
        struct record_figure f;
        if (!record_view_rate(r, &parts[i], interpolated_sigma, &f))
            return false;
        double part_s = op_work(&parts[i], &unit) / f.per_s;
        seconds += part_s;
        weighted_sigma += part_s * f.sigma;
        out->interpolated |= f.interpolated;
        if (*f.doubt)
            out->doubt = f.doubt;
    }
    out->per_s = op_flop(attention) / seconds;
    out->sigma = weighted_sigma / seconds;
    return count > 0;
}

bool record_view_rate(const struct evidence_record *r, const struct op *op, double interpolated_sigma,
                      struct record_figure *out) {
    if (find_exact(r, op, out))
        return true;
    if (!op_is_compute_bound(op))
        return find_bandwidth(r, out);
    return find_nearest(r, op, interpolated_sigma, out) ||
           (op->kind == OP_ATTENTION && find_unfused(r, op, interpolated_sigma, out));
}

const struct record_case *record_view_left_out(const struct evidence_record *r, const struct op *op) {
    for (size_t i = 0; i < r->left_out_count; i++) {
        const struct op *other = &r->left_out[i]->op;
        bool kind = other->kind == op->kind || (op->kind == OP_ATTENTION && other->kind == OP_GEMM);
        if (op_is_compute_bound(op) ? kind && other->dtype == op->dtype : other->kind == OP_TRIAD)
            return r->left_out[i];
    }
    return NULL;
}

bool record_view_allreduce(const struct evidence_record *r, struct record_figure *out) {
    const struct evidence_case *best = NULL;
    for (size_t i = 0; i < r->case_count; i++) {
        const struct op *op = &r->cases[i].test->op;
        if (op->kind == OP_ALLREDUCE && (!best || op->elements > best->test->op.elements))
            best = &r->cases[i];
    }
    if (!best)
        return false;
    *out = figure_of(best);
    const char *unit;
    double bytes = (double)best->test->op.elements * dtype_bytes(best->test->op.dtype);
    double seconds = op_work(&best->test->op, &unit) / best->per_s;
    out->per_s = collective_busbw(COLLECTIVE_ALLREDUCE, (size_t)r->record->device_count, bytes, seconds);
    return out->per_s > 0;
}

bool record_view_has_gemm(const struct evidence_record *r, enum dtype t) {
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].test->op.kind == OP_GEMM && r->cases[i].test->op.dtype == t)
            return true;
    return false;
}
