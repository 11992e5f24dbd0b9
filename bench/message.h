/* What a supervisor and its workers say to each other: one JSON object a line, told apart by "type".
 *
 *   worker -> supervisor   ready (device, count) | samples (body of a record line) | done | sync | abort
 *                          | error (the worker ends)
 *   supervisor -> worker   case | reply (to sync) | quit */
#ifndef BENCH_MESSAGE_H
#define BENCH_MESSAGE_H

#include "base/proc.h"
#include "bench/bench.h"

/* Sends and drops the reference. */
int message_send(struct proc_channel *channel, json_t *message, struct err *e) MUST_CHECK;
/* An object with a "type", or NULL. New reference. */
json_t *message_parse(const char *line, struct err *e) MUST_CHECK;
/* "" when it has none; borrowed. */
const char *message_type(const json_t *message);

json_t *message_ready(const struct device_info *info, int count);
int message_read_ready(const json_t *message, struct device_info *info, int *count, struct err *e) MUST_CHECK;

/* A case for one rank, with all that its runner needs. */
struct message_case {
    struct bench_case c; /* c.bench is borrowed from the message */
    int attempt, rank, size;
    uint64_t seed;
    double goal;
};
json_t *message_case(const struct message_case *m);
int message_read_case(const json_t *message, struct message_case *out, struct err *e) MUST_CHECK;

json_t *message_done(const struct runner_result *result);
int message_read_done(const json_t *message, struct runner_result *out, struct err *e) MUST_CHECK;

/* type: "error" or "abort". Reading one sets *e to what was sent, and gives -1. */
json_t *message_error(const char *type, const struct err *e);
int message_read_error(const json_t *message, struct err *e);

#endif
