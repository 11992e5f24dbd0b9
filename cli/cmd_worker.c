/* stepcost worker: the process that opens one device and runs cases. Started by `stepcost run` only. */
#include "base/proc.h"
#include "bench/bench.h"
#include "cli/commands.h"

#include <fcntl.h>
#include <stddef.h>

struct worker_options {
    const char *backend, *scenario, *folder;
    long long device, threads;
};

/* clang-format off */
static const struct opt rows[] = {
    {.name = "backend", .type = OPT_STRING, .offset = offsetof(struct worker_options, backend),
     .value_name = "NAME", .help = "backend that drives the device"},
    {.name = "device", .type = OPT_INT, .offset = offsetof(struct worker_options, device), .def = "0",
     .min = 0, .max = 1023, .value_name = "N", .help = "index of the device"},
    {.name = "threads", .type = OPT_INT, .offset = offsetof(struct worker_options, threads), .def = "0",
     .min = 0, .max = 4096, .value_name = "N", .help = "threads of a CPU device; 0 = all that are allowed"},
    {.name = "scenario", .type = OPT_STRING, .offset = offsetof(struct worker_options, scenario),
     .value_name = "NAME", .help = "script that the simulator plays"},
    {.name = "folder", .type = OPT_STRING, .offset = offsetof(struct worker_options, folder),
     .value_name = "DIR", .help = "folder that backend disk measures"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost worker --backend NAME [OPTION]...",
    .summary = "Internal: runs cases for `stepcost run` over a socket it inherits.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

static int run(int argc, char **argv, struct err *e) {
    struct worker_options o;
    bool done;
    if (command_parse(&table, argc, argv, &o, NULL, &done, e))
        return -1;
    if (done)
        return 0;
    if (!o.backend || fcntl(PROC_CHILD_FD, F_GETFD) < 0)
        return err_set(e, ERR_USAGE, "stepcost worker is started by `stepcost run` and not by hand");
    struct backend_config config = {.threads = (int)o.threads, .scenario = o.scenario, .folder = o.folder};
    return worker_main(o.backend, &config, (int)o.device, e);
}

const struct command command_worker = {.name = "worker", .summary = "internal", .run = run};
