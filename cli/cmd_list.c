/* stepcost list: what this program can do here: backends and whether they start, benchmarks, tiers,
 * workloads. */
#include "base/units.h"
#include "bench/bench.h"
#include "cli/commands.h"
#include "kernels/cuda_driver.h"
#include "kernels/sim/scenario.h"
#include "model/data.h"
#include "net/net.h"

#include <string.h>

struct list_options {
    bool options, inventory;
};

/* clang-format off */
static const struct opt rows[] = {
    {.name = "options", .type = OPT_FLAG, .offset = offsetof(struct list_options, options),
     .help = "print every command's options as Markdown, as the README holds them"},
    {.name = "inventory", .type = OPT_FLAG, .offset = offsetof(struct list_options, inventory),
     .help = "print what this host says of itself as JSON, as a record's head holds it"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost list [OPTION]...",
    .summary = "Lists backends (and whether they can start here), benchmarks, tiers and workloads.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

static void list_options(void) {
    for (const struct command *const *c = commands; *c; c++) {
        if (!(*c)->options)
            continue;
        printf("### %s\n\n", (*c)->options->usage);
        opt_print_markdown(stdout, (*c)->options);
        putchar('\n');
    }
}

static void print_inventory(void) {
    json_t *host = inventory_read("");
    json_object_set_new(host, "net", net_host_read(""));
    json_dumpf(host, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(host);
}

static void list_backends(void) {
    struct backend_config config = {0};
    puts("backends");
    for (size_t i = 0; backend_name(i); i++) {
        struct err e = {0};
        const struct backend *b = backend_find(backend_name(i), &e);
        int devices = b ? b->count(&config, &e) : 0;
        if (devices > 0)
            printf("  %-10s %d device%s; %s\n", b->name, devices, devices == 1 ? "" : "s", b->summary);
        else
            printf("  %-10s cannot start: %s\n", backend_name(i), e.text);
    }
    struct nvidia_presence nvidia = inventory_nvidia("");
    if (nvidia.devices > 0) {
        struct err e = {0};
        (void)cuda_driver_explain(nvidia.driver, nvidia.devices, &e);
        printf("  %s\n", e.text);
    }
}

static void list_benchmarks(void) {
    char text[UNITS_TEXT_SIZE];
    puts("\nbenchmarks");
    for (size_t i = 0; bench_at(i); i++)
        printf("  %-10s %s\n", bench_at(i)->name, bench_at(i)->summary);
    puts("\ntiers");
    for (int i = 0; tier_names[i]; i++)
        printf("  %-10s at most %s\n", tier_names[i],
               units_format_duration(tier_seconds((enum tier)i), text));
}

static void list_scenarios(void) {
    puts("\nscenarios of the simulator (run --backend sim --scenario NAME)");
    for (size_t i = 0; scenario_at(i); i++)
        printf("  %-10s %s%s%s%s\n", scenario_at(i)->name, scenario_at(i)->summary,
               scenario_at(i)->parameters[0] ? " (" : "", scenario_at(i)->parameters,
               scenario_at(i)->parameters[0] ? ")" : "");
}

static int list_workloads(struct err *e) {
    struct data data = {0};
    puts("\nworkloads");
    for (size_t i = 0; data_embedded_name("workloads/", i); i++) {
        struct workload w;
        char name[128];
        snprintf(name, sizeof name, "%s", data_embedded_name("workloads/", i) + strlen("workloads/"));
        char *dot = strrchr(name, '.');
        if (dot)
            *dot = '\0';
        if (workload_load(&data, name, &w, e))
            return -1;
        printf("  %-12s %s\n", w.name, w.title);
        workload_free(&w);
    }
    return 0;
}

static int run(int argc, char **argv, struct err *e) {
    struct list_options o;
    bool done;
    if (command_parse(&table, argc, argv, &o, NULL, &done, e))
        return -1;
    if (done)
        return 0;
    if (o.options) {
        list_options();
        return 0;
    }
    if (o.inventory) {
        print_inventory();
        return 0;
    }
    list_backends();
    list_benchmarks();
    list_scenarios();
    return list_workloads(e);
}

const struct command command_list = {.name = "list",
                                     .summary = "list backends, benchmarks, tiers and workloads",
                                     .options = &table,
                                     .run = run};
