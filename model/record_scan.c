#include "model/record_scan.h"

#include "base/json.h"
#include "base/mem.h"
#include "model/record.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

const char record_hash_none[RECORD_HASH_SIZE] =
    "0000000000000000000000000000000000000000000000000000000000000000";

void record_hash(const char *bytes, size_t length, char *out) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)bytes, length);
    sodium_bin2hex(out, RECORD_HASH_SIZE, hash, sizeof hash);
}

void record_scan_open(struct record_scan *s, FILE *file) {
    *s = (struct record_scan){.file = file, .bytes = xmalloc(RECORD_LINE_MAX)};
}

void record_scan_close(struct record_scan *s) {
    if (!s)
        return;
    json_decref(s->held.value);
    free(s->bytes);
    if (s->file)
        fclose(s->file);
    *s = (struct record_scan){0};
}

enum raw { RAW_END, RAW_LINE, RAW_TORN };

static enum raw next_raw(struct record_scan *s) {
    int c;
    s->begin_byte = s->end_byte;
    s->length = 0;
    while ((c = getc_unlocked(s->file)) != EOF && c != '\n') {
        if (s->length < RECORD_LINE_MAX)
            s->bytes[s->length] = (char)c;
        s->length++;
    }
    s->end_byte += s->length + (c == '\n');
    s->number += c == '\n' || s->length > 0;
    return c == '\n' ? RAW_LINE : s->length > 0 ? RAW_TORN : RAW_END;
}

/* The bytes at hand as a line, or false when they are none. */
static bool parse(const struct record_scan *s, struct record_line *out) {
    struct err ignored;
    if (s->length > RECORD_LINE_MAX)
        return false;
    *out = (struct record_line){.number = s->number, .end_byte = s->end_byte};
    out->value = json_parse("", s->bytes, s->length, &ignored);
    out->kind = json_string_value(json_object_get(out->value, "kind"));
    out->prev = json_string_value(json_object_get(out->value, "prev"));
    if (!out->kind || !out->prev) {
        json_decref(out->value);
        return false;
    }
    record_hash(s->bytes, s->length, out->hash);
    return true;
}

static bool at_end(const struct record_scan *s) {
    int c = getc_unlocked(s->file);
    if (c != EOF)
        ungetc(c, s->file);
    return c == EOF;
}

/* Does the line that follows say that the one with this hash was changed? */
static bool next_denies(struct record_scan *s, const char *hash) {
    struct record_line next;
    if (next_raw(s) != RAW_LINE || !parse(s, &next))
        return false;
    bool fits = strcmp(next.prev, hash) == 0;
    json_decref(next.value);
    return !fits;
}

/* The bytes at hand are no line: torn when they are the last, else the record is broken there. */
static void take_junk(struct record_scan *s, enum raw raw) {
    static const char start[] = "{\"kind\":\"head\"";
    size_t compared = s->length < sizeof start - 1 ? s->length : sizeof start - 1;
    if (raw == RAW_LINE && !at_end(s)) {
        s->broken_line = s->number;
        return;
    }
    s->torn_bytes = s->end_byte - s->begin_byte;
    s->headless = raw == RAW_TORN && s->number == 1 && memcmp(s->bytes, start, compared) == 0;
}

static int last_line(struct record_scan *s, struct record_line *out) {
    s->over = true;
    *out = s->held;
    s->held = (struct record_line){0};
    return out->value != NULL;
}

/* here does not follow the held line: one of the two was changed. */
static int chain_break(struct record_scan *s, struct record_line *here, struct record_line *out) {
    bool held_changed = s->held.value && !next_denies(s, here->hash);
    s->broken_line = held_changed ? s->held.number : here->number;
    json_decref(here->value);
    if (held_changed) {
        json_decref(s->held.value);
        s->held = (struct record_line){0};
    }
    return last_line(s, out);
}

int record_scan_next(struct record_scan *s, struct record_line *out, struct err *e) {
    while (!s->over) {
        struct record_line here;
        enum raw raw = next_raw(s);
        if (ferror(s->file))
            return err_set(e, ERR_IO, "line %zu: cannot read: %s", s->number, strerror(errno));
        if (raw == RAW_END) {
            s->headless = s->number == 0;
            return last_line(s, out);
        }
        if (raw == RAW_TORN || !parse(s, &here)) {
            take_junk(s, raw);
            return last_line(s, out);
        }
        const char *expected = s->held.value ? s->held.hash : record_hash_none;
        if (strcmp(here.prev, expected) != 0)
            return chain_break(s, &here, out);
        *out = s->held;
        s->held = here;
        if (out->value)
            return 1;
    }
    return 0;
}
