#include "tests/model/record_fixture.h"

#include <signal.h>
#include <sys/resource.h>

/* The bodies of the record that Python made, written again: the same bytes, hashes and all. */
static void writes_the_chain_that_python_computes(void **state) {
    (void)state;
    struct bytes want = bytes_read(RECORD_V1);
    struct err e;
    struct record_writer *w = record_create(scratch_path, &e);
    assert_non_null(w);
    for (size_t line = 1; line <= V1_LINES; line++) {
        size_t begin = line_begin(&want, line), end = line_begin(&want, line + 1);
        json_t *value = json_parse("v1", want.data + begin, end - begin, &e);
        assert_non_null(value);
        char *kind = strdup(json_string_value(json_object_get(value, "kind")));
        json_object_del(value, "kind");
        json_object_del(value, "prev");
        assert_ok(record_append(w, kind, value, &e), &e);
        free(kind);
        json_decref(value);
    }
    record_close(w);
    struct bytes got = bytes_read(scratch_path);
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    free(got.data);
    free(want.data);
}

static void append_body(struct record_writer *w, const char *kind, json_t *body) {
    struct err e;
    assert_ok(record_append(w, kind, body, &e), &e);
    json_decref(body);
}

static void write_with_builders(const char *path) {
    struct err e;
    struct record_writer *w = record_create(path, &e);
    assert_non_null(w);
    const struct op op = op_elementwise(OP_TRIAD, 1000, DTYPE_FP64);
    json_t *facts = json_pack("{s:s}", "core", "Haswell");
    const struct record_device_line device = {"A100", 8e10, 4e7, NAN, 108, true, facts};
    json_t *devices = json_pack("[o]", record_device_body(&device));
    json_t *host = json_pack("{s:s}", "hostname", "node");
    json_t *offer = json_pack("{s:s, s:s, s:s}", "provider", "p", "sku", "s", "region", "r");
    const struct record_head_line head = {"stepcost", "sim", true, devices, host, NULL, offer};
    append_body(w, "head", record_head_body(&head));
    json_decref(facts);
    json_decref(devices);
    json_decref(host);
    json_decref(offer);
    append_body(w, "case", record_case_body(&(struct record_case_line){"t", "membw", &op, 1, 2.5, true}));
    double start_s[] = {0, 0.3}, iterations[] = {4, 5}, elapsed_s[] = {0.1, 1.0 / 3};
    double t_s[] = {0, 0.2}, power_w[] = {NAN, 250};
    const struct record_samples_line samples = {.id = "t",
                                                .attempt = 1,
                                                .rank = 3,
                                                .work_per_iteration = 24000,
                                                .unit = "B",
                                                .count = 2,
                                                .start_s = start_s,
                                                .iterations = iterations,
                                                .elapsed_s = elapsed_s,
                                                .telemetry = {.count = 2, .t_s = t_s, .power_w = power_w}};
    append_body(w, "samples", record_samples_body(&samples));
    const char *const warnings[] = {"hot"};
    append_body(
        w, "done",
        record_done_body(&(struct record_done_line){"t", 1, CASE_MEASURED, NULL, warnings, 1, true, NULL,
                                                    &(struct record_deviation){0.5, 1.0 / 3, NAN}}));
    append_body(w, "end", record_end_body(&(struct record_end_line){1, 1, 0, 0, "stopped"}));
    record_close(w);
}

static void builders_write_what_the_reader_reads(void **state) {
    (void)state;
    struct err e;
    struct record r;
    write_with_builders(scratch_path);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_INTACT);
    assert_true(r.simulated);
    assert_string_equal(r.device_name, "A100");
    assert_same(r.device_memory_bytes, 8e10);
    assert_string_equal(r.host_name, "node");
    assert_string_equal(r.offer_region, "r");
    assert_string_equal(r.end_reason, "stopped");
    const struct record_case *c = &r.cases[0];
    assert_string_equal(c->unit, "B");
    assert_true(c->warmed_up);
    assert_string_equal(c->warnings[0], "hot");
    assert_same(c->deviation.max_rel, 0.5);
    assert_same(c->deviation.rms_rel, 1.0 / 3);
    assert_same(c->deviation.elements, NAN);
    const struct record_rank *k = &c->ranks[0];
    assert_int_equal(k->rank, 3);
    assert_int_equal(k->count, 2);
    assert_same(k->elapsed_s[1], 1.0 / 3); /* every bit */
    assert_same(k->telemetry.power_w[0], NAN);
    assert_same(k->telemetry.power_w[1], 250);
    assert_same(k->telemetry.clock_hz[1], NAN); /* a column that was not given */
    record_free(&r);
}

static void unknown_numbers_are_null_in_the_file(void **state) {
    (void)state;
    write_with_builders(scratch_path);
    struct bytes b = bytes_read(scratch_path);
    b.data[b.size] = '\0';
    assert_non_null(strstr(b.data, "\"clock_hz\":null,"));
    assert_non_null(strstr(b.data, "\"power_w\":[null,250"));
    assert_null(strstr(b.data, "nan"));
    free(b.data);
}

static void kind_and_prev_are_the_writers_own(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    append_text(w, "note", "{\"kind\":\"end\",\"prev\":\"mine\"}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_UNFINISHED);
    assert_int_equal(r.torn_bytes, 0);
    record_free(&r);
}

/* ---- beginning ---- */

static void does_not_write_over_a_record(void **state) {
    (void)state;
    struct err e;
    struct bytes before = bytes_read(RECORD_V1);
    bytes_write(scratch_path, before.data, before.size);
    assert_null(record_create(scratch_path, &e));
    assert_error(&e, ERR_USAGE, "--resume");
    bytes_write(scratch_path, "precious\n", 9);
    assert_null(record_create(scratch_path, &e));
    assert_error(&e, ERR_USAGE, scratch_path);
    struct bytes after = bytes_read(scratch_path);
    assert_int_equal(after.size, 9);
    free(before.data);
    free(after.data);
}

static void begins_anew_where_not_even_the_head_was_whole(void **state) {
    (void)state;
    static const char *const rows[] = {"", "{", "{\"kind\":\"head\",\"prev\":\"0000"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct record r;
        uint64_t cut_bytes;
        bytes_write(scratch_path, rows[i], strlen(rows[i]));
        assert_null(record_continue(scratch_path, &cut_bytes, &e));
        assert_error(&e, ERR_UNFINISHED, "without --resume");
        record_close(create_with_head(scratch_path));
        assert_ok(record_read(scratch_path, &r, &e), &e);
        assert_int_equal(r.state, RECORD_UNFINISHED);
        record_free(&r);
    }
}

static void refuses_places_that_hold_no_file(void **state) {
    (void)state;
    struct err e;
    assert_null(record_create("/nowhere/r.jsonl", &e));
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/r.jsonl");
    assert_null(record_create("/dev/null", &e));
    assert_error(&e, ERR_USAGE, "/dev/null");
    assert_null(record_create("/", &e));
    assert_error(&e, ERR_USAGE, "/");
}

static void second_writer_is_turned_away(void **state) {
    (void)state;
    struct err e;
    uint64_t cut_bytes;
    struct record_writer *w = create_with_head(scratch_path);
    assert_null(record_create(scratch_path, &e));
    assert_error(&e, ERR_IO, "locked");
    assert_null(record_continue(scratch_path, &cut_bytes, &e));
    assert_error(&e, ERR_IO, "locked");
    record_close(w);
    w = record_continue(scratch_path, &cut_bytes, &e);
    assert_non_null(w);
    record_close(w);
}

/* ---- going on ---- */

/* Cut around every line's beginning and end, go on to a new end, read again. */
static void goes_on_after_a_torn_line(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    for (size_t line = 2; line <= V1_LINES; line++) {
        size_t begin = line_begin(&v1, line), end = line_begin(&v1, line + 1);
        const size_t sizes[] = {begin, begin + 1, (begin + end) / 2, end - 2, end - 1};
        for (size_t i = 0; i < COUNT(sizes); i++) {
            struct err e;
            struct record r;
            uint64_t cut_bytes = 77;
            bytes_write(scratch_path, v1.data, sizes[i]);
            struct record_writer *w = record_continue(scratch_path, &cut_bytes, &e);
            assert_non_null(w);
            assert_int_equal(cut_bytes, sizes[i] - begin);
            append_text(w, "end", "{\"cases\":3}");
            record_close(w);
            assert_ok(record_read(scratch_path, &r, &e), &e);
            assert_int_equal(r.state, RECORD_INTACT);
            assert_int_equal(finished_cases(&r), (line > 6) + (line > 8) + (line > 13));
            record_free(&r);
        }
    }
    free(v1.data);
}

static void cuts_a_last_line_that_is_no_line(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    size_t size = line_begin(&v1, 9);
    memcpy(v1.data + size, "\0\0\0\0\n", 5); /* what some file systems leave after a power cut */
    bytes_write(scratch_path, v1.data, size + 5);
    struct err e;
    uint64_t cut_bytes;
    struct record_writer *w = record_continue(scratch_path, &cut_bytes, &e);
    assert_non_null(w);
    assert_int_equal(cut_bytes, 5);
    record_close(w);
    struct bytes after = bytes_read(scratch_path);
    assert_int_equal(after.size, size);
    free(after.data);
    free(v1.data);
}

static void refuses_to_go_on_and_leaves_the_file_alone(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    char *changed = malloc(v1.size);
    memcpy(changed, v1.data, v1.size);
    changed[line_begin(&v1, 5) + 100] ^= 1;
    const struct {
        const char *data;
        size_t size;
        const char *says;
    } rows[] = {
        {v1.data, v1.size, "finished"},
        {changed, v1.size, "line 5"},
        {changed, line_begin(&v1, 8) + 3, "line 5"},
        {"a,b\n1,2\n", 8, "no record"},
        {"nothing", 7, "no record"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        uint64_t cut_bytes;
        bytes_write(scratch_path, rows[i].data, rows[i].size);
        assert_null(record_continue(scratch_path, &cut_bytes, &e));
        assert_error(&e, ERR_PARSE, rows[i].says);
        assert_error(&e, ERR_PARSE, scratch_path);
        struct bytes after = bytes_read(scratch_path);
        assert_int_equal(after.size, rows[i].size);
        free(after.data);
    }
    free(changed);
    free(v1.data);
}

static void refuses_to_mix_methods(void **state) {
    (void)state;
    struct err e;
    uint64_t cut_bytes;
    struct record_writer *w = record_create(scratch_path, &e);
    assert_non_null(w);
    append_text(w, "head", "{\"schema\":1,\"method\":99}");
    record_close(w);
    assert_null(record_continue(scratch_path, &cut_bytes, &e));
    assert_error(&e, ERR_PARSE, "method 99");
    assert_null(record_continue("/nowhere/r.jsonl", &cut_bytes, &e));
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/r.jsonl");
}

/* ---- lines that do not get through ---- */

static void line_beyond_the_limit_is_refused_and_the_record_goes_on(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    char *text = malloc(RECORD_LINE_MAX + 1);
    memset(text, 'x', RECORD_LINE_MAX);
    text[RECORD_LINE_MAX] = '\0';
    json_t *body = json_pack("{s:s}", "text", text);
    assert_int_equal(record_append(w, "note", body, &e), -1);
    assert_error(&e, ERR_USAGE, "limit");
    json_decref(body);
    append_text(w, "end", "{}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_INTACT);
    record_free(&r);
    free(text);
}

/* A limit on the file's size stands for a full disk: part of the line gets through. */
static void line_that_the_disk_has_no_room_for_leaves_no_trace(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct rlimit before, small;
    struct record_writer *w = create_with_head(scratch_path);
    struct bytes head = bytes_read(scratch_path);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = head.size + 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    json_t *body = json_pack("{s:s}", "text", "more than twenty bytes");
    int result = record_append(w, "note", body, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(result, -1);
    assert_error(&e, ERR_IO, scratch_path);
    struct bytes after = bytes_read(scratch_path);
    assert_int_equal(after.size, head.size);
    append_body(w, "note", body);
    append_text(w, "end", "{}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_INTACT);
    record_free(&r);
    free(head.data);
    free(after.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        with_scratch(writes_the_chain_that_python_computes),
        with_scratch(builders_write_what_the_reader_reads),
        with_scratch(unknown_numbers_are_null_in_the_file),
        with_scratch(kind_and_prev_are_the_writers_own),
        with_scratch(does_not_write_over_a_record),
        with_scratch(begins_anew_where_not_even_the_head_was_whole),
        cmocka_unit_test(refuses_places_that_hold_no_file),
        with_scratch(second_writer_is_turned_away),
        with_scratch(goes_on_after_a_torn_line),
        with_scratch(cuts_a_last_line_that_is_no_line),
        with_scratch(refuses_to_go_on_and_leaves_the_file_alone),
        with_scratch(refuses_to_mix_methods),
        with_scratch(line_beyond_the_limit_is_refused_and_the_record_goes_on),
        with_scratch(line_that_the_disk_has_no_room_for_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
