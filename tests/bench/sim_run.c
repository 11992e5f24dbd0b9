#include "tests/bench/sim_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sim_run_is_worker(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "worker") != 0)
        return false;
    struct backend_config config = {0};
    const char *backend = "";
    int device = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--backend") == 0)
            backend = argv[i + 1];
        if (strcmp(argv[i], "--device") == 0)
            device = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--threads") == 0)
            config.threads = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--scenario") == 0)
            config.scenario = argv[i + 1];
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
