/* Published figures (data/references.csv) and the sizes of what is not known (data/uncertainty.csv).
 * Not for datasheet peaks: those are in model/gpu.h. Base units: FLOP/s, bytes/s. */
#ifndef REPORTS_REFERENCES_H
#define REPORTS_REFERENCES_H

#include "base/err.h"
#include "base/mem.h"
#include "model/data.h"
#include "model/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum quantity { QUANTITY_GEMM, QUANTITY_MEMBW, QUANTITY_ALLREDUCE_BUSBW, QUANTITY_COUNT };

struct reference {
    const char *gpu; /* canonical name */
    enum quantity quantity;
    enum dtype dtype; /* GEMM only; DTYPE_COUNT elsewhere */
    int64_t devices;
    double value;     /* FLOP/s or bytes/s */
    double tolerance; /* relative: below value x (1 - tolerance) a device is slow */
    const char *source, *note;
    bool verified;
};

struct references {
    struct arena arena;
    struct reference *rows;
    size_t count, capacity;
};

int references_load(const struct data *data, struct references *out, struct err *e) MUST_CHECK;
void references_free(struct references *r);

/* The row of this GPU, or NULL. GEMM: of this dtype (bf16 and fp16 stand for each other: every GPU
 * here runs them at one rate). All-reduce: of `devices`, else of the nearest count (see the row). */
const struct reference *references_find(const struct references *r, const char *gpu, enum quantity q,
                                        enum dtype dtype, int64_t devices);

/* Relative sigmas and assumed ranges; each row of uncertainty.csv is one member, with its source. */
struct uncertainty {
    double between_run, between_node, between_provider;
    double few_samples, interpolated, reference_c, datasheet_d;
    double step_jitter;
    double comm_nvlink_low, comm_nvlink_high, comm_pcie_low, comm_pcie_high;
    double pcie_line_bytes_per_s;
    double spot_share_low, spot_share_high;
    double kappa_compute, kappa_comm;
    double price_tolerance;
    double checkpoint_bytes_per_s;
};
/* ERR_PARSE on a row that no member has, and on a member without a row. */
int uncertainty_load(const struct data *data, struct uncertainty *out, struct err *e) MUST_CHECK;

#endif
