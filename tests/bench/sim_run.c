#include "tests/bench/sim_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of "--name=value", NULL for another word. */
static const char *value_of(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : NULL;
}

bool sim_run_is_worker(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "worker") != 0)
        return false;
    const char *backend = "", *value;
    struct backend_config config = {0};
    int device = 0;
    for (int i = 2; i < argc; i++) {
        if ((value = value_of(argv[i], "--backend=")) != NULL)
            backend = value;
        if ((value = value_of(argv[i], "--device=")) != NULL)
            device = atoi(value);
        if ((value = value_of(argv[i], "--threads=")) != NULL)
            config.threads = atoi(value);
        if ((value = value_of(argv[i], "--scenario=")) != NULL)
            config.scenario = value;
        if ((value = value_of(argv[i], "--folder=")) != NULL)
            config.folder = value;
    }
    struct err e;
    return worker_main(backend, &config, device, &e) == 0;
}

struct run_request sim_run_request(const char *scenario, const char *path, const char *const *shapes,
                                   size_t count) {
    static const char *const benches[] = {"gemm"};
    static const enum dtype types[] = {DTYPE_BF16};
    return (struct run_request){
        .backend = "sim",
        .config = {.scenario = scenario},
        .tier = TIER_SMOKE,
        .benches = benches,
        .bench_count = 1,
        .plan = {.shapes = shapes, .shape_count = count, .dtypes = types, .dtype_count = 1, .seconds = 0.2},
        .record_path = path,
        .deadline_s = NAN,
        .grace_s = 0.5,
        .seed = 1,
        .settings = json_pack("{s:s}", "backend", "sim"),
        .host = json_pack("{s:s}", "hostname", "testhost"),
    };
}

void sim_run_free(struct run_request *r) {
    json_decref(r->settings);
    json_decref(r->host);
}

const char *sim_run_path(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "/tmp/stepcost-test-%d-%s.jsonl", (int)getpid(), name);
    unlink(path);
    return path;
}
