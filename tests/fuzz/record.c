/* model/record: the input is read as it is, and once more with its chain mended, since no mutation finds a
 * SHA-256. What is read fits together; a chain that holds is never called broken, one byte changed in it
 * always is; and an unfinished record can be continued to its end. */
#include "tests/fuzz/fuzz.h"

#include "base/json.h"
#include "base/text.h"
#include "model/record_line.h"
#include "reports/report.h"

#include <math.h>
#include <sodium.h>

enum { HEX_BYTES = 64 };

static const char prev_member[] = "\"prev\":\"";

/* What the hashes alone say of a file, apart from the program's own reader. */
struct chain {
    size_t lines;
    size_t fitting;  /* lines in front that carry the hash of the line before */
    bool ends;       /* the last line has its newline */
    size_t end_line; /* the first of the fitting lines that is an end line, from 1; 0 = none */
};

static void hash_line(const char *line, size_t length, char *out) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)line, length);
    sodium_bin2hex(out, HEX_BYTES + 1, hash, sizeof hash);
}

static struct chain look_at(const struct text *t) {
    struct chain c = {.ends = t->length > 0 && t->data[t->length - 1] == '\n'};
    char hash[HEX_BYTES + 1];
    memset(hash, '0', HEX_BYTES);
    hash[HEX_BYTES] = '\0';
    for (size_t at = 0, length; at < t->length; at += length + 1) {
        struct err ignored;
        const char *line = t->data + at, *end = memchr(line, '\n', t->length - at);
        length = end ? (size_t)(end - line) : t->length - at;
        c.lines++;
        json_t *value = c.fitting + 1 == c.lines ? json_parse("", line, length, &ignored) : NULL;
        const char *prev = json_string_value(json_object_get(value, "prev"));
        const char *kind = json_string_value(json_object_get(value, "kind"));
        if (prev && kind && end && strcmp(prev, hash) == 0) {
            c.fitting++;
            if (c.end_line == 0 && strcmp(kind, "end") == 0)
                c.end_line = c.lines;
        }
        json_decref(value);
        hash_line(line, length, hash);
    }
    return c;
}

/* Puts into each line's "prev" the hash of the line before, where there is room for it. */
static void mend_chain(struct text *t) {
    char hash[HEX_BYTES + 1];
    memset(hash, '0', HEX_BYTES);
    for (size_t at = 0, length; at < t->length; at += length + 1) {
        char *line = t->data + at, *end = memchr(line, '\n', t->length - at);
        length = end ? (size_t)(end - line) : t->length - at;
        char *member = memmem(line, length, prev_member, sizeof prev_member - 1);
        if (member && (size_t)(line + length - member) > sizeof prev_member - 1 + HEX_BYTES)
            memcpy(member + sizeof prev_member - 1, hash, HEX_BYTES);
        hash_line(line, length, hash);
    }
}

static void check_rate(const struct record_rank *k) {
    struct record_rate rate = record_rank_rate(k);
    HOLDS(k->count > 0 || isnan(rate.rate), "%g of no samples", rate.rate);
    HOLDS(!(rate.rate < 0) && !(rate.low > rate.rate) && !(rate.high < rate.rate), "%g in %g to %g",
          rate.rate, rate.low, rate.high);
    HOLDS(!(rate.p5 > rate.median) && !(rate.median > rate.p95), "%g, %g, %g", rate.p5, rate.median,
          rate.p95);
    HOLDS(record_throttled_samples(k, NULL) <= k->count, "more throttled samples than samples");
}

static void check_case(const struct record *r, const struct record_case *c) {
    HOLDS(c->id && c->bench && c->unit && c->reason && c->host.busiest, "a text is missing");
    HOLDS(record_find_case(r, c->id) == c, "%s is there twice", c->id);
    HOLDS(c->attempt >= 1 && (unsigned)c->status <= CASE_OPEN, "attempt %d, status %d", c->attempt,
          c->status);
    for (size_t i = 0; i < c->warning_count; i++)
        HOLDS(c->warnings[i] != NULL, "warning %zu", i);
    for (size_t i = 0; i < c->rank_count; i++) {
        const struct record_rank *k = &c->ranks[i];
        HOLDS(k->work_per_iteration > 0, "%g", k->work_per_iteration);
        for (size_t s = 0; s < k->count; s++)
            HOLDS(k->iterations[s] > 0 && k->elapsed_s[s] > 0, "%g in %g s", k->iterations[s],
                  k->elapsed_s[s]);
        check_rate(k);
    }
}

/* Each finding is of a case that is there, or of the whole. */
static void check_findings(const struct record *r) {
    static struct gpu_table gpus; /* lives as long as the process */
    static bool loaded;
    const struct data data = {NULL};
    struct err e = {0};
    struct findings f = {0};
    if (!loaded)
        HOLDS(gpu_table_load(&data, &gpus, &e) == 0, "%s", e.text);
    loaded = true;
    HOLDS(findings_read(r, &gpus, &data, &f, &e) == 0, "%s", e.text);
    for (size_t i = 0; i < f.count; i++) {
        const struct finding *k = &f.items[i];
        HOLDS(k->id[0] && k->text[0], "finding %zu", i);
        HOLDS(!k->case_id[0] || record_find_case(r, k->case_id), "%s of %s, which is not there", k->id,
              k->case_id);
    }
    findings_free(&f);
}

static void check_state(const struct record *r, const struct chain *c) {
    bool behind = c->end_line > 0 && c->end_line < c->lines;
    HOLDS((r->state == RECORD_BROKEN) == (r->broken_line > 0) && r->broken_line <= c->lines,
          "state %d, line %zu", r->state, r->broken_line);
    HOLDS(r->state != RECORD_INTACT || (c->end_line == c->fitting && c->fitting + 1 >= c->lines),
          "intact, but of %zu lines only %zu fit", c->lines, c->fitting);
    if (c->fitting == c->lines)
        HOLDS((r->state == RECORD_BROKEN) == behind &&
                  (behind || (r->state == RECORD_INTACT) == (c->end_line > 0)),
              "state %d, line %zu; all %zu lines fit, the end is line %zu", r->state, r->broken_line,
              c->lines, c->end_line);
    if (r->state == RECORD_BROKEN)
        HOLDS(r->broken_line == c->end_line + 1 || r->broken_line >= c->fitting,
              "line %zu, but the first %zu fit", r->broken_line, c->fitting);
}

/* *whole: read, with a chain that holds to the last line. */
static bool check_read(const struct text *t, bool *whole, enum record_state *state) {
    struct err e = {0};
    struct record r;
    struct fuzz_file file = fuzz_file_open(text_get(t), t->length);
    struct chain chain = look_at(t);
    int result = record_read(file.path, &r, &e);
    *whole = result == 0 && chain.fitting == chain.lines;
    if (result == 0) {
        *state = r.state;
        check_state(&r, &chain);
        for (size_t i = 0; i < r.case_count; i++)
            check_case(&r, &r.cases[i]);
        check_findings(&r);
        record_free(&r);
    } else {
        fuzz_check_error(&e, e.code == ERR_UNFINISHED ? ERR_UNFINISHED : ERR_PARSE);
        HOLDS(strncmp(e.text, file.path, strlen(file.path)) == 0, "%s", e.text);
        HOLDS(e.code == ERR_UNFINISHED || strstr(e.text, ": line "), "%s", e.text);
    }
    fuzz_file_close(&file);
    return result == 0;
}

/* In a line that another one vouches for; the newline in front of the last would make two lines one torn one.
 */
static void check_change(const struct text *t) {
    const char *last = memrchr(t->data, '\n', t->length - 1);
    size_t vouched = last ? (size_t)(last - t->data) : 0;
    if (vouched == 0)
        return;
    struct text changed = {0};
    struct err e = {0};
    struct record r;
    text_add_bytes(&changed, t->data, t->length);
    size_t at =
        (size_t)(unsigned char)t->data[vouched / 2] * 7919 % vouched; /* anywhere, the same each time */
    changed.data[at] ^= 1;
    struct fuzz_file file = fuzz_file_open(changed.data, changed.length);
    if (record_read(file.path, &r, &e) == 0) {
        HOLDS(r.state == RECORD_BROKEN, "byte %zu was changed and the record is in state %d", at, r.state);
        record_free(&r);
    }
    fuzz_file_close(&file);
    text_free(&changed);
}

/* Cut where it is torn, and ended. */
static void check_continue(const struct text *t) {
    struct err e = {0};
    struct record r;
    uint64_t cut_bytes;
    struct fuzz_file file = fuzz_file_open(text_get(t), t->length);
    struct record_writer *w = record_continue(file.path, &cut_bytes, &e);
    if (w) {
        json_t *body = record_end_body(&(struct record_end_line){.reason = "enough"});
        HOLDS(cut_bytes <= t->length && record_append(w, "end", body, &e) == 0, "%s", e.text);
        HOLDS(record_read(file.path, &r, &e) == 0, "%s", e.text);
        HOLDS(r.state == RECORD_INTACT && strcmp(r.end_reason, "enough") == 0, "state %d, line %zu", r.state,
              r.broken_line);
        record_free(&r);
        json_decref(body);
    } else {
        fuzz_check_error(&e, ERR_PARSE);
    }
    record_close(w);
    fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    bool whole;
    enum record_state state = RECORD_BROKEN;
    struct text t = {0};
    text_add_bytes(&t, (const char *)bytes, size);
    if (check_read(&t, &whole, &state) && state == RECORD_UNFINISHED)
        check_continue(&t);
    mend_chain(&t);
    if (check_read(&t, &whole, &state) && state == RECORD_UNFINISHED)
        check_continue(&t);
    if (whole)
        check_change(&t);
    text_free(&t);
    return 0;
}
