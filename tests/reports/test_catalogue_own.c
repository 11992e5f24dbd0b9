#include "offers_fixture.h"

#include <math.h>

static const char header[] = "provider,sku,region,device,device_count,price,currency,unit,term,gpu_memory_gb,"
                             "vcpus,memory_gb,observed,note\n";

static void read_rows(struct fixture *f, const char *rows) {
    char text[4096];

    snprintf(text, sizeof text, "%s%s", header, rows);
    read_good(f, "own.csv", text);
}

static void a_full_row_fills_every_field(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(
        f, "Acme,a100-8,Oslo,A100-SXM4-80GB,8,14.5,EUR,node-hour,spot,80,128,1024,2026-11-28,by the week\n");
    o = offer_of(f, "a100-8", "Oslo", TERM_SPOT);
    assert_string_equal(o->provider, "Acme");
    assert_string_equal(o->device, "A100-SXM4-80GB");
    assert_candidates(o, 1, (const char *const[]){"A100-SXM4-80GB"});
    assert_int_equal(o->device_count, 8);
    assert_float_equal(o->price.per_hour.amount, 14.5, 0);
    assert_string_equal(o->price.per_hour.currency, "EUR");
    assert_float_equal(o->gpu_memory_bytes, 80.0 * 1073741824.0, 0); /* 2^30 */
    assert_float_equal(o->vcpus, 128, 0);
    assert_float_equal(o->host_memory_bytes, 1024.0 * 1073741824.0, 0);
    assert_string_equal(o->observed, "2026-11-28");
    assert_string_equal(o->note, "by the week");
    assert_string_equal(o->file, f->path);
    assert_int_equal(o->line, 2);
    assert_int_equal(o->merged, 1);
}

static void what_is_left_out_is_on_demand_in_usd_and_unknown(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_good(f, "own.csv", "provider,sku,device,device_count,price\nAcme,x,L4,1,0.5\n");
    o = offer_of(f, "x", "", TERM_ON_DEMAND);
    assert_string_equal(o->price.per_hour.currency, "USD");
    assert_true(isnan(o->gpu_memory_bytes));
    assert_true(isnan(o->vcpus));
    assert_true(isnan(o->host_memory_bytes));
    assert_string_equal(o->observed, "");
    assert_string_equal(o->note, "");
}

/* A month has 730 h: 1095 / 730 = 1.5; a day 24: 36 / 24 = 1.5. Eight GPUs at 2.25 are 18. */
static void prices_are_read_in_every_form(void **state) {
    static const struct {
        const char *price, *currency, *unit;
        double amount;
        const char *in;
    } cases[] = {
        {"3.06", "", "", 3.06, "USD"},         {"3.06 USD/h", "", "", 3.06, "USD"},
        {"$3.06/h", "", "", 3.06, "USD"},      {"3.06", "EUR", "", 3.06, "EUR"},
        {"3.06", "eur", "", 3.06, "EUR"},      {"1095 EUR/month", "", "", 1.5, "EUR"},
        {"36 USD/d", "USD", "", 1.5, "USD"},   {"3.06 CHF", "", "", 3.06, "CHF"},
        {"2.25", "", "gpu-hour", 18.0, "USD"}, {"$2.25/h", "", "gpu-hour", 18.0, "USD"},
        {"1e1", "", "node-hour", 10.0, "USD"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[256], sku[16];
        const struct offer *o;

        snprintf(sku, sizeof sku, "s%zu", i);
        snprintf(row, sizeof row, "Acme,%s,,H100 PCIe,8,%s,%s,%s,,,,,,\n", sku, cases[i].price,
                 cases[i].currency, cases[i].unit);
        read_rows(f, row);
        o = offer_of(f, sku, "", TERM_ON_DEMAND);
        assert_float_equal(o->price.per_hour.amount, cases[i].amount, 1e-12);
        assert_string_equal(o->price.per_hour.currency, cases[i].in);
    }
}

static void a_price_per_gpu_says_so_in_the_note(void **state) {
    struct fixture *f = *state;

    read_rows(f, "Acme,x,,H100 PCIe,2,2.45,,gpu-hour,,,,,,weekly\n");
    assert_string_equal(offer_of(f, "x", "", TERM_ON_DEMAND)->note, "weekly; quoted per GPU-hour");
}

static void a_bad_row_is_refused_with_column_value_and_mend_and_the_rest_is_read(void **state) {
    static const struct {
        const char *row, *column, *found;
    } cases[] = {
        {"Acme,x,,L4,1,0,,,,,,,,", "price", "\"0\""},
        {"Acme,x,,L4,1,-1,,,,,,,,", "price", "\"-1\""},
        {"Acme,x,,L4,1,,,,,,,,,", "price", "empty"},
        {"Acme,x,,L4,1,nan,,,,,,,,", "price", "nan"},
        {"Acme,x,,L4,1,inf,,,,,,,,", "price", "inf"},
        {"Acme,x,,L4,1,0x10,,,,,,,,", "price", "0x10"},
        {"Acme,x,,L4,1,free,,,,,,,,", "price", "free"},
        {"Acme,x,,L4,1,$0/h,,,,,,,,", "price", "$0/h"},
        {"Acme,x,,L4,1,-$3/h,,,,,,,,", "price", "-$3"},
        {"Acme,x,,L4,1,\"1,5\",,,,,,,,", "price", "1,5"},
        {"Acme,x,,L4,1,3 EUR/h,USD,,,,,,,", "price", "EUR"},
        {"Acme,x,,L4,1,3 USD/fortnight,,,,,,,,", "price", "fortnight"},
        {"Acme,x,,L4,1,3,DOLLARS,,,,,,,", "currency", "DOLLARS"},
        {"Acme,x,,L4,1,3,XQZ,,,,,,,", "currency", "XQZ"},
        {"Acme,x,,L4,1,3,,gpu-month,,,,,,", "unit", "gpu-month"},
        {"Acme,x,,,0,3,,gpu-hour,,,,,,", "unit", "without GPUs"},
        {"Acme,x,,L4,8,1e12,,gpu-hour,,,,,,", "price", "8e+12"},
        {"Acme,x,,L4,1,3,,,reserved,,,,,", "term", "reserved"},
        {"Acme,x,,L4,1.5,3,,,,,,,,", "device_count", "1.5"},
        {"Acme,x,,L4,0.25,3,,,,,,,,", "device_count", "slice"},
        {"Acme,x,,L4,-2,3,,,,,,,,", "device_count", "-2"},
        {"Acme,x,,L4,1e30,3,,,,,,,,", "device_count", "1e30"},
        {"Acme,x,,L4,,3,,,,,,,,", "device_count", "L4"},
        {"Acme,x,,,4,3,,,,,,,,", "device", "4"},
        {",x,,L4,1,3,,,,,,,,", "provider", "empty"},
        {"Acme,x,,L4,1,3,,,,many,,,,", "gpu_memory_gb", "many"},
        {"Acme,x,,L4,1,3,,,,,-1,,,", "vcpus", "-1"},
        {"Acme,x,,L4,1,3,,,,,,12 GB,,", "memory_gb", "12 GB"},
        {"Acme,x,,L4,1,3,,,,,,1e300,,", "memory_gb", "1e300"},
        {"Acme,x,,L4,1,3,,,,8589934593,,,,", "gpu_memory_gb", "2^63"}, /* 2^33 GiB + 1 */
        {"Acme,x,,L4,1,3,,,,,,,yesterday,", "observed", "yesterday"},
        {"Acme,x,,L4,1,3,,,,,,,28.11.2026,", "observed", "28.11.2026"},
        {"Acme,x,,L4,1,3", "6 fields", "14"},
        {"Acme,x,,L4,1,3,,,,,,,,,,,", "17 fields", "14"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];

        snprintf(text, sizeof text, "Acme,good%zu,,L4,1,3,,,,,,,,\n%s\nAcme,also%zu,,L4,1,3,,,,,,,,\n", i,
                 cases[i].row, i);
        read_rows(f, text);
        assert_account(f, i, (const size_t[]){3, 2, 0, 1, 2});
        assert_int_equal(f->set.refusal_count, i + 1);
        assert_int_equal(f->set.refusals[i].line, 3);
        assert_contains(f->set.refusals[i].reason, cases[i].column);
        assert_contains(f->set.refusals[i].reason, cases[i].found);
    }
}

static void the_order_and_case_of_columns_is_free(void **state) {
    struct fixture *f = *state;

    read_good(f, "own.csv", "Price,DEVICE_COUNT,sku,Provider,Device\n2,4,x,Acme,L40S\n");
    assert_int_equal(offer_of(f, "x", "", TERM_ON_DEMAND)->device_count, 4);
}

static void unknown_columns_are_named_in_the_account(void **state) {
    struct fixture *f = *state;

    read_good(f, "own.csv", "provider,colour,sku,device,device_count,price,disk\nAcme,red,x,L4,1,2,9\n");
    assert_string_equal(f->set.accounts[0].ignored, "colour, disk");
    assert_string_equal(f->set.accounts[0].format, "stepcost");
    assert_string_equal(f->set.accounts[0].provider, "Acme");
}

static void a_missing_column_is_an_error_that_names_file_column_and_what_is_there(void **state) {
    struct fixture *f = *state;

    assert_int_equal(read_text(f, "short.csv", "provider,sku,price,device\nAcme,x,2,L4\n"), -1);
    assert_int_equal(f->e.code, ERR_PARSE);
    assert_contains(f->e.text, "short.csv");
    assert_contains(f->e.text, "\"device_count\"");
    assert_contains(f->e.text, "provider, sku, price, device");
    assert_int_equal(f->set.count, 0);
    assert_int_equal(f->set.account_count, 0);
}

static void a_column_that_stands_twice_is_an_error(void **state) {
    struct fixture *f = *state;

    assert_int_equal(read_text(f, "own.csv", "provider,sku,device,device_count,price,Price\nA,x,L4,1,2,3\n"),
                     -1);
    assert_contains(f->e.text, "two columns");
    assert_contains(f->e.text, "Price");
}

static void a_bom_and_crlf_change_nothing(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_good(f, "own.csv",
              "\xEF\xBB\xBFprovider,sku,device,device_count,price\r\nAcme,\"x,\r\ny\",L4,1,2\r\n"
              "Acme,z,L4,1,2\r\n");
    o = offer_of(f, "z", "", TERM_ON_DEMAND);
    assert_int_equal(o->line, 4); /* the quoted field has a line end inside */
    assert_float_equal(o->price.per_hour.amount, 2, 0);
    assert_string_equal(f->set.offers[0].sku, "x,  y"); /* CR and LF are a space each */
}

static void json_is_read_as_a_list_or_under_offers(void **state) {
    static const char *const texts[] = {
        "[{\"provider\": \"Acme\", \"sku\": \"x\", \"device\": \"L4\", \"device_count\": 2, \"price\": 0.1,"
        " \"gpu_memory_gb\": null, \"vcpus\": \"8\"}]",
        "\xEF\xBB\xBF {\"offers\": [{\"sku\": \"x\", \"price\": \"0.1 USD/h\", \"provider\": \"Acme\","
        " \"device\": \"L4\", \"device_count\": \"2\", \"vcpus\": 8}]}",
    };

    struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        const struct offer *o;

        offers_free(&f->set);
        read_good(f, "own.json", texts[i]);
        o = offer_of(f, "x", "", TERM_ON_DEMAND);
        assert_int_equal(o->device_count, 2);
        assert_float_equal(o->price.per_hour.amount, 0.1, 0);
        assert_float_equal(o->vcpus, 8, 0);
        assert_true(isnan(o->gpu_memory_bytes));
        assert_int_equal(o->line, 1);
    }
}

static void json_accounts_for_bad_items_by_their_place(void **state) {
    struct fixture *f = *state;

    read_good(
        f, "own.json",
        "[{\"provider\": \"Acme\", \"sku\": \"x\", \"device\": \"L4\", \"device_count\": 2, \"price\": 1,"
        " \"colour\": 3},\n"
        " 7,\n"
        " {\"provider\": \"Acme\", \"sku\": \"y\", \"device\": [], \"device_count\": 2, \"price\": 1},\n"
        " {\"provider\": \"Acme\", \"sku\": \"z\", \"device\": \"L4\", \"device_count\": 2, \"price\": "
        "true},\n"
        " {\"sku\": \"q\", \"colour\": 1, \"size\": 2}]");
    assert_account(f, 0, (const size_t[]){5, 1, 0, 4, 1});
    assert_string_equal(f->set.accounts[0].ignored, "colour, size");
    for (size_t i = 0; i < 4; i++) {
        static const char *const wanted[] = {"object", "device", "price", "provider"};

        assert_int_equal(f->set.refusals[i].line, i + 2);
        assert_contains(f->set.refusals[i].reason, wanted[i]);
    }
}

static void an_empty_list_is_a_catalogue_without_offers(void **state) {
    struct fixture *f = *state;

    read_good(f, "none.json", "{\"offers\": []}");
    read_good(f, "none.csv", "provider,sku,device,device_count,price\n");
    assert_account(f, 0, (const size_t[]){0, 0, 0, 0, 0});
    assert_account(f, 1, (const size_t[]){0, 0, 0, 0, 0});
}

static void a_broken_json_file_is_an_error_with_its_place(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"offers\": [}", "line 1"},
        {"{\"offer\": []}", "offers"},
        {"{\"offers\": 3}", "offers"},
        {"[{\"id\": 1, \"gpu_name\": \"RTX 4090\", \"num_gpus\": 1}]", "gpu_name"},
        {"[1, 2]", "provider"},
        {"[", "line 1"},
        {"{}", "offers"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_text(f, "bad.json", cases[i].text), -1);
        assert_int_equal(f->e.code, ERR_PARSE);
        assert_contains(f->e.text, "bad.json");
        assert_contains(f->e.text, cases[i].says);
    }
    assert_int_equal(f->set.account_count, 0);
}

static void a_bare_a100_stays_ambiguous_and_lists_its_candidates(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "Acme,x,,A100,8,10,,,,,,,,\nAcme,y,,A100,8,10,,,,80,,,,\n");
    o = offer_of(f, "x", "", TERM_ON_DEMAND);
    assert_candidates(
        o, 4, (const char *const[]){"A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIe-40GB", "A100-PCIe-80GB"});
    for (size_t i = 0; i < o->match->count; i++) {
        assert_contains(o->note, o->match->candidates[i]->name);
    }
    o = offer_of(f, "y", "", TERM_ON_DEMAND);
    assert_candidates(o, 2, (const char *const[]){"A100-SXM4-80GB", "A100-PCIe-80GB"});
}

static void the_sku_narrows_the_device_but_never_overrides_it(void **state) {
    struct fixture *f = *state;

    read_rows(f,
              "Acme,gpu_8x_a100_80gb_sxm4,,A100,8,10,,,,,,,,\nAcme,p4d.24xlarge,,H100 PCIe,8,10,,,,,,,,\n");
    assert_candidates(offer_of(f, "gpu_8x_a100_80gb_sxm4", "", TERM_ON_DEMAND), 1,
                      (const char *const[]){"A100-SXM4-80GB"});
    assert_candidates(offer_of(f, "p4d.24xlarge", "", TERM_ON_DEMAND), 1,
                      (const char *const[]){"H100-PCIe-80GB"});
    assert_contains(offer_of(f, "p4d.24xlarge", "", TERM_ON_DEMAND)->note, "another GPU");
}

static void an_unknown_gpu_and_a_memory_that_fits_none_are_kept_and_noted(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f,
              "Acme,x,,Quantum 9000,8,10,,,,,,,,\nAcme,y,,A10,1,1,,,,12,,,,\nAcme,z,,A10,1,1,,,,0.5,,,,\n");
    o = offer_of(f, "x", "", TERM_ON_DEMAND);
    assert_int_equal(o->match->count, 0);
    assert_string_equal(o->note, "unknown GPU Quantum 9000");
    o = offer_of(f, "y", "", TERM_ON_DEMAND);
    assert_int_equal(o->match->count, 0);
    assert_string_equal(o->note, "no known GPU is A10 by name and SKU and has 12 GiB");
    assert_float_equal(offer_of(f, "z", "", TERM_ON_DEMAND)->gpu_memory_bytes, 536870912, 0); /* as stated */
}

static void control_characters_of_a_file_never_reach_a_terminal(void **state) {
    struct fixture *f = *state;

    read_rows(f, "Ac\x1b[31mme,x,\xC3\xA9t,L4,1,2,,,,,,,,\nAcme,y,,L4,1,\x1b[2J,,,,,,,,\n");
    assert_string_equal(f->set.offers[0].provider, "Ac?[31mme");
    assert_string_equal(f->set.offers[0].region, "\xC3\xA9t");
    assert_null(strchr(f->set.refusals[0].reason, '\x1b'));
}

/* A replaced character could make two providers one. */
static void a_row_that_is_not_utf8_is_refused(void **state) {
    struct fixture *f = *state;

    read_rows(f, "Acme,x,t\xE9,L4,1,2,,,,,,,,\nAcme,y,,L4,1,2,,,,,,,,\n");
    assert_int_equal(f->set.count, 1);
    assert_non_null(strstr(f->set.refusals[0].reason, "region: not UTF-8"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_full_row_fills_every_field),
        FIXTURE_TEST(what_is_left_out_is_on_demand_in_usd_and_unknown),
        FIXTURE_TEST(prices_are_read_in_every_form),
        FIXTURE_TEST(a_price_per_gpu_says_so_in_the_note),
        FIXTURE_TEST(a_bad_row_is_refused_with_column_value_and_mend_and_the_rest_is_read),
        FIXTURE_TEST(the_order_and_case_of_columns_is_free),
        FIXTURE_TEST(unknown_columns_are_named_in_the_account),
        FIXTURE_TEST(a_missing_column_is_an_error_that_names_file_column_and_what_is_there),
        FIXTURE_TEST(a_column_that_stands_twice_is_an_error),
        FIXTURE_TEST(a_bom_and_crlf_change_nothing),
        FIXTURE_TEST(json_is_read_as_a_list_or_under_offers),
        FIXTURE_TEST(json_accounts_for_bad_items_by_their_place),
        FIXTURE_TEST(an_empty_list_is_a_catalogue_without_offers),
        FIXTURE_TEST(a_broken_json_file_is_an_error_with_its_place),
        FIXTURE_TEST(a_bare_a100_stays_ambiguous_and_lists_its_candidates),
        FIXTURE_TEST(the_sku_narrows_the_device_but_never_overrides_it),
        FIXTURE_TEST(an_unknown_gpu_and_a_memory_that_fits_none_are_kept_and_noted),
        FIXTURE_TEST(control_characters_of_a_file_never_reach_a_terminal),
        FIXTURE_TEST(a_row_that_is_not_utf8_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
