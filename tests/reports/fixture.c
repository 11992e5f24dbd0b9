#include "tests/reports/fixture.h"

#include "base/rng.h"
#include "model/record_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const struct data toy_data = {.folder = TEST_DATA "/toy"};
const struct data own_data = {.folder = NULL};

enum { DEFAULT_SAMPLES = 64 };
static const double noise = 0.001;

static void must(int result, const struct err *e) {
    if (result)
        fail_msg("%s", e->text);
}

static void append(struct record_writer *w, const char *kind, json_t *body) {
    struct err e;
    must(record_append(w, kind, body, &e), &e);
    json_decref(body);
}

static void put_fact(json_t *facts, const char *key, const char *value) {
    if (value)
        json_object_set_new(facts, key, json_string(value));
}

static void append_head(struct record_writer *w, const struct fixture_record *f) {
    json_t *facts = json_object(), *devices = json_array();
    put_fact(facts, "openblas_corename", f->core);
    put_fact(facts, "cpu_features", f->features);
    put_fact(facts, "emulated_gemm", f->emulated);
    put_fact(facts, "env.OPENBLAS_CORETYPE", f->forced_core);
    struct record_device_line device = {.name = f->device,
                                        .memory_bytes = f->memory_bytes,
                                        .cache_bytes = 1e6,
                                        .clock_hz = NAN,
                                        .units = 1,
                                        .is_gpu = f->is_gpu,
                                        .facts = facts};
    for (int i = 0; i < (f->devices ? f->devices : 1); i++)
        json_array_append_new(devices, record_device_body(&device));
    json_t *offer = f->provider ? json_pack("{s:s, s:s, s:s}", "provider", f->provider, "sku", f->sku,
                                            "region", f->region ? f->region : "")
                                : NULL;
    struct record_head_line head = {.program = "test",
                                    .backend = f->simulated ? "sim"
                                               : f->is_gpu  ? "cuda"
                                                            : "cpu",
                                    .simulated = f->simulated,
                                    .devices = devices,
                                    .offer = offer};
    append(w, "head", record_head_body(&head));
    json_decref(facts);
    json_decref(devices);
    json_decref(offer);
}

static void append_samples(struct record_writer *w, const struct fixture_case *c, int rank, size_t n) {
    const char *unit;
    double *columns = xcalloc(5 * n, sizeof *columns);
    double *start_s = columns, *iterations = columns + n, *elapsed_s = columns + 2 * n;
    double *clock_hz = columns + 3 * n, *throttled_s = columns + 4 * n;
    double work = op_work(&c->op, &unit);
    bool last = rank == (c->ranks ? c->ranks : 1) - 1;
    double rate = c->rate * (last && c->slowest > 0 ? c->slowest : 1);
    for (size_t i = 0; i < n; i++) {
        start_s[i] = i ? start_s[i - 1] + elapsed_s[i - 1] : 0;
        iterations[i] = 1;
        elapsed_s[i] = work / rate * (1 + noise * rng_normal_at(7 + (uint64_t)rank, i));
        if (c->slowdown)
            elapsed_s[i] *= c->slowdown(i, n);
        clock_hz[i] = c->clock_hz ? c->clock_hz(i, n) : NAN;
        throttled_s[i] = c->throttled_s ? c->throttled_s(i, n) : NAN;
    }
    struct record_samples_line line = {.id = c->id,
                                       .attempt = 1,
                                       .rank = rank,
                                       .work_per_iteration = work,
                                       .unit = unit,
                                       .count = n,
                                       .start_s = start_s,
                                       .iterations = iterations,
                                       .elapsed_s = elapsed_s};
    if (c->clock_hz || c->throttled_s)
        line.telemetry = (struct record_telemetry){
            .count = n, .t_s = start_s, .clock_hz = clock_hz, .throttled_s = throttled_s};
    append(w, "samples", record_samples_body(&line));
    free(columns);
}

static void append_case(struct record_writer *w, const struct fixture_case *c) {
    struct record_case_line line = {
        .id = c->id, .bench = "test", .op = &c->op, .attempt = 1, .seconds = 1, .mandatory = true};
    append(w, "case", record_case_body(&line));
    for (int rank = 0; rank < (c->ranks ? c->ranks : 1) && c->rate > 0; rank++)
        append_samples(w, c, rank, c->samples ? c->samples : DEFAULT_SAMPLES);
    struct record_done_line done = {.id = c->id,
                                    .attempt = 1,
                                    .status = c->status,
                                    .reason = c->reason,
                                    .warmed_up = true,
                                    .host = c->host};
    append(w, "done", record_done_body(&done));
}

void fixture_write(const struct fixture_record *f, struct record *out) {
    struct err e;
    char folder[] = "/tmp/stepcost-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/node.jsonl", folder);
    struct record_writer *w = record_create(path, &e);
    if (!w)
        fail_msg("%s", e.text);
    append_head(w, f);
    for (size_t i = 0; i < f->case_count; i++)
        append_case(w, &f->cases[i]);
    struct record_end_line end = {.cases = f->case_count, .measured = f->case_count};
    append(w, "end", record_end_body(&end));
    record_close(w);
    must(record_read(path, out, &e), &e);
    unlink(path);
    rmdir(folder);
}
