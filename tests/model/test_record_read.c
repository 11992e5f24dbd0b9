#include "tests/model/record_fixture.h"

/* ---- what a record holds ---- */

static void reads_the_record_of_schema_1(void **state) {
    (void)state;
    struct err e;
    struct record r;
    assert_ok(record_read(RECORD_V1, &r, &e), &e);
    assert_int_equal(r.state, RECORD_INTACT);
    assert_int_equal(r.torn_bytes, 0);
    assert_string_equal(r.path, RECORD_V1);
    assert_string_equal(r.created, "2026-11-30T08:15:00Z");
    assert_string_equal(r.backend, "cpu");
    assert_string_equal(r.device_name, "Xeon");
    assert_string_equal(r.host_name, "node-7");
    assert_false(r.simulated);
    assert_string_equal(r.offer_provider, "aws");
    assert_string_equal(r.offer_sku, "c6i.large");
    assert_string_equal(r.offer_region, "us-east-1");
    assert_same(r.device_memory_bytes, 16e9);
    assert_int_equal(r.device_count, 2);
    assert_string_equal(r.end_reason, "");
    assert_int_equal(r.case_count, 3);
    assert_string_equal(r.cases[0].id, "gemm/small");
    assert_string_equal(r.cases[1].id, "membw/triad");
    assert_string_equal(r.cases[2].id, "gemm/next");
    record_free(&r);
}

static void joins_the_chunks_of_each_rank(void **state) {
    (void)state;
    struct err e;
    struct record r;
    assert_ok(record_read(RECORD_V1, &r, &e), &e);
    const struct record_case *c = record_find_case(&r, "gemm/small");
    assert_non_null(c);
    assert_string_equal(c->bench, "gemm");
    assert_string_equal(c->unit, "FLOP");
    const struct op op = op_gemm(4, 8, 16, DTYPE_FP32);
    assert_true(op_equal(&c->op, &op));
    assert_int_equal(c->status, CASE_MEASURED);
    assert_string_equal(c->reason, "");
    assert_true(c->warmed_up);
    assert_same(c->deviation.rms_rel, NAN); /* an older record has none */
    assert_int_equal(c->warning_count, 2);
    assert_string_equal(c->warnings[1], "warm");
    assert_int_equal(c->rank_count, 2);
    const struct record_rank *k = &c->ranks[0];
    assert_int_equal(k->count, 3);
    assert_same(k->work_per_iteration, 1024);
    const double elapsed_s[] = {0.0625, 0.0625, 0.125}, start_s[] = {0, 0.0625, 0.125};
    for (size_t i = 0; i < 3; i++) {
        assert_same(k->elapsed_s[i], elapsed_s[i]);
        assert_same(k->start_s[i], start_s[i]);
        assert_same(k->iterations[i], 100);
    }
    assert_int_equal(c->ranks[1].rank, 1);
    assert_int_equal(c->ranks[1].count, 1);
    assert_same(c->ranks[1].iterations[0], 50);
    record_free(&r);
}

static void null_is_nan_in_memory(void **state) {
    (void)state;
    struct err e;
    struct record r;
    assert_ok(record_read(RECORD_V1, &r, &e), &e);
    const struct record_telemetry *t = &r.cases[0].ranks[0].telemetry;
    assert_int_equal(t->count, 3);
    assert_same(t->t_s[2], 0.25);
    assert_same(t->power_w[0], NAN);
    assert_same(t->power_w[1], 95.5);
    assert_same(t->power_w[2], NAN);
    assert_same(t->temperature_c[2], 61.5);
    assert_int_equal(r.cases[0].ranks[1].telemetry.count, 0);
    record_free(&r);
}

static void keeps_only_the_last_attempt_of_a_case(void **state) {
    (void)state;
    struct err e;
    struct record r;
    assert_ok(record_read(RECORD_V1, &r, &e), &e);
    const struct record_case *c = record_find_case(&r, "gemm/next");
    assert_int_equal(c->attempt, 2);
    assert_int_equal(c->status, CASE_FAILED);
    assert_string_equal(c->reason, "wrong result");
    assert_int_equal(c->rank_count, 1);
    assert_int_equal(c->ranks[0].count, 2);
    assert_same(c->ranks[0].iterations[0], 9);
    record_free(&r);
}

static void a_case_may_have_a_device_of_its_own(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct op op = op_file(OP_FILE_READ, 2, 4096, 8, 1);
    json_t *facts = json_pack("{s:s}", "fs_type", "ext4");
    struct record_device_line device = {.name = "ext4 on /dev/x", .facts = facts};
    struct record_case_line line = {"a", "disk", &op, 1, 4, false, record_device_body(&device)};
    struct record_writer *w = create_with_head(scratch_path);
    for (line.attempt = 1; line.attempt <= 2; line.attempt++) {
        json_t *body = record_case_body(&line);
        assert_ok(record_append(w, "case", body, &e), &e);
        json_decref(body);
    }
    json_decref((json_t *)line.device);
    line.id = "b";
    line.device = NULL;
    json_t *body = record_case_body(&line);
    assert_ok(record_append(w, "case", body, &e), &e);
    json_decref(body);
    json_decref(facts);
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    const json_t *read = json_object_get(r.cases[0].device, "facts");
    assert_string_equal(json_string_value(json_object_get(read, "fs_type")), "ext4");
    assert_null(r.cases[1].device);
    record_free(&r);
}

static void passes_over_members_and_kinds_it_does_not_know(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    append_text(w, "note", "{\"text\":\"of a later version\"}");
    append_text(w, "case",
                "{\"id\":\"a\",\"bench\":\"fma\",\"attempt\":1,\"colour\":[1,{}],"
                "\"op\":{\"kind\":\"fma\",\"dtype\":\"fp32\",\"accumulate\":\"fp32\",\"elements\":8}}");
    append_text(w, "done",
                "{\"id\":\"a\",\"attempt\":1,\"status\":\"failed\",\"reason\":\"x\",\"mood\":null}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_UNFINISHED);
    assert_int_equal(r.case_count, 1);
    assert_int_equal(r.cases[0].status, CASE_FAILED);
    assert_true(r.simulated);
    assert_string_equal(r.device_name, "");
    assert_string_equal(r.offer_provider, "");
    assert_same(r.device_memory_bytes, NAN);
    record_free(&r);
}

static void many_chunks_keep_their_order(void **state) {
    (void)state;
    enum { CHUNKS = 300 };
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    append_text(w, "case",
                "{\"id\":\"a\",\"bench\":\"fma\",\"attempt\":1,"
                "\"op\":{\"kind\":\"fma\",\"dtype\":\"fp32\",\"accumulate\":\"fp32\",\"elements\":8}}");
    for (int i = 0; i < CHUNKS; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"id\":\"a\",\"attempt\":1,\"rank\":0,\"work_per_iteration\":16,\"unit\":\"FLOP\","
                 "\"start_s\":[%d,null],\"iterations\":[%d,1],\"elapsed_s\":[1,1]}",
                 i, i + 1);
        append_text(w, "samples", body);
    }
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    const struct record_rank *k = &r.cases[0].ranks[0];
    assert_int_equal(k->count, 2 * CHUNKS);
    for (size_t i = 0; i < CHUNKS; i++) {
        assert_same(k->iterations[2 * i], (double)i + 1);
        assert_same(k->start_s[2 * i], (double)i);
        assert_same(k->start_s[2 * i + 1], NAN);
    }
    record_free(&r);
}

/* ---- damage ---- */

static size_t v1_finished_by(size_t whole_lines) {
    return (whole_lines >= 6) + (whole_lines >= 8) + (whole_lines >= 13);
}

static void cut_at_every_byte_keeps_exactly_the_finished_cases(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    for (size_t size = 0; size <= v1.size; size++) {
        struct err e;
        struct record r;
        bytes_write(scratch_path, v1.data, size);
        size_t whole = line_of(&v1, size) - 1;
        int result = record_read(scratch_path, &r, &e);
        if (whole == 0) {
            assert_int_equal(result, -1);
            assert_error(&e, ERR_UNFINISHED, "record.jsonl");
            continue;
        }
        assert_int_equal(result, 0);
        assert_int_equal(r.state, whole == V1_LINES ? RECORD_INTACT : RECORD_UNFINISHED);
        assert_int_equal(r.torn_bytes, size - line_begin(&v1, whole + 1));
        assert_int_equal(finished_cases(&r), v1_finished_by(whole));
        record_free(&r);
    }
    free(v1.data);
}

static void changed_byte_is_found_at_its_line(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    size_t last_two = line_begin(&v1, V1_LINES) - 1; /* from the newline before the end line */
    for (size_t at = 0; at < last_two; at++) {
        struct err e;
        struct record r;
        v1.data[at] ^= 1;
        bytes_write(scratch_path, v1.data, v1.size);
        v1.data[at] ^= 1;
        size_t line = line_of(&v1, at);
        int result = record_read(scratch_path, &r, &e);
        if (line == 1) {
            assert_int_equal(result, -1);
            assert_error(&e, ERR_PARSE, "line 1");
            continue;
        }
        assert_int_equal(result, 0);
        assert_int_equal(r.state, RECORD_BROKEN);
        assert_int_equal(r.broken_line, line);
        assert_int_equal(finished_cases(&r), v1_finished_by(line - 1));
        record_free(&r);
    }
    free(v1.data);
}

/* Nothing vouches for the last line, so a change there may pass; it must not do harm. */
static void changed_byte_in_the_last_line_does_no_harm(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    for (size_t at = line_begin(&v1, V1_LINES) - 1; at < v1.size; at++) {
        struct err e;
        struct record r;
        v1.data[at] ^= 1;
        bytes_write(scratch_path, v1.data, v1.size);
        v1.data[at] ^= 1;
        if (record_read(scratch_path, &r, &e) != 0)
            continue;
        assert_true(finished_cases(&r) >= 2);
        record_free(&r);
    }
    free(v1.data);
}

static void missing_doubled_or_swapped_line_breaks_the_chain(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    size_t a = line_begin(&v1, 4), b = line_begin(&v1, 5), c = line_begin(&v1, 6);
    char *changed = malloc(2 * v1.size);
    struct err e;
    struct record r;
    /* without line 4, line 5 follows line 3; line 6 vouches for 5, so the fault is at 3 or between */
    memcpy(changed, v1.data, a);
    memcpy(changed + a, v1.data + b, v1.size - b);
    bytes_write(scratch_path, changed, v1.size - (b - a));
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_BROKEN);
    assert_in_range(r.broken_line, 3, 4);
    record_free(&r);
    /* line 4 twice */
    memcpy(changed, v1.data, b);
    memcpy(changed + b, v1.data + a, v1.size - a);
    bytes_write(scratch_path, changed, v1.size + (b - a));
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_BROKEN);
    assert_in_range(r.broken_line, 4, 5);
    record_free(&r);
    /* lines 4 and 5 swapped */
    memcpy(changed, v1.data, v1.size);
    memcpy(changed + a, v1.data + b, c - b);
    memcpy(changed + a + (c - b), v1.data + a, b - a);
    bytes_write(scratch_path, changed, v1.size);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_BROKEN);
    assert_in_range(r.broken_line, 3, 5);
    record_free(&r);
    free(changed);
    free(v1.data);
}

static void line_behind_the_end_is_broken(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    append_text(w, "end", "{\"cases\":0,\"reason\":\"deadline\"}");
    append_text(w, "note", "{}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_BROKEN);
    assert_int_equal(r.broken_line, 3);
    assert_string_equal(r.end_reason, "deadline");
    record_free(&r);
}

static void line_beyond_the_limit_is_no_line(void **state) {
    (void)state;
    struct bytes v1 = bytes_read(RECORD_V1);
    size_t a = line_begin(&v1, 7), extra = RECORD_LINE_MAX + 1;
    char *changed = malloc(v1.size + extra + 1);
    memcpy(changed, v1.data, a);
    memset(changed + a, ' ', extra);
    changed[a + extra] = '\n';
    struct err e;
    struct record r;
    /* as the last line it is torn */
    bytes_write(scratch_path, changed, a + extra + 1);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_UNFINISHED);
    assert_int_equal(r.torn_bytes, extra + 1);
    record_free(&r);
    memcpy(changed + a + extra + 1, v1.data + a, v1.size - a);
    bytes_write(scratch_path, changed, v1.size + extra + 1);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.state, RECORD_BROKEN);
    assert_int_equal(r.broken_line, 7);
    record_free(&r);
    free(changed);
    free(v1.data);
}

/* ---- refusals ---- */

static void refuses_what_is_no_record(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum err_code code;
    } rows[] = {
        {"", ERR_UNFINISHED},
        {"{\"kind\":\"head\",\"pre", ERR_UNFINISHED},
        {"hello", ERR_PARSE},
        {"hello\n", ERR_PARSE},
        {"\n", ERR_PARSE},
        {"\n\n\n", ERR_PARSE},
        {"a,b\n1,2\n3,4\n", ERR_PARSE},
        {"{}\n", ERR_PARSE},
        {"[1]\n[2]\n", ERR_PARSE},
        {"{\"kind\":\"head\",\"prev\":7}\n{}\n", ERR_PARSE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct record r;
        bytes_write(scratch_path, rows[i].text, strlen(rows[i].text));
        assert_int_equal(record_read(scratch_path, &r, &e), -1);
        assert_error(&e, rows[i].code, "record.jsonl");
    }
}

static void names_a_file_that_cannot_be_read(void **state) {
    (void)state;
    struct err e;
    struct record r;
    assert_int_equal(record_read("/nowhere/record.jsonl", &r, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/record.jsonl");
    assert_int_equal(record_read("/", &r, &e), -1);
    assert_error(&e, ERR_NOT_FOUND, "/");
    assert_int_equal(record_read("/dev/zero", &r, &e), -1); /* never ends */
    assert_error(&e, ERR_NOT_FOUND, "/dev/zero");
}

static void refuses_a_newer_schema(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = record_create(scratch_path, &e);
    assert_non_null(w);
    append_text(w, "head", "{\"schema\":2,\"method\":1,\"invented\":true}");
    record_close(w);
    assert_int_equal(record_read(scratch_path, &r, &e), -1);
    assert_error(&e, ERR_PARSE, "schema 2");
    assert_error(&e, ERR_PARSE, "line 1");
}

#define CASE_A                                                                                               \
    "{\"id\":\"a\",\"bench\":\"fma\",\"attempt\":1,\"op\":{\"kind\":\"fma\",\"dtype\":\"fp32\","             \
    "\"accumulate\":\"fp32\",\"elements\":8}}"
#define SAMPLES_A "{\"id\":\"a\",\"attempt\":1,\"rank\":0,\"work_per_iteration\":16,\"unit\":\"FLOP\","

/* Line 1 is the head, line 2 the case a, line 3 the bad one. */
static void names_file_line_and_member_of_a_bad_line(void **state) {
    (void)state;
    static const struct {
        const char *kind, *body, *says;
    } rows[] = {
        {"case", "{\"bench\":\"fma\"}", "id"},
        {"case", "{\"id\":\"b\",\"bench\":\"fma\",\"attempt\":1,\"op\":{\"kind\":\"dance\"}}", "dance"},
        {"case", CASE_A, "attempt 1 after attempt 1"},
        {"case",
         "{\"id\":\"b\",\"bench\":\"fma\",\"attempt\":1,\"device\":\"disk\",\"op\":{\"kind\":\"fma\","
         "\"dtype\":\"fp32\",\"accumulate\":\"fp32\",\"elements\":8}}",
         "device"},
        {"samples", "{\"id\":\"z\",\"attempt\":1}", "no case line"},
        {"samples", "{\"id\":\"a\",\"attempt\":2}", "attempt 2"},
        {"samples", "{\"id\":\"a\",\"attempt\":0}", "attempt"},
        {"samples", "{\"id\":\"a\",\"attempt\":1,\"rank\":-1,\"work_per_iteration\":16,\"unit\":\"FLOP\"}",
         "rank"},
        {"samples", "{\"id\":\"a\",\"attempt\":1,\"rank\":0,\"work_per_iteration\":0,\"unit\":\"FLOP\"}",
         "work_per_iteration"},
        {"samples", SAMPLES_A "\"iterations\":[1,2],\"elapsed_s\":[1],\"start_s\":[0,1]}", "elapsed_s"},
        {"samples", SAMPLES_A "\"iterations\":[1,0],\"elapsed_s\":[1,1],\"start_s\":[0,1]}", "iterations"},
        {"samples", SAMPLES_A "\"iterations\":[1],\"elapsed_s\":[null],\"start_s\":[0]}", "elapsed_s"},
        {"samples", SAMPLES_A "\"iterations\":[1],\"elapsed_s\":[1]}", "start_s"},
        {"samples",
         SAMPLES_A "\"iterations\":[1],\"elapsed_s\":[1],\"start_s\":[0],\"telemetry\":{\"t_s\":[1]}}",
         "telemetry"},
        {"done", "{\"id\":\"a\",\"attempt\":1,\"status\":\"fine\"}", "fine"},
        {"done", "{\"id\":\"a\",\"attempt\":1,\"status\":\"open\"}", "open"},
        {"done", "{\"id\":\"a\",\"attempt\":1,\"status\":\"failed\",\"warnings\":[3]}", "warnings"},
        {"end", "{\"reason\":5}", "reason"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e;
        struct record r;
        struct record_writer *w = create_with_head(scratch_path);
        append_text(w, "case", CASE_A);
        append_text(w, rows[i].kind, rows[i].body);
        record_close(w);
        assert_int_equal(record_read(scratch_path, &r, &e), -1);
        assert_error(&e, ERR_PARSE, rows[i].says);
        assert_error(&e, ERR_PARSE, "record.jsonl: line 3: ");
        assert_int_equal(unlink(scratch_path), 0);
    }
}

static void late_chunk_of_an_earlier_attempt_is_passed_over(void **state) {
    (void)state;
    struct err e;
    struct record r;
    struct record_writer *w = create_with_head(scratch_path);
    append_text(w, "case", CASE_A);
    append_text(w, "case",
                "{\"id\":\"a\",\"bench\":\"fma\",\"attempt\":3,\"op\":{\"kind\":\"fma\",\"dtype\":"
                "\"fp32\",\"accumulate\":\"fp32\",\"elements\":8}}");
    append_text(w, "samples", SAMPLES_A "\"iterations\":[1],\"elapsed_s\":[1],\"start_s\":[0]}");
    append_text(w, "done", "{\"id\":\"a\",\"attempt\":1,\"status\":\"failed\"}");
    record_close(w);
    assert_ok(record_read(scratch_path, &r, &e), &e);
    assert_int_equal(r.case_count, 1);
    assert_int_equal(r.cases[0].attempt, 3);
    assert_int_equal(r.cases[0].status, CASE_OPEN);
    assert_int_equal(r.cases[0].rank_count, 0);
    record_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_record_of_schema_1),
        cmocka_unit_test(joins_the_chunks_of_each_rank),
        cmocka_unit_test(null_is_nan_in_memory),
        cmocka_unit_test(keeps_only_the_last_attempt_of_a_case),
        with_scratch(a_case_may_have_a_device_of_its_own),
        with_scratch(passes_over_members_and_kinds_it_does_not_know),
        with_scratch(many_chunks_keep_their_order),
        with_scratch(cut_at_every_byte_keeps_exactly_the_finished_cases),
        with_scratch(changed_byte_is_found_at_its_line),
        with_scratch(changed_byte_in_the_last_line_does_no_harm),
        with_scratch(missing_doubled_or_swapped_line_breaks_the_chain),
        with_scratch(line_behind_the_end_is_broken),
        with_scratch(line_beyond_the_limit_is_no_line),
        with_scratch(refuses_what_is_no_record),
        cmocka_unit_test(names_a_file_that_cannot_be_read),
        with_scratch(refuses_a_newer_schema),
        with_scratch(names_file_line_and_member_of_a_bad_line),
        with_scratch(late_chunk_of_an_earlier_attempt_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
