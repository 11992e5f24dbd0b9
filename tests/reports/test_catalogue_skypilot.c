#include "offers_fixture.h"

#include <math.h>
#include <sys/stat.h>

static const char header[] =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region\n";

#define GPU_INFO(mib) "\"{'Gpus': [{'Name': 'X', 'MemoryInfo': {'SizeInMiB': " #mib "}}]}\""

static void read_rows(struct fixture *f, const char *name, const char *rows) {
    char text[4096];

    snprintf(text, sizeof text, "%s%s", header, rows);
    read_good(f, name, text);
}

static const double gib = 1073741824.0; /* 2^30 */

static void a_row_gives_an_on_demand_and_a_spot_offer(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "skypilot_aws.csv",
              "p4d.24xlarge,A100,8.0,96.0,1152.0," GPU_INFO(40960) ",21.957642,2.465500,us-east-1\n");
    assert_account(f, 0, (const size_t[]){1, 1, 0, 0, 2});
    o = offer_of(f, "p4d.24xlarge", "us-east-1", TERM_ON_DEMAND);
    assert_string_equal(o->provider, "aws");
    assert_float_equal(o->price.per_hour.amount, 21.957642, 0);
    assert_string_equal(o->price.per_hour.currency, "USD");
    assert_int_equal(o->device_count, 8);
    assert_float_equal(o->gpu_memory_bytes, 40 * gib, 0);
    assert_float_equal(o->vcpus, 96, 0);
    assert_float_equal(o->host_memory_bytes, 1152 * gib, 0);
    assert_candidates(o, 1, (const char *const[]){"A100-SXM4-40GB"});
    assert_string_equal(o->note, "");
    o = offer_of(f, "p4d.24xlarge", "us-east-1", TERM_SPOT);
    assert_float_equal(o->price.per_hour.amount, 2.4655, 0);
    assert_int_equal(o->line, 2);
}

static void columns_are_found_by_their_header(void **state) {
    struct fixture *f = *state;

    read_good(f, "runpod.csv",
              "SpotPrice,Price,Region,AcceleratorCount,AcceleratorName,InstanceType\n"
              "1.5,2.5,CA,1,L40S,1x_L40S\n");
    assert_float_equal(offer_of(f, "1x_L40S", "CA", TERM_SPOT)->price.per_hour.amount, 1.5, 0);
    assert_float_equal(offer_of(f, "1x_L40S", "CA", TERM_ON_DEMAND)->price.per_hour.amount, 2.5, 0);
    assert_string_equal(f->set.accounts[0].format, "skypilot");
}

static void the_provider_comes_from_the_path(void **state) {
    static const struct {
        const char *name, *provider;
    } cases[] = {{"skypilot_aws.csv", "aws"},
                 {"aws.csv", "aws"},
                 {"AWS.CSV", "aws"},
                 {"skypilot_azure_vms_gpu.csv", "azure"},
                 {"lambda_vms.csv", "lambda"}};
    struct fixture *f = *state;
    char folder[128];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_rows(f, cases[i].name, "");
        assert_string_equal(f->set.accounts[i].provider, cases[i].provider);
    }
    snprintf(folder, sizeof folder, "%s/fluidstack", f->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    read_rows(f, "fluidstack/vms.csv", "");
    assert_string_equal(f->set.accounts[f->set.account_count - 1].provider, "fluidstack");
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(offers_read(&f->set, &f->gpus, "vms.csv", &f->e), 0);
    assert_string_equal(f->set.accounts[f->set.account_count - 1].provider, "fluidstack");
    assert_int_equal(chdir("/"), 0);
    unlink(f->path);
    rmdir(folder);
}

static void empty_and_zero_spot_prices_are_no_offer(void **state) {
    struct fixture *f = *state;

    read_rows(f, "vast.csv", "a,L4,1,,,,0.5,0.00,x\nb,L4,1,,,,0.5,,x\nc,L4,1,,,,,0.2,x\n");
    assert_account(f, 0, (const size_t[]){3, 3, 0, 0, 3});
    offer_of(f, "a", "x", TERM_ON_DEMAND);
    offer_of(f, "b", "x", TERM_ON_DEMAND);
    offer_of(f, "c", "x", TERM_SPOT);
}

static void a_count_may_be_whole_decimal_or_empty(void **state) {
    struct fixture *f = *state;

    read_rows(f, "x.csv", "a,L4,8,,,,4,,x\nb,L4,8.0,,,,4,,x\nc,,,4.0,16.0,,0.2,,x\nd,,0,4,16,,0.2,,x\n");
    assert_int_equal(offer_of(f, "a", "x", TERM_ON_DEMAND)->device_count, 8);
    assert_int_equal(offer_of(f, "b", "x", TERM_ON_DEMAND)->device_count, 8);
    for (size_t i = 0; i < 2; i++) {
        const struct offer *cpu = offer_of(f, i == 0 ? "c" : "d", "x", TERM_ON_DEMAND);

        assert_string_equal(cpu->device, "");
        assert_int_equal(cpu->device_count, 0);
        assert_int_equal(cpu->match->count, 0);
        assert_true(isnan(cpu->gpu_memory_bytes));
        assert_string_equal(cpu->note, "");
    }
}

/* Google's hosts are halves of a machine only where their row names no GPUs (test_catalogue_extracts.c). */
static void a_row_with_host_and_gpus_prices_both(void **state) {
    struct fixture *f = *state;

    read_rows(f, "gcp.csv",
              "a2-highgpu-1g,A100,1,12,85,,3.7,1.4,x\nn1-standard-8,T4,1,8,30,,0.7,,x\n"
              "n1-standard-8,,,8,30,,0.4,,x\n");
    assert_account(f, 0, (const size_t[]){3, 3, 0, 0, 4});
    assert_float_equal(offer_of(f, "a2-highgpu-1g", "x", TERM_ON_DEMAND)->price.per_hour.amount, 3.7, 0);
    assert_float_equal(offer_of(f, "a2-highgpu-1g", "x", TERM_SPOT)->price.per_hour.amount, 1.4, 0);
}

static void a_bad_row_is_refused_with_column_value_and_mend(void **state) {
    static const struct {
        const char *row, *column, *found;
    } cases[] = {
        {"a,L4,1,,,,0,,x", "Price", "\"0\""},
        {"a,L4,1,,,,0.00,0.3,x", "Price", "\"0.00\""},
        {"a,L4,1,,,,-1,,x", "Price", "\"-1\""},
        {"a,L4,1,,,,nan,,x", "Price", "nan"},
        {"a,L4,1,,,,free,,x", "Price", "free"},
        {"a,L4,1,,,,1,-0.5,x", "SpotPrice", "-0.5"},
        {"a,L4,1,,,,1,n/a,x", "SpotPrice", "n/a"},
        {"a,L4,1,,,,1,1e13,x", "SpotPrice", "1e13"}, /* money.h: to 1e12 */
        {"a,L4,1,,,,,,x", "Price, SpotPrice", "no price"},
        {"a,L4,1,,,,,0.00,x", "Price, SpotPrice", "no price"},
        {"a,A10,0.167,,,A10,0.5,,x", "AcceleratorCount", "0.167"},
        {"a,L4,two,,,,1,,x", "AcceleratorCount", "two"},
        {"a,L4,,,,,1,,x", "AcceleratorCount", "L4"},
        {"a,,2,,,,1,,x", "AcceleratorName", "2"},
        {",A100,8,,,,23.47,,x", "InstanceType", "host"},
        {"a,L4,1,many,,,1,,x", "vCPUs", "many"},
        {"a,L4,1,,lots,,1,,x", "MemoryGiB", "lots"},
        {"a,L4,1,,,,1", "7 fields", "9"},
        {"a,L4,1,,,,1,,x,y", "10 fields", "9"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rows[256];

        snprintf(rows, sizeof rows, "good%zu,L4,1,,,,1,,x\n%s\n", i, cases[i].row);
        read_rows(f, "x.csv", rows);
        assert_account(f, i, (const size_t[]){2, 1, 0, 1, 1});
        assert_int_equal(f->set.refusals[i].line, 3);
        assert_string_equal(f->set.refusals[i].file, f->path);
        assert_contains(f->set.refusals[i].reason, cases[i].column);
        assert_contains(f->set.refusals[i].reason, cases[i].found);
    }
}

/* Azure writes its last column, Generation, as V1,V2 without quotes. */
static void surplus_fields_after_an_unread_last_column_are_left_out_and_noted(void **state) {
    struct fixture *f = *state;

    read_good(f, "azure.csv",
              "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,Generation\n"
              "NC24,V100,4,12.24,eastus,V1,V2\n");
    assert_account(f, 0, (const size_t[]){1, 1, 0, 0, 1});
    assert_string_equal(f->set.accounts[0].ignored, "Generation, surplus fields of 1 rows");
    assert_contains(offer_of(f, "NC24", "eastus", TERM_ON_DEMAND)->note, "surplus");
}

static void spot_at_or_above_on_demand_is_noted(void **state) {
    static const struct {
        const char *on_demand, *spot, *note;
    } cases[] = {
        {"28.712", "28.712000", "spot equals on-demand"},
        {"28.54493", "28.544900", "spot equals on-demand"}, /* 3e-5 of 28: 1e-6 */
        {"27.43298", "27.433000", "spot above on-demand"},
        {"10", "12", "spot above on-demand"},
        {"10", "9.99", ""},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[128], sku[8];

        snprintf(sku, sizeof sku, "s%zu", i);
        snprintf(row, sizeof row, "%s,L4,1,,,,%s,%s,x\n", sku, cases[i].on_demand, cases[i].spot);
        read_rows(f, "x.csv", row);
        assert_string_equal(offer_of(f, sku, "x", TERM_SPOT)->note, cases[i].note);
        assert_string_equal(offer_of(f, sku, "x", TERM_ON_DEMAND)->note, "");
    }
}

static void the_size_is_taken_from_any_text_that_gives_it(void **state) {
    static const struct {
        const char *info;
        double want_gib;
    } cases[] = {
        {"\"{'MemoryInfo': {'SizeInMiB': 81920}}\"", 80},
        {"\"{\"\"MemoryInfo\"\": {\"\"SizeInMiB\"\": 81920.0}}\"", 80},
        {"\"{'MemoryInfo': {'SizeInMiB': 80}}\"", 80}, /* GB in the MiB field */
        {"\"{'MemoryInfo': {'SizeInMiB': null}}\"", NAN},
        {"\"{'MemoryInfo': {'SizeInMiB': -1}}\"", NAN},
        {"\"{'MemoryInfo': {'SizeInMiB'\"", NAN},
        {"A100", NAN},
        {"", NAN},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char row[256], sku[8];
        double got;

        snprintf(sku, sizeof sku, "s%zu", i);
        snprintf(row, sizeof row, "%s,A100-SXM4,1,,,%s,1,,x\n", sku, cases[i].info);
        read_rows(f, "x.csv", row);
        got = offer_of(f, sku, "x", TERM_ON_DEMAND)->gpu_memory_bytes;
        assert_int_equal(isnan(got) != 0, isnan(cases[i].want_gib) != 0);
        assert_true(isnan(got) || fabs(got - cases[i].want_gib * gib) < 1);
    }
}

/* Two A100s with 81920 MiB: 2 x 40 GB or 2 x 80 GB. The rows beside it tell which. */
static void the_files_other_rows_tell_whether_memory_is_per_gpu(void **state) {
    static const struct {
        const char *beside;
        const char *card;
        double gib;
    } cases[] = {
        {"8x-H200,H200,8,,,\"{'SizeInMiB': 1150168}\",20.71,,y\n", "A100-SXM4-40GB", 40},
        {"8x-H200,H200,8,,,\"{'SizeInMiB': 143771}\",20.71,,y\n", "A100-SXM4-80GB", 80},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        char rows[512], sku[32];
        const struct offer *o;

        snprintf(sku, sizeof sku, "2x-A100_SXM4-%zu", i + 1);
        snprintf(rows, sizeof rows, "%s,A100,2,,," GPU_INFO(81920) ",1.87,,x\n%s", sku, cases[i].beside);
        read_rows(f, "x.csv", rows);
        o = offer_of(f, sku, "x", TERM_ON_DEMAND);
        assert_candidates(o, 1, &cases[i].card);
        assert_float_equal(o->gpu_memory_bytes, cases[i].gib * gib, 0);
    }
}

static void alone_or_against_contrary_rows_it_stays_ambiguous(void **state) {
    static const char *const contrary = "8x-H200,H200,8,,,\"{'SizeInMiB': 1150168}\",20.71,,y\n"
                                        "8x-H100_SXM,H100,8,,,\"{'SizeInMiB': 81559}\",20.71,,y\n";
    struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        char rows[512], sku[32];
        const struct offer *o;

        snprintf(sku, sizeof sku, "2x-A100_SXM4-%zu", i + 1);
        snprintf(rows, sizeof rows, "%s,A100,2,,," GPU_INFO(81920) ",1.87,,x\n%s", sku,
                 i == 0 ? "" : contrary);
        read_rows(f, "x.csv", rows);
        o = offer_of(f, sku, "x", TERM_ON_DEMAND);
        assert_candidates(o, 2, (const char *const[]){"A100-SXM4-40GB", "A100-SXM4-80GB"});
        assert_true(isnan(o->gpu_memory_bytes));
        assert_contains(o->note, "A100 can be");
    }
    /* the rows beside are clear in themselves */
    assert_float_equal(f->set.offers[f->set.count - 2].gpu_memory_bytes / 1048576.0, 143771, 0);
    assert_float_equal(f->set.offers[f->set.count - 1].gpu_memory_bytes / 1048576.0, 81559, 0);
}

static void the_sku_wins_where_the_name_is_vaguer_or_wrong(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "x.csv",
              "gpu_1x_h100_pcie,H100,1,,," GPU_INFO(
                  81920) ",3.29,,x\n"
                         "1x-H100_NVL-32-65536,H100,1,,," GPU_INFO(
                             95830) ",1.98,,x\n"
                                    "1x-RTX_4070S_Ti-32-65536,RTX4070,1,,," GPU_INFO(
                                        16376) ",0.2,,x\n"
                                               "anything,A100,1,,,,1,,x\n");
    o = offer_of(f, "gpu_1x_h100_pcie", "x", TERM_ON_DEMAND);
    assert_candidates(o, 1, (const char *const[]){"H100-PCIe-80GB"});
    assert_string_equal(o->note, "");
    o = offer_of(f, "1x-H100_NVL-32-65536", "x", TERM_ON_DEMAND);
    assert_candidates(o, 1, (const char *const[]){"H100-NVL-94GB"});
    o = offer_of(f, "1x-RTX_4070S_Ti-32-65536", "x", TERM_ON_DEMAND);
    assert_string_equal(o->note, "filed as RTX4070");
    assert_string_equal(o->device, "RTX4070");
    o = offer_of(f, "anything", "x", TERM_ON_DEMAND);
    assert_candidates(
        o, 4, (const char *const[]){"A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIe-40GB", "A100-PCIe-80GB"});
}

static void a_memory_that_the_sku_cannot_have_leaves_the_gpu_unknown(void **state) {
    struct fixture *f = *state;
    const struct offer *o;

    read_rows(f, "x.csv", "p4d.24xlarge,A100,8,,," GPU_INFO(81920) ",21,,x\n");
    o = offer_of(f, "p4d.24xlarge", "x", TERM_ON_DEMAND);
    assert_int_equal(o->match->count, 0);
    assert_string_equal(o->note, "no known GPU is A100 by name and SKU and has 80 GiB");
}

/* ---- the three extracts ---- */

static void read_extract(struct fixture *f, const char *name) {
    char path[512];

    snprintf(path, sizeof path, "%s/../../reports/data/prices/%s", TEST_DATA, name);
    assert_int_equal(offers_read(&f->set, &f->gpus, path, &f->e), 0);
}

/* Counted apart from the program, with Python's csv module over the same file:
 *   rows 114, none refused (every Price is above 0, every SpotPrice above 0 or empty);
 *   distinct (InstanceType, Region): 50, and in none of them do two zones have different Price -> 50
 * on-demand; distinct (InstanceType, Region) over rows with a SpotPrice: 49 (all but p5.48xlarge in
 * ap-northeast-2); rows that are the first of either kind: 53 (in us-east-1 p3.16xlarge and p3.2xlarge, and
 * in eu-north-1 p5, the first zone has no spot, so a later row founds the spot offer). 50 + 49 = 99; 114 - 53
 * = 61. */
static void aws_accounts_for_114_rows(void **state) {
    struct fixture *f = *state;
    size_t at = 0, above = 0, spot = 0;

    read_extract(f, "skypilot_aws.csv");
    assert_account(f, 0, (const size_t[]){114, 53, 61, 0, 99});
    assert_string_equal(f->set.accounts[0].ignored, "Arch");
    assert_string_equal(f->set.accounts[0].provider, "aws");
    for (size_t i = 0; i < f->set.count; i++) {
        const struct offer *o = &f->set.offers[i];

        spot += o->term == TERM_SPOT;
        at += strstr(o->note, "spot equals on-demand") != NULL;
        above += strstr(o->note, "spot above on-demand") != NULL;
        assert_int_equal(o->match->count, o->device[0] ? 1 : 0);
    }
    assert_int_equal(spot, 49);
    /* 20 rows at on-demand: 3 of them above (27.433 twice in eu-central-1, 32.9365), so 17 at; these 17 stand
     * in 14 (SKU, region): two rows each in p3.16xlarge eu-west-2, p5 ap-southeast-2, p5 us-east-1 */
    assert_int_equal(at, 14);
    assert_int_equal(above, 2);
}

/* By hand from the file. Medians of an even number are the mean of the middle two. */
static void aws_merges_zones_to_the_median_never_the_minimum(void **state) {
    static const struct {
        const char *sku, *region;
        size_t zones;
        double median;
        const char *note;
    } cases[] = {
        /* 2.6694 2.7188 2.8502 3.3915 */
        {"p3.16xlarge", "us-east-1", 4, 2.7845, "median of 4 zones, $2.67 to $3.39"},
        /* 2.4655 7.8799 8.1203 8.1915 */
        {"p4d.24xlarge", "us-east-1", 4, 8.0001, "median of 4 zones, $2.47 to $8.19"},
        /* 6.0374 6.0965 21.8535 */
        {"p4d.24xlarge", "us-east-2", 3, 6.0965, "median of 3 zones, $6.04 to $21.85"},
        /* 10.2397 19.2531 21.1543 55.04 55.04 */
        {"p5.48xlarge", "us-east-1", 5, 21.1543, "spot equals on-demand in 2 of 5 rows"},
    };
    struct fixture *f = *state;

    read_extract(f, "skypilot_aws.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct offer *o = offer_of(f, cases[i].sku, cases[i].region, TERM_SPOT);

        assert_float_equal(o->price.per_hour.amount, cases[i].median, 1e-9);
        assert_int_equal(o->merged, cases[i].zones);
        assert_contains(o->note, cases[i].note);
        assert_contains(o->note, "choose the zone");
    }
}

static void aws_regions_that_differ_in_the_seventh_digit_stay_apart(void **state) {
    struct fixture *f = *state;

    read_extract(f, "skypilot_aws.csv");
    assert_float_equal(offer_of(f, "p4d.24xlarge", "us-east-1", TERM_ON_DEMAND)->price.per_hour.amount,
                       21.957642, 0);
    assert_float_equal(offer_of(f, "p4d.24xlarge", "us-west-2", TERM_ON_DEMAND)->price.per_hour.amount,
                       21.95764, 0);
    assert_int_equal(offer_of(f, "p4d.24xlarge", "us-west-2", TERM_ON_DEMAND)->merged, 4);
}

/* Counted with Python's csv module: 100 rows, 8 without accelerator, distinct (InstanceType, Region) 100, no
 * SpotPrice. CRLF line ends; memory is per GPU. */
static void lambda_accounts_for_100_rows(void **state) {
    struct fixture *f = *state;
    size_t cpus = 0;

    read_extract(f, "skypilot_lambda.csv");
    assert_account(f, 0, (const size_t[]){100, 100, 0, 0, 100});
    for (size_t i = 0; i < f->set.count; i++) {
        cpus += f->set.offers[i].device[0] == '\0';
    }
    assert_int_equal(cpus, 8);
    assert_candidates(offer_of(f, "gpu_8x_a100_80gb_sxm4", "us-east-1", TERM_ON_DEMAND), 1,
                      (const char *const[]){"A100-SXM4-80GB"});
    assert_candidates(offer_of(f, "gpu_2x_a100", "us-east-1", TERM_ON_DEMAND), 2,
                      (const char *const[]){"A100-SXM4-40GB", "A100-PCIe-40GB"});
    assert_float_equal(offer_of(f, "gpu_8x_b200_sxm6", "us-east-1", TERM_ON_DEMAND)->gpu_memory_bytes,
                       180 * gib, 0);
}

/* Counted with Python's csv module: 64 rows, every SpotPrice 0.00, distinct (InstanceType, Region,
 * GpuInfo) 64. Memory is the node's: 163840 MiB on two cards are 80 GiB each. */
static void vast_accounts_for_64_rows_and_tells_40_from_80_gb(void **state) {
    static const struct {
        const char *sku, *region, *card;
        double mib;
    } cases[] = {
        {"2x-A100_SXM4-32-65536", "Montana, US, NA", "A100-SXM4-80GB", 81920},
        {"2x-A100_SXM4-32-65536", "Germany, DE, EU", "A100-SXM4-40GB", 40960},
        {"1x-A100_SXM4-32-65536", "Czechia, CZ, EU", "A100-SXM4-80GB", 81920},
        {"2x-A100_PCIE-32-65536", "South Korea, KR, AS", "A100-PCIe-40GB", 40960},
        {"5x-RTX_4090-32-65536", "Iceland, IS, EU", "RTX4090-24GB", 24564},
        {"8x-H200-32-65536", "France, FR, EU", "H200-SXM-141GB", 143771},
    };
    struct fixture *f = *state;

    read_extract(f, "skypilot_vast.csv");
    assert_account(f, 0, (const size_t[]){64, 64, 0, 0, 64});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct offer *o = offer_of(f, cases[i].sku, cases[i].region, TERM_ON_DEMAND);

        assert_candidates(o, 1, &cases[i].card);
        assert_float_equal(o->gpu_memory_bytes / 1048576.0, cases[i].mib, 0);
    }
    assert_contains(offer_of(f, "4x-RTX_4070S_Ti-32-65536", "Arizona, US, NA", TERM_ON_DEMAND)->note,
                    "filed as RTX4070");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_row_gives_an_on_demand_and_a_spot_offer),
        FIXTURE_TEST(columns_are_found_by_their_header),
        FIXTURE_TEST(the_provider_comes_from_the_path),
        FIXTURE_TEST(empty_and_zero_spot_prices_are_no_offer),
        FIXTURE_TEST(a_count_may_be_whole_decimal_or_empty),
        FIXTURE_TEST(a_row_with_host_and_gpus_prices_both),
        FIXTURE_TEST(a_bad_row_is_refused_with_column_value_and_mend),
        FIXTURE_TEST(surplus_fields_after_an_unread_last_column_are_left_out_and_noted),
        FIXTURE_TEST(spot_at_or_above_on_demand_is_noted),
        FIXTURE_TEST(the_size_is_taken_from_any_text_that_gives_it),
        FIXTURE_TEST(the_files_other_rows_tell_whether_memory_is_per_gpu),
        FIXTURE_TEST(alone_or_against_contrary_rows_it_stays_ambiguous),
        FIXTURE_TEST(the_sku_wins_where_the_name_is_vaguer_or_wrong),
        FIXTURE_TEST(a_memory_that_the_sku_cannot_have_leaves_the_gpu_unknown),
        FIXTURE_TEST(aws_accounts_for_114_rows),
        FIXTURE_TEST(aws_merges_zones_to_the_median_never_the_minimum),
        FIXTURE_TEST(aws_regions_that_differ_in_the_seventh_digit_stay_apart),
        FIXTURE_TEST(lambda_accounts_for_100_rows),
        FIXTURE_TEST(vast_accounts_for_64_rows_and_tells_40_from_80_gb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
