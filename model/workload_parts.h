/* Between workload_read.c (JSON, and the choice by name) and workload_list.c (CSV). Private to them. */
#ifndef MODEL_WORKLOAD_PARTS_H
#define MODEL_WORKLOAD_PARTS_H

#include "model/workload.h"

/* Index of word in the NULL-terminated names, or -1 with an error that lists them. */
int workload_find_word(const char *word, const char *const *names, struct err *e) MUST_CHECK;
/* A list of products into a zeroed *out; errors name file, line and column. */
int workload_read_list(const char *path, struct workload *out, struct err *e) MUST_CHECK;

#endif
