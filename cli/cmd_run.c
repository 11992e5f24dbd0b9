/* stepcost run: measure this machine and write the record. Opens no device itself: bench/ starts workers. */
#include "base/clock.h"
#include "base/money.h"
#include "base/text.h"
#include "base/units.h"
#include "bench/bench.h"
#include "cli/commands.h"
#include "cli/disks.h"
#include "cli/limits.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "kernels/cuda_driver.h"
#include "model/job.h"
#include "net/net.h"
#include "reports/report.h"
#include "reports/table.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct run_options {
    int tier, format;
    bool cpu, quiet, verbose;
    struct opt_list benches, shapes, dtypes, disks;
    const char *workload, *job, *backend, *scenario, *out, *resume, *offer, *price, *data;
    long long global_batch, devices, threads, seed;
    double seconds, deadline_s, grace_s;
    unsigned long long disk_bytes, dataset_bytes;
};

#define FIELD(name) offsetof(struct run_options, name)
/* clang-format off */
static const struct opt rows[] = {
    {.name = "tier", .key = "tier", .type = OPT_CHOICE, .offset = FIELD(tier), .def = "smoke",
     .choices = tier_names, .value_name = "TIER", .help = "how long and how deep: a table of cases"},
    {.name = "workload", .key = "workload", .type = OPT_STRING, .offset = FIELD(workload),
     .value_name = "NAME", .help = "also measure this training job's own GEMM shapes"},
    {.name = "global-batch", .key = "global_batch", .type = OPT_INT, .offset = FIELD(global_batch), .min = 1,
     .max = 1e9, .value_name = "N", .help = "samples per step, instead of the workload's own"},
    {.name = "job", .type = OPT_STRING, .offset = FIELD(job), .value_name = "FILE",
     .help = "a job.json: its workload, global batch and dataset where these are not given"},
    {.name = "dataset", .key = "dataset_bytes", .type = OPT_SIZE, .offset = FIELD(dataset_bytes),
     .value_name = "SIZE", .help = "of the workload, instead of its own: what an epoch takes to load"},
    {.name = "bench", .key = "benches", .type = OPT_LIST, .offset = FIELD(benches), .value_name = "NAME",
     .help = "only these benchmarks instead of the tier's"},
    {.name = "shape", .key = "shapes", .type = OPT_LIST, .offset = FIELD(shapes), .value_name = "MxNxK",
     .help = "GEMM shapes instead of the square sweep"},
    {.name = "dtype", .key = "dtypes", .type = OPT_LIST, .offset = FIELD(dtypes), .value_name = "DTYPE",
     .help = "number formats instead of the device's usual ones"},
    {.name = "disk", .key = "disks", .type = OPT_LIST, .offset = FIELD(disks), .value_name = "DIR",
     .help = "folders that the benchmark disk measures; default: where the record is written"},
    {.name = "disk-bytes", .key = "disk_bytes", .type = OPT_SIZE, .offset = FIELD(disk_bytes),
     .value_name = "SIZE", .help = "most to write to each of them; never over 5 % of the free space and 4 GB"},
    {.name = "seconds", .key = "seconds", .type = OPT_DURATION, .offset = FIELD(seconds), .min = 0.05,
     .max = 86400, .value_name = "TIME", .help = "time for each case, instead of the tier's"},
    {.name = "backend", .key = "backend", .type = OPT_STRING, .offset = FIELD(backend), .def = "auto",
     .value_name = "NAME", .help = "auto, or a name that `stepcost list` shows"},
    {.name = "cpu", .key = "cpu", .type = OPT_FLAG, .offset = FIELD(cpu),
     .help = "measure the CPU even where an NVIDIA device is present"},
    {.name = "threads", .key = "threads", .type = OPT_INT, .offset = FIELD(threads), .def = "0", .min = 0,
     .max = 4096, .value_name = "N", .help = "threads of a CPU device; 0 = all that the cgroup allows"},
    {.name = "devices", .key = "devices", .type = OPT_INT, .offset = FIELD(devices), .def = "0", .min = 0,
     .max = 1024, .value_name = "N", .help = "measure the first N devices at once; 0 = all"},
    {.name = "scenario", .key = "scenario", .type = OPT_STRING, .offset = FIELD(scenario),
     .value_name = "NAME", .help = "script that the simulator plays (backend sim)"},
    {.name = "out", .type = OPT_STRING, .offset = FIELD(out), .value_name = "FILE",
     .help = "the record; default results/HOST-TIME.jsonl"},
    {.name = "resume", .type = OPT_STRING, .offset = FIELD(resume), .value_name = "FILE",
     .help = "continue this unfinished record with its own settings"},
    {.name = "offer", .type = OPT_STRING, .offset = FIELD(offer), .value_name = "PROVIDER/SKU/REGION",
     .help = "the offer this machine was rented under: its record is evidence grade A for it"},
    {.name = "price", .type = OPT_STRING, .offset = FIELD(price), .value_name = "PRICE",
     .help = "what this machine costs (0.05/h): the cost of the run is shown before it starts"},
    {.name = "deadline", .key = "deadline_s", .type = OPT_DURATION, .offset = FIELD(deadline_s), .min = 1,
     .max = 1e7, .value_name = "TIME",
     .help = "hard limit of the whole run; default: what the tier promises"},
    {.name = "grace", .key = "grace_s", .type = OPT_DURATION, .offset = FIELD(grace_s), .def = "60s",
     .min = 0.5, .max = 86400, .value_name = "TIME",
     .help = "how long a case may stay silent beyond its time before its worker is killed"},
    {.name = "seed", .key = "seed", .type = OPT_INT, .offset = FIELD(seed), .def = "1", .min = 0,
     .max = 1e15, .value_name = "N", .help = "seed of all inputs"},
    {.name = "format", .type = OPT_CHOICE, .offset = FIELD(format), .def = "table", .choices = writer_names,
     .value_name = "FORMAT", .help = "how to print the results"},
    {.name = "data", .type = OPT_STRING, .offset = FIELD(data), .value_name = "DIR",
     .help = "folder whose files replace the built-in tables"},
    {.name = "quiet", .letter = 'q', .type = OPT_FLAG, .offset = FIELD(quiet), .help = "no progress"},
    {.name = "verbose", .letter = 'v', .type = OPT_FLAG, .offset = FIELD(verbose),
     .help = "a line for every case also on a terminal"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost run [OPTION]...",
    .summary = "Measures this machine and writes a record of raw samples; prints the rates and findings.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

/* The one mutable global of the program: a signal handler can reach nothing else. */
static volatile sig_atomic_t stop;

static void on_signal(int number) {
    (void)number;
    stop = 1;
}

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A reader that went away or a quota that is full fails one write; it does not end the run. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* A GPU node is never ranked by its CPU unasked. */
static int choose_backend(const struct run_options *o, const char **out, struct err *e) {
    struct nvidia_presence nvidia = inventory_nvidia("");
    *out = o->cpu ? "cpu" : o->backend;
    if (strcmp(*out, "auto") != 0)
        return 0;
    if (nvidia.devices > 0)
        return cuda_driver_explain(nvidia.driver, nvidia.devices, e);
    *out = "cpu";
    return 0;
}

/* "aws/p4d.24xlarge/us-east-1" -> {"provider", "sku", "region"}; the region may be left out. */
static json_t *parse_offer(const char *text, struct err *e) {
    size_t provider_length = strcspn(text, "/");
    const char *sku = text + provider_length + (text[provider_length] == '/');
    size_t sku_length = strcspn(sku, "/");
    const char *region = sku[sku_length] ? sku + sku_length + 1 : "";
    json_t *offer = NULL;
    if (provider_length > 0 && sku_length > 0)
        offer = json_pack("{s:s%, s:s%, s:s}", "provider", text, provider_length, "sku", sku, sku_length,
                          "region", region);
    if (!offer) /* json_pack takes UTF-8 only */
        (void)err_set(e, ERR_USAGE,
                      "--offer: \"%s\" is not PROVIDER/SKU/REGION in UTF-8 (aws/p4d.24xlarge/us-east-1)",
                      text);
    return offer;
}

static int parse_dtypes(const struct opt_list *words, enum dtype *out, size_t limit, struct err *e) {
    if (words->count > limit)
        return err_set(e, ERR_USAGE, "--dtype: at most %zu formats, not %zu", limit, words->count);
    for (size_t i = 0; i < words->count; i++)
        if (dtype_parse(words->items[i], &out[i], e))
            return err_wrap(e, "--dtype");
    return 0;
}

/* results/HOST-20261130T081500Z.jsonl, in a folder that is made when it is not there. */
static char *default_record_path(struct err *e) {
    char host[64] = "host", wall[CLOCK_TEXT_SIZE], compact[CLOCK_TEXT_SIZE];
    gethostname(host, sizeof host - 1);
    clock_wall_text(wall);
    size_t used = 0;
    for (const char *c = wall; *c; c++)
        if (*c != '-' && *c != ':')
            compact[used++] = *c;
    compact[used] = '\0';
    if (mkdir("results", 0777) && errno != EEXIST) {
        (void)err_set(e, ERR_IO, "results: cannot make this folder: %s; name the record with --out FILE",
                      strerror(errno));
        return NULL;
    }
    return xasprintf("results/%s-%s.jsonl", host, compact);
}

/* --resume: the settings of the record rule, so that the plan is the same. */
static int restore_settings(struct run_options *o, struct record *r, struct err *e) {
    const char *path = o->resume;
    if (record_read(path, r, e))
        return -1;
    opt_list_free(&o->benches);
    opt_list_free(&o->shapes);
    opt_list_free(&o->dtypes);
    if (opt_from_json(&table, json_object_get(r->head, "settings"), o, e))
        return err_wrap(e, "--resume %s", path);
    return 0;
}

static int check_names(const struct run_options *o, struct err *e) {
    const char *names[32];
    size_t count = 0;
    while (count < 32 && bench_at(count)) {
        names[count] = bench_at(count)->name;
        count++;
    }
    for (size_t i = 0; i < o->benches.count; i++) {
        const char *word = o->benches.items[i];
        const char *near = text_nearest(word, names, count);
        if (!bench_find(word))
            return err_set(e, ERR_USAGE, "--bench: unknown benchmark \"%s\"%s%s%s; stepcost list shows them",
                           word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return 0;
}

static int show_results(const struct run_options *o, const char *path, const struct data *data,
                        struct money per_hour, struct err *e) {
    struct record r;
    if (record_read(path, &r, e))
        return -1;
    struct run_view view = {.format = o->format, .per_hour = per_hour};
    int result = run_report_print(&r, data, &view, stdout, e);
    record_free(&r);
    return result;
}

/* What the run as a whole came to: nothing measured, unfinished, or with failed cases. */
static int judge_summary(const struct run_summary *s, const char *path, struct err *e) {
    if (!s->finished)
        return err_set(e, ERR_UNFINISHED, "the run is unfinished; stepcost run --resume %s goes on", path);
    if (s->measured == 0)
        return err_set(e, ERR_NO_DEVICE, "nothing could be measured: the record %s says why for each case",
                       path);
    if (s->failed > 0)
        return err_set(e, ERR_VERDICT,
                       "%zu of %zu cases failed and %zu were not tested; the record %s says why", s->failed,
                       s->planned, s->not_tested, path);
    return 0;
}

static void say_limits(const struct run_request *r) {
    struct text text = {0};
    text_add(&text, "limits: ");
    if (limits_describe(r->host, &text))
        r->say(r->say_context, &(struct run_progress){.text = text_get(&text), .notice = true});
    text_free(&text);
}

static int measure(const struct run_options *o, const struct run_request *r, struct err *e) {
    struct data data = {.folder = o->data};
    struct run_summary summary;
    catch_signals();
    say_limits(r);
    int result = supervisor_run(r, &summary, e);
    progress_end(r->say_context);
    if (result)
        return -1;
    const struct progress *progress = r->say_context;
    if (show_results(o, r->record_path, &data, progress->price.per_hour, e))
        return -1;
    if (writer_is_for_people(o->format))
        printf("record: %s\n", r->record_path);
    return judge_summary(&summary, r->record_path, e);
}

/* What a run needs and owns beside its options. */
struct run_inputs {
    struct job job;
    struct workload workload;
    enum dtype dtypes[DTYPE_COUNT];
    struct record old; /* of --resume: its settings are borrowed by the options */
    struct progress progress;
    const char *backend;
    char *made_path;
    struct arena arena;
    json_t *offer, *settings, *host;
};

static void inputs_free(struct run_inputs *in) {
    json_decref(in->settings);
    json_decref(in->host);
    json_decref(in->offer);
    record_free(&in->old);
    workload_free(&in->workload);
    job_free(&in->job);
    free(in->made_path);
    arena_free(&in->arena);
}

/* The words given rule, then the job, then the workload file. A record that is resumed brings its own. */
static int read_workload(struct run_options *o, struct run_inputs *in, const struct data *data,
                         struct err *e) {
    if (o->job && !o->resume) {
        if (job_load(o->job, &in->job, e))
            return err_wrap(e, "--job");
        if (!o->workload)
            o->workload = in->job.workload;
        if (o->global_batch == OPT_INT_NONE && !isnan(in->job.global_batch))
            o->global_batch = (long long)in->job.global_batch;
        if (o->dataset_bytes == OPT_SIZE_NONE && !isnan(in->job.dataset_bytes))
            o->dataset_bytes = (unsigned long long)in->job.dataset_bytes;
    }
    if (o->workload && workload_load(data, o->workload, &in->workload, e))
        return -1;
    if (o->global_batch != OPT_INT_NONE)
        in->workload.global_batch = o->global_batch;
    return 0;
}

static bool names_bench(const struct run_options *o, const char *name) {
    for (size_t i = 0; i < o->benches.count; i++)
        if (strcmp(o->benches.items[i], name) == 0)
            return true;
    return false;
}

/* A record that is resumed brings its own. A simulated machine has no disk. */
static int choose_disks(struct run_options *o, struct run_inputs *in, struct err *e) {
    bool named = names_bench(o, "disk");
    bool tiered = o->benches.count == 0 && o->tier != TIER_SMOKE && strcmp(in->backend, "sim") != 0;
    struct disks disks = {.folders = &o->disks,
                          .bytes = &o->disk_bytes,
                          .record_path = o->out ? o->out : in->made_path,
                          .wanted = named || tiered,
                          .named = named,
                          .arena = &in->arena};
    if (o->resume)
        return 0;
    return disks_choose(&disks, e);
}

/* Everything that can be wrong with the words of the user is found here, before a worker starts. */
static int read_inputs(struct run_options *o, struct run_inputs *in, struct err *e) {
    struct data data = {.folder = o->data};
    progress_begin(&in->progress, o->quiet, o->verbose);
    if (o->price && money_parse_price(o->price, MONEY_MONTH_HOURS, &in->progress.price, e))
        return err_wrap(e, "--price");
    if (o->resume && restore_settings(o, &in->old, e))
        return -1;
    if (check_names(o, e) || parse_dtypes(&o->dtypes, in->dtypes, DTYPE_COUNT, e) ||
        choose_backend(o, &in->backend, e))
        return -1;
    if (read_workload(o, in, &data, e))
        return -1;
    if (o->offer && !(in->offer = parse_offer(o->offer, e)))
        return -1;
    if (!o->resume && !o->out && !(in->made_path = default_record_path(e)))
        return -1;
    if (choose_disks(o, in, e))
        return -1;
    in->settings = opt_to_json(&table, o);
    in->host = inventory_read("");
    json_object_set_new(in->host, "net", net_host_read(""));
    return 0;
}

static int run_with(struct run_options *o, struct err *e) {
    struct run_inputs in = {0};
    int result = read_inputs(o, &in, e);
    if (!result) {
        struct run_request r = {
            .backend = in.backend,
            .config = {.threads = (int)o->threads, .scenario = o->scenario},
            .tier = (enum tier)o->tier,
            .benches = o->benches.items,
            .bench_count = o->benches.count,
            .plan = {.devices = o->devices,
                     .workload = o->workload ? &in.workload : NULL,
                     .shapes = o->shapes.items,
                     .shape_count = o->shapes.count,
                     .dtypes = in.dtypes,
                     .dtype_count = o->dtypes.count,
                     .seconds = o->seconds,
                     .disks = o->disks.items,
                     .disk_count = o->disks.count,
                     .disk_bytes = (double)o->disk_bytes},
            .record_path = o->resume ? o->resume
                           : o->out  ? o->out
                                     : in.made_path,
            .resume = o->resume != NULL,
            .deadline_s = o->deadline_s,
            .grace_s = o->grace_s,
            .seed = (uint64_t)o->seed,
            .settings = in.settings,
            .host = in.host,
            .offer = in.offer,
            .say = progress_say,
            .say_context = &in.progress,
            .stop = &stop,
        };
        result = measure(o, &r, e);
    }
    inputs_free(&in);
    return result;
}

static int run(int argc, char **argv, struct err *e) {
    struct run_options o;
    bool done;
    int result = command_parse(&table, argc, argv, &o, NULL, &done, e);
    if (!result && !done)
        result = run_with(&o, e);
    opt_free(&table, &o);
    return result;
}

const struct command command_run = {
    .name = "run", .summary = "measure this machine and write a record", .options = &table, .run = run};
