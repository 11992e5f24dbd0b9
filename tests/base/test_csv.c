#include "tests/base/check.h"

#include "base/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads everything into one string: fields in <>, a row as "line:<a><b>;", an error as "!text". */
static char *read_all(struct csv *c) {
    char *out;
    size_t size;
    FILE *text = open_memstream(&out, &size);
    struct err e;
    char **fields;
    size_t count;
    int got;
    while ((got = csv_next(c, &fields, &count, &e)) == 1) {
        fprintf(text, "%zu:", csv_line(c));
        for (size_t i = 0; i < count; i++)
            fprintf(text, "<%s>", fields[i]);
        fputs(";", text);
    }
    if (got < 0)
        fprintf(text, "!%s: %s", err_name(e.code), e.text);
    fclose(text);
    return out;
}

static char *read_memory(const char *bytes, size_t length) {
    struct err e;
    struct csv *c = csv_open_memory("a.csv", bytes, length, &e);
    assert_non_null(c);
    char *all = read_all(c);
    csv_close(c);
    return all;
}

/* The grammar of RFC 4180, section 2, case by case. */
static void reads_rows_as_rfc_4180_has_them(void **state) {
    (void)state;
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"", ""},
        {"\n", ""},
        {"a", "1:<a>;"},
        {"a,b\nc,d\n", "1:<a><b>;2:<c><d>;"},
        {"a,b\r\nc,d\r\n", "1:<a><b>;2:<c><d>;"},
        {"a,b\r\nc,d", "1:<a><b>;2:<c><d>;"},
        {"a,b\nc,d\r", "1:<a><b>;2:<c><d>;"},
        {"a,,b\n,\n", "1:<a><><b>;2:<><>;"},
        {"a,\n", "1:<a><>;"},
        {"a,", "1:<a><>;"},
        {" a , b \n", "1:< a >< b >;"},
        {"\"a\",\"b\"\n", "1:<a><b>;"},
        {"\"a,b\",c\n", "1:<a,b><c>;"},
        {"\"a\"\"b\",\"\"\"\",\"\"\n", "1:<a\"b><\"><>;"},
        {"\"a\nb\",c\nd,e\n", "1:<a\nb><c>;3:<d><e>;"},
        {"\"a\r\nb\"\r\nc\r\n", "1:<a\r\nb>;3:<c>;"},
        {"\"a\"\r", "1:<a>;"},
        {"\"a\"", "1:<a>;"},
        {"\"\"", "1:<>;"},
        {"\"\"\"\"\"\"", "1:<\"\">;"},
        {"\n\na\n\r\n\nb\n\n", "3:<a>;6:<b>;"},
        {"\xEF\xBB\xBF"
         "a,b\n",
         "1:<a><b>;"},
        {"\xEF\xBB\xBF\"a\"\n", "1:<a>;"},
        {"\xEF\xBB\xBF", ""},
        {"\xEF\xBB", "1:<\xEF\xBB>;"},
        {"a\rb\n", "1:<a\rb>;"},
        {"5\" disk,x\n", "1:<5\" disk><x>;"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *got = read_memory(rows[i].in, strlen(rows[i].in));
        assert_string_equal(got, rows[i].want);
        free(got);
    }
}

static void refuses_bad_rows_with_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *in, *want;
    } rows[] = {
        {"a\n\"b", "1:<a>;!ERR_PARSE: a.csv: line 2: a quote is opened and never closed"},
        {"a\nb,\"c\nd\ne", "1:<a>;!ERR_PARSE: a.csv: line 2: a quote is opened and never closed"},
        {"\"\nb\",\"c\nd\ne", "!ERR_PARSE: a.csv: line 2: a quote is opened and never closed"},
        {"\"", "!ERR_PARSE: a.csv: line 1: a quote is opened and never closed"},
        {"\"a\"b,c\n",
         "!ERR_PARSE: a.csv: line 1: text after a closing quote; double the quotes inside a field"},
        {"\"a\nb\" ,c\n",
         "!ERR_PARSE: a.csv: line 2: text after a closing quote; double the quotes inside a field"},
        {"\"a\"\rb",
         "!ERR_PARSE: a.csv: line 1: text after a closing quote; double the quotes inside a field"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *got = read_memory(rows[i].in, strlen(rows[i].in));
        assert_string_equal(got, rows[i].want);
        free(got);
    }
}

static void refuses_nul_bytes_plain_and_quoted(void **state) {
    (void)state;
    static const char plain[] = "a,b\nc\0d,e\n", quoted[] = "\"x\ny\0\"\n",
                      utf16[] = "\xFF\xFE"
                                "a\0,\0b\0\n\0";
    char *got = read_memory(plain, sizeof plain - 1);
    assert_string_equal(got, "1:<a><b>;!ERR_PARSE: a.csv: line 2: a NUL byte; save the file as UTF-8 text");
    free(got);
    got = read_memory(quoted, sizeof quoted - 1);
    assert_string_equal(got, "!ERR_PARSE: a.csv: line 2: a NUL byte; save the file as UTF-8 text");
    free(got);
    got = read_memory(utf16, sizeof utf16 - 1);
    assert_string_equal(got, "!ERR_PARSE: a.csv: line 1: a NUL byte; save the file as UTF-8 text");
    free(got);
}

/* A pipe that gives one byte at a time puts every place of the grammar at the end of a block. */
static void reads_the_same_however_the_bytes_arrive(void **state) {
    (void)state;
    static const char text[] = "\xEF\xBB\xBF"
                               "a,\"b\"\"c\",d\r\n\r\n\"e\r\nf\",\"\"\n\n\"g\"\r\nh,\"i\"";
    static const char want[] = "1:<a><b\"c><d>;3:<e\r\nf><>;6:<g>;7:<h><i>;";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        for (size_t i = 0; i < sizeof text - 1; i++) {
            if (write(ends[1], text + i, 1) != 1)
                _exit(1);
            usleep(500);
        }
        _exit(0);
    }
    close(ends[1]);
    char path[40];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct err e;
    struct csv *c = csv_open(path, &e);
    assert_non_null(c);
    close(ends[0]);
    char *got = read_all(c);
    assert_string_equal(got, want);
    free(got);
    csv_close(c);
}

/* Rows of every length around the block size, so that rows, quotes and line ends fall on its edges. */
static void rows_that_straddle_blocks_come_out_whole(void **state) {
    (void)state;
    enum { ROWS = 3000 };
    char *text, path[] = "/tmp/stepcost-csv-XXXXXX";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < ROWS; i++)
        fprintf(out, "%d,\"q\"\"%0*d\"\r\n", i, i % 311 + 1, i);
    fclose(out);
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
    struct err e;
    struct csv *c = csv_open(path, &e);
    char **fields, want[400];
    size_t count;
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(csv_next(c, &fields, &count, &e), 1);
        assert_int_equal(count, 2);
        assert_int_equal(atoi(fields[0]), i);
        snprintf(want, sizeof want, "q\"%0*d", i % 311 + 1, i);
        assert_string_equal(fields[1], want);
        assert_int_equal(csv_line(c), i + 1);
    }
    assert_int_equal(csv_next(c, &fields, &count, &e), 0);
    assert_int_equal(csv_next(c, &fields, &count, &e), 0);
    csv_close(c);
    unlink(path);
    free(text);
}

static void takes_a_row_of_the_limit_and_refuses_one_byte_more(void **state) {
    (void)state;
    char *row = malloc(CSV_ROW_MAX + 2);
    memset(row, 'x', CSV_ROW_MAX + 2);
    char **fields;
    size_t count;
    struct err e;
    for (int more = 0; more < 2; more++) {
        row[CSV_ROW_MAX - 1] = 'x';
        row[CSV_ROW_MAX - 1 + more] = '\n';
        struct csv *c = csv_open_memory("long.csv", row, (size_t)CSV_ROW_MAX + (size_t)more, &e);
        assert_int_equal(csv_next(c, &fields, &count, &e), more ? -1 : 1);
        if (more)
            assert_error(&e, ERR_PARSE, "long.csv: line 1: a row of more than 1048576 bytes");
        csv_close(c);
    }
    free(row);
}

static long peak_memory_kib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A sparse file of 1 GiB without a line end: refused after the limit, not after reading it all. */
static void refuses_an_endless_line_early(void **state) {
    (void)state;
    static const char *const begins[] = {"a,b\n", "a,b\n\""};
    for (size_t i = 0; i < COUNT(begins); i++) {
        char path[] = "/tmp/stepcost-csv-XXXXXX";
        int fd = mkstemp(path);
        assert_true(write(fd, begins[i], strlen(begins[i])) > 0);
        assert_int_equal(ftruncate(fd, 1 << 30), 0);
        close(fd);
        struct err e;
        char **fields;
        size_t count;
        long before_kib = peak_memory_kib();
        struct csv *c = csv_open(path, &e);
        assert_int_equal(csv_next(c, &fields, &count, &e), 1);
        assert_int_equal(csv_next(c, &fields, &count, &e), -1);
        assert_error(&e, ERR_PARSE, "line 2: a row of more than");
        assert_true(peak_memory_kib() - before_kib < 65536L);
        csv_close(c);
        unlink(path);
    }
}

static void finds_columns_by_name_without_case(void **state) {
    (void)state;
    static const char text[] = "InstanceType, Price ,\"Region\",\nx,1,y,z\n";
    struct err e;
    char **fields;
    size_t count;
    struct csv *c = csv_open_memory("a.csv", text, sizeof text - 1, &e);
    assert_ok(csv_read_header(c, &e), &e);
    assert_int_equal(csv_columns(c), 4);
    assert_int_equal(csv_column(c, "instancetype"), 0);
    assert_int_equal(csv_column(c, "PRICE"), 1);
    assert_int_equal(csv_column(c, "Region"), 2);
    assert_int_equal(csv_column(c, "zone"), -1);
    assert_int_equal(csv_next(c, &fields, &count, &e), 1);
    assert_string_equal(csv_column_name(c, 1), "Price");
    assert_string_equal(csv_column_name(c, 3), "");
    assert_null(csv_column_name(c, 4));
    assert_string_equal(csv_name(c), "a.csv");
    csv_close(c);
}

static void refuses_an_empty_file_and_twin_columns(void **state) {
    (void)state;
    struct err e;
    struct csv *c = csv_open_memory("empty.csv", "", 0, &e);
    assert_int_equal(csv_read_header(c, &e), -1);
    assert_error(&e, ERR_PARSE, "empty.csv: the file is empty");
    csv_close(c);
    c = csv_open_memory("twins.csv", "price,,region,Price,,\n", 22, &e);
    assert_int_equal(csv_read_header(c, &e), -1);
    assert_error(&e, ERR_PARSE, "twins.csv: line 1: two columns are named \"Price\"");
    csv_close(c);
    csv_close(NULL);
}

static void files_that_cannot_be_opened_are_named(void **state) {
    (void)state;
    struct err e;
    char **fields;
    size_t count;
    assert_null(csv_open("/nowhere/prices.csv", &e));
    assert_error(&e, ERR_NOT_FOUND, "/nowhere/prices.csv: cannot open: No such file");
    struct csv *c = csv_open("/tmp", &e);
    if (c) {
        assert_int_equal(csv_next(c, &fields, &count, &e), -1);
        csv_close(c);
    }
    assert_error(&e, ERR_IO, "/tmp: cannot read: Is a directory");
}

static void writes_what_it_reads_back(void **state) {
    (void)state;
    static const struct {
        const char *field, *written;
    } rows[] = {
        {"plain", "plain"},   {"", ""},         {"a,b", "\"a,b\""}, {"say \"x\"", "\"say \"\"x\"\"\""},
        {"a\nb", "\"a\nb\""}, {"\r", "\"\r\""}, {" x", "\" x\""},   {"x ", "\"x \""},
        {"a b", "a b"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        csv_write_field(out, rows[i].field);
        fclose(out);
        assert_string_equal(text, rows[i].written);
        free(text);
        out = open_memstream(&text, &size);
        csv_write_field(out, rows[i].field);
        fputs(",end\n", out);
        fclose(out);
        struct err e;
        char **fields;
        size_t count;
        struct csv *c = csv_open_memory("a.csv", text, size, &e);
        assert_int_equal(csv_next(c, &fields, &count, &e), 1);
        assert_int_equal(count, 2);
        assert_string_equal(fields[0], rows[i].field);
        csv_close(c);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows_as_rfc_4180_has_them),
        cmocka_unit_test(refuses_bad_rows_with_file_and_line),
        cmocka_unit_test(refuses_nul_bytes_plain_and_quoted),
        cmocka_unit_test(reads_the_same_however_the_bytes_arrive),
        cmocka_unit_test(rows_that_straddle_blocks_come_out_whole),
        cmocka_unit_test(takes_a_row_of_the_limit_and_refuses_one_byte_more),
        cmocka_unit_test(refuses_an_endless_line_early),
        cmocka_unit_test(finds_columns_by_name_without_case),
        cmocka_unit_test(refuses_an_empty_file_and_twin_columns),
        cmocka_unit_test(files_that_cannot_be_opened_are_named),
        cmocka_unit_test(writes_what_it_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
