/* Seconds of one optimizer step on one node, from the seconds of its parts:
 *
 *   T = micro-batches x (T_fwd + T_critical) + (micro-batches - 1) x T_bwd
 *       + [last T_bwd with its all-reduce] + (pipeline - 1) x (T_fwd + T_bwd + T_critical) + T_opt +
 * straggler
 *
 * The last backward pass overlaps the all-reduce of gradient buckets; what it does not hide is exposed,
 * the last bucket always. Under ZeRO 2 and 3 every backward pass carries a part of it, and under ZeRO-3 every
 * forward pass gathers weights (Rajbhandari et al. 2020, section 7), its first block always exposed.
 * T_critical: collectives that compute waits for (tensor, expert, pipeline ranks).
 * A pipeline of p stages idles for p - 1 micro-batches at 1F1B: the bubble (p - 1) / m of Narayanan et al.
 * 2021 (section 2.2), a share (p - 1) / (m + p - 1) of the whole.
 * straggler = E[max over the devices] of their step-to-step jitter. Not for where the seconds come from: see
 * evidence.h and rank_group.c. Units: seconds, bytes. */
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
    double
        gradient_bytes; /* all-reduced in the last micro-batch; a reduce-scatter or gather is half of one */
    double early_bytes; /* the same in every earlier one: ZeRO 2 and 3 */
};

struct step_model {
    struct step_part forward, optimizer; /* of a micro-batch; of a step */
    struct step_stage *stages;           /* owned by the caller         */
    size_t stage_count;
    double micro_batches; /* per step and device */
    int64_t devices;
    int64_t data_ranks;       /* that share the gradients; 0 = all devices                           */
    double forward_bytes;     /* gathered during a forward pass, as gradient_bytes                    */
    double critical_comm_s;   /* of a micro-batch, forward and backward                                */
    int64_t pipeline;         /* stages; 0 = 1                                                         */
    double busbw_bytes_per_s; /* used from 2 data ranks up */
    double kappa_compute, kappa_comm;
    double jitter; /* relative sigma of a device's step time */
};

/* Factors on the seconds; all 1 at the means. */
struct step_factors {
    double compute, memory, comm;
};

/* Additive: they sum to total_s. */
struct step_times {
    double compute_s, memory_s, optimizer_s, exposed_comm_s, bubble_s, straggler_s, total_s;
};

void step_evaluate(const struct step_model *m, const struct step_factors *f, struct step_times *out);

#endif
