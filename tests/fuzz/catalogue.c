/* reports/catalogue: every row is accounted for, each offer has a price that an hour can cost, all texts can
 * be shown; from memory, from a file, and a second time it is all the same, and a second file adds no offer.
 */
#include "tests/fuzz/fuzz.h"

#include "base/text.h"
#include "reports/catalogue.h"
#include "reports/offer_merge.h"

#include <math.h>

static void check_text(const char *what, const char *text) {
    HOLDS(text && fuzz_printable(text), "%s: \"%s\"", what, text ? text : "NULL");
}

static void check_offer(const struct offer *o) {
    double price = o->price.per_hour.amount;
    struct err e = {0};
    struct money known;
    char one[16];
    HOLDS(money_is_price(price), "line %zu: %g an hour", o->line, price);
    snprintf(one, sizeof one, "1 %s", o->price.per_hour.currency);
    HOLDS(money_parse(one, &known, &e) == 0, "line %zu: %s", o->line, e.text);
    HOLDS(o->line > 0 && o->merged > 0, "line %zu stands for %zu rows", o->line, o->merged);
    HOLDS(o->device_count >= 0 && (o->device_count > 0) == (o->device[0] != '\0'), "line %zu: %lld of \"%s\"",
          o->line, (long long)o->device_count, o->device);
    HOLDS(isnan(o->vcpus) || (o->vcpus >= 0 && isfinite(o->vcpus)), "line %zu: vcpus %g", o->line, o->vcpus);
    HOLDS(isnan(o->host_memory_bytes) || (o->host_memory_bytes >= 0 && isfinite(o->host_memory_bytes)),
          "line %zu: memory %g", o->line, o->host_memory_bytes);
    HOLDS(isnan(o->gpu_memory_bytes) || (o->gpu_memory_bytes >= 0 && isfinite(o->gpu_memory_bytes)),
          "line %zu: GPU memory %g", o->line, o->gpu_memory_bytes);
    HOLDS((unsigned)o->term < TERM_COUNT, "line %zu: term %d", o->line, (int)o->term);
    check_text("provider", o->provider);
    check_text("region", o->region);
    check_text("sku", o->sku);
    check_text("device", o->device);
    check_text("observed", o->observed);
    check_text("note", o->note);
}

static void check_set(const struct offer_set *set) {
    for (size_t i = 0; i < set->count; i++)
        check_offer(&set->offers[i]);
    for (size_t i = 0; i < set->refusal_count; i++) {
        HOLDS(set->refusals[i].line > 0 && set->refusals[i].reason[0], "refusal %zu", i);
        check_text("refusal", set->refusals[i].reason);
    }
    size_t offers = 0, refused = 0;
    for (size_t i = 0; i < set->account_count; i++) {
        const struct offer_account *a = &set->accounts[i];
        HOLDS(a->rows_read == a->rows_kept + a->rows_merged + a->rows_refused, "%zu = %zu + %zu + %zu",
              a->rows_read, a->rows_kept, a->rows_merged, a->rows_refused);
        HOLDS(a->offers >= a->rows_kept && a->offers <= 2 * a->rows_kept, "%zu offers of %zu rows", a->offers,
              a->rows_kept);
        check_text("columns", a->ignored);
        check_text("format", a->format);
        check_text("provider", a->provider);
        offers += a->offers;
        refused += a->rows_refused;
    }
    HOLDS(offers == set->count && refused == set->refusal_count, "%zu offers, %zu refusals", offers, refused);
}

/* All that a set says but its files' names. */
static void describe(const struct offer_set *set, struct text *out) {
    for (size_t i = 0; i < set->count; i++) {
        const struct offer *o = &set->offers[i];
        text_printf(out, "%s|%s|%s|%s|%lld|%.17g|%.17g|%.17g|%d|", o->provider, o->region, o->sku, o->device,
                    (long long)o->device_count, o->gpu_memory_bytes, o->vcpus, o->host_memory_bytes,
                    (int)o->term);
        text_printf(out, "%.17g %s|%s|%zu|%zu|%s|%d", o->price.per_hour.amount, o->price.per_hour.currency,
                    o->observed, o->line, o->merged, o->note, o->implausible);
        for (size_t k = 0; k < o->match->count; k++)
            text_printf(out, "|%s", o->match->candidates[k]->name);
        text_add(out, "\n");
    }
    for (size_t i = 0; i < set->refusal_count; i++)
        text_printf(out, "%zu: %s\n", set->refusals[i].line, set->refusals[i].reason);
    for (size_t i = 0; i < set->account_count; i++) {
        const struct offer_account *a = &set->accounts[i];
        text_printf(out, "%s|%s|%s|%zu|%zu|%zu|%zu|%zu\n", a->format, a->provider, a->ignored, a->rows_read,
                    a->rows_kept, a->rows_merged, a->rows_refused, a->offers);
    }
}

/* As offers_read does with an example that comes with the program. */
static int read_memory(struct offer_set *set, const struct gpu_table *gpus, const char *name,
                       const char *bytes, size_t size, struct err *e) {
    struct catalogue_file f = {
        .name = arena_strdup(&set->arena, name),
        .provider = arena_strdup(&set->arena, strrchr(name, '/') + 1),
        .observed = "",
        .row_note = "",
        .gpus = gpus,
        .arena = &set->arena,
    };
    int result = catalogue_read(&f, name, bytes, size, e);
    if (result == 0)
        offers_merge(set, &f);
    catalogue_file_free(&f);
    return result;
}

static void check_same(const struct offer_set *a, const struct offer_set *b) {
    struct text first = {0}, second = {0};
    describe(a, &first);
    describe(b, &second);
    HOLDS(strcmp(text_get(&first), text_get(&second)) == 0, "first:\n%s\nsecond:\n%s", text_get(&first),
          text_get(&second));
    text_free(&first);
    text_free(&second);
}

/* The table lives as long as the process. */
static const struct gpu_table *gpu_table(void) {
    static struct gpu_table gpus;
    static bool loaded;
    const struct data data = {NULL};
    struct err e = {0};
    if (!loaded)
        HOLDS(gpu_table_load(&data, &gpus, &e) == 0, "%s", e.text);
    loaded = true;
    return &gpus;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const struct gpu_table *gpus = gpu_table();
    struct err e = {0}, e_again = {0};
    struct offer_set set = {0}, again = {0};
    struct fuzz_file file = fuzz_file_open(bytes, size);
    int result = offers_read(&set, gpus, file.path, &e);
    HOLDS(read_memory(&again, gpus, file.path, size > 0 ? (const char *)bytes : "", size, &e_again) == result,
          "file: %s; memory: %s", e.text, e_again.text);
    check_set(&set);
    check_same(&set, &again);
    HOLDS(strcmp(e.text, e_again.text) == 0, "file: %s; memory: %s", e.text, e_again.text);
    if (result == 0) {
        size_t count = set.count;
        HOLDS(offers_read(&set, gpus, file.path, &e) == 0, "a second time: %s", e.text);
        check_set(&set);
        HOLDS(set.count == count, "%zu offers, and %zu when the file is given twice", count, set.count);
    } else {
        fuzz_check_error(&e, ERR_PARSE);
        HOLDS(strstr(e.text, file.path) && set.count + set.account_count + set.refusal_count == 0, "%s",
              e.text);
    }
    offers_free(&again);
    offers_free(&set);
    fuzz_file_close(&file);
    return 0;
}
