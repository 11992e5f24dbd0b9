#include "model/gpu.h"

#include "base/csv.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what gpus.csv may say ---- */

/* One row a figure: its name in the file, and what turns it into base units. */
static const struct {
    const char *name;
    double scale; /* 0: an id in hexadecimal */
} figure_fields[GPU_FIELD_COUNT] = {
    [GPU_PEAK_FP64] = {"fp64_tflops", 1e12},
    [GPU_PEAK_FP32] = {"fp32_tflops", 1e12},
    [GPU_PEAK_TF32] = {"tf32_tflops", 1e12},
    [GPU_PEAK_TENSOR16] = {"tensor16_tflops", 1e12},
    [GPU_PEAK_FP8] = {"fp8_tflops", 1e12},
    [GPU_PEAK_FP4] = {"fp4_tflops", 1e12},
    [GPU_PEAK_INT8] = {"int8_tops", 1e12},
    [GPU_MEMORY] = {"memory_gb", 1073741824.0},
    [GPU_DRIVER_MEMORY] = {"driver_memory_mib", 1048576.0},
    [GPU_BANDWIDTH] = {"bandwidth_gb_per_s", 1e9},
    [GPU_LINK] = {"link_gb_per_s", 1e9},
    [GPU_NVLINKS] = {"nvlinks", 1},
    [GPU_SMS] = {"sms", 1},
    [GPU_CLOCK] = {"clock_mhz", 1e6},
    [GPU_FLOP_PER_CLOCK_SM_FP32] = {"flop_per_clock_sm_fp32", 1},
    [GPU_FLOP_PER_CLOCK_SM_TENSOR16] = {"flop_per_clock_sm_tensor16", 1},
    [GPU_POWER] = {"power_w", 1},
    [GPU_CC] = {"compute_capability", 10},
    [GPU_PCI_DEVICE] = {"pci_device", 0},
    [GPU_PCI_SUBSYSTEM] = {"pci_subsystem", 0},
    [GPU_LOWEST_RENT] = {"lowest_rent_usd_per_h", 1},
};

struct member {
    const char *name;
    size_t offset;
};
static const struct member text_fields[] = {
    {"driver_name", offsetof(struct gpu, driver_name)},
    {"family", offsetof(struct gpu, family)},
    {"vendor", offsetof(struct gpu, vendor)},
    {"p2p", offsetof(struct gpu, p2p)},
};
static const struct member flag_fields[] = {
    {"capped", offsetof(struct gpu, capped)},
    {"ecc", offsetof(struct gpu, ecc)},
    {"modified", offsetof(struct gpu, modified)},
};
/* words of the field `native`: formats that the device multiplies without widening them */
static const struct member native_words[] = {
    {"bf16", offsetof(struct gpu, native_bf16)},
    {"fp16", offsetof(struct gpu, native_fp16)},
    {"tf32", offsetof(struct gpu, native_tf32)},
    {"fp8", offsetof(struct gpu, native_fp8)},
};
#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
enum { FIELD_NAMES = GPU_FIELD_COUNT + COUNT(text_fields) + COUNT(flag_fields) + 1 };

static const struct member *find_member(const struct member *rows, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static bool *flag_of(struct gpu *g, const struct member *m) {
    return (bool *)((char *)g + m->offset);
}

static const char **text_of(struct gpu *g, const struct member *m) {
    return (const char **)(void *)((char *)g + m->offset);
}

/* ---- reading gpus.csv ---- */

/* A row of gpus.csv, borrowed from the reader. */
struct gpu_row {
    const char *gpu, *field, *value, *source;
    bool verified;
};

static int parse_yes_no(const char *text, bool *out, struct err *e) {
    *out = strcmp(text, "yes") == 0;
    if (!*out && strcmp(text, "no") != 0)
        return err_set(e, ERR_PARSE, "'%s': want yes or no", text);
    return 0;
}

static int parse_figure(const char *text, double scale, double *out, struct err *e) {
    if (scale == 0) {
        char *end;
        errno = 0;
        unsigned long id = strtoul(text, &end, 16);
        if (strncmp(text, "0x", 2) != 0 || *end || end == text + 2 || errno || id > 0xffffffff)
            return err_set(e, ERR_PARSE, "'%s': want a hexadecimal id such as 0x2330", text);
        *out = (double)id;
        return 0;
    }
    if (units_parse_number(text, out, e) != 0)
        return -1;
    if (*out <= 0)
        return err_set(e, ERR_PARSE, "'%s': want a number above 0 (leave the row out when unknown)", text);
    *out *= scale;
    return 0;
}

static int set_native(struct gpu *g, const char *words, struct err *e) {
    while (*words) {
        char word[8] = "";
        size_t length = strcspn(words, " ");
        if (length < sizeof word)
            memcpy(word, words, length);
        const struct member *m = find_member(native_words, COUNT(native_words), word);
        if (!m)
            return err_set(e, ERR_PARSE, "'%.*s': want words of bf16 fp16 tf32 fp8", (int)length, words);
        *flag_of(g, m) = true;
        words += length + (words[length] == ' ');
    }
    return 0;
}

static int unknown_field(const char *field, struct err *e) {
    const char *names[FIELD_NAMES] = {"native"};
    size_t count = 1;
    for (size_t i = 0; i < GPU_FIELD_COUNT; i++)
        names[count++] = figure_fields[i].name;
    for (size_t i = 0; i < COUNT(text_fields); i++)
        names[count++] = text_fields[i].name;
    for (size_t i = 0; i < COUNT(flag_fields); i++)
        names[count++] = flag_fields[i].name;
    const char *nearest = text_nearest(field, names, count);
    return err_set(e, ERR_PARSE, "unknown field%s%s", nearest ? ", nearest is " : "", nearest ? nearest : "");
}

static int set_text(struct gpu_table *t, const char **member, const char *value, struct err *e) {
    if (*member)
        return err_set(e, ERR_PARSE, "given twice");
    *member = arena_strdup(&t->arena, value);
    return 0;
}

static int set_field(struct gpu_table *t, struct gpu *g, const struct gpu_row *row, struct err *e) {
    for (size_t i = 0; i < GPU_FIELD_COUNT; i++) {
        struct gpu_figure *figure = &g->figures[i];
        if (strcmp(figure_fields[i].name, row->field) != 0)
            continue;
        if (!isnan(figure->value))
            return err_set(e, ERR_PARSE, "given twice");
        figure->verified = row->verified;
        figure->source = arena_strdup(&t->arena, row->source);
        return parse_figure(row->value, figure_fields[i].scale, &figure->value, e);
    }
    const struct member *m = find_member(text_fields, COUNT(text_fields), row->field);
    if (m)
        return set_text(t, text_of(g, m), row->value, e);
    m = find_member(flag_fields, COUNT(flag_fields), row->field);
    if (m)
        return parse_yes_no(row->value, flag_of(g, m), e);
    return strcmp(row->field, "native") == 0 ? set_native(g, row->value, e) : unknown_field(row->field, e);
}

static struct gpu *find_gpu(const struct gpu_table *t, const char *name) {
    for (size_t i = t->count; i-- > 0;) /* the rows of one GPU stand together: the last is the likeliest */
        if (strcmp(t->gpus[i].name, name) == 0)
            return &t->gpus[i];
    return NULL;
}

static struct gpu *add_gpu(struct gpu_table *t, const char *name, size_t *capacity) {
    t->gpus = xgrow(t->gpus, sizeof *t->gpus, t->count, capacity);
    struct gpu *g = &t->gpus[t->count++];
    *g = (struct gpu){.name = arena_strdup(&t->arena, name)};
    for (size_t i = 0; i < GPU_FIELD_COUNT; i++)
        g->figures[i] = (struct gpu_figure){.value = NAN, .source = ""};
    return g;
}

/* Opens a data file as CSV and checks its header. */
static struct csv *open_table(const struct data_blob *blob, const char *const *header, size_t columns,
                              struct err *e) {
    struct csv *c = csv_open_memory(blob->name, blob->bytes, blob->length, e);
    if (!c)
        return NULL;
    int status = csv_read_header(c, e);
    bool same = status == 0 && csv_columns(c) == columns;
    for (size_t i = 0; same && i < columns; i++)
        same = csv_column(c, header[i]) == (int)i;
    if (same)
        return c;
    if (status == 0)
        err_set(e, ERR_PARSE, "%s: line 1: want %zu columns from '%s' to '%s'", blob->name, columns,
                header[0], header[columns - 1]);
    csv_close(c);
    return NULL;
}

/* The next row of exactly `columns` fields without empty ones; as csv_next otherwise. */
static int next_row(struct csv *c, char ***fields, size_t columns, struct err *e) {
    size_t count;
    int got = csv_next(c, fields, &count, e);
    if (got != 1)
        return got;
    if (count != columns)
        return err_set(e, ERR_PARSE, "%s: line %zu: %zu fields, want %zu", csv_name(c), csv_line(c), count,
                       columns);
    for (size_t i = 0; i < columns; i++)
        if (!(*fields)[i][0])
            return err_set(e, ERR_PARSE, "%s: line %zu: %s is empty", csv_name(c), csv_line(c),
                           csv_column_name(c, i));
    return 1;
}

static int read_gpus(struct gpu_table *t, const struct data_blob *blob, struct err *e) {
    static const char *const header[] = {"gpu", "field", "value", "source", "verified"};
    char **fields;
    size_t capacity = 0;
    int got;
    struct csv *c = open_table(blob, header, COUNT(header), e);
    if (!c)
        return -1;
    while ((got = next_row(c, &fields, COUNT(header), e)) == 1) {
        struct gpu_row row = {fields[0], fields[1], fields[2], fields[3], false};
        struct gpu *g = find_gpu(t, row.gpu);
        if (!g)
            g = add_gpu(t, row.gpu, &capacity);
        if (parse_yes_no(fields[4], &row.verified, e) != 0 || set_field(t, g, &row, e) != 0) {
            got = err_wrap(e, "%s: line %zu: %s", csv_name(c), csv_line(c), row.field);
            break;
        }
    }
    csv_close(c);
    return got;
}

static int finish_gpus(struct gpu_table *t, const char *file, struct err *e) {
    for (size_t i = 0; i < t->count; i++) {
        struct gpu *g = &t->gpus[i];
        if (!g->vendor || !g->family)
            return err_set(e, ERR_PARSE, "%s: %s has no row for %s", file, g->name,
                           g->vendor ? "family" : "vendor");
        for (size_t k = 0; k < COUNT(text_fields); k++)
            if (!*text_of(g, &text_fields[k]))
                *text_of(g, &text_fields[k]) = "";
    }
    return 0;
}

/* ---- names ---- */

/* A name as it is compared: lower case, without separators and vendor words. */
struct gpu_alias {
    const char *key;
    const struct gpu *gpu;
    bool sku_only; /* says the device only inside an instance type ("p4d") */
};

static char *make_key(struct arena *a, const char *name) {
    static const char *const dropped[] = {"nvidia", "geforce", "tesla", "amd", "instinct"};
    char *key = arena_alloc(a, strlen(name) + 1);
    size_t length = 0;
    while (*name) {
        size_t start = length;
        for (; isalnum((unsigned char)*name); name++)
            key[length++] = (char)tolower((unsigned char)*name);
        for (size_t i = 0; i < COUNT(dropped); i++)
            if (length - start == strlen(dropped[i]) && memcmp(key + start, dropped[i], length - start) == 0)
                length = start;
        name += strcspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    }
    key[length] = '\0';
    return key;
}

static void add_alias(struct gpu_table *t, size_t *capacity, const char *name, const struct gpu *g,
                      bool sku_only) {
    t->aliases = xgrow(t->aliases, sizeof *t->aliases, t->alias_count, capacity);
    t->aliases[t->alias_count++] =
        (struct gpu_alias){.key = make_key(&t->arena, name), .gpu = g, .sku_only = sku_only};
}

static int read_aliases(struct gpu_table *t, const struct data_blob *blob, struct err *e) {
    static const char *const header[] = {"alias", "gpu", "kind", "source"};
    char **fields;
    size_t capacity = 0;
    int got;
    for (size_t i = 0; i < t->count; i++) {
        add_alias(t, &capacity, t->gpus[i].name, &t->gpus[i], false);
        if (t->gpus[i].driver_name[0])
            add_alias(t, &capacity, t->gpus[i].driver_name, &t->gpus[i], false);
    }
    struct csv *c = open_table(blob, header, COUNT(header), e);
    if (!c)
        return -1;
    while ((got = next_row(c, &fields, COUNT(header), e)) == 1) {
        const struct gpu *g = find_gpu(t, fields[1]);
        bool sku = strcmp(fields[2], "sku") == 0;
        if (!g)
            got = err_set(e, ERR_PARSE, "%s: line %zu: gpu: '%s' is not in gpus.csv", csv_name(c),
                          csv_line(c), fields[1]);
        else if (!sku && strcmp(fields[2], "name") != 0)
            got = err_set(e, ERR_PARSE, "%s: line %zu: kind: '%s': want name or sku", csv_name(c),
                          csv_line(c), fields[2]);
        if (got != 1)
            break;
        add_alias(t, &capacity, fields[0], g, sku);
    }
    csv_close(c);
    return got;
}

int gpu_table_load(const struct data *data, struct gpu_table *out, struct err *e) {
    struct data_blob gpus = {0}, aliases = {0};
    *out = (struct gpu_table){0};
    int status = -1;
    if (data_load(data, "gpus.csv", &gpus, e) != 0 || data_load(data, "aliases.csv", &aliases, e) != 0)
        goto out;
    if (read_gpus(out, &gpus, e) == 0 && finish_gpus(out, gpus.name, e) == 0)
        status = read_aliases(out, &aliases, e);
out:
    data_release(&gpus);
    data_release(&aliases);
    if (status != 0)
        gpu_table_free(out);
    return status;
}

void gpu_table_free(struct gpu_table *t) {
    if (!t)
        return;
    free(t->gpus);
    free(t->aliases);
    arena_free(&t->arena);
    *t = (struct gpu_table){0};
}

const struct gpu *gpu_by_name(const struct gpu_table *t, const char *canonical) {
    return find_gpu(t, canonical);
}

/* ---- matching ---- */

static void add_candidate(struct gpu_match *match, const struct gpu *g) {
    for (size_t i = 0; i < match->count; i++)
        if (match->candidates[i] == g)
            return;
    if (match->count < GPU_MAX_CANDIDATES)
        match->candidates[match->count++] = g;
}

/* Sellers and drivers quote a card's memory up to 7 % beside the nominal one (gpuhunt's threshold). */
bool gpu_memory_fits(const struct gpu *g, double memory_bytes) {
    double nominal = g->figures[GPU_MEMORY].value, driver = g->figures[GPU_DRIVER_MEMORY].value;
    return fabs(memory_bytes - nominal) <= 0.07 * nominal || fabs(memory_bytes - driver) <= 0.001 * driver;
}

/* Keeps the candidates of this memory; all products when none has it, so that the caller can say so. */
static struct gpu_match narrow(struct gpu_match match, double memory_bytes) {
    struct gpu_match kept = {0}, products = {0};
    for (size_t i = 0; i < match.count; i++) {
        if (gpu_memory_fits(match.candidates[i], memory_bytes))
            add_candidate(&kept, match.candidates[i]);
        if (!match.candidates[i]->modified)
            add_candidate(&products, match.candidates[i]);
    }
    if (kept.count)
        return kept;
    return products.count ? products : match;
}

struct gpu_match gpu_match_name(const struct gpu_table *t, const char *name, double memory_bytes) {
    struct gpu_match match = {0};
    struct arena scratch = {0};
    const char *key = make_key(&scratch, name);
    for (size_t i = 0; *key && i < t->alias_count; i++)
        if (!t->aliases[i].sku_only && strcmp(t->aliases[i].key, key) == 0)
            add_candidate(&match, t->aliases[i].gpu);
    arena_free(&scratch);
    return narrow(match, memory_bytes);
}

/* Does key stand at text, up to the end of a word? Separators inside text do not matter. */
static bool stands_at(const char *text, const char *key) {
    for (; *key; text++) {
        if (!*text)
            return false;
        if (!isalnum((unsigned char)*text))
            continue;
        if (tolower((unsigned char)*text) != *key)
            return false;
        key++;
    }
    return !isalnum((unsigned char)*text);
}

static bool stands_in(const char *text, const char *key) {
    bool inside = false;
    for (; *text; text++) {
        if (!inside && isalnum((unsigned char)*text) && stands_at(text, key))
            return true;
        inside = isalnum((unsigned char)*text);
    }
    return false;
}

struct gpu_match gpu_match_sku(const struct gpu_table *t, const char *sku, double memory_bytes) {
    struct gpu_match match = {0};
    size_t longest = 0;
    if (stands_in(sku, "mig")) /* a slice of a GPU is none of ours */
        return match;
    for (size_t i = 0; i < t->alias_count; i++) {
        const struct gpu_alias *alias = &t->aliases[i];
        size_t length = strlen(alias->key);
        if (length < longest || !*alias->key || !stands_in(sku, alias->key))
            continue;
        if (length > longest)
            match.count = 0;
        longest = length;
        add_candidate(&match, alias->gpu);
    }
    return narrow(match, memory_bytes);
}

/* ---- figures ---- */

/* Which peak a format has, which figure the clock-limited one is made of, and the flag that must be set. */
static const struct {
    enum gpu_field peak, per_clock; /* GPU_FIELD_COUNT = none */
    size_t native;                  /* offset of the flag; 0 = the figure itself says it */
} formats[DTYPE_COUNT] = {
    [DTYPE_FP64] = {GPU_PEAK_FP64, GPU_FIELD_COUNT, 0},
    [DTYPE_FP32] = {GPU_PEAK_FP32, GPU_FLOP_PER_CLOCK_SM_FP32, 0},
    [DTYPE_TF32] = {GPU_PEAK_TF32, GPU_FIELD_COUNT, offsetof(struct gpu, native_tf32)},
    [DTYPE_BF16] = {GPU_PEAK_TENSOR16, GPU_FLOP_PER_CLOCK_SM_TENSOR16, offsetof(struct gpu, native_bf16)},
    [DTYPE_FP16] = {GPU_PEAK_TENSOR16, GPU_FLOP_PER_CLOCK_SM_TENSOR16, offsetof(struct gpu, native_fp16)},
    [DTYPE_FP8_E4M3] = {GPU_PEAK_FP8, GPU_FIELD_COUNT, offsetof(struct gpu, native_fp8)},
    [DTYPE_FP8_E5M2] = {GPU_PEAK_FP8, GPU_FIELD_COUNT, offsetof(struct gpu, native_fp8)},
    [DTYPE_FP4] = {GPU_PEAK_FP4, GPU_FIELD_COUNT, 0},
    [DTYPE_INT8] = {GPU_PEAK_INT8, GPU_FIELD_COUNT, 0},
    [DTYPE_INT32] = {GPU_FIELD_COUNT, GPU_FIELD_COUNT, 0},
};

static double figure_or_nan(const struct gpu *g, enum gpu_field field) {
    return field == GPU_FIELD_COUNT ? NAN : g->figures[field].value;
}

bool gpu_has_native(const struct gpu *g, enum dtype t) {
    if (formats[t].native)
        return *(const bool *)((const char *)g + formats[t].native);
    return t == DTYPE_FP64 || t == DTYPE_FP32 || !isnan(figure_or_nan(g, formats[t].peak));
}

double gpu_peak(const struct gpu *g, enum dtype t) {
    return gpu_has_native(g, t) ? figure_or_nan(g, formats[t].peak) : NAN;
}

double gpu_clock_limited_peak(const struct gpu *g, enum dtype t, double clock_hz) {
    if (g->capped || !gpu_has_native(g, t))
        return NAN;
    return figure_or_nan(g, formats[t].per_clock) * g->figures[GPU_SMS].value * clock_hz;
}
