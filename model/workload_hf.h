/* A Hugging Face config.json as a workload file: the shapes are the model's, the job around them (sequence,
 * global batch) the user's. Not a reader of weights; the parameter figure is what the shapes add up to. */
#ifndef MODEL_WORKLOAD_HF_H
#define MODEL_WORKLOAD_HF_H

#include "base/err.h"

#include <jansson.h>
#include <stdint.h>

struct workload_hf {
    const char *config;   /* path of config.json, for sources and messages                      */
    const char *name;     /* of the workload; NULL = the end of its _name_or_path, else model_type */
    int64_t sequence;     /* 0 = the config's context, at most 4096                            */
    int64_t global_batch; /* sequences; 0 = as many as make 524,288 tokens                       */
};
/* The file's content, a new reference; it loads with workload_load. NULL: ERR_NOT_FOUND for an unknown
 * model_type (names the known ones), ERR_PARSE naming the key and what was found otherwise. */
json_t *workload_from_hf(const struct workload_hf *r, struct err *e) MUST_CHECK;

#endif
