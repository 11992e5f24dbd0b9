/* A record's lines, one after the other, in bounded memory, each handed out only when the chain vouches for
 * it. Shared by the reader and by the writer that continues; what a line means is theirs.
 *
 * A line is vouched for by the "prev" of the line after it; the last one by nothing. Where the chain does not
 * fit, either of two lines may be the changed one: the line after both decides, and without one the earlier
 * is named. A last line that has no newline, or that is no line of a record, is torn: what a writer leaves
 * that was killed. */
#ifndef MODEL_RECORD_SCAN_H
#define MODEL_RECORD_SCAN_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RECORD_HASH_SIZE = 65 }; /* SHA-256 in hex, and NUL */

/* SHA-256 of bytes in lower-case hex, into out (RECORD_HASH_SIZE). */
void record_hash(const char *bytes, size_t length, char *out);
/* 64 zeros: what the first line carries. */
extern const char record_hash_none[RECORD_HASH_SIZE];

struct record_line {
    json_t *value; /* an object with strings "kind" and "prev"; owned by whom it was handed to */
    const char *kind, *prev;
    size_t number;
    uint64_t end_byte; /* where the next line begins */
    char hash[RECORD_HASH_SIZE];
};

struct record_scan {
    FILE *file;
    char *bytes; /* the line at hand, without its newline: up to RECORD_LINE_MAX */
    size_t length;
    uint64_t begin_byte, end_byte;
    size_t number;
    struct record_line held; /* waits for the next line to vouch for it */
    bool over;
    /* valid when next has returned 0 */
    size_t broken_line; /* 0 = the chain holds */
    uint64_t torn_bytes;
    bool headless; /* nothing, or only the torn beginning of a first line */
};

/* Takes the file over: record_scan_close closes it. */
void record_scan_open(struct record_scan *s, FILE *file);
/* 1 = the next line, *out to be freed with json_decref(out->value); 0 = no more; -1 = reading failed. */
int record_scan_next(struct record_scan *s, struct record_line *out, struct err *e) MUST_CHECK;
void record_scan_close(struct record_scan *s);

#endif
