/* base/opt: words, one a line of the input, against a table that has every type of option. What is taken is
 * within its range and comes back from the settings of a record; what is not is ERR_USAGE, and leaves no list
 * behind. */
#include "tests/fuzz/fuzz.h"

#include "base/json.h"
#include "base/opt.h"

#include <math.h>

enum { WORDS_MAX = 64 };

struct fields {
    bool quiet;
    long long count;
    double share, time_s;
    const char *out;
    struct opt_list offers, tests;
    unsigned long long memory_bytes;
    int tier;
};

static const char every_file[] = "all";
static const char *const tiers[] = {"smoke", "accept", "soak", NULL};

/* clang-format off */
static const struct opt rows[] = {
    {.name = "quiet", .letter = 'q', .key = "quiet", .type = OPT_FLAG, .offset = offsetof(struct fields, quiet),
     .help = "say less"},
    {.name = "count", .letter = 'n', .key = "count", .type = OPT_INT, .offset = offsetof(struct fields, count),
     .min = -5, .max = 1000, .help = "how many"},
    {.name = "share", .key = "share", .type = OPT_NUMBER, .offset = offsetof(struct fields, share), .def = "0.5",
     .min = 0, .max = 1, .help = "of all"},
    {.name = "time", .key = "time_s", .type = OPT_DURATION, .offset = offsetof(struct fields, time_s), .def = "90s",
     .min = 1e-3, .max = INFINITY, .help = "how long"},
    {.name = "out", .letter = 'o', .key = "out", .type = OPT_STRING, .offset = offsetof(struct fields, out),
     .value_name = "FILE", .help = "where to"},
    {.name = "offers", .key = "offers", .type = OPT_LIST, .offset = offsetof(struct fields, offers), .def = every_file,
     .help = "which files"},
    {.name = "tests", .type = OPT_LIST, .offset = offsetof(struct fields, tests), .help = "which tests"},
    {.name = "memory", .key = "memory_bytes", .type = OPT_SIZE, .offset = offsetof(struct fields, memory_bytes),
     .min = 1, .max = 0x1p62, .help = "how much"},
    {.name = "tier", .key = "tier", .type = OPT_CHOICE, .offset = offsetof(struct fields, tier), .def = "smoke",
     .choices = tiers, .help = "how thorough"},
};
/* clang-format on */

static const struct opt_table table = {"fuzz [OPTION]... [WORD]...", "Reads words.", rows,
                                       sizeof rows / sizeof rows[0]};

struct words {
    int argc;
    char *argv[WORDS_MAX];
};

/* Cuts text into words, in place. */
static struct words cut_words(char *text) {
    static char program[] = "fuzz";
    struct words w = {.argc = 1, .argv = {program}};
    while (w.argc < WORDS_MAX && text && *text) {
        w.argv[w.argc++] = text;
        text = strchr(text, '\n');
        if (text)
            *text++ = '\0';
    }
    return w;
}

/* Lists borrow: from the words, or from a default. */
static void check_list(const struct opt_list *list, const struct words *w, const char *def) {
    for (size_t i = 0; i < list->count; i++) {
        bool found = list->items[i] == def && list->count == 1;
        for (int k = 1; k < w->argc && !found; k++)
            found = list->items[i] >= w->argv[k] && list->items[i] <= w->argv[k] + strlen(w->argv[k]);
        HOLDS(found, "\"%s\" is no word of the user's", list->items[i]);
    }
}

static void check_fields(const struct fields *f, const struct words *w) {
    HOLDS(f->count == OPT_INT_NONE || (f->count >= -5 && f->count <= 1000), "count %lld", f->count);
    HOLDS(f->share >= 0 && f->share <= 1, "share %g", f->share);
    HOLDS(f->time_s >= 1e-3 && isfinite(f->time_s), "time %g", f->time_s);
    HOLDS(f->memory_bytes == OPT_SIZE_NONE || (f->memory_bytes >= 1 && f->memory_bytes <= 1ull << 62),
          "memory %llu", f->memory_bytes);
    HOLDS(f->tier >= 0 && f->tier < 3, "tier %d", f->tier);
    HOLDS(f->offers.count > 0, "the default is gone");
    check_list(&f->offers, w, every_file);
    check_list(&f->tests, w, NULL);
}

/* The settings of a record bring the same options back. */
static void check_settings(const struct fields *f) {
    struct err e = {0};
    struct fields again;
    int help;
    char program[] = "fuzz", *argv[] = {program};
    json_t *settings = opt_to_json(&table, f);
    HOLDS(opt_parse(&table, 1, argv, &again, NULL, &help, &e) == 0, "%s", e.text);
    HOLDS(opt_from_json(&table, settings, &again, &e) == 0, "%s", e.text);
    json_t *second = opt_to_json(&table, &again);
    HOLDS(json_equal(settings, second), "the settings came back as others");
    HOLDS(again.quiet == f->quiet && again.count == f->count && again.memory_bytes == f->memory_bytes &&
              again.share == f->share && again.time_s == f->time_s && again.tier == f->tier &&
              again.offers.count == f->offers.count,
          "the options came back as others");
    opt_free(&table, &again);
    json_decref(second);
    json_decref(settings);
}

/* Are the words taken? *bare: how many belong to no option. */
static bool parse(struct words *w, bool bare_allowed, size_t *bare) {
    struct err e = {0};
    struct fields f;
    struct opt_list rest = {0};
    int help = 0;
    *bare = 0;
    if (opt_parse(&table, w->argc, w->argv, &f, bare_allowed ? &rest : NULL, &help, &e) != 0) {
        fuzz_check_error(&e, ERR_USAGE);
        HOLDS(!f.offers.items && !f.tests.items && !rest.items, "a list is left");
        return false;
    }
    check_fields(&f, w);
    HOLDS(!help || (f.count == OPT_INT_NONE && f.tests.count == 0 && rest.count == 0), "help is not all");
    check_list(&rest, w, NULL);
    check_settings(&f);
    *bare = rest.count;
    opt_free(&table, &f);
    opt_list_free(&rest);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = fuzz_text(bytes, size);
    struct words w = cut_words(text);
    size_t bare, none;
    bool with = parse(&w, true, &bare), without = parse(&w, false, &none);
    HOLDS(without == (with && bare == 0), "%zu bare words", bare);
    free(text);
    return 0;
}
