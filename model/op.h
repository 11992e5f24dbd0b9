/* One piece of device work, as a tagged description: what it computes, its FLOP, the bytes that it must
 * move, and its operands. The same description is measured by bench, checked by kernels/ref and summed
 * by reports. Nothing here touches a device.
 *
 * Conventions. GEMM is row major: C[m,n] = op(A)[m,k] op(B)[k,n], `batch` independent products packed
 * one after the other; trans_a means that A is stored [k,m], trans_b that B is stored [n,k].
 * FLOP counts a multiply-add as 2. Bytes are those that must cross the memory once when nothing is
 * cached: every operand read once, every result written once (STREAM's counting: no write-allocate). */
#ifndef MODEL_OP_H
#define MODEL_OP_H

#include "base/err.h"
#include "model/dtype.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_kind {
    OP_FMA,           /* register-only multiply-adds: calibrates the peak rate   */
    OP_GEMM,          /* C = A B                                                 */
    OP_COPY,          /* c[i] = a[i]                                             */
    OP_SCALE,         /* b[i] = s c[i]                                           */
    OP_ADD,           /* c[i] = a[i] + b[i]                                      */
    OP_TRIAD,         /* a[i] = b[i] + s c[i]                                    */
    OP_ATTENTION,     /* fused softmax(Q K^T) V, forward or backward             */
    OP_SOFTMAX,       /* rows of n; only where attention is not fused            */
    OP_LAYERNORM,     /* rows of n                                               */
    OP_RMSNORM,       /* rows of n                                               */
    OP_BATCHNORM,     /* elementwise, in training: statistics of the batch       */
    OP_GELU,          /* elementwise                                             */
    OP_SWIGLU,        /* elementwise silu(gate) x up; elements = its results     */
    OP_RELU,          /* elementwise                                             */
    OP_POOL,          /* max or average pooling; elements = its inputs           */
    OP_RESIDUAL,      /* elementwise c = a + b                                   */
    OP_EMBEDDING,     /* row gather, and scatter-add backward                    */
    OP_CROSS_ENTROPY, /* softmax over n classes with its gradient, rows of n     */
    OP_ADAMW,         /* optimizer update of `elements` parameters               */
    OP_ALLREDUCE,     /* sum of `elements` over all ranks                        */
    OP_CHASE,         /* dependent loads along one random cycle: op_chase        */
    /* of a folder: see op_file */
    OP_FILE_WRITE,       /* a file anew, block by block, and fdatasync           */
    OP_FILE_READ,        /* blocks of a file in order                            */
    OP_FILE_RANDOM_READ, /* blocks of a file in random order, by `batch` threads */
    OP_FILE_SYNC,        /* append and fdatasync, again and again                */
    OP_FILE_SMALL,       /* files: open, read, close each, in random order       */
    OP_FILE_TAR,         /* the same files out of one tar, in order              */
    OP_KIND_COUNT
};

enum op_pass { OP_FORWARD, OP_BACKWARD };

struct op {
    enum op_kind kind;
    enum dtype dtype;      /* of inputs and outputs in memory                             */
    enum dtype accumulate; /* of sums; DTYPE_FP32 for 16-bit inputs unless said otherwise */
    enum op_pass pass;     /* ATTENTION SOFTMAX LAYERNORM RMSNORM BATCHNORM GELU SWIGLU RELU POOL EMBEDDING */
    /* GEMM: m n k batch trans. ATTENTION: m = queries, n = keys, k = head size, batch = batch x heads.
     * Row ops (SOFTMAX, LAYERNORM, RMSNORM, CROSS_ENTROPY, EMBEDDING): m rows of n. FILE ops: see op_file. */
    int64_t m, n, k, batch;
    bool trans_a, trans_b;
    bool causal;      /* ATTENTION: the mask is causal; FLOP are counted in full all the same (see op_flop) */
    int64_t elements; /* of an elementwise op; FMA: multiply-adds */
};

struct op op_gemm(int64_t m, int64_t n, int64_t k, enum dtype t);
struct op op_elementwise(enum op_kind kind, int64_t elements, enum dtype t);

/* A walk through `elements` nodes of one cache line each (OP_CHASE_LINE bytes), every load needing the one
 * before it. One execution begins at the cycle's place 0 and makes op_chase_accesses: whole rounds less one
 * step, so that it ends at place elements - 1, which is its result. */
enum { OP_CHASE_LINE = 64 };
struct op op_chase(int64_t footprint_bytes);
double op_chase_accesses(const struct op *op);

/* A file op: one execution moves `count` (m) blocks, appends or files of `bytes` (n) each, out of the `of`
 * (k) that there are, where it goes on from the one before; `depth` (batch) accesses at once. `of` is 1 for
 * WRITE and SYNC, which make their file anew; depth is 1 but for RANDOM_READ. */
struct op op_file(enum op_kind kind, int64_t count, int64_t bytes, int64_t of, int64_t depth);
bool op_is_file(const struct op *op);

/* FLOP of one execution. ATTENTION counts 2 GEMMs forward and 4 backward without the causal saving
 * (PaLM appendix B counts 12 L H Q T per token in full); a kernel that skips the masked half is that
 * much faster by this count. Row and elementwise ops count only what one would (they are bound by
 * bytes). */
double op_flop(const struct op *op);
/* Bytes that must be moved by one execution (see the conventions above). */
double op_bytes(const struct op *op);
/* True when time is predicted as FLOP / rate (GEMM, ATTENTION, FMA), else as bytes / bandwidth. */
bool op_is_compute_bound(const struct op *op);
/* What one execution is counted in: op_flop ("FLOP", or "OP" of integers), op_bytes ("B"), and for CHASE
 * op_chase_accesses ("access"). FILE ops: READ and WRITE their bytes, RANDOM_READ m as "access", SYNC m as
 * "sync", SMALL and TAR m as "file". */
double op_work(const struct op *op, const char **unit);

/* "gemm", "triad"; OP_KIND_COUNT names are lower case. */
const char *op_kind_name(enum op_kind kind);
/* A stable name of the shape, unique per distinct op: "gemm.fp32.1024x2304x768",
 * "gemm.fp32.12x1024x1024x64.nt", "triad.fp64.52428800", "file_random_read.256x4096.of-65536.depth-16".
 * Returns out. */
enum { OP_NAME_SIZE = 144 };
char *op_name(const struct op *op, char *out);
bool op_equal(const struct op *a, const struct op *b);

/* An operand: a buffer that prepare() is given, in this order. */
struct op_operand {
    const char *name; /* "A", "B", "C" */
    enum dtype dtype;
    int64_t elements;
    bool output;  /* written (and not read, unless accumulate is said)               */
    bool scratch; /* prepare lays out what it needs in it: nothing to fill or to compare */
};
enum { OP_MAX_OPERANDS = 4 };
/* Number of operands, and their descriptions: GEMM A B C; COPY a c; SCALE c b; ADD a b c;
 * TRIAD b c a (inputs first, the output last); CHASE lines (scratch) end; FILE ops seed seen (see
 * kernels/disk/disk_content.h); FMA none. 0 where no backend has
 * the op yet. */
size_t op_operands(const struct op *op, struct op_operand out[OP_MAX_OPERANDS]);

/* Whole bytes of its buffer: a byte that sub-byte types fill in part counts in full. */
uint64_t op_operand_bytes(const struct op_operand *operand);

/* Record form. op_to_json gives a new reference; op_from_json checks every field's range (each
 * dimension 1 to 2^40, op_bytes under 2^46). */
json_t *op_to_json(const struct op *op);
int op_from_json(const json_t *value, struct op *out, struct err *e) MUST_CHECK;

/* The pieces of an unfused ATTENTION: GEMM, SOFTMAX, GEMM forward; for backward GEMM x4 and SOFTMAX.
 * Returns how many were written. */
enum { OP_MAX_PARTS = 5 };
size_t op_unfused_attention(const struct op *attention, struct op out[OP_MAX_PARTS]);

#endif
