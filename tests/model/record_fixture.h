/* For the tests of the record: files of bytes, and records made line by line.
 * tests/data/record_v1.jsonl was made by Python's json and hashlib, apart from this program: 14 lines,
 *    1 head     2 case gemm/small   3-5 samples   6 done   7 case membw/triad   8 done
 *    9 case gemm/next, attempt 1   10 samples   11 case gemm/next, attempt 2   12 samples   13 done   14 end
 */
#ifndef TESTS_MODEL_RECORD_FIXTURE_H
#define TESTS_MODEL_RECORD_FIXTURE_H

#include "tests/model/folder.h"

#include "base/json.h"
#include "model/record_line.h"

#define RECORD_V1 TEST_DATA "/record_v1.jsonl"
enum { V1_LINES = 14 };

struct bytes {
    char *data;
    size_t size;
};

static inline struct bytes bytes_read(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct bytes b = {malloc(1 << 22), 0};
    b.size = fread(b.data, 1, 1 << 22, file);
    assert_int_equal(fclose(file), 0);
    return b;
}

/* A new file each time: writing over one makes ext4 flush it. */
static inline void bytes_write(const char *path, const char *data, size_t size) {
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Where line `number` (from 1) begins; past the last, the size. */
static inline size_t line_begin(const struct bytes *b, size_t number) {
    size_t at = 0;
    for (size_t line = 1; line < number && at < b->size; at++)
        line += b->data[at] == '\n';
    return at;
}

static inline size_t line_of(const struct bytes *b, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += b->data[i] == '\n';
    return line;
}

/* Appends a line whose members are written as JSON text, {} and all. */
static inline void append_text(struct record_writer *w, const char *kind, const char *body) {
    struct err e;
    json_t *value = json_parse("body", body, strlen(body), &e);
    assert_non_null(value);
    assert_ok(record_append(w, kind, value, &e), &e);
    json_decref(value);
}

static inline struct record_writer *create_with_head(const char *path) {
    struct err e;
    struct record_writer *w = record_create(path, &e);
    if (!w)
        fail_msg("%s", e.text);
    const struct record_head_line head = {.program = "stepcost test", .backend = "sim", .simulated = true};
    json_t *body = record_head_body(&head);
    assert_ok(record_append(w, "head", body, &e), &e);
    json_decref(body);
    return w;
}

static inline size_t finished_cases(const struct record *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->case_count; i++)
        count += r->cases[i].status != CASE_OPEN;
    return count;
}

/* A scratch file, gone when the test ends (cmocka set-up and tear-down). */
static struct folder scratch;
static char scratch_path[96];

static inline int scratch_make(void **state) {
    (void)state;
    folder_make(&scratch);
    snprintf(scratch_path, sizeof scratch_path, "%s/record.jsonl", scratch.path);
    return 0;
}

static inline int scratch_remove(void **state) {
    (void)state;
    folder_remove(&scratch);
    return 0;
}

#define with_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

#endif
