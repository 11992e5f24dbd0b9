/* A job as its owner states it once, in job.json: what to train, how much of it, where the data lies, and
 * what it may cost in time and money. Every command that takes a job takes what it needs from it.
 *
 *   {"workload": "llama3-8b",         a name, or a workload file, as seen from the job's own folder
 *    "steps": 20000,                  or "tokens": 10e9, or "samples": 5e6; none = no run is costed
 *    "global_batch": 256,             samples per step, instead of the workload's own
 *    "dataset_GB": 40, "dataset_at": "aws us-east-1",
 *    "checkpoint_GB": 112,
 *    "deadline": "10d", "budget": "5000 USD", "currency": "USD"}
 *
 * Only "workload" is needed. GB = 10^9 bytes. Not for prices or rates: see reports/. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "base/err.h"
#include "base/mem.h"
#include "base/money.h"
#include "model/workload.h"

struct job {
    struct arena arena;
    const char *path;
    const char *workload;          /* resolved: a path is as seen from the current folder */
    double global_batch;           /* NaN = the workload's own, as all figures that the job leaves out */
    double steps, tokens, samples; /* of the run; at most one is not NaN       */
    double dataset_bytes, checkpoint_bytes;
    const char *dataset_at; /* "" = not said */
    double deadline_s;
    struct money budget;
    const char *currency; /* "" = not said; never another one than the budget's */
};

/* ERR_NOT_FOUND, or ERR_PARSE naming the file, the key, what was found and the mend. */
int job_load(const char *path, struct job *out, struct err *e) MUST_CHECK;
void job_free(struct job *j);

/* Loads workload `name` (NULL: the job's) and puts the job's figures over the workload's own. job may be NULL
 * when name is not. */
int job_load_workload(const struct job *j, const char *name, const struct data *data, struct workload *out,
                      struct err *e) MUST_CHECK;

/* Optimizer steps of the run, rounded up: from steps, tokens or samples. NaN when the job says none. */
double job_steps(const struct job *j, const struct workload *w);

#endif
