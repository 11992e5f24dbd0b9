#include "reports/findings_parts.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- slow_device ---- */

/* A shape must keep the device busy for this long at its reference rate: below, launches decide. */
static const double least_op_s = 100e-6;
static const double least_bandwidth_share = 0.85; /* of the datasheet */
/* NVIDIA's data-centre GPUs in references.csv reach 0.72 to 0.87 of their 16-bit peak. */
static const double least_peak_share = 0.6;

typedef bool (*op_filter)(const struct op *op, const void *context);

/* Of the slowest rank; the median, because outliers are a finding of their own. */
static double typical_rate(const struct record_case *c) {
    double slowest = c->rank_count ? INFINITY : 0;
    for (size_t i = 0; i < c->rank_count; i++)
        slowest = fmin(slowest, record_rank_rate(&c->ranks[i]).median);
    return slowest;
}

/* The best of the undisturbed cases that the filter takes; 0 = there is none. */
static double best_rate(const struct inspection *in, op_filter takes, const void *context) {
    double best = 0;
    for (size_t i = 0; i < in->record->case_count; i++) {
        const struct record_case *c = &in->record->cases[i];
        if (!in->explained[i] && c->status == CASE_MEASURED && takes(&c->op, context))
            best = fmax(best, typical_rate(c));
    }
    return best;
}

static bool is_large_gemm(const struct op *op, const void *context) {
    const struct reference *row = context;
    return op->kind == OP_GEMM && op->dtype == row->dtype && op_flop(op) >= least_op_s * row->value;
}

static bool is_stream(const struct op *op, const void *context) {
    (void)context;
    return record_is_stream(op);
}

static void find_slow_gemm(struct inspection *in, const struct reference *row) {
    char rate[UNITS_TEXT_SIZE], reference[UNITS_TEXT_SIZE];
    double best = best_rate(in, is_large_gemm, row);
    if (best > 0 && best < row->value * (1 - row->tolerance))
        finding_add(
            in, "slow_device", "",
            "best %s GEMM %s is %.0f %% of the %s that %s reaches (%s%s): compare another one of this "
            "offer",
            dtype_name(row->dtype), units_format_flop_per_s(best, rate), 100 * best / row->value,
            units_format_flop_per_s(row->value, reference), row->gpu, row->source,
            row->verified ? "" : ", unverified");
}

static bool has_reference(const struct inspection *in, enum dtype t) {
    for (size_t i = 0; i < in->references.count; i++) {
        const struct reference *row = &in->references.rows[i];
        if (row->quantity == QUANTITY_GEMM && row->dtype == t && strcmp(row->gpu, in->gpu->name) == 0)
            return true;
    }
    return false;
}

/* Where nobody has published a rate: against the device's own peak, which for a capped one is the cap. */
static void find_far_from_peak(struct inspection *in, enum dtype t) {
    char rate[UNITS_TEXT_SIZE], peak[UNITS_TEXT_SIZE];
    struct reference own = {.dtype = t, .value = gpu_peak(in->gpu, t)};
    if (isnan(own.value) || has_reference(in, t))
        return;
    double best = best_rate(in, is_large_gemm, &own);
    if (best > 0 && best < least_peak_share * own.value)
        finding_add(
            in, "slow_device", "",
            "best %s GEMM %s is %.0f %% of the datasheet's peak %s of %s: compare another one of this offer",
            dtype_name(t), units_format_flop_per_s(best, rate), 100 * best / own.value,
            units_format_flop_per_s(own.value, peak), in->gpu->name);
}

void find_slow_device(struct inspection *in) {
    if (!in->gpu)
        return;
    find_far_from_peak(in, DTYPE_BF16);
    find_far_from_peak(in, DTYPE_FP16);
    for (size_t i = 0; i < in->references.count; i++) {
        const struct reference *row = &in->references.rows[i];
        if (row->quantity == QUANTITY_GEMM && strcmp(row->gpu, in->gpu->name) == 0)
            find_slow_gemm(in, row);
    }
    char rate[UNITS_TEXT_SIZE], sheet[UNITS_TEXT_SIZE];
    double best = best_rate(in, is_stream, NULL), spec = in->gpu->figures[GPU_BANDWIDTH].value;
    if (best > 0 && best < least_bandwidth_share * spec)
        finding_add(
            in, "slow_device", "",
            "memory bandwidth %s is %.0f %% of the datasheet's %s (%s): compare another one of this offer",
            units_format_bytes_per_s(best, rate), 100 * best / spec, units_format_bytes_per_s(spec, sheet),
            in->gpu->name);
}

/* ---- wrong_device ---- */

static bool is_candidate(const struct gpu_match *m, const struct gpu *gpu) {
    for (size_t i = 0; i < m->count; i++)
        if (m->candidates[i] == gpu)
            return true;
    return false;
}

/* The SKU of the offer that the record names often says the GPU ("p5.48xlarge"); one that says none is no
 * reason for a verdict. */
void find_wrong_device(struct inspection *in) {
    const struct record *r = in->record;
    struct gpu_match sold = gpu_match_sku(in->gpus, r->offer_sku, NAN);
    if (sold.count == 0 || !in->gpu || is_candidate(&sold, in->gpu))
        return;
    finding_add(in, "wrong_device", "",
                "%s %s is sold as %s%s, but the driver says %s (%s): this is not the device of the offer; "
                "claim it back, and do not take this record for the offer",
                r->offer_provider, r->offer_sku, sold.candidates[0]->name,
                sold.count > 1 ? " or a relative" : "", r->device_name, in->gpu->name);
}

/* ---- above_peak ---- */

static double fastest_sample(const struct record_rank *r) {
    double best = NAN;
    for (size_t i = 0; i < r->count; i++)
        best = fmax(best, r->iterations[i] * r->work_per_iteration / r->elapsed_s[i]);
    return best;
}

double findings_calibrated_peak(const struct record *r, enum dtype t) {
    double best = NAN;
    for (size_t i = 0; i < r->case_count; i++)
        for (size_t k = 0; k < r->cases[i].rank_count; k++)
            if (r->cases[i].op.kind == OP_FMA && r->cases[i].op.dtype == t)
                best = fmax(best, fastest_sample(&r->cases[i].ranks[k]));
    return best;
}

void find_above_peak(struct inspection *in) {
    for (size_t i = 0; i < in->record->case_count; i++) {
        const struct record_case *c = &in->record->cases[i];
        struct record_excess excess;
        if (record_case_above_peak(in->record, in->gpu, c, &excess))
            finding_add(
                in, "above_peak", c->id,
                "rank %d ran at %.0f %% of %s: this is an error of measurement or a device that is not "
                "what it says, no good news; this rate is not used",
                excess.rank, 100 * excess.ratio, excess.of);
    }
}

/* ---- blas_core ---- */

enum isa { ISA_BASE, ISA_AVX, ISA_AVX2, ISA_AVX512 };
static const struct {
    const char *name, *core; /* a core type that suits it */
} isas[] = {{"no AVX", "Nehalem"}, {"AVX", "Sandybridge"}, {"AVX2", "Haswell"}, {"AVX-512", "SkylakeX"}};

/* OpenBLAS's core types for x86-64 (its dynamic.c) and what their kernels use. */
static const struct {
    const char *core;
    enum isa uses;
} cores[] = {
    {"Prescott", ISA_BASE},     {"Core2", ISA_BASE},
    {"Penryn", ISA_BASE},       {"Dunnington", ISA_BASE},
    {"Nehalem", ISA_BASE},      {"Atom", ISA_BASE},
    {"Athlon", ISA_BASE},       {"Opteron", ISA_BASE},
    {"Opteron_SSE3", ISA_BASE}, {"Barcelona", ISA_BASE},
    {"Bobcat", ISA_BASE},       {"Nano", ISA_BASE},
    {"Sandybridge", ISA_AVX},   {"Bulldozer", ISA_AVX},
    {"Piledriver", ISA_AVX},    {"Steamroller", ISA_AVX},
    {"Excavator", ISA_AVX2},    {"Haswell", ISA_AVX2},
    {"Zen", ISA_AVX2},          {"SkylakeX", ISA_AVX512},
    {"Cooperlake", ISA_AVX512}, {"SapphireRapids", ISA_AVX512},
};

static bool has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static enum isa machine_isa(const char *features) {
    if (has_word(features, "avx512f"))
        return ISA_AVX512;
    if (has_word(features, "avx2") && has_word(features, "fma"))
        return ISA_AVX2;
    return has_word(features, "avx") ? ISA_AVX : ISA_BASE;
}

/* AVX2 kernels on an AVX-512 CPU are the library's own choice on some; only forcing them is a mistake. */
static bool core_fits(enum isa uses, enum isa has, bool forced) {
    if (uses > has)
        return false;
    return uses == has || (uses == ISA_AVX2 && !forced);
}

void find_blas_core(struct inspection *in) {
    const char *core = record_fact(in->record, "openblas_corename"),
               *features = record_fact(in->record, "cpu_features");
    const char *by_itself = record_fact(in->record, "openblas_core_by_itself");
    bool forced = *record_fact(in->record, "env.OPENBLAS_CORETYPE") != '\0';
    enum isa has = machine_isa(features);
    if (*by_itself)
        finding_add(
            in, "blas_core", "",
            "OpenBLAS by itself takes its %s kernels on this CPU with %s; this run made it take %s. Other "
            "programs still get the old ones, several times slower: set OPENBLAS_CORETYPE=%s for them or "
            "install a newer OpenBLAS",
            by_itself, isas[has].name, core, core);
    if (!*core || !*features)
        return;
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++)
        if (strcmp(cores[i].core, core) == 0 && !core_fits(cores[i].uses, has, forced))
            finding_add(
                in, "blas_core", "",
                "OpenBLAS runs its %s kernels (%s) on a CPU with %s: GEMM %s; %s%s and run again", core,
                isas[cores[i].uses].name, isas[has].name,
                cores[i].uses > has ? "dies of an illegal instruction" : "is slower than the machine",
                forced ? "unset OPENBLAS_CORETYPE" : "set OPENBLAS_CORETYPE=", forced ? "" : isas[has].core);
}
