/* The GPU table (data/gpus.csv) and the names that people, drivers and catalogues use (aliases.csv).
 *
 * gpus.csv has one figure a row: gpu,field,value,source,verified. A figure that is not there is NaN.
 * aliases.csv has alias,gpu,kind,source: kind `name` is a name of the device; kind `sku` is a token that
 * says it only inside an instance type ("p4d"). An alias may stand for several GPUs, one row each.
 * A bare "A100" is ambiguous: matching gives every candidate and never picks the cheapest. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "base/err.h"
#include "base/mem.h"
#include "model/data.h"
#include "model/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_figure {
    double value; /* NaN = not known */
    bool verified;
    const char *source; /* "" when not known */
};

/* field name in gpus.csv -> member; rates in TFLOPS and GB/s there, base units here */
enum gpu_field {
    GPU_PEAK_FP64, /* dense peak, FLOP/s; never with 2:4 sparsity          */
    GPU_PEAK_FP32,
    GPU_PEAK_TF32,
    GPU_PEAK_TENSOR16, /* fp16 and bf16 inputs, fp32 accumulate             */
    GPU_PEAK_FP8,
    GPU_PEAK_FP4,
    GPU_PEAK_INT8,
    GPU_MEMORY,        /* nominal, bytes (1 GB of a card = 2^30 bytes)      */
    GPU_DRIVER_MEMORY, /* as the driver reports it, bytes                   */
    GPU_BANDWIDTH,     /* memory, bytes/s                                   */
    GPU_LINK,          /* GPU to GPU, bytes/s per direction; PCIe when that is all */
    GPU_NVLINKS,       /* number of NVLink links                            */
    GPU_SMS,
    GPU_CLOCK, /* Hz, the clock of the peak figures                 */
    GPU_FLOP_PER_CLOCK_SM_FP32,
    GPU_FLOP_PER_CLOCK_SM_TENSOR16,
    GPU_POWER,      /* default limit, W                                  */
    GPU_CC,         /* compute capability x 10                           */
    GPU_PCI_DEVICE, /* 16-bit PCI device id                              */
    GPU_PCI_SUBSYSTEM,
    GPU_LOWEST_RENT, /* USD an hour for one on demand: the lowest price known  */
    GPU_FIELD_COUNT
};

struct gpu {
    const char *name; /* canonical: "H100-SXM5-80GB" */
    const char *driver_name;
    const char *family; /* architecture: "hopper"; groups efficiencies for grade D */
    const char *vendor; /* "nvidia", "amd", "sim" */
    const char *p2p;    /* "nvlink", "pcie", "none", "bridge" or "" */
    bool capped;        /* export variant: its own peak, not SMs x clock */
    bool ecc;
    bool modified; /* no vendor product: a candidate only where a stated memory says so */
    bool native_bf16, native_fp16, native_tf32, native_fp8;
    struct gpu_figure figures[GPU_FIELD_COUNT];
};

struct gpu_table {
    struct arena arena;
    struct gpu *gpus;
    size_t count;
    struct gpu_alias *aliases;
    size_t alias_count;
};

int gpu_table_load(const struct data *data, struct gpu_table *out, struct err *e) MUST_CHECK;
void gpu_table_free(struct gpu_table *t);

/* By canonical name; NULL when unknown. */
const struct gpu *gpu_by_name(const struct gpu_table *t, const char *canonical);

enum { GPU_MAX_CANDIDATES = 12 };
struct gpu_match {
    const struct gpu *candidates[GPU_MAX_CANDIDATES];
    size_t count; /* 0 = unknown, 1 = certain, more = ambiguous */
};
/* Can a card whose memory is quoted so be this one? False when memory_bytes is NaN. */
bool gpu_memory_fits(const struct gpu *g, double memory_bytes);
/* Matches a name as written anywhere (catalogue, driver, SKU). Case, spaces, '_', '-' and vendor words
 * do not matter. memory_bytes per GPU narrows the candidates (nominal within 7 %, gpuhunt's
 * threshold) where one has it; NaN when unknown. A modified board shares its name with the product: it is
 * a candidate only when the memory fits it, or the name says nothing else. */
struct gpu_match gpu_match_name(const struct gpu_table *t, const char *name, double memory_bytes);
/* As above for a whole SKU ("p4d.24xlarge", "gpu_8x_a100_80gb_sxm4", "2x-A100_PCIE-32-65536"): finds
 * the alias that stands inside it; count 0 when none does. */
struct gpu_match gpu_match_sku(const struct gpu_table *t, const char *sku, double memory_bytes);

/* Dense peak in FLOP/s for inputs of type t; NaN when the device lacks it or it is not known. */
double gpu_peak(const struct gpu *g, enum dtype t);
/* Does the device multiply this type natively (and not by widening it)? */
bool gpu_has_native(const struct gpu *g, enum dtype t);
/* Clock-limited peak: FLOP/clock/SM x SMs x clock; NaN where a figure is missing or the variant is capped. */
double gpu_clock_limited_peak(const struct gpu *g, enum dtype t, double clock_hz);

#endif
