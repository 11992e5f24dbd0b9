/* stepcost workload: the training jobs there are, what one is, how it lies on devices; and new ones made of a
 * Hugging Face config.json. */
#include "base/units.h"
#include "cli/commands.h"
#include "model/workload.h"
#include "model/workload_hf.h"
#include "reports/table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct workload_options {
    int format;
    long long devices, sequence, batch;
    unsigned long long memory_bytes;
    const char *dtype, *name, *out, *data;
};

#define FIELD(name) offsetof(struct workload_options, name)
/* clang-format off */
static const struct opt rows[] = {
    {.name = "devices", .type = OPT_INT, .offset = FIELD(devices), .def = "1", .min = 1, .max = 1024,
     .value_name = "N", .help = "lay it on N devices of one node"},
    {.name = "memory", .type = OPT_SIZE, .offset = FIELD(memory_bytes), .min = 1e6, .max = 1e15,
     .value_name = "SIZE", .help = "memory of each device (80GB, 80GiB): shows the layout and its bytes"},
    {.name = "dtype", .type = OPT_STRING, .offset = FIELD(dtype), .value_name = "DTYPE",
     .help = "number format; default: the first of the workload's"},
    {.name = "name", .type = OPT_STRING, .offset = FIELD(name), .value_name = "NAME",
     .help = "from-hf: the workload's name; default: the model's"},
    {.name = "sequence", .type = OPT_INT, .offset = FIELD(sequence), .def = "0", .min = 0, .max = 1e7,
     .value_name = "S", .help = "from-hf: tokens of a sequence; 0 = the model's context, at most 4096"},
    {.name = "batch", .type = OPT_INT, .offset = FIELD(batch), .def = "0", .min = 0, .max = 1e9,
     .value_name = "B", .help = "from-hf: sequences of an optimizer step; 0 = 524288 tokens of them"},
    {.name = "format", .type = OPT_CHOICE, .offset = FIELD(format), .def = "table", .choices = writer_names,
     .value_name = "FORMAT", .help = "how to print"},
    {.name = "out", .type = OPT_STRING, .offset = FIELD(out), .value_name = "FILE",
     .help = "write there instead of the standard output"},
    {.name = "data", .type = OPT_STRING, .offset = FIELD(data), .value_name = "DIR",
     .help = "folder whose files replace the built-in tables"},
};
/* clang-format on */

static const struct opt_table table = {
    .usage = "stepcost workload [NAME | from-hf CONFIG.json] [OPTION]...",
    .summary = "Lists the training jobs; shows one: its shapes, parameters, work per step, and with --memory "
               "how it\n"
               "lies on devices. NAME may be a .json file, or a .csv list of products "
               "(m,n,k,batch,dtype,count,phase).\n"
               "from-hf writes a workload file from a Hugging Face config.json.",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
};

/* ---- list ---- */

static const struct column list_columns[] = {
    {"name", "name", COLUMN_TEXT},
    {"kind", "kind", COLUMN_TEXT},
    {"parameters", "parameters", COLUMN_NUMBER},
    {"active_parameters", "active", COLUMN_NUMBER},
    {"trained_parameters", "trained", COLUMN_NUMBER},
    {"units_per_step", "per step", COLUMN_NUMBER},
    {"unit", "unit", COLUMN_TEXT},
    {"flop_per_step", "FLOP/step", COLUMN_NUMBER},
    {"title", "title", COLUMN_TEXT, 1},
};

static void add_count(struct table *t, double value) {
    char text[UNITS_TEXT_SIZE];
    table_number(t, value, units_format_count(value, text));
}

static void add_listed(struct table *t, const struct workload *w) {
    struct workload_parameters p;
    char flop[UNITS_TEXT_SIZE];
    workload_parameters(w, &p);
    table_text(t, w->name);
    table_text(t, workload_kind_names[w->kind]);
    add_count(t, p.total);
    add_count(t, p.active);
    add_count(t, p.trained);
    add_count(t, workload_units_per_step(w));
    table_text(t, workload_unit(w));
    table_number(t, workload_model_flop(w), units_format_flop(workload_model_flop(w), flop));
    table_text(t, w->title);
}

static int fill_list(struct table *t, const struct data *data, struct err *e) {
    const char *file;
    table_init(t, list_columns, sizeof list_columns / sizeof list_columns[0]);
    for (size_t i = 0; (file = data_embedded_name("workloads/", i)) != NULL; i++) {
        struct workload w;
        char name[128];
        const char *stem = file + strlen("workloads/");
        snprintf(name, sizeof name, "%.*s", (int)(strlen(stem) - strlen(".json")), stem);
        if (workload_load(data, name, &w, e))
            return -1;
        add_listed(t, &w);
        workload_free(&w);
    }
    return 0;
}

/* ---- one ---- */

static const struct column show_columns[] = {
    {"group", "", COLUMN_TEXT},    {"figure", "figure", COLUMN_TEXT}, {"value", "value", COLUMN_NUMBER},
    {"unit", "unit", COLUMN_TEXT}, {"note", "note", COLUMN_TEXT, 1},
};

static void add_figure(struct table *t, const char *group, const char *figure, double value, const char *unit,
                       const char *note) {
    char text[UNITS_TEXT_SIZE];
    table_text(t, group);
    table_text(t, figure);
    if (isnan(value))
        table_number(t, value, "-");
    else if (strcmp(unit, "B") == 0)
        table_number(t, value, units_format_bytes(value, text));
    else if (strcmp(unit, "FLOP") == 0)
        table_number(t, value, units_format_flop(value, text));
    else
        table_number_exact(t, value);
    table_text(t, unit);
    table_text(t, note);
}

static void add_word(struct table *t, const char *figure, const char *word) {
    add_figure(t, "model", figure, NAN, "", word);
}

static void add_shapes(struct table *t, const struct workload *w) {
    const struct {
        const char *figure;
        int64_t value;
    } sizes[] = {
        {"layers", w->layers},
        {"hidden", w->hidden},
        {"heads", w->heads},
        {"key/value heads", w->heads ? workload_kv_heads(w) : 0},
        {"head size", w->heads ? workload_head_size(w) : 0},
        {"feed-forward", w->ffn},
        {"experts", w->experts},
        {"active experts", w->experts_active},
        {"vocabulary", w->vocab},
        {"learned positions", w->positions},
        {"LoRA rank", w->lora_rank},
        {"kinds of convolutions", (int64_t)w->convolution_count},
        {"kinds of products", (int64_t)w->gemms.count},
    };
    add_word(t, "kind", workload_kind_names[w->kind]);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].value)
            add_figure(t, "model", sizes[i].figure, (double)sizes[i].value, "", "");
    if (w->kind != WORKLOAD_TRANSFORMER)
        return;
    add_word(t, "feed-forward", feed_forward_names[w->feed_forward]);
    add_word(t, "norm", norm_names[w->norm]);
    add_word(t, "biases", biases_names[w->biases]);
    add_word(t, "head", head_names[w->head]);
    add_word(t, "attention", attention_names[w->attention]);
}

static void add_step(struct table *t, const struct workload *w) {
    struct workload_parameters p;
    workload_parameters(w, &p);
    add_figure(t, "parameters", "total", p.total, "", "with adapters");
    add_figure(t, "parameters", "active", p.active, "", "that one token meets");
    add_figure(t, "parameters", "trained", p.trained, "", "with a gradient");
    if (w->kind == WORKLOAD_TRANSFORMER)
        add_figure(t, "step", "sequence", (double)w->sequence, "token", "");
    add_figure(t, "step", "global batch", (double)w->global_batch, "", "");
    add_figure(t, "step", "in all", workload_units_per_step(w), workload_unit(w), "");
    add_figure(t, "step", "model work", workload_model_flop(w), "FLOP", "by the formula");
}

/* FLOP of the compute-bound ops and bytes of the others, by phase and kind, of one device and step. */
static void add_ops(struct table *t, const struct workload *w, const struct layout *l) {
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    struct step_ops ops;
    double work[3][OP_KIND_COUNT] = {{0}}, count[3][OP_KIND_COUNT] = {{0}};
    workload_expand(w, l, &ops);
    for (size_t i = 0; i < ops.count; i++) {
        const struct step_op *item = &ops.items[i];
        const char *unit;
        double times = item->count * (item->phase == STEP_OPTIMIZER ? 1 : (double)l->accumulation);
        work[item->phase][item->op.kind] += times * op_work(&item->op, &unit);
        count[item->phase][item->op.kind] += times;
    }
    step_ops_free(&ops);
    for (int phase = 0; phase < 3; phase++)
        for (int kind = 0; kind < OP_KIND_COUNT; kind++) {
            struct op op = {.kind = (enum op_kind)kind};
            char figure[64], note[64];
            if (!(count[phase][kind] > 0))
                continue;
            snprintf(figure, sizeof figure, "%s %s", phases[phase], op_kind_name(op.kind));
            snprintf(note, sizeof note, "%.0f on a device and step", count[phase][kind]);
            add_figure(t, "ops", figure, work[phase][kind], op_is_compute_bound(&op) ? "FLOP" : "B", note);
        }
}

static void add_memory(struct table *t, const struct layout_memory *m, bool fits, double has_bytes) {
    const struct {
        const char *figure;
        double bytes;
    } parts[] = {{"weights", m->weights},         {"gradients", m->gradients}, {"optimizer", m->optimizer},
                 {"activations", m->activations}, {"logits", m->logits},       {"reserve", m->reserve}};
    char has[UNITS_TEXT_SIZE], note[UNITS_TEXT_SIZE + 40];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        add_figure(t, "device", parts[i].figure, parts[i].bytes, "B", "");
    snprintf(note, sizeof note, "%s: each device has %s", fits ? "fits" : "does not fit",
             units_format_bytes(has_bytes, has));
    add_figure(t, "device", "in all", m->total, "B", note);
}

static void add_sources(struct table *t, const struct workload *w) {
    for (size_t i = 0; i < w->source_count; i++) {
        char note[1024];
        snprintf(note, sizeof note, "%s%s",
                 w->sources[i].verified ? "" : "unverified: ", w->sources[i].source);
        add_figure(t, "source", w->sources[i].figure, NAN, "", note);
    }
}

static int choose_dtype(const struct workload_options *o, const struct workload *w, enum dtype *out,
                        struct err *e) {
    *out = w->precisions[0];
    return o->dtype && dtype_parse(o->dtype, out, e) ? err_wrap(e, "--dtype") : 0;
}

static int fill_one(const struct workload_options *o, const struct data *data, const char *name,
                    struct table *t, struct err *e) {
    struct workload w;
    struct layout layout;
    struct layout_memory memory;
    enum dtype dtype;
    char text[LAYOUT_TEXT_SIZE];
    bool known = o->memory_bytes != OPT_SIZE_NONE;
    double has_bytes = known ? (double)o->memory_bytes : INFINITY;
    table_init(t, show_columns, sizeof show_columns / sizeof show_columns[0]);
    if (workload_load(data, name, &w, e))
        return -1;
    if (choose_dtype(o, &w, &dtype, e)) {
        workload_free(&w);
        return -1;
    }
    bool fits = layout_choose(&w, o->devices, dtype, has_bytes, true, &layout, &memory);
    add_figure(t, "job", w.name, NAN, "", w.title);
    add_shapes(t, &w);
    add_step(t, &w);
    add_figure(t, "layout", fits ? "first that fits" : "smallest", NAN, "", layout_describe(&layout, text));
    add_ops(t, &w, &layout);
    if (known)
        add_memory(t, &memory, fits, has_bytes);
    add_sources(t, &w);
    workload_free(&w);
    return 0;
}

static int show(const struct workload_options *o, const char *name, struct err *e) {
    struct data data = {.folder = o->data};
    struct table t;
    FILE *out = NULL;
    int result = name ? fill_one(o, &data, name, &t, e) : fill_list(&t, &data, e);
    if (!result && !(out = command_open_output(o->out, e)))
        result = -1;
    if (!result) {
        table_write(&t, o->format, out);
        result = command_close_output(out, o->out, e);
    }
    table_free(&t);
    return result;
}

/* ---- from-hf ---- */

static int write_text(const char *text, const char *path, struct err *e) {
    FILE *out = command_open_output(path, e);
    if (!out)
        return -1;
    fprintf(out, "%s\n", text);
    return command_close_output(out, path, e);
}

/* What it writes is read back first: a file that would not load is never left behind. */
static int from_hf(const struct workload_options *o, const char *config, struct err *e) {
    struct workload_hf request = {
        .config = config, .name = o->name, .sequence = o->sequence, .global_batch = o->batch};
    struct workload w;
    json_t *file = workload_from_hf(&request, e);
    if (!file)
        return -1;
    char *text = json_dumps(file, JSON_INDENT(2));
    int result = workload_parse(config, text, strlen(text), &w, e);
    if (!result) {
        workload_free(&w);
        result = write_text(text, o->out, e);
    }
    free(text);
    json_decref(file);
    return result;
}

static int dispatch(const struct workload_options *o, const struct opt_list *words, struct err *e) {
    bool convert = words->count > 0 && strcmp(words->items[0], "from-hf") == 0;
    size_t most = convert ? 2 : 1;
    if (words->count > most)
        return err_set(e, ERR_USAGE,
                       "stepcost workload: one too many: \"%s\"; want [NAME | from-hf CONFIG.json]",
                       words->items[most]);
    if (convert && words->count < 2)
        return err_set(e, ERR_USAGE, "stepcost workload from-hf: want the path of a config.json");
    return convert ? from_hf(o, words->items[1], e) : show(o, words->count ? words->items[0] : NULL, e);
}

static int run(int argc, char **argv, struct err *e) {
    struct workload_options o;
    struct opt_list words = {0};
    bool done;
    int result = command_parse(&table, argc, argv, &o, &words, &done, e);
    if (!result && !done)
        result = dispatch(&o, &words, e);
    opt_list_free(&words);
    return result;
}

const struct command command_workload = {
    .name = "workload", .summary = "list, show and convert training jobs", .options = &table, .run = run};
