/* Seconds of one optimizer step on one node, from the seconds of its parts:
 *
 *   T = micro-batches x T_fwd + (micro-batches - 1) x T_bwd + [last T_bwd with its all-reduce] + T_opt
 *       + straggler
 *
 * The last backward pass overlaps the all-reduce of gradient buckets; what it does not hide is exposed,
 * the last bucket always. straggler = E[max over the devices] of their step-to-step jitter. Not for
 * where the seconds come from: see evidence.h and rank_group.c. Units: seconds, bytes. */
#ifndef REPORTS_STEPCOST_H
#define REPORTS_STEPCOST_H

#include <stddef.h>
#include <stdint.h>

/* PyTorch DistributedDataParallel's bucket_cap_mb: 25 MiB. */
#define STEP_BUCKET_BYTES (25.0 * 1024 * 1024)

/* ---- overlap ---- */

struct overlap_bucket {
    double ready_s; /* backward work done by then, in seconds of undisturbed compute */
    double comm_s;  /* of an undisturbed transfer                                    */
};

/* Seconds from the start of the backward pass until it and all buckets are done. Buckets go in order, one
 * at a time; a bucket starts when it is ready and the link is free; while both run, compute advances at
 * 1/kappa_compute and the transfer at 1/kappa_comm. */
double overlap_walk_s(double backward_s, const struct overlap_bucket *buckets, size_t count,
                      double kappa_compute, double kappa_comm);

/* ---- step ---- */

/* Compute-bound and memory-bound seconds at the mean rates. */
struct step_part {
    double compute_s, memory_s;
};

/* A piece of the backward pass, first to finish first; its gradients become final while it runs. */
struct step_stage {
    struct step_part part;
    double gradient_bytes;
};

struct step_model {
    struct step_part forward, optimizer; /* of a micro-batch; of a step */
    struct step_stage *stages;           /* owned by the caller         */
    size_t stage_count;
    double micro_batches; /* per step and device */
    int64_t devices;
    double busbw_bytes_per_s; /* used from 2 devices up */
    double kappa_compute, kappa_comm;
    double jitter; /* relative sigma of a device's step time */
};

/* Factors on the seconds; all 1 at the means. */
struct step_factors {
    double compute, memory, comm;
};

/* Additive: they sum to total_s. */
struct step_times {
    double compute_s, memory_s, optimizer_s, exposed_comm_s, straggler_s, total_s;
};

void step_evaluate(const struct step_model *m, const struct step_factors *f, struct step_times *out);

#endif
