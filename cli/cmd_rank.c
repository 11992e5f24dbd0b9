/* stepcost rank: offers by real cost per training step, from records, references and prices. */
#include "cli/commands.h"
#include "cli/rank_report.h"
#include "reports/report.h"
#include "reports/table.h"

#include <math.h>
#include <stddef.h>

struct rank_options {
    const char *job, *workload, *price, *currency, *out, *data;
    struct opt_list offers, records;
    int format;
    bool all, allow_simulated, accept_implausible;
    long long global_batch, top, draws, seed;
    double checkpoint_s, restart_s;
};

#define FIELD(name) offsetof(struct rank_options, name)
/* clang-format off */
static const struct opt rows[] = {
    {.name = "workload", .type = OPT_STRING, .offset = FIELD(workload),
     .value_name = "NAME", .help = "training job: a name that `stepcost list` shows, or a .json file; default: the job's, else gpt2-124m"},
    {.name = "global-batch", .type = OPT_INT, .offset = FIELD(global_batch), .min = 1, .max = 1e9,
     .value_name = "N", .help = "samples per step, instead of the job's or the workload's own"},
    {.name = "job", .type = OPT_STRING, .offset = FIELD(job), .value_name = "FILE",
     .help = "a job.json: workload, length of the run, deadline, budget, currency"},
    {.name = "offers", .type = OPT_LIST, .offset = FIELD(offers), .value_name = "FILE",
     .help = "price files; default: the example prices that come with the program"},
    {.name = "record", .type = OPT_LIST, .offset = FIELD(records), .value_name = "FILE",
     .help = "records of `stepcost run`: evidence for their offer, device model and this machine"},
    {.name = "price", .type = OPT_STRING, .offset = FIELD(price), .value_name = "PRICE",
     .help = "what the machine of the records costs (0.05/h, 35 EUR/month); default: unknown"},
    {.name = "currency", .type = OPT_STRING, .offset = FIELD(currency), .value_name = "CUR",
     .help = "rank the offers in this currency (EUR); default: the job's, else that of most offers"},
    {.name = "top", .type = OPT_INT, .offset = FIELD(top), .def = "15", .min = 1, .max = 1e9,
     .value_name = "N", .help = "rows of each kind to show in the table"},
    {.name = "all", .type = OPT_FLAG, .offset = FIELD(all), .help = "show every row in the table"},
    {.name = "checkpoint", .type = OPT_DURATION, .offset = FIELD(checkpoint_s), .min = 0.001,
     .max = 86400, .value_name = "TIME", .help = "spot: time to write one checkpoint; default: its bytes at 1 GB/s"},
    {.name = "restart", .type = OPT_DURATION, .offset = FIELD(restart_s), .def = "5m", .min = 0,
     .max = 86400, .value_name = "TIME", .help = "spot: time to get going again after an interruption"},
    {.name = "draws", .type = OPT_INT, .offset = FIELD(draws), .def = "1000", .min = 100, .max = 100000,
     .value_name = "N", .help = "resampling draws for intervals and ties"},
    {.name = "seed", .type = OPT_INT, .offset = FIELD(seed), .def = "1", .min = 0, .max = 1e15,
     .value_name = "N", .help = "seed of the resampling"},
    {.name = "allow-simulated", .type = OPT_FLAG, .offset = FIELD(allow_simulated),
     .help = "also take records of the simulator (for trying the tool)"},
    {.name = "accept-implausible", .type = OPT_FLAG, .offset = FIELD(accept_implausible),
     .help = "also rank offers whose price is far below any known for their GPU"},
    {.name = "format", .type = OPT_CHOICE, .offset = FIELD(format), .def = "table", .choices = writer_names,
     .value_name = "FORMAT", .help = "how to print"},
    {.name = "out", .type = OPT_STRING, .offset = FIELD(out), .value_name = "FILE",
     .help = "write there instead of the standard output"},
    {.name = "data", .type = OPT_STRING, .offset = FIELD(data), .value_name = "DIR",
     .help = "folder whose files replace the built-in tables"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost rank [OPTION]...",
    .summary = "Ranks offers by real cost per training step: fit before price, measured before published,\n"
               "ties where the evidence cannot tell rows apart.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

/* What the ranking reads, all of it opened before anything is printed. */
struct rank_inputs {
    struct data data;
    struct gpu_table gpus;
    struct job job;
    struct workload workload;
    struct offer_set offers;
    struct record *records;
    size_t record_count;
};

static void inputs_free(struct rank_inputs *in) {
    for (size_t i = 0; i < in->record_count; i++)
        record_free(&in->records[i]);
    free(in->records);
    offers_free(&in->offers);
    workload_free(&in->workload);
    job_free(&in->job);
    gpu_table_free(&in->gpus);
}

static void note_state(const struct record *r) {
    if (r->state == RECORD_BROKEN)
        fprintf(stderr, "notice: %s is broken at line %zu: only what stands before it counts\n", r->path,
                r->broken_line);
    else if (r->state == RECORD_UNFINISHED)
        fprintf(stderr,
                "notice: %s is unfinished: only its finished cases count; stepcost run --resume %s goes on\n",
                r->path, r->path);
}

static int read_inputs(const struct rank_options *o, struct rank_inputs *in, struct err *e) {
    const struct job *job = o->job ? &in->job : NULL;
    const char *workload = o->workload || job ? o->workload : "gpt2-124m";
    in->data.folder = o->data;
    if (o->job && job_load(o->job, &in->job, e))
        return err_wrap(e, "--job");
    if (gpu_table_load(&in->data, &in->gpus, e) ||
        job_load_workload(job, workload, &in->data, &in->workload, e) ||
        offers_read_files(&in->offers, &in->gpus, &in->data, o->offers.items, o->offers.count, e))
        return -1;
    if (o->global_batch != OPT_INT_NONE)
        in->workload.global_batch = o->global_batch;
    in->records = xcalloc(o->records.count + 1, sizeof *in->records);
    for (size_t i = 0; i < o->records.count; i++, in->record_count++) {
        if (record_read(o->records.items[i], &in->records[i], e))
            return -1;
        note_state(&in->records[i]);
    }
    return 0;
}

static int rank_and_print(const struct rank_options *o, const struct rank_request *request, struct err *e) {
    struct ranking ranking = {0};
    struct rank_view view = {.format = o->format, .top = o->all ? 0 : (size_t)o->top};
    if (o->offers.count == 0)
        view.prices_note =
            "prices: example extracts that come with the program, old snapshots and not what you "
            "would pay today; give current files with --offers";
    FILE *out = NULL;
    int result = -1;
    if (rank_offers(request, &ranking, e) || !(out = command_open_output(o->out, e)))
        goto out;
    rank_report_print(&ranking, request, &view, out);
    result = command_close_output(out, o->out, e);
out:
    ranking_free(&ranking);
    return result;
}

static int rank(const struct rank_options *o, struct err *e) {
    struct rank_inputs in = {0};
    struct price own = {.per_hour = money_unknown()};
    if (o->price && money_parse_price(o->price, MONEY_MONTH_HOURS, &own, e))
        return err_wrap(e, "--price");
    int result = read_inputs(o, &in, e);
    if (!result) {
        struct rank_request request = {
            .workload = &in.workload,
            .offers = &in.offers,
            .gpus = &in.gpus,
            .data = &in.data,
            .records = in.records,
            .record_count = in.record_count,
            .own_price = own,
            .currency = o->currency                  ? o->currency
                        : o->job && *in.job.currency ? in.job.currency
                                                     : NULL,
            .job = o->job ? &in.job : NULL,
            .allow_simulated = o->allow_simulated,
            .accept_implausible = o->accept_implausible,
            .checkpoint_s = o->checkpoint_s,
            .restart_s = o->restart_s,
            .seed = (uint64_t)o->seed,
            .draws = (size_t)o->draws,
        };
        result = rank_and_print(o, &request, e);
    }
    inputs_free(&in);
    return result;
}

static int run(int argc, char **argv, struct err *e) {
    struct rank_options o;
    bool done;
    int result = command_parse(&table, argc, argv, &o, NULL, &done, e);
    if (!result && !done)
        result = rank(&o, e);
    opt_free(&table, &o);
    return result;
}

const struct command command_rank = {
    .name = "rank", .summary = "rank offers by real cost per training step", .options = &table, .run = run};
