#include "offers_fixture.h"

#include "base/csv.h"
#include "base/rng.h"

#include <math.h>
#include <sys/stat.h>

static const char header[] =
    "provider,sku,region,device,device_count,price,term,observed,gpu_memory_gb,currency\n";

static void read_rows(struct fixture *f, const char *name, const char *rows) {
    char text[4096];

    snprintf(text, sizeof text, "%s%s", header, rows);
    read_good(f, name, text);
}

/* ---- merging ---- */

static void equal_prices_of_one_region_merge_into_the_first_row(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "a.csv",
              "A,x,r1,L4,1,2,,,,\nA,x,r2,L4,1,2,,,,\nA,x,r1,L4,1,2.00001,,,,\nA,x,r1,L4,1,2,,,,\n");
    assert_account(f, 0, (const size_t[]){4, 2, 2, 0, 2});
    o = offer_of(f, "x", "r1", TERM_ON_DEMAND);
    assert_int_equal(o->merged, 3);
    assert_int_equal(o->line, 2);
    assert_float_equal(o->price.per_hour.amount, 2, 0);
    assert_string_equal(o->note, "");
    assert_int_equal(offer_of(f, "x", "r2", TERM_ON_DEMAND)->merged, 1);
}

/* 2.00003 is 1.5e-5 above 2: more than the 1e-5 that rounding explains. */
static void different_on_demand_prices_of_one_region_stay_and_say_so(void **state) {
    struct fixture *f = *state;

    read_rows(f, "a.csv", "A,x,r,L4,1,2.00003,,,,\nA,x,r,L4,1,2,,,,\nA,x,r,L4,1,3,,,,\n");
    assert_account(f, 0, (const size_t[]){3, 3, 0, 0, 3});
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f->set.offers[i].line, i + 2);
        assert_string_equal(f->set.offers[i].note, "3 rows of this region ask $2.00 to $3.00 an hour");
    }
}

static void spot_rows_merge_at_their_median_with_the_range_in_the_note(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "a.csv",
              "A,x,r,L4,1,9,spot,,,\nA,x,r,L4,1,1,spot,,,\nA,x,r,L4,1,2,spot,,,\n"
              "A,y,r,L4,1,1,spot,,,\nA,y,r,L4,1,4,spot,,,\nA,z,r,L4,1,4,spot,,,\nA,z,r,L4,1,4,spot,,,\n");
    assert_account(f, 0, (const size_t[]){7, 3, 4, 0, 3});
    o = offer_of(f, "x", "r", TERM_SPOT);
    assert_float_equal(o->price.per_hour.amount, 2, 0); /* 1 2 9 */
    assert_int_equal(o->merged, 3);
    assert_int_equal(o->line, 2);
    assert_string_equal(o->note, "median of 3 zones, $1.00 to $9.00 an hour: choose the zone");
    assert_float_equal(offer_of(f, "y", "r", TERM_SPOT)->price.per_hour.amount, 2.5, 0); /* (1 + 4) / 2 */
    assert_string_equal(offer_of(f, "z", "r", TERM_SPOT)->note, "");
}

static void rows_that_differ_in_any_other_way_stay_apart(void **state) {
    struct fixture *f = *state;

    read_rows(f, "a.csv",
              "A,x,r,A100-SXM4,1,2,,,,\n"
              "B,x,r,A100-SXM4,1,2,,,,\n"           /* provider */
              "A,y,r,A100-SXM4,1,2,,,,\n"           /* sku */
              "A,x,q,A100-SXM4,1,2,,,,\n"           /* region */
              "A,x,r,A100-PCIe,1,2,,,,\n"           /* device */
              "A,x,r,A100-SXM4,2,2,,,,\n"           /* count */
              "A,x,r,A100-SXM4,1,2,spot,,,\n"       /* term */
              "A,x,r,A100-SXM4,1,2,,2026-11-28,,\n" /* date */
              "A,x,r,A100-SXM4,1,2,,,40,\n"         /* memory */
              "A,x,r,A100-SXM4,1,2,,,80,\n"
              "A,x,r,A100-SXM4,1,2,,,,EUR\n"); /* currency */
    assert_account(f, 0, (const size_t[]){11, 11, 0, 0, 11});
    assert_string_equal(f->set.accounts[0].provider, "several");
}

static void a_file_given_twice_merges_into_itself(void **state) {
    struct fixture *f = *state;
    const char *rows = "A,x,r,L4,1,9,spot,,,\nA,x,r,L4,1,1,spot,,,\nA,x,r,L4,1,2,,,,\nA,x,r,L4,1,0,,,,\n";

    read_rows(f, "a.csv", rows);
    read_rows(f, "b.csv", rows);
    assert_account(f, 0, (const size_t[]){4, 2, 1, 1, 2});
    assert_account(f, 1, (const size_t[]){4, 0, 3, 1, 0});
    assert_int_equal(f->set.count, 2);
    assert_int_equal(offer_of(f, "x", "r", TERM_SPOT)->merged, 4);
    assert_int_equal(offer_of(f, "x", "r", TERM_ON_DEMAND)->merged, 2);
    assert_int_equal(f->set.refusal_count, 2);
}

static void a_later_file_with_another_price_is_another_offer(void **state) {
    struct fixture *f = *state;

    read_rows(f, "a.csv", "A,x,r,L4,1,2,,2026-11-01,,\n");
    read_rows(f, "b.csv", "A,x,r,L4,1,3,,2026-11-28,,\nA,y,r,L4,1,3,,,,\n");
    assert_int_equal(f->set.count, 3);
    assert_account(f, 1, (const size_t[]){2, 2, 0, 0, 2});
}

/* ---- files ---- */

static void what_is_no_catalogue_is_an_error_that_names_the_file_and_the_mend(void **state) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *says;
    } cases[] = {
        {"", 0, "empty"},
        {"\xEF\xBB\xBF", 3, ""},
        {"\n\n\n", 3, ""},
        {"\x7f\x45LF\x02\x01\x01\x00\x00", 9, "binary"},
        {"PK\x03\x04\x14\x00\x00\x00", 8, "workbook"},
        {"\xff\xd8\xff\xe0\x10JFIF", 9, "not UTF-8"},
        {"Dear customer,\nour prices are attached.\n", 40, "Dear customer"},
        {"time,price,region\n1,2,3\n", 24, "time, price, region"},
        {"provider,sku,device,device_count,price\nA,\"x,L4,1,2\nB,y,L4,1,2\n", 62, "quote"},
        {"provider,sku,device,device_count,price\nA,\"x\"y,L4,1,2\n", 53, "line 2"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_bytes(f, "bad.csv", cases[i].bytes, cases[i].length), -1);
        assert_int_equal(err_exit_status(f->e.code), 2);
        assert_contains(f->e.text, "bad.csv");
        assert_contains(f->e.text, cases[i].says);
        assert_null(strchr(f->e.text, '\n'));
    }
    assert_int_equal(f->set.count, 0);
    assert_int_equal(f->set.account_count, 0);
    assert_int_equal(f->set.refusal_count, 0);
}

static void a_path_that_is_no_file_is_an_error_that_names_it(void **state) {
    static const struct {
        const char *path, *says;
    } cases[] = {{"/nowhere/prices.csv", "No such file"}, {"/tmp", "folder"}, {"/dev/null", "regular"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(offers_read(&f->set, &f->gpus, cases[i].path, &f->e), -1);
        assert_int_equal(err_exit_status(f->e.code), 2);
        assert_contains(f->e.text, cases[i].path);
        assert_contains(f->e.text, cases[i].says);
    }
}

/* Root reads everything, so this shows something only for others. */
static void an_unreadable_file_is_an_error_that_names_it(void **state) {
    struct fixture *f = *state;

    if (geteuid() == 0) {
        skip();
    }
    read_rows(f, "closed.csv", "");
    assert_int_equal(chmod(f->path, 0), 0);
    assert_int_equal(offers_read(&f->set, &f->gpus, f->path, &f->e), -1);
    assert_contains(f->e.text, "closed.csv");
    assert_contains(f->e.text, "Permission denied");
}

static void a_line_without_end_is_an_error_before_it_fills_the_memory(void **state) {
    struct fixture *f = *state;
    const char *start = "provider,sku,device,device_count,price\nA,";
    size_t length = (size_t)3 * CSV_ROW_MAX;
    char *line = malloc(length);

    assert_non_null(line);
    memset(line, 'a', length);
    assert_int_equal(read_bytes(f, "long.csv", line, length), -1);
    assert_int_equal(f->e.code, ERR_PARSE);
    assert_contains(f->e.text, "long.csv");
    for (size_t i = 0; start[i]; i++) {
        line[i] = start[i];
    }
    assert_int_equal(read_bytes(f, "long.csv", line, length), -1);
    assert_contains(f->e.text, "line 2");
    assert_int_equal(f->set.count, 0);
    free(line);
}

static void assert_all_accounted(const struct fixture *f) {
    for (size_t i = 0; i < f->set.account_count; i++) {
        const struct offer_account *a = &f->set.accounts[i];

        assert_int_equal(a->rows_read, a->rows_kept + a->rows_merged + a->rows_refused);
    }
}

/* The Vast extract's first rows, cut at every seventh byte and then with single bytes changed: whatever
 * comes, each row is accounted for or the file is an error with a text. */
static void cut_and_broken_files_never_lose_a_row(void **state) {
    enum { BYTES = 2400 };
    struct fixture *f = *state;
    char path[512], bytes[BYTES], copy[BYTES];
    struct rng rng = rng_make(1);
    FILE *in;

    snprintf(path, sizeof path, "%s/../../reports/data/prices/skypilot_vast.csv", TEST_DATA);
    in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fread(bytes, 1, BYTES, in), BYTES);
    fclose(in);
    for (size_t length = 1; length < BYTES; length += 7) {
        f->e.text[0] = '\0';
        if (read_bytes(f, "cut.csv", bytes, length) != 0) {
            assert_contains(f->e.text, "cut.csv");
        }
    }
    for (size_t i = 0; i < 500; i++) {
        memcpy(copy, bytes, BYTES);
        copy[rng_next(&rng) % BYTES] = (char)(rng_next(&rng) % 256);
        f->e.text[0] = '\0';
        if (read_bytes(f, "broken.csv", copy, BYTES) != 0) {
            assert_contains(f->e.text, "broken.csv");
        }
    }
    assert_all_accounted(f);
}

/* 60000 rows of 20000 SKUs, three zones each: 20000 on-demand and 20000 spot offers at the middle price. */
static void a_long_file_merges_in_reasonable_time(void **state) {
    const size_t skus = 20000;
    struct fixture *f = *state;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    fputs("InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region\n", out);
    for (size_t zone = 0; zone < 3; zone++) {
        for (size_t sku = 0; sku < skus; sku++) {
            fprintf(out, "s%zu,L4,1,%zu.5,%zu.25,r\n", sku, sku + 10, sku + 1 + zone);
        }
    }
    fclose(out);
    assert_int_equal(read_bytes(f, "long.csv", text, length), 0);
    free(text);
    assert_account(f, 0, (const size_t[]){3 * skus, skus, 2 * skus, 0, 2 * skus});
    for (size_t i = 0; i < f->set.count; i++) {
        const struct offer *o = &f->set.offers[i];
        size_t sku = i / 2;

        assert_int_equal(o->merged, 3);
        assert_float_equal(o->price.per_hour.amount, (double)sku + (o->term == TERM_SPOT ? 2.25 : 10.5), 0);
    }
}

/* ---- what comes with the program ---- */

static void the_examples_are_read_with_their_dates(void **state) {
    struct fixture *f = *state;
    const struct data data = {NULL};

    assert_int_equal(offers_read_examples(&f->set, &f->gpus, &data, &f->e), 0);
    assert_int_equal(f->set.account_count, 8);
    /* 99 + 100 + 64 (test_catalogue_skypilot.c), 332 + 186 + 78 + 34 + 8 (test_catalogue_extracts.c) */
    assert_int_equal(f->set.count, 901);
    assert_all_accounted(f);
    for (size_t i = 0; i < f->set.count; i++) {
        const struct offer *o = &f->set.offers[i];

        bool dated = strstr("azure gcp lambda vast", o->provider) != NULL;

        assert_string_equal(o->observed, dated ? "2026-05-20" : "");
    }
}

/* The second file is none: what was read before it stays, and the error names it. */
static void files_are_read_in_their_order_and_the_examples_without_any(void **state) {
    struct fixture *f = *state;
    const struct data data = {NULL};
    const char *paths[] = {f->path, "/nowhere.csv"};

    assert_int_equal(offers_read_files(&f->set, &f->gpus, &data, NULL, 0, &f->e), 0);
    assert_int_equal(f->set.count, 901);
    offers_free(&f->set);
    read_rows(f, "own.csv", "A,x,r,L4,1,2,,,,\n");
    offers_free(&f->set);
    assert_int_equal(offers_read_files(&f->set, &f->gpus, &data, paths, 1, &f->e), 0);
    assert_int_equal(f->set.account_count, 1);
    assert_string_equal(f->set.accounts[0].file, f->path);
    assert_int_equal(offers_read_files(&f->set, &f->gpus, &data, paths, 2, &f->e), -1);
    assert_contains(f->e.text, "/nowhere.csv");
}

static void every_embedded_price_file_is_listed_with_its_source(void **state) {
    const struct data data = {NULL};
    struct data_blob blob;
    struct err e;
    const char *name;

    (void)state;
    assert_int_equal(data_load(&data, "prices/SOURCES.csv", &blob, &e), 0);
    for (size_t i = 0; (name = data_embedded_name("prices/", i)) != NULL; i++) {
        char *listed = strcmp(name, "prices/SOURCES.csv") == 0 ? strdup("file,") : NULL;

        if (!listed) {
            assert_true(asprintf(&listed, "\n%s,", name + strlen("prices/")) > 0);
        }
        assert_contains(blob.bytes, listed);
        free(listed);
    }
    data_release(&blob);
}

/* The index-th fenced block after the mark in docs/offers.md; the caller frees. */
static char *example_of_the_docs(size_t index) {
    static const char mark[] = "<!-- a test reads this example -->";
    static char page[65536];
    FILE *in = fopen(TEST_DATA "/../../docs/offers.md", "rb");
    const char *at = page;
    const char *begin;

    assert_non_null(in);
    page[fread(page, 1, sizeof page - 1, in)] = '\0';
    fclose(in);
    for (size_t i = 0; i <= index; i++) {
        at = strstr(at, mark);
        assert_non_null(at);
        at += strlen(mark);
    }
    begin = strchr(strstr(at, "```"), '\n') + 1;
    return strndup(begin, (size_t)(strstr(begin, "```") - begin));
}

/* Read from the page by eye: EUR, 2 x 2.45 USD per GPU-hour = 4.90, 1095 / 730 h = 1.50. */
static void the_examples_in_the_docs_are_true(void **state) {
    struct fixture *f = *state;
    char *csv = example_of_the_docs(0), *json = example_of_the_docs(1);

    read_good(f, "docs.csv", csv);
    assert_account(f, 0, (const size_t[]){5, 5, 0, 0, 5});
    assert_string_equal(f->set.accounts[0].ignored, "");
    assert_float_equal(offer_of(f, "a100-8", "Frankfurt", TERM_ON_DEMAND)->price.per_hour.amount, 14.32, 0);
    assert_string_equal(offer_of(f, "a100-8", "Frankfurt", TERM_SPOT)->price.per_hour.currency, "EUR");
    assert_float_equal(offer_of(f, "h100-pcie-2", "Oslo", TERM_ON_DEMAND)->price.per_hour.amount, 4.90,
                       1e-12);
    assert_float_equal(offer_of(f, "lease-4090", "Oslo", TERM_ON_DEMAND)->price.per_hour.amount, 1.50, 1e-12);
    assert_float_equal(offer_of(f, "cpu-64", "Oslo", TERM_ON_DEMAND)->price.per_hour.amount, 1.92, 0);
    assert_candidates(offer_of(f, "h100-pcie-2", "Oslo", TERM_ON_DEMAND), 1,
                      (const char *const[]){"H100-PCIe-80GB"});
    read_good(f, "docs.json", json);
    /* its first offer is the first of the CSV example */
    assert_account(f, 1, (const size_t[]){2, 1, 1, 0, 1});
    free(csv);
    free(json);
}

static void freeing_nothing_is_allowed(void **state) {
    struct offer_set empty = {0};

    (void)state;
    offers_free(&empty);
    offers_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(equal_prices_of_one_region_merge_into_the_first_row),
        FIXTURE_TEST(different_on_demand_prices_of_one_region_stay_and_say_so),
        FIXTURE_TEST(spot_rows_merge_at_their_median_with_the_range_in_the_note),
        FIXTURE_TEST(rows_that_differ_in_any_other_way_stay_apart),
        FIXTURE_TEST(a_file_given_twice_merges_into_itself),
        FIXTURE_TEST(a_later_file_with_another_price_is_another_offer),
        FIXTURE_TEST(what_is_no_catalogue_is_an_error_that_names_the_file_and_the_mend),
        FIXTURE_TEST(a_path_that_is_no_file_is_an_error_that_names_it),
        FIXTURE_TEST(an_unreadable_file_is_an_error_that_names_it),
        FIXTURE_TEST(a_line_without_end_is_an_error_before_it_fills_the_memory),
        FIXTURE_TEST(cut_and_broken_files_never_lose_a_row),
        FIXTURE_TEST(a_long_file_merges_in_reasonable_time),
        FIXTURE_TEST(the_examples_are_read_with_their_dates),
        FIXTURE_TEST(files_are_read_in_their_order_and_the_examples_without_any),
        cmocka_unit_test(every_embedded_price_file_is_listed_with_its_source),
        FIXTURE_TEST(the_examples_in_the_docs_are_true),
        cmocka_unit_test(freeing_nothing_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
